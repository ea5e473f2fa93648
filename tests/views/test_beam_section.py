"""Beams drawn with their sections: areas and moments of what is drawn, walls that close, holes that are open."""

from typing import Any

import numpy as np
import pytest

import flexapod as fp
from flexapod.flexible import Section
from flexapod.views.leg_curves import home_joints
from flexapod.views.scene.beam_section import ROUND, section_shape
from flexapod.views.scene.plotly_scene import add_robot
from flexapod.views.scene.shapes import drawing, extent, platform_corners

SECTIONS: dict[str, dict[str, float]] = {
    "rectangle": {"width": 0.02, "height": 0.05},
    "box": {"width": 0.04, "height": 0.06, "wall": 0.004},
    "tube": {"outer": 0.04, "inner": 0.03},
    "i": {"width": 0.05, "height": 0.08, "flange": 0.006, "web": 0.004},
    "t": {"width": 0.05, "height": 0.06, "flange": 0.006, "web": 0.004},
    "l": {"width": 0.04, "height": 0.07, "wall": 0.005},
    "general": {"area": 1e-3, "iy": 0.02 * 0.05**3 / 12.0, "iz": 0.05 * 0.02**3 / 12.0},
}
BEAMS = ["delta-flexible", "dualemps", "gough-stewart-flexible-legs", "planar-3-rrr-flexible"]
ROUNDING = 1e-9
"""Relative, and [m]: sums over a few cells."""
CORNERS = 0.05
"""Relative: a circle of twenty corners."""
SAME = 1e-12
"""[m]: the same vertex, through a figure."""


def moments(cells: Any) -> tuple[float, float, float, float]:
    """Area and its moments iy (z^2), iz (y^2), and that of y z, of cells (n, 4, 2), by triangles."""
    found = np.zeros(4)
    for a, b, c in ((0, 1, 2), (0, 2, 3)):
        p, q, r = cells[:, a], cells[:, b], cells[:, c]
        (a0, a1), (b0, b1) = (q - p).T, (r - p).T
        area = 0.5 * np.abs(a0 * b1 - a1 * b0)
        for x in (0.5 * (p + q), 0.5 * (q + r), 0.5 * (r + p)):  # exact for quadratic functions
            found += np.array([area, area * x[:, 1] ** 2, area * x[:, 0] ** 2, area * x[:, 0] * x[:, 1]]).sum(axis=1) / 3.0
    return tuple(float(x) for x in found)  # type: ignore[return-value]


@pytest.mark.parametrize("shape", SECTIONS)
def test_what_is_drawn_has_the_sections_area_and_moments(shape: str) -> None:
    sizes = SECTIONS[shape]
    meant = getattr(Section, shape)(**sizes, **({"torsion": 1e-7} if shape == "general" else {}))
    outlines, cells = section_shape(shape, sizes)
    area, iy, iz, iyz = moments(cells)
    tolerance = CORNERS if shape == "tube" else ROUNDING
    assert area == pytest.approx(meant.area, rel=tolerance)
    assert (iy, iz) == pytest.approx((meant.iy, meant.iz), rel=tolerance)
    assert abs(iyz) < ROUNDING * meant.iy, "y and z are principal axes"
    assert len(outlines) == (2 if shape in ("box", "tube") else 1)
    if shape == "tube":
        assert len(outlines[0]) == ROUND
    for outline in outlines:
        y, z = outline.T
        assert np.sum(y * np.roll(z, -1) - z * np.roll(y, -1)) > 0.0, "counter-clockwise"


def test_a_thin_section_is_drawn_larger_in_proportion() -> None:
    outlines, _ = section_shape("rectangle", {"width": 0.0016, "height": 0.002}, least=0.01)
    assert np.ptp(outlines[0], axis=0) == pytest.approx([0.008, 0.01])
    outlines, _ = section_shape("rectangle", {"width": 0.001, "height": 0.02}, least=0.01)
    assert np.ptp(outlines[0], axis=0) == pytest.approx([0.006, 0.02]), "a strip, seen from its edge"


@pytest.mark.parametrize("name", BEAMS)
@pytest.mark.parametrize("opened", [False, True])
def test_surfaces_of_beams_are_closed(name: str, opened: bool) -> None:
    """Every place of an edge belongs to two triangles; a beam that is cut open has twice the section faces."""
    robot = fp.load(name)
    state = fp.State(position=robot.home.position, rotation=robot.home.rotation)
    corners = platform_corners(robot, state, np.zeros(0))
    shown = drawing(robot, home_joints(robot), corners, extent(robot), set(), opened=opened)
    beams = {(leg, e.name.rsplit(".", 1)[0]) for leg, own in robot.beams.items() for e in own if e.rooted is None}
    assert len(shown.beams) == len(beams) > 0
    for beam in shown.beams:
        _, where = np.unique(np.round(beam.vertices / extent(robot), 9), axis=0, return_inverse=True)
        triangles = where.reshape(-1)[np.vstack([beam.walls, beam.sections])]
        triangles = triangles[[len(set(t)) == 3 for t in triangles]]
        edges = np.sort(np.vstack([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]]), axis=1)
        _, count = np.unique(edges, axis=0, return_counts=True)
        assert np.all(count == 2)
    whole = drawing(robot, home_joints(robot), corners, extent(robot), set())
    if opened:
        assert [len(b.sections) for b in shown.beams] == [2 * len(b.sections) for b in whole.beams]


def test_pictures_have_the_beams_surface() -> None:
    import plotly.graph_objects as go

    robot, figure = fp.load("delta-flexible"), go.Figure()
    add_robot(figure, robot)
    leg = next(trace for trace in figure.data if trace.name == f"leg {robot.legs[0].name}")
    points = np.column_stack([leg.x, leg.y, leg.z])
    state = fp.State(position=robot.home.position, rotation=robot.home.rotation)
    shown = drawing(robot, home_joints(robot), platform_corners(robot, state, np.zeros(0)), extent(robot), set())
    own = next(b for b in shown.beams if b.leg == 0)
    assert np.min(np.linalg.norm(points - own.vertices[0], axis=1)) < SAME
    assert min(shown.rods.radius) == 0.0, "the beam's line is no rod"
