"""Robot files from a few sizes, for `flexapod new`: which sizes a kind has, and the checked text of its file.

Files say radii, lengths and angles once, under `parameters:`; joints are polar points, legs are copies. Links are solid steel
rods, the platform is a disc: numbers to start from, meant to be edited.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import flexapod as fp
from flexapod.views.new import hexapods, parallelograms, planar, tripods

MAKERS: dict[str, tuple[str, Callable[[Any], dict[str, Any]], dict[str, float]]] = {
    **hexapods.KINDS,
    **tripods.KINDS,
    **parallelograms.KINDS,
    **planar.KINDS,
}
"""Kind -> what it is, the function that makes its document, and its sizes with their usual values."""

OPTIONAL = {"6-ups": ("plate",), "6-pus": ("plate",)}

LENGTHS = ("base_radius", "platform_radius", "height", "arm", "link", "stroke")
"""Sizes that keep joints apart."""

SMALLEST = 1e-6
"""Distance of joints, of the largest, below which they count as one, and the robot has other degrees of freedom than its kind."""


@dataclass(frozen=True, kw_only=True)
class RobotSizes:
    """Sizes of a new robot; None: as usual for its kind. Lengths in m, masses in kg.

    Args:
        name: of the robot.
        kind: one of `MAKERS`.
        base_radius, platform_radius: circles of the joints; of a five-bar half the distance of its motors.
        pair: distance between the two joints of a pair on the base, of the radius; the platform's pairs have the same.
        height: of the platform from the base at home.
        arm: length of cranks.
        link: length of rods.
        stroke: of the actuators, home in its middle.
        mass: of the platform.
        rod: diameter of the legs.
        plate: thickness of a flexible steel platform; None: rigid.
    """

    name: str
    kind: str = "6-ups"
    base_radius: float | None = None
    platform_radius: float | None = None
    pair: float | None = None
    height: float | None = None
    arm: float | None = None
    link: float | None = None
    stroke: float | None = None
    mass: float | None = None
    rod: float | None = None
    plate: float | None = None


def usual_sizes(kind: str) -> dict[str, float]:
    """The sizes that a kind has, with their usual values.

    Raises:
        InputError: no such kind.
    """
    if kind in MAKERS:
        return dict(MAKERS[kind][2])
    raise fp.InputError(f"--kind {kind}: expected one of {', '.join(MAKERS)}")


def new_document(sizes: RobotSizes) -> dict[str, Any]:
    """New robot file as plain data.

    Raises:
        InputError: sizes that do not make a robot, or that its kind does not have.
    """
    made = _complete(sizes)
    title, make, _ = MAKERS[sizes.kind]
    try:
        body = make(made)
    except fp.InputError as error:
        raise fp.InputError(f"{error}{_not_given(sizes, str(error))}") from None
    source = "made by `flexapod new`; masses from solid steel rods and a disc"
    return {"flexapod": 1, "name": sizes.name, "title": title, "source": source, **body}


def new_text(sizes: RobotSizes) -> str:
    """The robot file, checked."""
    description = fp.description_from_document(new_document(sizes), name=sizes.name)
    head = (
        f"# {description.file.title}, made by `flexapod new`. Edit freely: SI units, or text with a unit such as 30 mm;\n"
        "# `$name` refers to `parameters:`. `flexapod check` says what is wrong.\n"
        "# Masses, inertias and `start` values are those of these sizes: they do not follow when a parameter changes.\n"
    )
    return head + fp.robot_text(description)


def _not_given(sizes: RobotSizes, problem: str) -> str:
    """What to add to a problem with a size that was not given: that it is the usual one, and what was given."""
    name = problem.split()[0].strip("-:").replace("-", "_")
    if name not in usual_sizes(sizes.kind) or getattr(sizes, name) is not None:
        return ""
    given = {f.name: getattr(sizes, f.name) for f in dataclasses.fields(sizes) if f.name not in ("name", "kind")}
    shown = ", ".join(f"--{key.replace('_', '-')} {value}" for key, value in given.items() if value is not None)
    option = "--" + name.replace("_", "-")
    return f"; this is the usual {option} of a {sizes.kind}, which does not fit {shown}: give {option} as well"


def _complete(sizes: RobotSizes) -> RobotSizes:
    """The sizes, with the usual values of their kind where none are given."""
    usual = usual_sizes(sizes.kind)
    known = (*usual, *OPTIONAL.get(sizes.kind, ()))
    names = [f.name for f in dataclasses.fields(sizes) if f.name not in ("name", "kind")]
    given = {name: value for name in names if (value := getattr(sizes, name)) is not None}
    for name, value in given.items():
        option = f"--{name.replace('_', '-')} {value}"
        if name not in known:
            raise fp.InputError(f"{option}: a {sizes.kind} has no such size; it has {', '.join(known)}")
        if not (np.isfinite(value) and value > 0):
            raise fp.InputError(f"{option}: expected a number above 0")
        if name == "pair" and value >= 1:
            raise fp.InputError(f"{option}: expected a part of the radius between 0 and 1")
    whole = {**usual, **given}
    largest = max(whole[name] for name in LENGTHS if name in whole)
    for name in (name for name in LENGTHS if name in given and given[name] < SMALLEST * largest):
        option = f"--{name.replace('_', '-')} {given[name]}"
        raise fp.InputError(f"{option}: below {SMALLEST:g} of the largest size, {largest:g} m, joints fall together; give more")
    return dataclasses.replace(sizes, **whole)
