"""Preparation of a robot: its equations are compiled in another process, which can be cancelled.

A robot that was made ready before is known by a note in the cache; its kernels are only read then, in the studio itself.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import flexapod as fp
from flexapod.private_files import cache_folder, files_in_cache, read_private, write_private
from flexapod.views.studio.moved_coordinates import coordinates_of
from flexapod.views.studio.numbers import numbers_of
from flexapod.views.studio.recording import SMALL, motion_of, record
from flexapod.views.studio.session import Session
from flexapod.views.studio.vibration import modes_of

if TYPE_CHECKING:
    from flexapod.views.studio.jobs import JobReport

WHAT = "numbers, reach, modes with prestress, motion"
"""Contents of the cache that a note lists as prepared; a note with other contents does not count."""


def kernels_on_disk() -> int:
    """Number of compiled kernels in the cache."""
    return files_in_cache(".kernel")


def ready_session(robot: fp.Robot, report: JobReport) -> Session:
    """A session at home; what has to be compiled for it is compiled in the other process.

    Args:
        report: of a job, see `JobReport`.

    Checked by: tests/studio/test_studio_jobs.py.
    """
    report(0.02)
    if not prepared(robot):
        report.call(prepare, robot, start=0.02, end=0.9)
        write_private(cache_folder(), _note(robot), str(kernels_on_disk()).encode())
    report(0.9)
    session = Session.start(robot)
    report(1.0)
    return session


def prepare(robot: fp.Robot, report: Callable[[float], None]) -> None:
    """Compute once what the studio will ask for; what fails is reported later, where it is asked for."""
    state = fp.State.at_home(robot)
    steps: list[Callable[[], Any]] = [
        lambda: numbers_of(robot, state),
        lambda: coordinates_of(robot),
        lambda: modes_of(robot, state),
        lambda: record(robot, motion_of(robot, SMALL), SMALL),
    ]
    for k, step in enumerate(steps):
        report(k / len(steps))
        try:
            step()
        except fp.FlexapodError:
            continue
    report(1.0)


def prepared(robot: fp.Robot) -> bool:
    """A note says that this robot was made ready, and the cache was not emptied since."""
    note = read_private(cache_folder(), _note(robot))
    return note is not None and note.isdigit() and kernels_on_disk() >= int(note) > 0


def _note(robot: fp.Robot) -> str:
    text = f"{fp.__version__}, {WHAT}\n{fp.robot_text(robot.description)}"
    return f"studio-{hashlib.sha256(text.encode()).hexdigest()[:32]}.ready"
