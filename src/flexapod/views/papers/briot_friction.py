"""Briot, Khalil 2014, Fig. 9: remaining free vibration over the speed at which Coulomb friction is smoothed.

Friction of the passive joints is -c tanh(rate / speed). The slower the speed, the nearer to the sign of the rate and to joints
that stick; a stuck robot has no damping left, and rings.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import flexapod as fp
from flexapod.views.papers.briot_simulations import (
    REST,
    RESTS,
    STROKE,
    PaperSimulation,
    dominating_frequency,
    local_accelerations,
    remaining,
    simulated,
)
from flexapod.views.papers.briot_tables import FIRST, MEASURED, RESOLUTION
from flexapod.views.papers.items import DIFFERS, PARTLY, UNDECIDED, Item
from flexapod.views.plots.time_figures import PlotPanel, spectrum_figure, time_figure
from flexapod.views.reports.html import HtmlTable

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
            Smoothing(
                speed=speed, left=remaining(result, rest), line=dominating_frequency(result, (REST + 0.5, UNTIL)), result=result
            )
        )
    return found


def depends(found: list[Smoothing]) -> bool:
    """Whether the remaining error depends on the speed: it grows towards joints that stick, at one frequency."""
    left = np.array([s.left for s in found])
    return bool(np.all(np.diff(left) > 0) and left[-1] > 2 * left[0])


def smoothing_table(found: list[Smoothing]) -> HtmlTable:
    """The table of the page."""
    head = ("speed of the tanh law [rad/s]", "left after half a second [%]", "strongest line [Hz]")
    return HtmlTable(head=head, rows=[[f"{s.speed:g}", f"{100 * s.left:.0f}", f"{s.line:.1f}"] for s in found])


def accelerations(found: PaperSimulation, free: PaperSimulation, smoothed: list[Smoothing]) -> Item:
    """Fig. 9: acceleration of P along the square; its spectrum while the sliders rest, without friction in joints."""
    data = local_accelerations({"passive joints without friction": free, "friction of Table 2": found})
    lines = [dominating_frequency(free, rest) for rest in RESTS]
    off = max(min(abs(f - wanted) for wanted in MEASURED[:FIRST]) for f in lines)
    rings = ", ".join(f"{f:.1f}" for f in lines)
    holds = off < RESOLUTION and found.holds and free.holds and all(s.result.holds for s in smoothed)
    last = local_accelerations({"without friction": free}).sel(time=slice(*RESTS[-1]))
    panels = [PlotPanel(variable="acceleration", label="acceleration")]
    left = ", ".join(f"{100 * s.left:.0f} % at {s.speed:g} rad/s" for s in smoothed)
    return Item(
        where="Fig. 9 (a)",
        title="acceleration of point P along local y, square",
        says="After each edge the free vibration of the robot can be observed; measured natural frequencies are 14, 25, 48, 93 "
        "and 108 Hz, known to 1 Hz. The simulated vibration is damped more than the measured one. Curves are known as pictures.",
        ours=f"Up to {np.abs(found.local_y).max():.2f} m/s². With the friction of Table 2 the passive joints stick. How much of "
        "the vibration is left after half a second then depends on the speed at which tanh replaces the sign of the rate: "
        f"{left}. Towards the sign the stuck robot rings on at {smoothed[-1].line:.0f} Hz, so damping cannot be judged. Without "
        f"friction, the strongest line is at {rings} Hz in the four rests, at most {off:.2f} Hz from a measured frequency.",
        verdict=(UNDECIDED if depends(smoothed) else PARTLY) if holds else DIFFERS,
        check="vibration left over the speed of the tanh law; without friction, strongest line within 1 Hz of a measured one",
        parts=[
            time_figure(data, panels, "Briot Fig. 9: point P, local y, below 100 Hz", ""),
            smoothing_table(smoothed),
            spectrum_figure(last, "acceleration", "Point P in the last rest"),
        ],
    )
