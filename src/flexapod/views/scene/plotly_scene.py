"""A robot's scene as Plotly meshes: the same rods, pins, balls and plates that the studio draws."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

import flexapod as fp
from flexapod.arrays import Array
from flexapod.views.leg_curves import home_joints, state_joints
from flexapod.views.scene.colours import BASE, DARK, PAYLOAD, PLATE, colour
from flexapod.views.scene.frames import mesh_frame
from flexapod.views.scene.meshes import cylinder, cylinder_placements, plate, sphere
from flexapod.views.scene.shapes import (
    TOOL,
    Drawing,
    Rods,
    drawing,
    extent,
    ground_parts,
    has_shape,
    payload_balls,
    platform_corners,
    platform_rods,
    platform_surface,
)

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from flexapod.views.scene.colours import Shade

Mesh = tuple[Array, NDArray[np.int64], list[str]]
"""Vertices (k, 3), triangles (m, 3), colour of each triangle."""

LIGHT = {"ambient": 0.72, "diffuse": 0.5, "specular": 0.05, "roughness": 0.9}
THICK = 0.014
"""Thickness of platform and base, of the extent."""


def add_robot(figure: go.Figure, robot: fp.Robot, state: fp.State | None = None, exaggerated: float = 1.0) -> None:
    """Add a robot to a three-dimensional figure: one mesh per leg, joints and motors, platform, base.

    Args:
        state: home if left out, flexible legs then straight.
        exaggerated: factor on the deflection of flexible legs.

    Checked by: tests/views/test_robot_scene.py.
    """
    size = extent(robot)
    at = state or fp.State.at_home(robot)
    joints = _joints(robot, at, state is None, exaggerated)
    shown = drawing(robot, joints, platform_corners(robot, at, np.zeros(0)), size, set())
    for k, leg in enumerate(robot.legs):
        own = [_tubes(_of_leg(shown.rods, k)), *_shapes(robot, shown, at, k)]
        own += [_painted(b.vertices, np.vstack([b.walls, b.sections]), colour(k)) for b in shown.beams if b.leg == k]
        _add(figure, _joined(own), f"leg {leg.name}", colour(k), legend=True)
    fixed, outline = ground_parts(robot, size)
    parts = [_tubes(shown.hardware), _tubes(fixed)] + [
        _painted(centre + radius * sphere()[0], sphere()[1], tint)
        for centre, radius, tint in zip(shown.balls, shown.ball_radius, shown.ball_colour, strict=True)
    ]
    _add(figure, _joined(parts), "joints and motors", _hex(DARK))
    if outline is not None:
        _add(figure, _painted(*plate(outline, THICK * size), BASE), "base", BASE)
    _add(figure, _joined([_platform(robot, at, size), *_shapes(robot, shown, at, -1)]), "platform", PLATE, legend=True)


def _joints(robot: fp.Robot, at: fp.State, home: bool, exaggerated: float) -> Array:
    """Joint coordinates (coordinates,) of the picture."""
    if robot.moved_by == "platform":
        return np.asarray(fp.inverse_kinematics(robot, at).joint_position.values)
    return home_joints(robot) if home else state_joints(robot, at, exaggerated)


def _platform(robot: fp.Robot, at: fp.State, size: float) -> Mesh:
    points, _, triangles = platform_surface(robot)
    thick = 0.012 if triangles is None else TOOL
    start, end = platform_rods(robot, at)
    bars = Rods()
    for a, b in zip(start, end, strict=True):
        bars.add(a, b, thick * size, (62, 84, 110))
    parts = [_tubes(bars)]
    for centre, radius in zip(*payload_balls(robot, at), strict=True):
        parts.append(_painted(centre + radius * sphere()[0], sphere()[1], PAYLOAD))
    if triangles is not None and not has_shape(robot):
        world = at.position + points @ at.rotation.T
        flat = not robot.platform_modes
        parts.append(_painted(*(plate(world, THICK * size) if flat else (world, triangles)), PLATE))
    return _joined(parts)


def _shapes(robot: fp.Robot, shown: Drawing, at: fp.State, leg: int) -> list[Mesh]:
    """Meshes from files of a leg's bodies, or of the platform (-1)."""
    found = []
    for mesh in robot.meshes:
        if mesh.leg == leg:
            R, p = mesh_frame(mesh, shown.frames, at)
            found.append(_painted(p + mesh.vertices @ R.T, mesh.faces, PLATE if leg < 0 else colour(leg)))
    return found


def _of_leg(rods: Rods, k: int) -> Rods:
    found = Rods()
    for i in np.flatnonzero(np.array(rods.leg) == k):
        found.add(rods.start[i], rods.end[i], rods.radius[i], rods.colour[i])
    return found


def _tubes(rods: Rods) -> Mesh:
    """Surfaces of rods; those without length or radius are left out."""
    start, end = np.array(rods.start).reshape(-1, 3), np.array(rods.end).reshape(-1, 3)
    quat, middle, scale = cylinder_placements(start, end, np.array(rods.radius))
    R = fp.motions.quat_wxyz_rotation(quat) if len(quat) else np.zeros((0, 3, 3))
    vertices, faces = cylinder()
    long = np.flatnonzero((np.linalg.norm(end - start, axis=1) > 1e-9) & (np.array(rods.radius) > 0.0))
    return _joined([_painted(middle[i] + (vertices * scale[i]) @ R[i].T, faces, rods.colour[i]) for i in long])


def _painted(vertices: Array, faces: NDArray[np.int64], tint: str | Shade) -> Mesh:
    return vertices, faces, [tint if isinstance(tint, str) else _hex(tint)] * len(faces)


def _joined(parts: list[Mesh]) -> Mesh:
    """Several meshes as one."""
    vertices: list[Array] = [np.zeros((0, 3))]
    faces: list[NDArray[np.int64]] = [np.zeros((0, 3), dtype=np.int64)]
    paint: list[str] = []
    count = 0
    for points, triangles, tints in parts:
        vertices.append(points)
        faces.append(triangles + count)
        paint += tints
        count += len(points)
    return np.vstack(vertices), np.vstack(faces), paint


def _add(figure: go.Figure, mesh: Mesh, name: str, shade: str, *, legend: bool = False) -> None:
    vertices, faces, paint = mesh
    if len(faces) == 0:
        return
    figure.add_mesh3d(
        x=vertices[:, 0], y=vertices[:, 1], z=vertices[:, 2], i=faces[:, 0], j=faces[:, 1], k=faces[:, 2], facecolor=paint,
        color=shade, name=name, legendgroup=name, showlegend=legend, hoverinfo="name", lighting=LIGHT, flatshading=True,
    )  # fmt: skip


def _hex(shade: Sequence[float]) -> str:
    return "#" + "".join(f"{int(c):02x}" for c in shade)
