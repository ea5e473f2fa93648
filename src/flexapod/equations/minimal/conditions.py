"""Conditions of the minimal equations: facts about a robot's structure and its numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from flexapod.robot.geometry import ROUNDING
from flexapod.robot.model import Leg
from flexapod.robot.robot import Robot


def reasons(robot: Robot) -> Iterator[str]:
    """The reasons why the minimal equations do not hold for a robot of one set of numbers; empty where they do."""
    kinds = {leg.architecture for leg in robot.legs}
    if len(robot.legs) != 6 or kinds not in ({"UPS"}, {"PUS"}):
        yield "it needs six U-P-S legs or six P-U-S legs"
        return
    values, names = robot.values, [leg.name for leg in robot.legs]
    for leg in robot.legs:
        yield from _leg_bodies(values, leg)
        yield from _rotor(values, leg)
    S, U = (np.array([[values[f"legs.{n}.{k}.{i}"] for i in "xyz"] for n in names]) for k in ("S", "U"))
    if kinds == {"PUS"} and not level(S[:, 2], robot.size):
        yield "its platform joints do not lie in one plane parallel to the platform's x and y axes"
    if _collinear(S[:, :2], around_origin=True):
        yield "its platform joints lie on one line through the platform's origin"
    if kinds == {"UPS"}:
        yield from _base(robot, S, U)
    else:
        if _collinear(S[:, :2]):
            yield "its platform joints lie on one line"
        if abs(robot.home.rotation[2, 2]) < 0.5:
            yield "its platform is upright at home (normal less than 30 degrees above the horizontal)"


def _base(robot: Robot, S: np.ndarray, U: np.ndarray) -> Iterator[str]:
    if _collinear(U[:, :2]):
        yield "its base joints lie in one vertical plane"
    z = (robot.home.position + S @ robot.home.rotation.T - U)[:, 2]
    if not ((z > 0).all() or (z < 0).all()):
        yield "its legs do not all point up or all point down at home"


def level(heights: np.ndarray, size: float) -> bool:
    """Joints lie in one horizontal plane, up to rounding of the robot's size."""
    return bool(np.ptp(heights) <= ROUNDING * size)


def _collinear(points: np.ndarray, *, around_origin: bool = False) -> bool:
    centred = points if around_origin else points - points.mean(axis=0)
    s = np.linalg.svd(centred, compute_uv=False)
    return bool(s[1] < 1e-3 * s[0])


def _rotor(values: Mapping[str, float], leg: Leg) -> Iterator[str]:
    passive = [link.coordinate for link in leg.links if not link.actuated]
    if values[f"legs.{leg.name}.{passive[1]}.rotor"] != 0:
        yield f"leg {leg.name} has a rotor on its second universal axis"


def spins(values: Mapping[str, float], leg: Leg) -> bool:
    """A P-U-S leg has inertia about its own axis, or its cross about the first universal axis."""
    base = f"legs.{leg.name}"
    names = ("in_C.0.inertia.xx", "in_L.0.inertia.zz", f"{leg.links[1].coordinate}.rotor")
    return any(values.get(f"{base}.{name}", 0.0) != 0 for name in names)


def _leg_bodies(values: Mapping[str, float], leg: Leg) -> Iterator[str]:
    """The cross balanced about its first axis, bodies along the leg axisymmetric about it."""
    base = f"legs.{leg.name}"
    for name in ("in_L.0", "in_L.1"):
        if f"{base}.{name}.mass" not in values:
            continue
        first, inertia = _inertial(values, f"{base}.{name}")
        if not _small(first[:2], first):
            yield f"the centre of mass of a body of leg {leg.name} is not on the leg's axis"
        tensor = [inertia["xx"] - inertia["yy"], inertia["xy"], inertia["xz"], inertia["yz"]]
        if not _small(tensor, list(inertia.values())):
            yield f"a body of leg {leg.name} is not axisymmetric about the leg"
    if f"{base}.in_C.0.mass" in values:
        first, _ = _inertial(values, f"{base}.in_C.0")
        if not _small(first[1:], [*first, values[f"{base}.in_C.0.mass"]]):
            yield f"the centre of mass of the cross of leg {leg.name} is not on its first axis"


def _inertial(values: Mapping[str, float], name: str) -> tuple[list[float], dict[str, float]]:
    first = [values[f"{name}.first_moment.{k}"] for k in "xyz"]
    return first, {k: values[f"{name}.inertia.{k}"] for k in ("xx", "yy", "zz", "xy", "xz", "yz")}


def _small(entries: Sequence[float], among: Sequence[float]) -> bool:
    return max(map(abs, entries)) <= ROUNDING * max(map(abs, among))
