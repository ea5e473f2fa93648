"""Checks that the joints of a planar robot move in its plane: revolute axes normal to it, prismatic ones in it."""

from __future__ import annotations

from flexapod.description.check_leg import SIGMA
from flexapod.description.check_robot import NORMALS
from flexapod.description.joint_types import MOTIONS
from flexapod.description.problem_report import Reporter
from flexapod.description.problems import Path
from flexapod.description.rotations import IDENTITY, Matrix, about, apply, compose, rotation_matrix, unit
from flexapod.description.schema import Leg

_TOLERANCE = 1e-6


def check_plane(leg: Leg, plane: str, report: Reporter) -> None:
    """Report joints of a checked leg that leave the plane. Axes are followed to the world at zero coordinates."""
    R_W = {"base": rotation_matrix(leg.frame.rotation)}
    before = "base"
    for i, row in enumerate(leg.table):
        # Khalil-Kleinfinger: Rot(z, gamma) Rot(x, alpha) Rot(z, theta).
        R = compose(compose(about((0, 0, 1), row.gamma), about((1, 0, 0), row.alpha)), about((0, 0, 1), row.theta))
        R_W[row.body] = compose(R_W[row.after or before], R)
        _check_axis(SIGMA[row.sigma], apply(R_W[row.body], (0, 0, 1)), plane, ("table", i, "alpha"), report)
        before = row.body
    for name, joint in leg.joints.items():
        R_from: Matrix = R_W.get(joint.from_, IDENTITY)
        path: Path = ("joints", name)
        if joint.axis is not None:
            _check_axis(joint.type, apply(R_from, unit(joint.axis)), plane, (*path, "axis"), report)
        elif {("R", 0), ("R", 1)} & set(MOTIONS[joint.type]):
            what = f"a {joint.type} joint can leave the plane {plane}"
            report.warn((*path, "type"), what, "In a planar robot a revolute joint says the same.")
        R_W[joint.to] = compose(R_from, rotation_matrix(joint.rotation))


def _check_axis(kind: str, axis: tuple[float, float, float], plane: str, path: Path, report: Reporter) -> None:
    """Report an axis, in the world, at its path of the file, that does not fit the plane."""
    normal = NORMALS[plane]
    along = abs(axis[normal])
    motions = MOTIONS[kind]
    if not motions:
        return
    if motions != (("P", 2),) and along < 1 - _TOLERANCE:  # rotations about the axis, slides at right angles to it
        world = "xyz"[normal]
        report.error(
            path,
            f"a {kind} axis must be normal to the plane {plane}",
            f"It must lie along world {world}.",
        )
    elif motions == (("P", 2),) and along > _TOLERANCE:
        report.error(
            path,
            f"a {kind} axis must lie in the plane {plane}",
            "Remove its component out of it.",
        )
    elif ("P", 2) in motions and len(motions) > 1:
        report.error((*path[:-1], "type"), f"a {kind} joint leaves the plane {plane}", "Use a revolute joint.")
