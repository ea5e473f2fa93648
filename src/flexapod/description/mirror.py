r"""The mirror image of a leg, written as a leg of the robot file.

Letters: M reflection in a plane of the world, L that of the coordinates of a body, so that its mirrored frame is right-handed.
Vectors v of a body become L v, rotations L_from R L_to, tensors L I L. The axis of a rotation is a pseudovector: -L a keeps the
sign of its angle. A universal joint with `direction` makes its own axes, of which y is reversed: L = diag(1, -1, 1) behind it.
"""

from __future__ import annotations

from typing import Any

from flexapod.description.joint_types import MOTIONS
from flexapod.description.rotations import rotation_matrix
from flexapod.description.schema import Body, Frame, Joint, Leg, Mesh, Rotation, Tensor

Signs = tuple[float, float, float]

PLANES: dict[str, Signs] = {"xy": (1.0, 1.0, -1.0), "xz": (1.0, -1.0, 1.0), "yz": (-1.0, 1.0, 1.0)}
BEHIND_UNIVERSAL: Signs = (1.0, -1.0, 1.0)


class MirrorError(ValueError):
    """A leg whose mirror image cannot be written."""


def mirrored_leg(data: dict[str, Any], plane: str) -> dict[str, Any]:
    """A complete leg as its mirror image, complete again.

    Args:
        data: the merged leg.
        plane: `xy`, `xz` or `yz`.
    Raises:
        MirrorError: a table, a joint to another leg, or a flexible body that is not its own mirror image.
        ValidationError: the leg itself is wrong.

    Checked by: tests/description/test_leg_copies.py.
    """
    leg, M = Leg.model_validate(data), PLANES[plane]
    if leg.table:
        raise MirrorError("a leg that is given as a table cannot be mirrored")
    signs: dict[str, Signs] = {"base": M}
    joints = {}
    for name, joint in leg.joints.items():
        if "." in joint.to or "." in joint.from_:
            raise MirrorError(f"the joint {name} belongs to a body of another leg, which is not mirrored")
        before = signs.get(joint.from_, M)
        behind = BEHIND_UNIVERSAL if joint.direction is not None else before
        signs.setdefault(joint.to, M if joint.to == "platform" else behind)  # a body that is placed keeps its own
        if joint.cross is not None:
            signs[joint.cross] = BEHIND_UNIVERSAL
        joints[name] = {**data["joints"][name], **_joint(joint, before, signs[joint.to])}
    bodies = {
        name: {**(data["bodies"][name] or {}), **_body(name, body, signs.get(name, M))} for name, body in leg.bodies.items()
    }
    made = {"branch": leg.branch, "joints": joints, "bodies": bodies}
    return made | {"frame": _frame(leg.frame, M), "platform_frame": _frame(leg.platform_frame, M)}


def _times(L: Signs, v: list[float], sign: float = 1.0) -> list[float]:
    return [sign * a * b + 0.0 for a, b in zip(L, v, strict=True)]


def _rotation(rotation: Rotation | None, before: Signs, behind: Signs) -> dict[str, Any]:
    R = rotation_matrix(rotation)
    return {"matrix": [[before[i] * R[i][j] * behind[j] + 0.0 for j in range(3)] for i in range(3)]}


def _frame(frame: Frame, M: Signs) -> dict[str, Any]:
    return {"position": _times(M, frame.position), "rotation": _rotation(frame.rotation, M, M)}


def _joint(joint: Joint, before: Signs, behind: Signs) -> dict[str, Any]:
    """A mirrored joint: places and axes, and the signs of coordinates that the mirror reverses."""
    found: dict[str, Any] = {"at": _times(before, joint.at)}
    given = joint.model_fields_set
    if "on" in given:
        found["on"] = _times(behind, joint.on)
    if joint.type == "screw":
        raise MirrorError("a screw is not its own mirror image: its pitch changes sign")
    motions = MOTIONS[joint.type]
    across = {motion for motion in motions if joint.axis is not None and motion[1] != 2}  # along x, y that follow from `axis`
    if across and across != {("P", 0), ("P", 1)}:
        raise MirrorError(f"a {joint.type} joint cannot be mirrored: its x and y axes follow from `axis`")
    if across and joint.start is not None:
        raise MirrorError(f"a {joint.type} joint with `start` cannot be mirrored")
    sign = -1.0 if ("R", 2) in motions and ("P", 2) not in motions else 1.0
    if joint.axis is not None:
        found["axis"] = _times(before, joint.axis, sign)
    if joint.axis_on is not None:
        found["axis_on"] = _times(behind, joint.axis_on, sign)
    if joint.axis1 is not None:
        found["axis1"] = _times(before, joint.axis1)
    if joint.axis2 is not None:
        found["axis2"] = _times(behind, joint.axis2, -1.0)
    if isinstance(joint.direction, list):
        found["direction"] = _times(before, joint.direction)
    if joint.rotation is not None or (before != behind and joint.type in ("fixed", "prismatic")):
        found["rotation"] = _rotation(joint.rotation, before, behind)
    if joint.start is not None:
        found["start"] = _starts(joint, before)
    return found


def _starts(joint: Joint, before: Signs) -> Any:
    """Coordinates at the start: a rotation about a reflected axis has the other sign."""
    signs = {
        "universal": (-1.0, 1.0),
        "cylindrical": (1.0, -1.0),
        "spherical": tuple(-x for x in before),
        "free": (*before, *(-x for x in before)),
    }.get(joint.type)
    if signs is None:
        return joint.start
    given = joint.start if isinstance(joint.start, list) else [joint.start or 0.0] * len(signs)
    return [a * b + 0.0 for a, b in zip(signs, given, strict=True)]


def _tensor(inertia: Tensor, L: Signs) -> dict[str, float]:
    pairs = {"xy": L[0] * L[1], "xz": L[0] * L[2], "yz": L[1] * L[2]}
    return {key: sign * getattr(inertia, key) for key, sign in pairs.items() if getattr(inertia, key)}


def _body(name: str, body: Body, L: Signs) -> dict[str, Any]:
    if body.flexible is not None and (L[0] < 0 or (body.flexible.section is not None and body.flexible.section.shape == "l")):
        raise MirrorError(f"the flexible body {name} is not its own mirror image")
    found: dict[str, Any] = {}
    if any(body.com):
        found["com"] = _times(L, body.com)
    if "inertia" in body.model_fields_set:
        found["inertia"] = {**body.inertia.model_dump(exclude_unset=True), **_tensor(body.inertia, L)}
    if (k := body.base_parameters) is not None:
        flips = {"XY": L[0] * L[1], "XZ": L[0] * L[2], "YZ": L[1] * L[2], "MX": L[0], "MY": L[1], "MZ": L[2]}
        found["base_parameters"] = {**k.model_dump(exclude_unset=True), **{n: s * getattr(k, n) + 0.0 for n, s in flips.items()}}
    if body.frames:
        found["frames"] = {n: _rotation(r, L, L) for n, r in body.frames.items()}
    if body.points:
        found["points"] = {n: _times(L, p) for n, p in body.points.items()}
    if body.mesh is not None:
        found["mesh"] = _mesh(body.mesh, L)
    if body.payloads:
        found["payloads"] = {
            n: {
                "mass": p.mass, "com": _times(L, p.com), "rotation": _rotation(p.rotation, L, L),
                "inertia": {**p.inertia.model_dump(exclude_unset=True), **_tensor(p.inertia, L)},
            }
            for n, p in body.payloads.items()
        }  # fmt: skip
    return found


def _mesh(mesh: Mesh, L: Signs) -> dict[str, Any]:
    """The shape reflected; one that is a reflection already becomes a plain one, rotated: L R S with S its own reflection."""
    plane = next(name for name, signs in PLANES.items() if signs == L)
    S = L if mesh.mirrored is None else PLANES[mesh.mirrored]
    return {
        **mesh.model_dump(exclude_unset=True), "position": _times(L, mesh.position), "rotation": _rotation(mesh.rotation, L, S),
        "mirrored": plane if mesh.mirrored is None else None,
    }  # fmt: skip
