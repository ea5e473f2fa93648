"""What users give as arrays: masked entries and texts are refused where they enter, by name."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import flexapod as fp
from flexapod import motions
from flexapod.arrays import given_array
from flexapod.kernels.boundary import as_float
from flexapod.kernels.errors import KernelInputError

HOME = (0.0, 0.0, 1.0)
MASKED = np.ma.MaskedArray(HOME, mask=[False, True, True])
FORCES = np.ma.MaskedArray(np.ones(6), mask=np.arange(6) == 2)


def test_an_array_without_masked_entries_is_taken() -> None:
    assert given_array("x", np.ma.MaskedArray(HOME, mask=False)).tolist() == list(HOME)
    assert as_float("x", np.ma.MaskedArray(HOME, mask=False)).tolist() == list(HOME)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda robot: fp.State(position=MASKED), "position: 2 entries are masked, so that there is no number"),
        (lambda robot: motions.circle(radius=0.1, rpm=20, center=MASKED), "center: 2 entries are masked"),
        (
            lambda robot: fp.forward_dynamics(robot, fp.State(position=HOME), FORCES),
            "force: 1 entry is masked, so that there is no number; leave these samples out, or fill them",
        ),
        (
            lambda robot: fp.Measurement(time=[0.0, 1.0, 2.0], position=MASKED, force=np.zeros((3, 1))),
            "position: 2 entries are masked",
        ),
        (lambda robot: fp.State(position=[[1.0], [2.0, 3.0]]), r"position: expected numbers of shape .*; the rows have"),
        (
            lambda robot: fp.inverse_dynamics(robot, fp.State(position=HOME), parameters={"platform.mass": MASKED}),
            "parameters: platform.mass: 2 entries are masked",
        ),
        (lambda robot: motions.circle(radius=0.1, rpm=20, center=["0", "0", "abc"]), "center: expected .*, got the text 'abc'"),
        (lambda robot: motions.circle(radius=0.1, center=HOME, law="quintik"), "law: expected one of .*; did you mean 'quintic'"),
    ],
)
def test_refused_by_name(call: Callable[[fp.Robot], object], text: str) -> None:
    """A number below a mask is none; a law is wrong before its duration is missing."""
    robot = fp.load("stewart-3-3")
    with pytest.raises(fp.InputError, match=text):
        call(robot)


def test_kernels_refuse_masked_entries() -> None:
    with pytest.raises(KernelInputError, match="force: 1 entry is masked"):
        as_float("force", FORCES)


def test_a_mapped_file_is_taken_without_a_copy(tmp_path: Path) -> None:
    stored = np.memmap(tmp_path / "x", dtype=np.float64, mode="w+", shape=(4, 3))
    assert np.shares_memory(as_float("x", stored), stored)
