"""Plates and files of modes as links of a leg: reduced to the displacements of what is attached to them, written as links.

A branch of elastic links leads from the root to every place where something is attached; modes with these places held are links
that carry nothing. So a body of any source is one more element (`beams`), of as many coordinates.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from flexapod.arrays import Array
from flexapod.description import schema
from flexapod.description.schema_flexible import Flexible, Reduction
from flexapod.errors import FlexapodError, RobotBuildError
from flexapod.flexible.body_from_root import RootedBody, rooted_body
from flexapod.robot.elastic import SPATIAL
from flexapod.robot.flexible_platform import SAME_POINT, damped, made_modal
from flexapod.robot.geometry import Pose, about, frame_along, pose, snap

if TYPE_CHECKING:
    from flexapod.robot.leg_tree import TreeBuilder

INNER = 4
"""Modes of a plate with its root and tips held, unless the file says otherwise."""

Place = tuple[float, float, float]


def row_shift(row: schema.Row) -> Pose:
    """The fixed part of a Khalil-Kleinfinger row: Rz(gamma) Tz(b) Rx(alpha) Tx(d)."""
    x, z = np.eye(3)[0], np.eye(3)[2]
    return pose(row.b * z, about(z, row.gamma)) @ pose(rotation=about(x, row.alpha)) @ pose(row.d * x)


def place_of(at: Sequence[float] | Array) -> Place:
    """A place as a key: three plain numbers."""
    x, y, z = (float(v) for v in at)
    return x, y, z


def _foot(spec: Flexible, end: Place) -> Place:
    """Place where something is attached: on a plate at its middle plane, from which a rigid arm leads up."""
    return (end[0], end[1], 0.0) if spec.type == "plate" else end


def modal_link(spec: Flexible, ends: Sequence[Place], path: Path | None, planar: bool) -> RootedBody:
    """The body that a file's words describe, its root at its origin, its tips at the given places.

    Raises:
        FlexibleBodyError, RobotBuildError: it cannot be made, or has no interface there.

    Checked by: tests/robot/test_modal_links.py.
    """
    feet = tuple(p for p in dict.fromkeys(_foot(spec, end) for end in ends) if np.linalg.norm(p) > SAME_POINT)
    if spec.type == "modes":  # the file may change
        return _reduced(spec, feet, path, planar)
    return _plate(spec.model_dump_json(), feet, planar)


@lru_cache(maxsize=64)
def _plate(words: str, ends: tuple[Place, ...], planar: bool) -> RootedBody:
    return _reduced(plate_link(Flexible.model_validate_json(words)), ends, None, planar)


def plate_link(spec: Flexible) -> Flexible:
    """Keys of a plate that is a link, completed by the defaults."""
    reduction = spec.reduction or Reduction()
    if reduction.method is None:
        reduction = Reduction(method="craig-bampton", boundary=reduction.boundary)
    return spec.model_copy(update={"reduction": reduction, "modes": INNER if spec.modes is None else spec.modes})


def held_places(ends: Sequence[Place] | Array) -> dict[str, Array]:
    """Interfaces of a link: its root, and its tips."""
    return {"root": np.zeros(3), **{f"tip {k + 1}": np.array(p) for k, p in enumerate(ends)}}


def _reduced(spec: Flexible, ends: tuple[Place, ...], path: Path | None, planar: bool) -> RootedBody:
    wanted = held_places(ends)
    made = made_modal(spec, wanted, path, {}, root="root")
    names = {}
    for key, place in wanted.items():
        found = [n for n, point in made.interfaces.items() if float(np.linalg.norm(point.r0 - place)) < SAME_POINT]
        if not found:
            what = "its root" if key == "root" else "a joint"
            places = ", ".join(str(np.round(point.r0, 6).tolist()) for point in made.interfaces.values())
            raise RobotBuildError(f"it has no interface at {place.tolist()} m, where {what} is; its interfaces are at {places}")
        names[key] = found[0]
    result = rooted_body(made, names.pop("root"), list(names.values()), planar=planar)
    return replace(result, body=damped(result.body, spec), places=np.array(ends).reshape(-1, 3))


def add_modal(tree: TreeBuilder, name: str, spec: Flexible, root: int, axes: Array) -> RootedBody:
    """Append the elastic links of a modal body and note where its interfaces are.

    Args:
        name: of the body; coordinates are `name.w`, `name.2.w` at the second tip, `name.mode1`.
        root: link that carries its root.
        axes: (3, 3) body axes seen from that link.
    """
    try:
        made = modal_link(spec, tree.ends.get(name, ()), tree.path, tree.planar)
    except FlexapodError as error:
        raise RobotBuildError(f"leg {tree.leg}, body {name}: {error}") from error
    motions = {key: (kind, axis) for key, kind, axis in SPATIAL}
    nodes, feet = [(np.zeros(3), root, pose(rotation=axes))], dict[Place, tuple[int, Array]]()
    names = iter(made.body.names)
    for place, components in zip(made.places, made.components, strict=True):
        parent, K_before, step = root, axes.T, np.array(place)
        if not components:
            parent, K_before = tree.add(root, pose(axes @ step), "fixed", name, body=None), axes.T
        for key in components:
            kind, axis = motions[key]
            K = frame_along(np.eye(3)[axis])
            placement = pose(K_before.T @ step, snap(K_before.T @ K))
            parent = tree.add(parent, placement, kind, name, body=None, elastic=True, coordinate=f"{name}.{next(names)}")
            K_before, step = K, np.zeros(3)
        feet[place_of(place)] = parent, K_before.T
    for end in tree.ends.get(name, ()):
        foot = _foot(spec, end)
        parent, own = feet.get(foot, (root, axes))
        nodes.append((np.array(end), parent, pose(own @ (np.array(end) - foot), own)))
    for inner in names:
        tree.add(root, pose(rotation=axes), "P", name, body=None, elastic=True, coordinate=f"{name}.{inner}")
    tree.nodes[name] = nodes
    return made
