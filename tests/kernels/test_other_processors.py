"""Kernels made for any processor (no vector units, nothing fused) give the numbers of those made for this one."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import flexapod as fp
from flexapod.analysis.verbs.sampling import random_states

SCRIPT = """
import json, sys
import numpy as np
import flexapod as fp
from flexapod.analysis.verbs.sampling import random_states
robot = fp.load(sys.argv[1])
motion = fp.Motion(time=np.arange(40.0), **random_states(robot, 40, seed=4))
json.dump(fp.inverse_dynamics(robot, motion, friction=False).force.values.tolist(), sys.stdout)
"""
AGREE = 1e-12
"""Of the largest force: fused operations round once where others round twice."""


def forces(name: str, processor: str, cache: Path) -> np.ndarray:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, name],
        env={**os.environ, "FLEXAPOD_CPU": processor, "FLEXAPOD_CACHE": str(cache)},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return np.array(json.loads(done.stdout))


@pytest.mark.parametrize("name", ["five-bar", pytest.param("stewart-3-3", marks=pytest.mark.full)])
@pytest.mark.parametrize("processor", ["generic"])
def test_forces(name: str, processor: str, tmp_path: Path) -> None:
    robot = fp.load(name)
    motion = fp.Motion(time=np.arange(40.0), **random_states(robot, 40, seed=4))
    here, there = fp.inverse_dynamics(robot, motion, friction=False).force.values, forces(name, processor, tmp_path / "cache")
    assert np.abs(there - here).max() <= AGREE * np.abs(here).max()
