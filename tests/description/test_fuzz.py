"""Wrong robot files: each is refused with a clear error, or accepted, in bounded time. `make test` reads 250 of 2000."""

from __future__ import annotations

import time
import warnings

import pytest
from robot_fuzzer import fuzzed_documents, valid_texts

from flexapod.description import Problem, RobotFileError, read_robot_text, robot_text

COUNT = 2000
PARTS = 8
SLOWEST = 10.0  # seconds of processor time for one file; the median is some milliseconds


def judge(name: str, text: str) -> bool:
    """Whether the file is accepted; anything but a clear refusal fails."""
    problems: tuple[Problem, ...] = ()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            description = read_robot_text(text, name=name)
        except RobotFileError as error:
            problems = error.problems
        else:
            assert read_robot_text(robot_text(description), name=name) == description
            return True
    assert problems
    for problem in problems:
        assert problem.file == name
        assert problem.path.strip()
        assert problem.what.strip()
        assert problem.hint.strip()
        assert len(str(problem)) < 1500
        assert str(problem).isprintable()
    return False


@pytest.mark.parametrize("part", [0, *[pytest.param(k, marks=pytest.mark.full) for k in range(1, PARTS)]])
def test_fuzzed_files_are_refused_clearly_or_accepted(part: int) -> None:
    accepted = 0
    for name, text in fuzzed_documents(seed=20261115 + part, count=COUNT // PARTS):
        start = time.process_time()
        accepted += judge(name, text)
        assert time.process_time() - start < SLOWEST, name
    # Neither a reader that accepts anything nor one that refuses everything would be tested here.
    assert 0.05 * COUNT / PARTS < accepted < 0.6 * COUNT / PARTS


def test_the_same_seed_gives_the_same_files() -> None:
    assert list(fuzzed_documents(seed=1, count=50)) == list(fuzzed_documents(seed=1, count=50))


def test_the_unmutated_files_are_accepted() -> None:
    for name, text in valid_texts().items():
        assert judge(name, text)
