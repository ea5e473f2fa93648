"""Meshes: they cover the plate exactly, conform to its boundary, keep the symmetry of regular polygons."""

import numpy as np
import pytest

from flexapod.flexible import regular_outline
from flexapod.flexible.mesh import TriangleMesh, plate_mesh
from flexapod.flexible.polygon import area, plate_loops

ROUNDING = 1e-12
"""Relative, and [m]: sums over some hundred triangles."""
L_SHAPE = [[0, 0], [1, 0], [1, 0.3], [0.3, 0.3], [0.3, 1], [0, 1]]
STRIP = [[0, 0], [2, 0], [2, 0.4], [0, 0.4]]
PLATES = {
    "hexagon": plate_loops(regular_outline(6, 0.5), []),
    "far away": plate_loops(regular_outline(7, 0.5) + np.array([100.0, 50.0]), []),
    "L": plate_loops(L_SHAPE, []),
    "two holes": plate_loops(
        STRIP, [regular_outline(16, 0.05) + np.array([0.3, 0.2]), regular_outline(5, 0.1) + np.array([1.5, 0.2])]
    ),
    "ring": plate_loops(regular_outline(24, 0.5), [regular_outline(24, 0.3)]),
    "needle": plate_loops([[0, 0], [1, 0], [1, 0.15]], []),
}


def areas(mesh: TriangleMesh) -> np.ndarray:
    a, b, c = (mesh.points[mesh.triangles[:, k]] for k in range(3))
    return 0.5 * ((b - a)[:, 0] * (c - a)[:, 1] - (b - a)[:, 1] * (c - a)[:, 0])


@pytest.mark.parametrize("depths", [(), (0.0025, 0.01, 0.0225), (0.1, 0.2)], ids=["plain", "layers", "deep"])
@pytest.mark.parametrize("name", PLATES)
def test_meshes_cover_the_plate(name: str, depths: tuple[float, ...]) -> None:
    """Positive triangles whose areas add up, every point used, every boundary segment and no other side used once."""
    loops = PLATES[name]
    mesh = plate_mesh(loops, 0.08, depths)
    assert areas(mesh).min() > 0.0
    assert areas(mesh).sum() == pytest.approx(sum(area(loop) for loop in loops), rel=ROUNDING * 1e3)
    assert len(np.unique(mesh.triangles)) == len(mesh.points)
    sides = np.concatenate([mesh.triangles[:, [0, 1]], mesh.triangles[:, [1, 2]], mesh.triangles[:, [2, 0]]])
    directed = {(int(a), int(b)) for a, b in sides}
    assert len(directed) == len(sides)
    lonely = {(a, b) for a, b in directed if (b, a) not in directed}
    assert lonely == {(int(a), int(b)) for a, b in mesh.boundary}


def test_layers_lie_at_their_depths() -> None:
    mesh = plate_mesh(PLATES["hexagon"], 0.1, (0.002, 0.01))
    apothem = 0.5 * np.cos(np.pi / 6)
    angle = np.pi / 6 + np.pi / 3 * np.arange(6)
    depth = apothem - (mesh.points @ np.stack([np.cos(angle), np.sin(angle)])).max(axis=1)
    for wanted in (0.0, 0.002, 0.01):
        assert (np.abs(depth - wanted) < ROUNDING).sum() == 30


def test_regular_polygons_have_symmetric_meshes() -> None:
    """Turning by a sixth and mirroring map the points onto themselves."""
    points = plate_mesh(PLATES["hexagon"], 0.1, (0.01,)).points
    c, s = np.cos(np.pi / 3), np.sin(np.pi / 3)
    for moved in (points @ np.array([[c, s], [-s, c]]), points * [1.0, -1.0]):
        far = np.linalg.norm(moved[:, None] - points[None], axis=2).min(axis=1)
        assert far.max() < ROUNDING


def test_narrow_plates_get_thinner_layers_or_none() -> None:
    thin = plate_loops([[0, 0], [1, 0], [1, 0.02], [0, 0.02]], [])
    mesh = plate_mesh(thin, 0.05, (0.01, 0.02))
    assert areas(mesh).min() > 0.0
    assert mesh.points[:, 1].max() <= 0.02


def test_random_stars() -> None:
    """Outlines with sharp and re-entrant corners, seeded: all meshed, with and without layers."""
    rng = np.random.default_rng(17)
    for _ in range(12):
        n = int(rng.integers(5, 11))
        angle = 2.0 * np.pi * (np.arange(n) + rng.uniform(-0.3, 0.3, n)) / n
        radius = rng.uniform(0.3, 1.0, n)
        loops = plate_loops(radius[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1), [])
        for depths in ((), (0.002, 0.009, 0.02)):
            mesh = plate_mesh(loops, 0.1, depths)
            assert areas(mesh).min() > 0.0
            assert areas(mesh).sum() == pytest.approx(area(loops[0]), rel=ROUNDING)


def test_missing_layers_are_said() -> None:
    """A comb whose gaps are finer than any layer: the mesh is made, and the missing layers are not silent."""
    comb = [[0, 0], [1, 0], [1, 1], [0.50001, 1], [0.5, 0.2], [0.49999, 1], [0, 1]]
    with pytest.warns(UserWarning, match="too sharp or too narrow for layers"):
        mesh = plate_mesh(plate_loops(comb, []), 0.2, (0.01, 0.05))
    assert areas(mesh).min() > 0.0
