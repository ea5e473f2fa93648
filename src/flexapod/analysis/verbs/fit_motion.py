r"""`fit_motion`: a motion slowed down until it keeps the limits of the actuators.

In k times the time, rates fall by 1/k and accelerations by 1/k^2. Without viscous friction a force is
:math:`f = f_0 + f_2/k^2`: linear in :math:`1/k^2`, so that where the static force :math:`f_0` keeps its limit, every factor
beyond the smallest good one is good too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from numpy.typing import ArrayLike

from flexapod.analysis.requests.arguments import checked
from flexapod.analysis.verbs.check_pose import check_motion
from flexapod.analysis.verbs.platform_motion import as_platform
from flexapod.errors import FlexapodError, InputError
from flexapod.motions.combine import slowed
from flexapod.motions.motion import AnyMotion

if TYPE_CHECKING:
    from flexapod.analysis.verbs.check_pose import LimitCheck
    from flexapod.robot.robot import Robot

SLOWEST = 1e6
"""Factor at which nothing but static forces and sliding friction is left."""

TIMED = ("speed", "force", "power")
"""Kinds of limits that depend on how fast a motion is; the others are properties of its poses."""


class MotionNotFittedError(FlexapodError):
    """A motion exceeds a limit however slow it is: names the limit, where, and why."""


@checked
def fit_motion(
    robot: Robot, motion: AnyMotion, *, tolerance: float = 1e-3, friction: bool = True, wrench: ArrayLike | None = None
) -> tuple[AnyMotion, float]:
    """The motion slowed down as little as needed to keep speed, force and power limits, and the factor of its time.

    The factor is found by bisection, and the motion at the upper end returned: it has passed `check_motion`. A motion that
    keeps its limits is returned as it is, with factor 1; none is made faster. Powers and viscous forces need not fall
    steadily with the factor: then a shorter motion that keeps the limits may exist.

    Args:
        motion: of the platform or of the actuators.
        tolerance: of the factor, relative.
        friction, wrench: as `check_motion` takes them; a wrench of every sample stays with its sample.
    Returns:
        The slowed motion, and its duration over that of the given motion (at least 1).
    Raises:
        MotionNotFittedError: where poses are out of reach, beyond strokes or joint angles, or singular, or where the static
            force alone (with sliding friction) is beyond its limit.

    Checked by: tests/analysis/test_fit_motion.py.
    """
    if isinstance(tolerance, bool) or not 0 < tolerance < 1:
        raise InputError(f"tolerance: expected a number between 0 and 1, got {tolerance!r}")
    platform = as_platform(robot, motion)

    def check(factor: float) -> LimitCheck:
        return check_motion(robot, platform if factor == 1 else slowed(platform, factor), friction=friction, wrench=wrench)

    now = check(1.0)
    if now.ok:
        return motion, 1.0
    _refuse(now, check)
    low, high = 1.0, 2.0
    while not check(high).ok:
        low, high = high, min(2 * high, SLOWEST)
    while high - low > tolerance * high:
        middle = (low + high) / 2
        low, high = (low, middle) if check(middle).ok else (middle, high)
    return slowed(motion, high), high


def _refuse(now: LimitCheck, check: Callable[[float], LimitCheck]) -> None:
    """Raise where no slowing helps."""
    for violation in now.violations:
        if violation.kind not in TIMED:
            raise MotionNotFittedError(
                f"fit_motion: slowing down does not help, as the poses themselves are invalid: {violation.text}; change the path"
            )
    still = check(SLOWEST).violations
    if still:
        raise MotionNotFittedError(
            f"fit_motion: slowing down does not help, at {SLOWEST:g} times the time {still[0].text}; change the path, the load "
            "or the limit"
        )
