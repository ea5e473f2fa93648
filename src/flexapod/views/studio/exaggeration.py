"""Factor of drawn deformation: the largest displacement is visible, and the drawing remains recognisable."""

from __future__ import annotations

import numpy as np

import flexapod as fp
from flexapod.arrays import Array
from flexapod.views.output import number
from flexapod.views.scene.frames import drawn_pose
from flexapod.views.scene.shapes import extent

SEEN = 0.03
"""Largest drawn displacement, of the robot's extent."""
MUCH = 0.25
"""Largest displacement that can be drawn at all, of the extent: more is no longer the robot."""
MOST = 1e5
STEPS = (1.0, 2.0, 3.0, 5.0)
"""Leading digits of factors."""


def good_factor(robot: fp.Robot, state: fp.State, elastic: Array, largest: float | None = None) -> float:
    """A round factor, at least 1, that shows the deformation; the next smaller ones where legs cannot reach the drawn platform.

    Checked by: tests/studio/test_studio_model.py.
    """
    from flexapod.views.studio.recording import largest_displacement

    if not robot.elastic_names or not len(elastic) or not np.all(np.isfinite(elastic)):
        return 1.0
    size = float(largest_displacement(robot, elastic[None])[0]) if largest is None else largest
    if size <= 0.0:
        return 1.0
    return reachable_factor(robot, state, elastic, rounded(SEEN * extent(robot) / size))


def reachable_factor(robot: fp.Robot, state: fp.State, elastic: Array, factor: float, largest: float = 0.0) -> float:
    """The factor, or a smaller round one at which the drawing holds together; at least 1.

    The legs reach the drawn platform, and the largest displacement [m] is drawn no larger than a part of the robot.
    """
    if largest > 0.0 and factor * largest > MUCH * extent(robot):
        factor = rounded(MUCH * extent(robot) / largest)
    while factor > 1.0:
        try:
            if np.all(np.isfinite(drawn_pose(robot, state, factor * elastic)[1])):
                return factor
        except fp.FlexapodError:
            pass
        factor = rounded(0.6 * factor)
    return 1.0


def rounded(factor: float) -> float:
    """The largest round number (1, 2, 3, 5 times a power of ten) that is not above a factor; 1 to 1e5."""
    factor = min(max(factor, 1.0), MOST)
    power = 10.0 ** np.floor(np.log10(factor) + 1e-12)
    return float(max(step * power for step in STEPS if step * power <= factor * (1 + 1e-9)))


def factor_text(factor: float, largest: float) -> str:
    """`x 300, largest 0.8 mm`."""
    return f"x {factor:.0f}, largest {number(1e3 * largest, 3)} mm"
