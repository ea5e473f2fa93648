"""A leg of the robot file as a tree of links with one coordinate each, and its closing joint.

Letters: K is a frame with z along a joint axis, in axes of the `from` body; C are body axes seen from their link frame.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

import numpy as np

from flexapod.arrays import Array
from flexapod.description import schema
from flexapod.description.joint_types import CUT, DRIVEN, MOTIONS
from flexapod.description.schema_flexible import Flexible
from flexapod.errors import RobotBuildError as RobotBuildError
from flexapod.robot.bodies import khalil_body, rigid_body
from flexapod.robot.elastic import add_beam
from flexapod.robot.geometry import Pose, about, frame_along, pose, rotation_matrix, snap, unit
from flexapod.robot.modal_link import add_modal, row_shift
from flexapod.robot.model import Closing, ClosingType, Kind, Link, RigidBody


@dataclass
class TreeBuilder:
    """Collects the links of one leg.

    `placed` maps a body to its link index and body axes; `nodes` maps a flexible body to the places where something may be
    attached: position (of a beam along its line), link, the body's axes placed there, seen from that link. `ends` maps bodies to
    the places where something is attached, `path` is the robot file's.
    """

    leg: str
    base: Pose
    links: list[Link] = field(default_factory=list)
    planar: bool = False
    placed: dict[str, tuple[int, Array]] = field(default_factory=lambda: {"base": (-1, np.eye(3))})
    nodes: dict[str, list[tuple[Array, int, Pose]]] = field(default_factory=dict)
    ends: Mapping[str, Sequence[tuple[float, float, float]]] = field(default_factory=dict)
    path: Path | None = None

    def add(
        self,
        parent: int,
        placement: Pose,
        kind: Kind,
        joint: str,
        part: str = "",
        *,
        body: RigidBody | None = None,
        coordinate: str = "",
        zero: float = 0.0,
        **more: Any,
    ) -> int:
        """Append a link; a placement from the base is brought to the world."""
        self.links.append(
            Link(
                joint=joint,
                coordinate=coordinate or joint + part,
                kind=kind,
                parent=parent,
                placement=self.base @ placement if parent < 0 else placement,
                zero=zero,
                body=body,
                **more,
            )
        )
        return len(self.links) - 1

    def seat(self, body: str, at: Array) -> tuple[int, Pose]:
        """Attachment of something at `at` of a body: link, and the body's axes placed there, seen from the link."""
        if body not in self.nodes:
            link, axes = self.placed[body]
            return link, pose(axes @ at, axes)
        for place, link, seat in self.nodes[body]:
            if float(np.linalg.norm(at - place)) < 1e-9:
                return link, seat
        places = ", ".join(f"{place[0]:g}" for place, _, _ in self.nodes[body])
        raise RobotBuildError(
            f"leg {self.leg}: something is attached to the beam {body} at {at.tolist()}; a beam has nodes at x = {places} only"
        )

    def deform(self, body: str, flexible: Flexible | None, index: int, axes: Array) -> None:
        """Append the elastic links of a flexible body whose root a link carries."""
        if flexible is None:
            return
        if flexible.type == "beam":
            add_beam(self, body, flexible, index, axes, self.planar)
            return
        made, link = add_modal(self, body, flexible, index, axes), self.links[index]
        assert link.body is not None
        self.links[index] = replace(link, body=replace(link.body, rooted=made))


def add_row(tree: TreeBuilder, row: schema.Row, previous: str) -> None:
    """A Khalil-Kleinfinger row: Rz(gamma) Tz(b) Rx(alpha) Tx(d), then Rz(theta) Tz(r)."""
    z, shift = np.eye(3)[2], row_shift(row)
    parent, seat = tree.seat(row.after or previous, shift.position)
    placement = seat @ pose(rotation=shift.rotation)
    kinds: tuple[Kind, ...] = ("R", "P", "fixed")
    kind = kinds[row.sigma]
    if kind != "P":
        placement = placement @ pose(row.r * z)
    if kind != "R":
        placement = placement @ pose(rotation=about(z, row.theta))
    body = replace(khalil_body(row.body, row.inertial, {n: np.array(p) for n, p in row.points.items()}), flexible=row.flexible)
    index = tree.add(
        parent,
        placement,
        kind,
        f"q{row.body}",
        body=body,
        zero={"R": row.theta, "P": row.r, "fixed": 0.0}[kind],
        actuated=row.mu == 1,
        inertia=row.IA,
        start=row.start,
        limits=row.limits,
        friction=row.friction,
        from_table=True,
        **spring_of(row),
    )
    index = _behind_spring(tree, index)
    tree.placed[row.body] = (index, np.eye(3))
    tree.deform(row.body, row.flexible, index, np.eye(3))


def add_joint(tree: TreeBuilder, name: str, joint: schema.Joint, bodies: dict[str, schema.Body]) -> None:
    """A joint of the file as links with one coordinate each; its `to` body moves with the last."""
    parent, seat = tree.seat(joint.from_, np.array(joint.at))
    R_ft = rotation_matrix(joint.rotation)
    starts = joint.start if isinstance(joint.start, list) else [joint.start] * 6
    shared: dict[str, Any] = {"limits": joint.limits, "friction": joint.friction, **spring_of(joint)}

    def body(K: Array) -> RigidBody | None:
        return rigid_body(joint.to, bodies[joint.to], snap(K.T @ R_ft)) if joint.to in bodies else None

    def finish(index: int, K: Array) -> None:
        tree.placed[joint.to] = (index, snap(K.T @ R_ft))
        tree.deform(joint.to, bodies[joint.to].flexible if joint.to in bodies else None, index, snap(K.T @ R_ft))

    if joint.type == "universal":
        a, axis2, n0, R_ft = _universal_axes(tree.leg, name, joint, R_ft)
        K1 = np.column_stack([axis2, snap(np.cross(a, axis2)), a])
        K2 = np.column_stack([n0, snap(np.cross(axis2, n0)), axis2])
        cross_axes = snap(K1.T @ np.column_stack([a, axis2, np.cross(a, axis2)]))
        cross = rigid_body(joint.cross, bodies[joint.cross], cross_axes) if joint.cross else None
        first = tree.add(parent, seat @ pose(rotation=K1), "R", name, ".1", body=cross, start=starts[0], **shared)
        if joint.cross:
            tree.placed[joint.cross] = (first, cross_axes)
        second = tree.add(first, pose(rotation=snap(K1.T @ K2)), "R", name, ".2", body=body(K2), start=starts[1], **shared)
        finish(second, K2)
        return
    steps = MOTIONS[joint.type]
    if not steps:
        finish(tree.add(parent, seat @ pose(rotation=R_ft), "fixed", name, body=body(R_ft), **shared), R_ft)
        return
    base = np.eye(3) if joint.axis is None else frame_along(unit(joint.axis))
    drive: dict[str, Any] = {"actuated": joint.actuated, "inertia": joint.inertia, "zero": joint.zero}
    index, K_before = parent, np.eye(3)
    for i, (kind, axis) in enumerate(steps):
        K = base if axis == 2 else frame_along(base[:, axis])
        placement = seat @ pose(rotation=K) if i == 0 else pose(rotation=snap(K_before.T @ K))
        part, last = f".{i + 1}" if len(steps) > 1 else "", i == len(steps) - 1
        own = shared | drive if i == 0 and joint.type in (*DRIVEN, "cylindrical") else shared
        if joint.type == "screw" and i == 1:  # what acts on a screw acts on its rotation
            own = {"pitch": joint.pitch}
        index = tree.add(index, placement, kind, name, part, body=body(K) if last else None, start=starts[i], **own)
        K_before = K
    finish(_behind_spring(tree, index) if len(steps) == 1 else index, K_before)


def spring_of(part: schema.Joint | schema.Row) -> dict[str, Any]:
    """Spring, damper and bump stops of a joint as arguments of a link; a fixed joint has none."""
    stop = (part.limits.stop or 0.0) if part.limits is not None else 0.0
    rest, preload = (part.rest, part.preload) if isinstance(part, schema.Joint) else (None, 0.0)
    if (part.stiffness is None and part.damping is None and not stop and not preload) or _is_fixed(part):
        return {}
    given = {"spring": True, "stiffness": part.stiffness or 0.0, "damping": part.damping or 0.0}
    return given | {"rest": rest, "preload": preload, "stop": stop}


def _is_fixed(part: schema.Joint | schema.Row) -> bool:
    return part.sigma == 2 if isinstance(part, schema.Row) else part.type == "fixed"


def _behind_spring(tree: TreeBuilder, index: int) -> int:
    """The link that carries the body: an actuator with stiffness drives it through a spring, an elastic link of the same axis."""
    link = tree.links[index]
    if not (link.actuated and link.spring and link.stiffness):
        return index
    tree.links[index] = replace(link, body=None, spring=link.stop > 0.0, stiffness=0.0, damping=0.0, rest=None, preload=0.0)
    return tree.add(
        index, pose(), link.kind, link.joint, ".s", body=link.body, elastic=True, from_table=link.from_table,
        spring=True, stiffness=link.stiffness, damping=link.damping, preload=link.preload,
    )  # fmt: skip


def _universal_axes(leg: str, name: str, joint: schema.Joint, R_ft: Array) -> tuple[Array, Array, Array, Array]:
    """First axis, second axis, zero direction and zero axes of the `to` body, in axes of the `from` body."""
    a = unit(joint.axis1 or [])
    if joint.direction is not None:
        if isinstance(joint.direction, str):
            raise RobotBuildError(f"leg {leg}, joint {name}: direction `home` was not resolved")
        n0 = unit(joint.direction)
        axis2 = np.cross(n0, a)
        if np.linalg.norm(axis2) < 1e-9:
            raise RobotBuildError(f"leg {leg}, joint {name}: axis1 is parallel to the leg at home; choose another axis1")
        axis2 = unit(axis2)
        return a, axis2, n0, np.column_stack([snap(np.cross(axis2, n0)), axis2, n0]) @ R_ft
    axis2 = unit(R_ft @ unit(joint.axis2 or []))
    if abs(float(axis2 @ a)) > 1e-9:
        raise RobotBuildError(f"leg {leg}, joint {name}: axis1 and axis2 must be perpendicular")
    return a, axis2, a, R_ft


def closing_joint(tree: TreeBuilder, name: str, joint: schema.Joint, platform_frame: Pose) -> Closing:
    """The joint to the platform, cut into its two halves."""
    link, seat = tree.seat(joint.from_, np.array(joint.at))
    R_ft = rotation_matrix(joint.rotation)
    if joint.type == "universal":
        K_link, K_platform = frame_along(unit(joint.axis1 or [])), frame_along(unit(joint.axis2 or []))
    elif joint.type in ("spherical", "fixed"):
        K_link, K_platform = R_ft, np.eye(3)
    else:
        K_link = frame_along(unit(joint.axis or []))
        K_platform = frame_along(unit(joint.axis_on or joint.axis or []))
        if joint.type == "prismatic":
            K_platform = snap(R_ft.T @ K_link)
    seat = seat @ pose(rotation=K_link)
    assert joint.type in CUT, joint.type
    return Closing(
        joint=name,
        type=cast(ClosingType, joint.type),
        link=link,
        on_link=tree.base @ seat if link < 0 else seat,
        on_platform=platform_frame @ pose(joint.on, K_platform),
        limits=joint.limits,
        friction=joint.friction,
    )
