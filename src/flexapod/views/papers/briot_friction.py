"""Briot, Khalil 2014, Fig. 9: what is left of the free vibration, over the speed at which Coulomb friction is smoothed.

Friction of the passive joints is -c tanh(rate / speed). The slower the speed, the nearer to the sign of the rate and to joints
that stick; a stuck robot has no damping left, and rings.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import flexapod as fp
from flexapod.views.html import HtmlTable
from flexapod.views.papers.briot_simulations import REST, STROKE, PaperSimulation, dominating, remaining, simulated

SPEEDS = {1e-3: 1e-4, 1e-4: 1e-4, 1e-5: 2e-5}
"""Speed of the tanh law [rad/s] -> step of the simulation [s]: friction is stiffer the slower it is."""

UNTIL = 4.5
"""One edge of the square and 1.7 s of the rest after it [s]."""


@dataclass(frozen=True, kw_only=True)
class Smoothing:
    """A simulation up to the first rest.

    Args:
        speed: of the tanh law [rad/s].
        left: range of the acceleration in the second half second of rest, of that in the first.
        line: strongest line of the rest [Hz].
        result: with the checks of ours.
    """

    speed: float
    left: float
    line: float
    result: PaperSimulation


def smoothings(robot: fp.Robot) -> list[Smoothing]:
    """The first rest after one edge, for each speed."""
    paths = [path for path in robot.parameters if path.endswith("friction.speed")]
    square, rest = fp.motions.dualemps_square(side=STROKE), (REST, UNTIL)
    found = []
    for speed, step in SPEEDS.items():
        result = simulated(robot.with_parameters(dict.fromkeys(paths, speed)), square, step=step, duration=UNTIL)
        found.append(
            Smoothing(speed=speed, left=remaining(result, rest), line=dominating(result, (REST + 0.5, UNTIL)), result=result)
        )
    return found


def depends(found: list[Smoothing]) -> bool:
    """What is left follows the speed: it grows towards stuck joints, at one frequency."""
    left = np.array([s.left for s in found])
    return bool(np.all(np.diff(left) > 0) and left[-1] > 2 * left[0])


def smoothing_table(found: list[Smoothing]) -> HtmlTable:
    """The table of the page."""
    head = ("speed of the tanh law [rad/s]", "left after half a second [%]", "strongest line [Hz]")
    return HtmlTable(head=head, rows=[[f"{s.speed:g}", f"{100 * s.left:.0f}", f"{s.line:.1f}"] for s in found])
