"""The numbers of a robot by name, as kernels read them: geometry, inertial data, offsets.

Names are paths of the resolved robot (`legs.A.U.x`, `legs.A.cylinder.mass`, `platform.inertia.xx`), not of the file: a
kernel declares which it reads, and the robot hands them over. Inertial data is about the frame origin. What is rounding
of zero at the scale of its kind is zero (`geometry.tidy`), so that structure does not depend on the processor.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from flexapod.arrays import Array
from flexapod.robot.architecture import closed_form, leg_frame, reach, roots
from flexapod.robot.beams import beam_values
from flexapod.robot.flexible_platform import flexible_values
from flexapod.robot.geometry import tidy
from flexapod.robot.leg_positions import link_poses
from flexapod.robot.link_plan import link_mode
from flexapod.robot.model import Closing, Leg, Link, RigidBody
from flexapod.robot.plan import working_mode

if TYPE_CHECKING:
    from flexapod.robot.robot import Robot

XYZ = "xyz"
SYMMETRIC = (("xx", 0, 0), ("yy", 1, 1), ("zz", 2, 2), ("xy", 0, 1), ("xz", 0, 2), ("yz", 1, 2))


def robot_values(robot: Robot) -> dict[str, float]:
    """Every number a kernel may read."""
    result: dict[str, float] = {}
    size = robot.size
    result["characteristic_length"] = robot.characteristic_length
    _vector(result, "gravity", robot.gravity, float(np.abs(robot.gravity).max()))
    _body(result, "platform", robot.platform, size)
    for leg, plan in zip(robot.legs, robot.plan.legs, strict=True):
        _chain(result, leg, size)
        result[f"legs.{leg.name}.mode"] = float(working_mode(leg, plan, robot.home, robot.characteristic_length))
        if leg.architecture == "general":
            result.update({f"legs.{leg.name}.{name}": value for name, value in _branch(robot, leg).items()})
        _friction(result, leg)
        if leg.architecture != "general":
            _closed_form(result, leg, size)
    for leg in robot.legs:
        result.update(beam_values(leg, robot.beams.get(leg.name, ())))
    for coupling in (c for leg in robot.legs for c in leg.couplings):
        result[f"couplings.{coupling.name}.home"] = coupling.home
        for k, (_, _, factor) in enumerate(coupling.terms):
            result[f"couplings.{coupling.name}.{k}"] = factor
    for force in robot.forces:
        for key in ("stiffness", "length", "damping", "preload"):
            result[f"forces.{force.name}.{key}"] = float(getattr(force, key))
        _vector(result, f"forces.{force.name}.from.p", force.first.at, size)
        _vector(result, f"forces.{force.name}.to.p", force.second.at, size)
    if robot.flexible_platform is not None:
        result.update(flexible_values(robot.flexible_platform, robot.joint_shapes, robot.joint_rotations, robot.joint_curving))
    return result


def _branch(robot: Robot, leg: Leg) -> dict[str, float]:
    """Values that distinguishes the branches of a leg without a closed form: roots of its reach, or the sign of its rows."""
    found: dict[str, float] = {}
    if reach(leg) != "general":
        found = dict(zip(("root", "fold"), map(float, roots(leg)), strict=True))
    if reach(leg) in ("PSR", "RSR"):  # whether the axes of the hinge's halves point the same way
        on_link = link_poses(leg, leg.home)[leg.closing.link][0] @ leg.closing.on_link.rotation[:, 2]
        found["spin"] = float(np.sign(on_link @ robot.home.rotation @ leg.closing.on_platform.rotation[:, 2]))
    if robot.no_link_plan is None:
        found["link_mode"] = float(link_mode(robot, leg))
    return found


def _vector(result: dict[str, float], name: str, values: Array, scale: float = 1.0) -> None:
    for letter, value in zip(XYZ, tidy(values, scale), strict=True):
        result[f"{name}.{letter}"] = float(value)


def _matrix(result: dict[str, float], name: str, values: Array) -> None:
    for i, row in enumerate(XYZ):
        _vector(result, f"{name}.{row}", values[i])
        for column in XYZ:
            result[f"{name}.{row}{column}"] = result.pop(f"{name}.{row}.{column}")


def _body(result: dict[str, float], name: str, body: RigidBody | None, size: float) -> None:
    """Inertial data of a body; rounding of its moments is judged against the largest of their order that it has or could have."""
    if body is None:
        return
    second = float(np.abs(np.diag(body.inertia)).max())
    first = max(float(np.abs(body.first_moment).max()), float(np.sqrt(abs(body.mass) * second)))
    result[f"{name}.mass"] = body.mass
    _vector(result, f"{name}.first_moment", body.first_moment, first)
    inertia = tidy(body.inertia, second)
    for key, i, j in SYMMETRIC:
        result[f"{name}.inertia.{key}"] = float(inertia[i, j])
    _matrix(result, f"{name}.axes", body.body_axes)
    for point, p in body.points.items():
        _vector(result, f"{name}.points.{point}", p, size)


def _chain(result: dict[str, float], leg: Leg, size: float) -> None:
    """The general chain: placements, offsets, rotor inertias, closing joint."""
    base = f"legs.{leg.name}"
    for link in leg.links:
        name = f"{base}.{link.coordinate}"
        _vector(result, f"{name}.p", link.placement.position, size)
        _matrix(result, f"{name}.R", link.placement.rotation)
        result[f"{name}.zero"] = _number(link.zero, link, size)
        result[f"{name}.rotor"] = link.inertia
        _body(result, f"{name}.body", link.body, size)
    for closing in leg.closings:
        for side, half in (("link", closing.on_link), ("platform", closing.on_platform)):
            _vector(result, f"{base}.{closing.joint}.on_{side}.p", half.position, size)
            _matrix(result, f"{base}.{closing.joint}.on_{side}.R", half.rotation)
    for i, value in enumerate(leg.home):
        link = leg.links[leg.moving[i]]
        home = _number(value, link, size)
        result[f"{base}.{link.coordinate}.home"] = home
        if link.spring:
            rest = home if link.rest is None else link.rest
            spring = {"rest": rest, "stiffness": link.stiffness, "damping": link.damping, "preload": link.preload}
            if link.stop and link.limits is not None and link.limits.stroke is not None:
                low, high = link.limits.stroke
                spring |= {"stop": link.stop, "low": low, "high": high}
            result.update({f"{base}.{link.coordinate}.{key}": number for key, number in spring.items()})


def _number(value: float, link: Link, size: float) -> float:
    """A coordinate of a link: an angle, or a length of the robot."""
    return float(tidy(np.array(value), size if link.kind == "P" else 1.0))


def _closed_form(result: dict[str, float], leg: Leg, size: float) -> None:
    """Geometry of a closed-form leg; its bodies in the cross frame C and the leg frame L."""
    base, form = f"legs.{leg.name}", closed_form(leg)
    for key, scale in (("U", size), ("axis1", 1.0), ("drive", 1.0), ("pivot", size), ("S", size), ("y0", 1.0), ("n0", 1.0)):
        _vector(result, f"{base}.{key}", getattr(form, key), scale)
    result[f"{base}.length"] = form.length
    result[f"{base}.zero"] = next(_number(link.zero, link, size) for link in leg.links if link.actuated)
    result[f"{base}.tip"] = float(leg.closing.on_link.position[2]) if leg.architecture == "UPS" else 0.0
    _body(result, f"{base}.in_C.0", form.cross, size)
    _body(result, f"{base}.carrier", form.carrier, size)
    for i, body in enumerate(form.bodies):
        _body(result, f"{base}.in_L.{i}", body, size)


def _friction(result: dict[str, float], leg: Leg) -> None:
    """Friction by joint: its coefficients, `speed` where the file has one, and the axes u, v of a guide."""
    poses = link_poses(leg, leg.home)
    parts: list[Link | Closing] = [*leg.links, leg.closing]
    for part in parts:
        if part.friction is None:
            continue
        for key, number in part.friction.numbers().items():
            result[f"legs.{leg.name}.{part.joint}.friction.{key}"] = number
    for link, (R, _) in zip(leg.links, poses, strict=True):
        if link.friction is not None and link.kind == "P":
            _guide(result, f"legs.{leg.name}.{link.joint}.friction.guide", guide_axes(R[:, 2]), R)
    if leg.closing.friction is not None and leg.closing.type == "prismatic":
        R = poses[leg.closing.link][0] @ leg.closing.on_link.rotation
        _guide(result, f"legs.{leg.name}.{leg.closing.joint}.friction.guide", guide_axes(R[:, 2]), R)
    if leg.architecture == "UPS" and leg.links[2].friction is not None:
        n = poses[2][0][:, 2]
        R_WL = leg_frame(n, poses[0][0][:, 2], closed_form(leg).sign)
        _guide(result, f"legs.{leg.name}.{leg.links[2].joint}.friction.leg_guide", guide_axes(n), R_WL)


def guide_axes(a: Array) -> tuple[Array, Array]:
    """Axes u, v of a guide along a: v horizontal, v = a x z / |a x z| (x instead of z for a vertical guide), u = a x v."""
    across = np.cross(a, [0.0, 0.0, 1.0])
    if np.linalg.norm(across) < 1e-9:
        across = np.cross(a, [1.0, 0.0, 0.0])
    v = across / np.linalg.norm(across)
    return np.cross(a, v), v


def _guide(result: dict[str, float], name: str, axes: tuple[Array, Array], R: Array) -> None:
    """Guide axes at home, written in axes that move with the guide."""
    for letter, axis in zip("uv", axes, strict=True):
        _vector(result, f"{name}_{letter}", R.T @ axis)
