"""Parts of a step across a singular position: where nodes lie, what a simulation looks at, and the two reasons to refuse."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np

import flexapod as fp
from flexapod.simulation.integrators.collocation import METHODS
from flexapod.simulation.integrators.crossing import ACROSS, LOOK, Crossing, Lookout, crossed, loops_of, margin, middles

FOUR_BARS = Path(__file__).parents[1] / "data" / "mechanisms" / "four-bars.yaml"
LINE = np.pi / 2
"""[rad] from the upright home: all bars lie in one line."""
ROUNDING = 1e-12
"""Singular values of a matrix of ten rows."""
SYMMETRIC = 1e-8
"""Both sides of the line: what an angle of 1e-3 rad has in even powers."""
SINE = 1e-5
"""Of twice the angle: a sine of 2e-3 rad, its third power."""
LINEAR = 1e-9
"""[rad, rad/s]: differences of states on a straight path, over 0.01 s."""
BENT = 2e-3
"""[s] Sines of 0.2 rad are not quite straight."""
TWO_WAYS = 1e-13
"""[rad] Two parts of an exact motion add up to a whole."""


def layout_of(robot: object) -> SimpleNamespace:
    """What the looks read of a layout: joints, then the platform's frame, then one rate."""
    n = len(robot.coordinates)
    places = {"joints": slice(0, n), "p": slice(n, n + 3), "R": slice(n + 3, n + 12), "ud": slice(n + 12, n + 13)}
    return SimpleNamespace(robot=robot, places=places, method="implicit", size=n + 13)


def rotated(robot: object, theta: float, rate: float = 1.0) -> np.ndarray:
    """Carried numbers of the parallelograms at an angle: feet by theta, pins back by it."""
    signs = {"foot": 1.0, "pin": -1.0}
    joints = [signs[name.partition(".")[2]] * theta for name in robot.coordinates]
    frame = [-np.sin(theta), np.cos(theta), 0.0, *np.eye(3).ravel()]
    return np.array([*joints, *frame, rate])


def test_margin_is_the_sine_of_the_angle() -> None:
    """The rows of parallelograms lose rank where all bars lie in one line, and only there, in proportion to the angle."""
    robot = fp.load(FOUR_BARS)
    layout = layout_of(robot)
    found = [margin(layout, loops_of(layout, rotated(robot, t))) for t in (LINE, LINE + 1e-3, LINE - 1e-3, LINE + 2e-3, 0.0)]
    assert found[0] < ROUNDING
    assert abs(found[1] - found[2]) < SYMMETRIC
    assert abs(found[3] / found[1] - 2.0) < SINE
    assert found[4] > 100 * found[3]


def test_middles_are_far_from_all_nodes() -> None:
    for name, least in (("implicit", 0.19), ("radau", 0.17)):
        for middle in middles(name):
            assert np.abs(METHODS[name].c - middle).min() > least


def test_looks_shorten_towards_the_position() -> None:
    robot = fp.load(FOUR_BARS)
    layout, look, rate, h = layout_of(robot), Lookout(), 5.0, 1e-3
    assert look.rows(h, 32, "implicit") == 1  # nothing is known yet
    for t in (0.0, 0.01):
        state = rotated(robot, LINE - 0.2 + rate * t)
        look.note(layout, t, state, loops_of(layout, state))
    assert abs(look.speed - rate) < LINEAR
    assert abs(look.left - (0.2 / rate - 0.01)) < BENT
    across = middles("implicit")[0] * ACROSS / rate
    assert look.rows(h, 32, "implicit") == int((look.left - across) / h / 2) < LOOK / (rate * h)
    assert np.abs(look.extrapolated(0.02) - rotated(robot, LINE - 0.1)[: len(robot.coordinates)]).max() < LINEAR


def test_ways_across_must_agree_and_stay_on_the_branch() -> None:
    """A true motion is accepted; one that depends on the step's length is not, nor one that folds a bar."""
    robot = fp.load(FOUR_BARS)
    layout, look = layout_of(robot), Lookout()
    for t in (0.0, 0.1):
        state = rotated(robot, LINE - 0.2 + t)
        look.note(layout, t, state, loops_of(layout, state))

    def exact(state: np.ndarray, _: float, length: float) -> np.ndarray:
        return rotated(robot, state[0] + length)

    def wrong(state: np.ndarray, _: float, length: float) -> np.ndarray:
        return rotated(robot, state[0] + length, state[-1] + length**2)

    def folded(state: np.ndarray, at: float, length: float) -> np.ndarray:
        row = exact(state, at, length)
        row[1] = min(row[1], 2 * LINE - row[1], key=lambda x: -x) if row[0] > LINE else row[1]
        return row

    found = crossed(layout, exact, look, state, 0.1, 1.0)
    assert isinstance(found, Crossing)
    assert found.difference < TWO_WAYS
    assert abs(found.singular - 0.2) < BENT
    assert crossed(layout, wrong, look, state, 0.1, 1.0).startswith("two ways across it differ by")
    assert crossed(layout, folded, look, state, 0.1, 1.0) == "beyond it the joints are on another branch than before it"
    assert crossed(layout, exact, look, state, 0.1, 0.15) == "no step leads across it"
