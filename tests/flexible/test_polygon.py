"""Outlines: what is a plate, and what is refused."""

import numpy as np
import pytest

from flexapod.flexible import FlexibleBodyError, regular_outline
from flexapod.flexible.polygon import area, distance, inside, plate_loops, simple_polygon

SQUARE = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]]
ROUNDING = 1e-14


def test_regular_outline() -> None:
    corners = regular_outline(6, 0.5)
    assert np.allclose(corners[0], [0.5, 0.0])
    assert np.allclose(np.linalg.norm(corners, axis=1), 0.5)
    assert area(corners) == pytest.approx(1.5 * np.sqrt(3.0) * 0.25, rel=ROUNDING)
    with pytest.raises(FlexibleBodyError, match="sides must be a whole number, at least 3"):
        regular_outline(2, 0.5)


def test_loops_run_with_the_plate_to_their_left() -> None:
    loops = plate_loops(SQUARE[::-1], [0.1 * np.array(SQUARE) + 0.4])
    assert area(loops[0]) == pytest.approx(1.0)
    assert area(loops[1]) == pytest.approx(-0.01)


def test_inside_and_distance() -> None:
    loops = plate_loops(SQUARE, [0.2 * np.array(SQUARE) + 0.4])
    points = np.array([[0.1, 0.5], [0.5, 0.5], [1.2, 0.5]])
    assert inside(points, loops).tolist() == [True, False, False]
    assert np.allclose(distance(points, loops), [0.1, 0.1, 0.2])


@pytest.mark.parametrize(
    ("outline", "holes", "text"),
    [
        ([[0, 0], [1, 1], [1, 0], [0, 1]], [], "outline crosses itself: side 0 .* and side 2 meet"),
        ([[0, 0], [2, 0], [2, 1], [1, 0], [0, 1]], [], "outline crosses itself"),
        ([[0, 0], [2, 0], [1, 0], [1, 1]], [], "outline crosses itself"),
        ([[0, 0], [1, 0], [1, 0], [0, 1]], [], "corners 1 and 2 are the same point"),
        ([[0, 0], [1, 0], [0, 1], [0, 0]], [], "corners 3 and 0 are the same point"),
        ([[0, 0], [1, 0]], [], "at least 3 corners"),
        ([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [], r"outline must have the shape \(any, 2\)"),
        ([[0, 0], [1, 0], [np.inf, 1]], [], "outline must be finite"),
        (SQUARE, [np.array(SQUARE) + 2.0], "hole 0 must lie inside the outline"),
        (SQUARE, [np.array(SQUARE) + 0.5], "hole 0 must lie inside the outline"),
        (SQUARE, [0.5 * np.array(SQUARE)], "hole 0 must"),
        (SQUARE, [0.3 * np.array(SQUARE) + 0.2, 0.3 * np.array(SQUARE) + 0.4], "hole 1 must not touch hole 0"),
        (SQUARE, [0.3 * np.array(SQUARE) + 0.2, 0.1 * np.array(SQUARE) + 0.3], "one is inside the other"),
    ],
)
def test_what_is_no_plate(outline: object, holes: list[object], text: str) -> None:
    with pytest.raises(FlexibleBodyError, match=text):
        plate_loops(outline, holes)  # type: ignore[arg-type]


def test_a_straight_corner_is_allowed() -> None:
    assert len(simple_polygon("outline", [[0, 0], [0.5, 0], [1, 0], [1, 1], [0, 1]])) == 5
