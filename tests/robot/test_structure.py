"""A robot's structure (hash, zeros, kernels) is the same whatever the processor and its linear algebra round to."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import flexapod as fp
from flexapod.robot.geometry import ROUNDING, tidy

REPORT = Path(__file__).parents[1] / "support" / "structure_report.py"
NO_VECTORS = "AVX2 FMA3 AVX512F AVX512CD AVX512_SKX AVX512_CLX AVX512_CNL AVX512_ICL"
PROCESSORS = {
    "Prescott": {"OPENBLAS_CORETYPE": "Prescott"},
    "Nehalem": {"OPENBLAS_CORETYPE": "Nehalem"},
    "Haswell": {"OPENBLAS_CORETYPE": "Haswell"},
    "Zen": {"OPENBLAS_CORETYPE": "Zen"},
    "no vector units": {"OPENBLAS_CORETYPE": "Nehalem", "NPY_DISABLE_CPU_FEATURES": NO_VECTORS},
}
UNLIKE = ("Prescott", "Haswell")
"""Processors of the usual run: without and with fused operations, between which most values differed; the full run has all."""
FEW = ("stewart-3-3", "hexaslide", "hexapod", "five-bar", "planar-4-prr", "tripteron", "agile-eye", "dualemps")
"""Robots of the usual run: kernels that are counted, redundant, over-constrained, with flexible legs; the full run has those of
finite elements, too, whose rounding is looked at in tests/flexible/test_rounding.py."""
SMALL = 1e-11
"""No value of a catalogue robot other than mode moments lies between zero and this part of one: rounding was made zero."""


def report(environment: dict[str, str], cache: Path, robots: tuple[str, ...]) -> dict[str, list[object]]:
    """The structure report of a new process; finite elements are computed again there."""
    text = subprocess.run(
        [sys.executable, str(REPORT), *robots],
        env={**os.environ, **environment, "FLEXAPOD_CACHE": str(cache)},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    return json.loads(text)


@pytest.mark.parametrize(
    ("names", "robots"),
    [(UNLIKE, FEW), pytest.param(tuple(PROCESSORS), tuple(fp.catalogue()), marks=pytest.mark.full)],
    ids=["two", "all"],
)
def test_every_processor_builds_the_same_robots(tmp_path: Path, names: tuple[str, ...], robots: tuple[str, ...]) -> None:
    found = {name: report(PROCESSORS[name], tmp_path / name, robots) for name in names}
    first = found.pop("Prescott")
    assert set(first) == set(robots)
    for name, other in found.items():
        assert {k: v for k, v in other.items() if first[k] != v} == {}, f"{name} differs from Prescott"


@pytest.mark.parametrize("name", sorted(fp.catalogue()))
def test_no_value_is_rounding(name: str) -> None:
    values = {k: v for k, v in fp.load(name).values.items() if ".flex.G." not in k}
    assert {k: v for k, v in values.items() if 0.0 < abs(v) < SMALL} == {}


def test_rule_keeps_small_numbers_that_mean_something() -> None:
    assert tidy(np.array([2.0 * ROUNDING, 0.5 * ROUNDING, -0.0]), 1.0).tolist() == [2.0 * ROUNDING, 0.0, 0.0]
    leaning = fp.load("hexapod").with_parameters({"legs.B.hip.axis1": [1.0, 1e-9, 0.0]})
    assert leaning.values["legs.B.axis1.y"] == pytest.approx(1e-9)
