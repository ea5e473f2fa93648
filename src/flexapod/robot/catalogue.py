"""Robots by name or file: the catalogue, and `load`."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

from flexapod.calls import checked, unchecked
from flexapod.description.problems import readable_name
from flexapod.description.read import REMEMBERED, Description, read_robot_file
from flexapod.errors import FlexapodError, did_you_mean
from flexapod.files import is_file, is_folder
from flexapod.robot.robot import Robot, build_robot


class UnknownRobotError(FlexapodError):
    """Raised if the catalogue has no robot of that name and there is no such file."""


@checked
def catalogue() -> dict[str, Path]:
    """Robot files that come with flexapod, by name."""
    folder = Path(str(resources.files("flexapod") / "robots"))
    return {path.stem: path for path in sorted(folder.glob("*.yaml"))}


_known: dict[int, Robot] = {}


def _built(description: Description) -> Robot:
    """The robot of a description; one that was built of the same before lends its legs and structural zeros."""
    before = _known.get(id(description))
    if before is not None and before.description is description:
        return build_robot(description, before.zeros, like=before)
    robot = build_robot(description)
    _known[id(description)] = robot
    while len(_known) > REMEMBERED:
        _known.pop(next(iter(_known)), None)
    return robot


@checked(robot=unchecked)
def load(robot: str | Path) -> Robot:
    """A robot by catalogue name or path of a robot file.

    Args:
        robot: a name of the catalogue, e.g. ``"stewart-3-3"``, or the path of a robot file (.yaml).
    Returns:
        The `Robot`, assembled at its home pose.
    Raises:
        UnknownRobotError: neither a catalogue name nor a file; names the nearest.
        RobotFileError: the file has problems; lists them all.
    """
    files = catalogue()
    if not isinstance(robot, str | Path):
        raise UnknownRobotError(
            f"robot: expected a catalogue name or the path of a robot file, got {type(robot).__name__}; "
            f"known robots: {', '.join(files)}"
        )
    if isinstance(robot, str) and robot in files:
        return _built(read_robot_file(files[robot]))
    path = Path(robot)
    if is_file(path):
        return _built(read_robot_file(path))
    if isinstance(robot, str) and not robot:
        raise UnknownRobotError(f"no robot called '': the name is empty. Known robots: {', '.join(files)}")
    if is_folder(path):
        raise UnknownRobotError(f"{readable_name(str(robot))}: is a folder, no robot file; give the path of a file in it")
    hint = did_you_mean(robot, files, ".", before=", ")
    name = readable_name(str(robot))
    name = name if name.startswith(("'", '"')) else f"'{name}'"
    raise UnknownRobotError(f"no robot called {name}{hint} Known robots: {', '.join(files)}; or give the path of a robot file")
