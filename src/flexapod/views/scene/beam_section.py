"""Beams drawn with their section, swept along the deflected line; cut open in the middle to show the section.

A section is given by its closed outlines (the outer one first, that of a hole after it) and by cells that fill its area; y and z
in beam axes from the centroid [m].
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

import flexapod as fp
from flexapod.arrays import Array
from flexapod.views.scene.beam_curve import PIECES, beam_curve
from flexapod.views.scene.frames import LinkFrame

if TYPE_CHECKING:
    from flexapod.views.scene.parts import Beam

Faces = NDArray[np.int64]

ROUND = 20
"""Corners of a circle."""
THIN = 0.6
"""Least thickness of a strip as drawn, of the least size of a section."""
GAP = (0.42, 0.58)
"""Part left out of a beam that is cut open, from 0 (root) to 1 (tip)."""
Sizes = Callable[[float], Mapping[str, float]]
"""Place from 0 (root) to 1 (tip) -> sizes of the section [m] by name."""


@dataclass(frozen=True, kw_only=True, eq=False)
class BeamSurface:
    """A beam in the world: walls and section faces as triangles of its vertices (k, 3) [m].

    Args:
        leg: index of its leg.
        walls, sections: (m, 3) triangles along the beam, and across it at its ends and where it is cut open.
    """

    leg: int
    vertices: Array
    walls: Faces
    sections: Faces


def beam_surfaces(
    robot: fp.Robot, frames: list[list[LinkFrame]], rest: list[list[LinkFrame]], least: float, *, opened: bool = False
) -> list[BeamSurface]:
    """Surfaces of all beams; plates and files of modes are no beams.

    Args:
        frames, rest: of the links, as they are and without deformation.
        least: size of a section [m] below which it is drawn larger, in proportion.
        opened: leave out a piece in the middle.

    Checked by: tests/views/test_beam_section.py.
    """
    found = []
    for k, leg in enumerate(robot.legs):
        elements = [element for element in robot.beams.get(leg.name, ()) if element.rooted is None]
        for body, own in itertools.groupby(elements, key=lambda element: element.name.rsplit(".", 1)[0]):
            spec = next(link.body.flexible for link in leg.links if link.body is not None and link.body.name == body)
            swept = [_swept_line(element, frames[k], rest[k]) for element in own]
            assert spec is not None
            assert spec.section is not None
            found.append(_surface(k, spec.section.shape, spec.sizes_at, swept, least, opened))
    return found


def _surface(leg: int, shape: str, sizes: Sizes, swept: list[tuple[Array, Array]], least: float, opened: bool) -> BeamSurface:
    """The surface along the lines of a beam's elements and the axes of their sections (`_swept_line`)."""
    lines, axes = zip(*swept, strict=True)
    line, rotation = np.vstack([lines[0], *[x[1:] for x in lines[1:]]]), np.vstack([axes[0], *[x[1:] for x in axes[1:]]])
    place = np.linspace(0.0, 1.0, len(line))
    kept = [place <= GAP[0], place >= GAP[1]] if opened else [np.ones(len(line), dtype=bool)]
    vertices, walls, sections, count = [np.zeros((0, 3))], [], [], 0
    for part in kept:
        points, along, across = _sweep(shape, sizes, line[part], rotation[part], place[part], least)
        vertices.append(points)
        walls.append(along + count)
        sections.append(across + count)
        count += len(points)
    return BeamSurface(leg=leg, vertices=np.vstack(vertices), walls=np.vstack(walls), sections=np.vstack(sections))


def _swept_line(element: Beam, bent: list[LinkFrame], rest: list[LinkFrame]) -> tuple[Array, Array]:
    """Points (p, 3) of an element's line and axes y, z (p, 2, 3) of its section there, across the line."""
    line, root, tip = beam_curve(bent, rest, element, element.tip), element.root, element.tip
    start = bent[root].rotation @ element.axes
    end = bent[tip].rotation @ rest[tip].rotation.T @ rest[root].rotation @ element.axes
    part = np.linspace(0.0, 1.0, PIECES + 1)[:, None]
    x = np.gradient(line, axis=0)
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    y = (1.0 - part) * start[:, 1] + part * end[:, 1]
    y -= np.sum(x * y, axis=1, keepdims=True) * x
    y /= np.linalg.norm(y, axis=1, keepdims=True)
    return line, np.stack([y, np.cross(x, y)], axis=1)


def _sweep(shape: str, sizes: Sizes, line: Array, axes: Array, place: Array, least: float) -> tuple[Array, Faces, Faces]:
    """Vertices, triangles along the line, triangles of both end faces."""
    cuts = [section_shape(shape, sizes(float(s)), least) for s in place]
    vertices, walls, sections, count = [], [], [], 0
    for k in range(len(cuts[0][0])):
        rings = np.array([cut[0][k] for cut in cuts])  # (p, corners, 2)
        points = line[:, None] + np.einsum("pci,pij->pcj", rings, axes)
        corners = rings.shape[1]
        i = np.arange(corners)
        j = (i + 1) % corners
        for row in range(len(line) - 1):
            a, b = count + row * corners, count + (row + 1) * corners
            quad = [np.column_stack([a + i, a + j, b + j]), np.column_stack([a + i, b + j, b + i])]
            walls += [q if k == 0 else q[:, ::-1] for q in quad]  # a hole is seen from inside
        vertices.append(points.reshape(-1, 3))
        count += points.shape[0] * corners
    for end, inwards in ((0, True), (-1, False)):
        cells = cuts[end][1]
        vertices.append((line[end] + cells.reshape(-1, 2) @ axes[end]).reshape(-1, 3))
        fan = np.array([[4 * n + a, 4 * n + b, 4 * n + c] for n in range(len(cells)) for a, b, c in ((0, 1, 2), (0, 2, 3))])
        sections.append(count + (fan[:, ::-1] if inwards else fan))
        count += 4 * len(cells)
    return np.vstack(vertices), np.vstack(walls), np.vstack(sections)


def section_shape(shape: str, sizes: Mapping[str, float], least: float = 0.0) -> tuple[list[Array], Array]:
    """Outlines [(corners, 2), ...], counter-clockwise, and cells (n, 4, 2) of a section by the words of the file.

    A general section is drawn as the rectangle of its farthest fibres, or, where these are not given, of its area moments.
    """
    if shape == "tube":
        outlines = [_circle(sizes["outer"])] + ([_circle(sizes["inner"])] if sizes.get("inner") else [])
        inside = outlines[1] if len(outlines) > 1 else np.zeros((ROUND, 2))
        return _scaled(outlines, _ring(outlines[0], inside), least)
    w, h = _width_height(shape, sizes)
    if shape in ("rectangle", "general"):
        return _scaled([_box(w, h)], _box(w, h)[None], least)
    if shape == "box":
        outlines = [_box(w, h), _box(w - 2.0 * sizes["wall"], h - 2.0 * sizes["wall"])]
        return _scaled(outlines, _ring(*outlines), least)
    outline, cells = _open_section(shape, w, h, sizes)
    middle, rotation = _centroid(cells), np.eye(2)
    if shape == "l":
        rotation = _principal(cells, middle)
    return _scaled([(outline - middle) @ rotation], (cells - middle) @ rotation, least)


def _width_height(shape: str, sizes: Mapping[str, float]) -> tuple[float, float]:
    if shape != "general":
        return sizes["width"], sizes["height"]
    if "fibre_y" in sizes and "fibre_z" in sizes:
        return 2.0 * sizes["fibre_y"], 2.0 * sizes["fibre_z"]
    return float(np.sqrt(12.0 * sizes["iz"] / sizes["area"])), float(np.sqrt(12.0 * sizes["iy"] / sizes["area"]))


def _open_section(shape: str, w: float, h: float, sizes: Mapping[str, float]) -> tuple[Array, Array]:
    """Outline and cells of I, T and L sections, from any origin."""
    if shape == "l":
        t = sizes["wall"]
        outline = np.array([[0, 0], [w, 0], [w, t], [t, t], [t, h], [0, h]], dtype=np.float64)
        return outline, np.array([_box(w, t, w / 2, t / 2), _box(t, h - t, t / 2, t + (h - t) / 2)])
    f, t = sizes["flange"], sizes["web"]
    top = [[t / 2, h - f], [w / 2, h - f], [w / 2, h], [-w / 2, h], [-w / 2, h - f], [-t / 2, h - f]]
    if shape == "t":
        foot, low, cells = [[-t / 2, 0.0], [t / 2, 0.0]], 0.0, []
    else:
        foot = [[-t / 2, f], [-w / 2, f], [-w / 2, 0.0], [w / 2, 0.0], [w / 2, f], [t / 2, f]]
        low, cells = f, [_box(w, f, 0.0, f / 2)]
    cells += [_box(t, h - f - low, 0.0, 0.5 * (h - f + low)), _box(w, f, 0.0, h - f / 2)]
    return np.array(foot + top), np.array(cells)


def _box(w: float, h: float, y: float = 0.0, z: float = 0.0) -> Array:
    """Corners of a rectangle about a place."""
    return np.asarray(0.5 * np.array([[-w, -h], [w, -h], [w, h], [-w, h]]) + np.array([y, z]))


def _circle(diameter: float) -> Array:
    angle = np.linspace(0.0, 2.0 * np.pi, ROUND, endpoint=False)
    return 0.5 * diameter * np.column_stack([np.cos(angle), np.sin(angle)])


def _ring(outer: Array, inner: Array) -> Array:
    """Cells between two outlines of as many corners."""
    after = np.roll(outer, -1, axis=0), np.roll(inner, -1, axis=0)
    return np.stack([outer, after[0], after[1], inner], axis=1)


def _areas(cells: Array) -> Array:
    """Areas of rectangles (n, 4, 2)."""
    sides = cells[:, 2] - cells[:, 0]
    return np.asarray(sides[:, 0] * sides[:, 1])


def _centroid(cells: Array) -> Array:
    return np.asarray(np.average(cells.mean(axis=1), axis=0, weights=_areas(cells)))


def _principal(cells: Array, middle: Array) -> Array:
    """Principal axes (2, 2) as columns, y with the smaller integral of its square first, as `outer_points` has them."""
    sides, from_middle = cells[:, 2] - cells[:, 0], cells.mean(axis=1) - middle
    own = np.array([np.diag(side**2 / 12.0) for side in sides])
    moments = np.einsum("n,nij->ij", _areas(cells), own + from_middle[:, :, None] * from_middle[:, None, :])
    axes = np.linalg.eigh(moments)[1]
    return np.asarray(axes * [1.0, np.sign(np.linalg.det(axes))])


def _scaled(outlines: list[Array], cells: Array, least: float) -> tuple[list[Array], Array]:
    """A section that is too small to be seen, larger in proportion, and a strip that is too thin, thicker."""
    sides = np.ptp(outlines[0], axis=0)
    factor = np.full(2, max(1.0, least / float(sides.max())))
    factor = np.maximum(factor, THIN * least / sides)
    return [factor * outline for outline in outlines], factor * cells
