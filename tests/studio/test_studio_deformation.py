"""The surface of a flexible platform: bands of displacement, even light, outline."""

import numpy as np

import flexapod as fp
from flexapod.views.scene.shapes import platform_surface
from flexapod.views.studio.exaggeration import factor_text
from flexapod.views.studio.platform_view import BANDS, bands, border, contoured, cut_along, finer_surface, legend_html, oriented

POINTS = np.array([[0.0, 0.0, 0.0], [2.0, 0.0, 0.0], [2.0, 1.0, 0.0], [0.0, 1.0, 0.0]])
TRIANGLES = np.array([[0, 1, 2], [0, 3, 2]])
"""A rectangle of two triangles, the second the wrong way round."""
ROUNDED = 1e-12
"""Of a band's width: points between bands are interpolated, with a few roundings."""


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
    points, shape, triangles = finer_surface(POINTS, shapes, oriented(POINTS, TRIANGLES))
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
    assert lightness == sorted(lightness), "readers who see no colours distinguish them by their lightness"


def test_the_surface_is_cut_along_lines_between_bands() -> None:
    """Nothing is lost or added, no triangle reaches into another band, and neighbours share the points of their border."""
    rng = np.random.default_rng(2)
    x = np.linspace(0.0, 1.0, 6)
    points = np.array([[a, b, 0.0] for a in x for b in x])
    triangles = np.array(
        [t for i in range(5) for j in range(5) for k in [6 * i + j] for t in ((k, k + 6, k + 7), (k, k + 7, k + 1))]
    )
    size = rng.uniform(0.0, 2.0, len(points))
    cut, faces, band = contoured(points, size, triangles, 2.0)
    assert np.isclose(area(cut, faces).sum(), 1.0)
    assert np.all(np.sign(area(cut, faces)) >= 0.0), "a triangle is turned over"
    values = np.column_stack([points, size])
    for k in range(1, len(BANDS)):
        values, triangles = cut_along(values, triangles, 0.2 * k)
    assert np.array_equal(triangles, faces)
    at = values[faces, 3] / 0.2
    assert np.all(at >= band[:, None] - ROUNDED)
    assert np.all(at <= band[:, None] + 1.0 + ROUNDED)
    assert len(np.unique(np.round(cut, 12), axis=0)) == len(cut), "a point is there twice"
    assert contoured(points, size, triangles[:4], 0.0)[1].shape == (4, 3)


def test_the_legend_says_the_largest_displacement() -> None:
    text = legend_html(0.0133, 5.0)
    assert "13.3 mm" in text
    assert "x 5" in text


def test_the_factor_is_written_out() -> None:
    assert factor_text(1000.0, 2.88e-5) == "x 1000, largest 0.0288 mm"
