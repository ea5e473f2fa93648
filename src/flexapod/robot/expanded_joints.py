"""Legs rewritten in the joints that the model supports: driven or sprung closing joints, and legs that begin on another leg.

A closing joint that is driven, sprung, geared or of a type without closing equations of its own becomes a joint of the tree,
whose far frame a fixed joint closes: the joint keeps its name, the fixed one is `name/end`. A leg that begins on a body of
another leg begins on a free frame instead, `name/seat` at the joint, that a fixed joint `name/seat/end` holds to that body.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

import numpy as np

from flexapod.description import schema
from flexapod.description.check_leg import closes
from flexapod.description.joint_types import CUT
from flexapod.robot.geometry import Pose, frame_along, rotation_matrix, snap, unit

END = "/end"
"""Ending of the name of the joint that closes a loop behind a joint of the tree."""
PERPENDICULAR = 1e-9
"""Cosine of the angle between the axes of a universal joint below which they are perpendicular."""
SEAT_END = "/seat/end"
"""Ending of the name of the joint that holds the first frame of a leg to a body of another leg."""


def expanded(
    spec: schema.Leg, first: str | None, where: Callable[[str], Pose], geared: Collection[str] = ()
) -> schema.Leg:  # fmt: skip
    """A leg whose closing joints and roots are as the tree builder takes them.

    Args:
        first: the closing joint whose friction the equations know as it is.
        where: about where a body of another leg is at home, in this leg's base frame.
        geared: joints that couplings name.

    Checked by: tests/robot/test_joint_types.py.
    """
    placed = {"base", *(row.body for row in spec.table)}
    joints = dict[str, schema.Joint]()
    for name, joint in spec.joints.items():
        closing = closes(joint, placed)
        if "." in joint.from_:
            seat = f"{name}/seat"
            joints |= _seat(seat, joint, where(joint.from_))
            joint = joint.model_copy(update={"from_": seat, "at": [0.0, 0.0, 0.0]})
        if closing and (_acts(joint) or name in geared or (name != first and joint.friction is not None)):
            joints |= _split_closing(name, joint)
        else:
            joints[name] = joint
        placed |= {joint.to} | ({joint.cross} if joint.cross else set())
    return spec if joints == spec.joints else spec.model_copy(update={"joints": joints})


def roots(spec: schema.Leg) -> set[str]:
    """Names of the other legs on which a leg begins."""
    return {joint.from_.partition(".")[0] for joint in spec.joints.values() if "." in joint.from_}


def _acts(joint: schema.Joint) -> bool:
    """Whether something acts along the coordinates of a joint, or it has no closing equations of its own."""
    stop = joint.limits is not None and joint.limits.stop
    sprung = joint.stiffness or joint.damping or joint.preload or joint.inertia or stop
    return joint.type not in CUT or joint.actuated or (bool(sprung) and joint.type != "fixed")


def _split_closing(name: str, joint: schema.Joint) -> dict[str, schema.Joint]:
    """A closing joint as a joint of the tree and a fixed one behind it."""
    end, R = f"{name}{END}", rotation_matrix(joint.rotation)
    if joint.axis is not None and joint.rotation is None:  # a rotation that brings the two axes together
        R = snap(frame_along(unit(joint.axis)) @ frame_along(unit(joint.axis_on or joint.axis)).T)
    if joint.type == "universal" and joint.rotation is None:  # R a_2, in axes of `from`, is perpendicular to a_1
        a1, a2 = unit(joint.axis1 or []), unit(joint.axis2 or [])
        R = R if abs(float(a1 @ a2)) < PERPENDICULAR else snap(frame_along(frame_along(a1)[:, 0]) @ frame_along(a2).T)
    inside: dict[str, Any] = {"to": end, "on": [0.0, 0.0, 0.0], "axis_on": None}
    if joint.type != "spherical":
        inside["rotation"] = schema.Rotation.model_validate({"matrix": [[float(x) for x in row] for row in R]})
    fixed = schema.Joint.model_validate({"type": "fixed", "from": "base", "to": "platform", "on": joint.on})
    return {name: joint.model_copy(update=inside), end: fixed.model_copy(update={"from_": end, "to": joint.to})}


def _seat(seat: str, joint: schema.Joint, body: Pose) -> dict[str, schema.Joint]:
    """A free frame about where a joint of a body is, held to it; axes are the body's."""
    free = {
        "type": "free", "from": "base", "to": "platform", "at": [float(x) for x in body.point(np.array(joint.at))],
        "rotation": {"matrix": [[float(x) for x in row] for row in body.rotation]},
    }  # fmt: skip
    fixed = schema.Joint.model_validate({"type": "fixed", "from": "base", "to": "platform", "on": joint.at})
    return {
        seat: schema.Joint.model_validate(free).model_copy(update={"to": seat}),
        f"{seat}/end": fixed.model_copy(update={"from_": seat, "to": joint.from_}),
    }
