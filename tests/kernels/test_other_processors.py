"""Kernels made for any processor (no vector units, nothing fused) give the numbers of those made for this one."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

SCRIPT = """
import json, sys
import numpy as np
import flexapod as fp
from flexapod.analysis.sampling import random_states
found = {}
for name in ("stewart-3-3", "five-bar"):
    robot = fp.load(name)
    motion = fp.Motion(time=np.arange(40.0), **random_states(robot, 40, seed=4))
    found[name] = fp.inverse_dynamics(robot, motion, friction=False).force.values.tolist()
json.dump(found, sys.stdout)
"""
AGREE = 1e-12
"""Of the largest force: fused operations round once where others round twice."""


def forces(environment: dict[str, str], cache: Path) -> dict[str, list[list[float]]]:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        env={**os.environ, **environment, "FLEXAPOD_CACHE": str(cache)},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return json.loads(done.stdout)


@pytest.mark.parametrize("processor", ["generic"])
def test_forces(processor: str, tmp_path: Path) -> None:
    here, there = forces({}, tmp_path / "here"), forces({"FLEXAPOD_CPU": processor}, tmp_path / "there")
    for name, expected in here.items():
        largest = np.abs(expected).max()
        assert np.abs(np.array(there[name]) - expected).max() <= AGREE * largest
