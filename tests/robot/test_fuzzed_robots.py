"""Fuzzed robot files, beyond reading: what is accepted is built and evaluated, or refused with a clear error. `make test` takes
a sample, `make test-full` two thousand.
"""

from __future__ import annotations

import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pytest

import flexapod as fp
from flexapod.description import RobotFileError, read_robot_text
from flexapod.robot.robot import build_robot

sys.path.insert(0, str(Path(__file__).parent.parent / "description"))
from robot_fuzzer import fuzzed_documents, valid_texts

COUNT, PARTS = 2000, 8
SAMPLE = 25
"""Files of the usual run, the first ones of part 0."""
SLOWEST = 20.0  # seconds of processor time for one file; the median is some milliseconds


def judge(name: str, text: str) -> str:
    """`refused` by the reader, `not built`, `not solved` or `solved`; anything but a FlexapodError fails."""
    try:
        description = read_robot_text(text, name=name)
    except RobotFileError:
        return "refused"
    try:
        robot = build_robot(description)
    except fp.FlexapodError as error:
        assert_clear(str(error))
        return "not built"
    assert robot.mobility.rank >= 0
    try:
        result = fp.inverse_kinematics(robot, fp.State(position=robot.home.position, rotation=robot.home.rotation), joints=False)
    except fp.FlexapodError as error:
        assert_clear(str(error))
        return "not solved"
    assert np.all(np.isfinite(result.actuator_position.values))
    assert len(result.actuator_position) == len(robot.actuators) > 0
    return "solved"


def assert_clear(text: str) -> None:
    assert 10 < len(text) < 1500
    assert text.isprintable()


@pytest.mark.parametrize(
    ("part", "count"), [(0, SAMPLE), *[pytest.param(k, COUNT // PARTS, marks=pytest.mark.full) for k in range(PARTS)]]
)
def test_fuzzed_files_are_refused_or_evaluate(part: int, count: int) -> None:
    seen: dict[str, int] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, text in fuzzed_documents(seed=20261115 + part, count=count):
            start = time.process_time()
            verdict = judge(name, text)
            seen[verdict] = seen.get(verdict, 0) + 1
            assert time.process_time() - start < SLOWEST, name
    # neither a robot that refuses everything nor one that accepts everything would be tested here
    assert seen.get("refused", 0) > 0.3 * count, seen
    if count > SAMPLE:  # a tenth is solved: of a sample it may be none, and each new robot draws another one
        assert seen.get("solved", 0) > 0.03 * count, seen


@pytest.mark.parametrize("name", [name for name in fp.catalogue() if name != "gough-stewart-flexible-legs"])
def test_catalogue_files_evaluate(name: str) -> None:
    """All but one, which has no equilibrium under its weight at home: it says so."""
    if name in valid_texts():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert judge(name, fp.catalogue()[name].read_text(encoding="utf-8")) == "solved" or needs_files(name)


def needs_files(name: str) -> bool:
    """A robot whose file names another beside it cannot be read as text alone."""
    return "file:" in fp.catalogue()[name].read_text(encoding="utf-8")
