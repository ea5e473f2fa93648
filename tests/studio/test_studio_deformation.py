"""The surface of a flexible platform: bands of displacement, even light, outline."""

import numpy as np

import flexapod as fp
from flexapod.views.scene.shapes import platform_surface
from flexapod.views.studio.exaggeration import factor_text
from flexapod.views.studio.platform_view import BANDS, bands, border, finer, legend_html, oriented

POINTS = np.array([[0.0, 0.0, 0.0], [2.0, 0.0, 0.0], [2.0, 1.0, 0.0], [0.0, 1.0, 0.0]])
TRIANGLES = np.array([[0, 1, 2], [0, 3, 2]])
"""A rectangle of two triangles, the second the wrong way round."""


def area(points: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    a, b, c = (points[triangles[:, k]] for k in range(3))
    return 0.5 * np.cross(b - a, c - a)[:, 2]


def test_triangles_face_the_same_side() -> None:
    assert set(np.sign(area(POINTS, TRIANGLES))) == {1.0, -1.0}
    assert len(set(np.sign(area(POINTS, oriented(POINTS, TRIANGLES))))) == 1
    points, _, triangles = platform_surface(fp.load("gough-stewart-flexible"))
    assert triangles is not None
    assert len(set(np.sign(area(points, oriented(points, triangles))))) == 1


def test_finer_triangles_cover_the_same_area_and_follow_the_shapes() -> None:
    shapes = np.einsum("ki,j->kij", POINTS, [1.0, -2.0])  # displacements that are linear in the place
    points, shape, triangles = finer(POINTS, shapes, oriented(POINTS, TRIANGLES))
    assert len(triangles) == 4 * len(TRIANGLES)
    assert np.isclose(np.abs(area(points, triangles)).sum(), 2.0)
    assert np.array_equal(points[:4], POINTS)
    assert np.allclose(shape, np.einsum("ki,j->kij", points, [1.0, -2.0]))


def test_the_outline_has_the_edges_of_one_triangle_only() -> None:
    assert {tuple(sorted(e)) for e in border(TRIANGLES).tolist()} == {(0, 1), (1, 2), (2, 3), (0, 3)}


def test_bands_grow_with_displacement() -> None:
    size = np.array([0.0, 0.0, 0.0, 3.0])
    triangles = np.array([[0, 1, 2], [1, 2, 3], [3, 3, 3]])
    assert bands(size, triangles, 3.0).tolist() == [0, 3, len(BANDS) - 1]
    assert bands(size, triangles, 0.0).tolist() == [0, 0, 0]
    assert len(set(BANDS)) == len(BANDS)
    lightness = [0.2126 * r + 0.7152 * g + 0.0722 * b for r, g, b in BANDS]
    assert lightness == sorted(lightness), "readers who see no colours tell them by their lightness"


def test_the_legend_says_the_largest_displacement() -> None:
    text = legend_html(0.0133, 5.0)
    assert "13.3 mm" in text
    assert "x 5" in text


def test_the_factor_is_written_out() -> None:
    assert factor_text(1000.0, 2.88e-5) == "x 1000, largest 0.0288 mm"
