"""Units of the variables of an FMU: kernels say "m or rad" where the joint type decides, an FMU needs one of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flexapod.kernels.tape.signature import Input, Output
    from flexapod.robot.robot import Robot


def parameter_unit(robot: Robot, name: str, unit: str) -> str:
    """Unit of a number of the robot by the kind of its joint: `legs.A.zero` of the leg's actuator; force elements are straight.

    Checked by: tests/bridges/test_fmu.py.
    """
    if name.startswith("stroke."):
        return dict(zip(robot.actuators, robot.actuator_units, strict=True))[name.rpartition(".")[0].removeprefix("stroke.")]
    if " or " not in unit:
        return unit
    if name.startswith("forces."):
        return _of("m", unit)
    for leg in (leg for leg in robot.legs if name.startswith(f"legs.{leg.name}.")):
        joint = name.removeprefix(f"legs.{leg.name}.").rpartition(".")[0]
        links = [link for link in leg.links if link.coordinate == joint] or [link for link in leg.links if link.actuated]
        if links:
            return _of("m" if links[0].kind == "P" else "rad", unit)
    return ""


MEANINGS = {
    "mass": "of the body and all that is fixed on it; first moments and moments of inertia are parameters of their own",
    "first_moment": "mass times place of the centre of mass, in the frame of the body, of all that is fixed on it",
    "inertia": "about the origin of the body's frame, of all that is fixed on it",
}
"""Inertial numbers of kernels, which robot files give about the centre of mass and without payloads."""


def parameter_meaning(name: str) -> str:
    """Meaning of an inertial number of a kernel, in words; empty for other numbers."""
    return next((MEANINGS[word] for word in name.split(".")[::-1][:2] if word in MEANINGS), "")


def entry_units(robot: Robot, array: Input | Output) -> list[str]:
    """Unit of each entry of an array, per actuator or per joint."""
    if ", " in array.unit and array.shape == (6,):  # force and moment
        return [part for part in array.unit.split(", ") for _ in range(3)]
    if " or " not in array.unit:
        return [array.unit] * array.size
    joints = array.name.startswith(("guess", "joint", "closed"))
    known = robot.coordinate_units if joints else robot.actuator_units
    return [_of(own, array.unit) for own in known] if len(known) == array.size else [""] * array.size


def _of(own: str, unit: str) -> str:
    """The part of "N or N m" that belongs to a joint of m or rad; "m or rad/s" means "m/s or rad/s"."""
    straight, rotating = unit.split(" or ")
    if straight == "m" and rotating.startswith("rad"):
        straight += rotating.removeprefix("rad")
    return straight if own == "m" else rotating
