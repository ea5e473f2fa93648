"""Links of spherical robots: arcs about the point to which all their hinges point."""

from __future__ import annotations

import numpy as np

import flexapod as fp
from flexapod.arrays import Array
from flexapod.views.scene.frames import link_frames

ARC_PIECES = 12
"""Straight pieces of a curved link."""
MEET = 1e-6
"""Distance of hinge axes from the centre of a spherical robot, of its size, within which they meet there."""


def spherical_centre(robot: fp.Robot) -> Array | None:
    """The point (3,) to which all hinges of a robot point, or None: links of such a robot are arcs about it.

    Checked by: tests/studio/test_studio_drawing.py.
    """
    links = [link for leg in robot.legs for link in leg.links]
    if robot.beams or robot.meshes or robot.planar or any(link.kind == "P" for link in links):
        return None
    frames = [f for own in link_frames(robot, np.concatenate([leg.home for leg in robot.legs])) for f in own]
    frames = [f for f, link in zip(frames, links, strict=True) if link.kind == "R"]
    places, axes = np.array([f.foot for f in frames]), np.array([f.rotation[:, 2] for f in frames])
    across = np.eye(3) - axes[:, :, None] * axes[:, None, :]  # distance from a line: (1 - z z^T) (x - p)
    if np.linalg.cond(across.sum(axis=0)) > 1e6:
        return None
    centre = np.linalg.solve(across.sum(axis=0), np.einsum("nij,nj->i", across, places))
    away = np.linalg.norm(np.einsum("nij,nj->ni", across, centre - places), axis=1)
    apart = np.linalg.norm(places - centre, axis=1)
    return np.asarray(centre) if away.max() < MEET * robot.size < apart.min() else None


def arc(start: Array, end: Array, centre: Array, pieces: int = ARC_PIECES) -> Array:
    """Points (pieces + 1, 3) of an arc about a centre; its radius grows evenly from that of its start to that of its end."""
    a, b = start - centre, end - centre
    r, q = float(np.linalg.norm(a)), float(np.linalg.norm(b))
    s = np.linspace(0.0, 1.0, pieces + 1)[:, None]
    angle = float(np.arccos(np.clip(a @ b / (r * q), -1.0, 1.0))) if r * q > 0.0 else 0.0
    if not 1e-6 < angle < np.pi - 1e-6:
        return np.asarray(start + s * (end - start))
    way = (np.sin((1.0 - s) * angle) * a / r + np.sin(s * angle) * b / q) / np.sin(angle)
    return np.asarray(centre + ((1.0 - s) * r + s * q) * way)
