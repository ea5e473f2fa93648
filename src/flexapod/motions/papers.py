r"""The motions of the papers, with their numbers, as functions.

What the papers leave open is chosen as follows. Kim: circle around (0, 0, 0.93), started at (r, 0), counter-clockwise; the
constant acceleration starts at (0, 0, 0.80), since from 0.93 it leaves the rails. Briot: edges of 0.2 m by a 5th-order
polynomial, the first after 1 s, one every 6 s; the circle starts at angle 0, counter-clockwise.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from flexapod.arrays import Array
from flexapod.calls import by_name, renamed
from flexapod.errors import InputError
from flexapod.motions.actuator_paths import joint_square
from flexapod.motions.argument_checks import choice
from flexapod.motions.coordinates import constant_acceleration_motion, one_minus_cos
from flexapod.motions.motion import ActuatorMotion, Motion, sampled
from flexapod.motions.paths import circle
from flexapod.motions.time_laws import Values

EXAMPLES = {
    "vertical-z": (0.0, 0.0, -0.15, 0.0, 0.0, 0.0),
    "horizontal-x": (0.1, 0.0, 0.0, 0.0, 0.0, 0.0),
    "rotation-z": (0.0, 0.0, 0.0, 0.0, 0.0, np.pi / 12),
}
"""Amplitudes of the three examples, the same in both papers; z is measured against the motion, z = h - z* (1 - cos)."""

STEWART_HEIGHT = 2.5 * np.sqrt(3.0)
"""h = l0 tan(pi / 3) of the 3-3 Stewart platform [m]."""

HEXAPOD_HEIGHT = 0.6063787467118874
"""h = l1 cos(beta0) + l3 cos(beta) of the hexapod [m]."""

DUALEMPS_RAILS = 0.4
"""Distance of the two rails of DualEMPS [m] (d21)."""

DUALEMPS_LEG = 0.6
"""Distance from slider to the joint between the legs [m] (0.0675 + 0.4505 + 0.082)."""

DUALEMPS_TIP = 0.805
"""Distance from slider 1 to point P [m] (leg 1 + 0.065 + 0.14)."""


@by_name
def staicu_motion(example: str = "vertical-z", *, samples: int = 61) -> Motion:
    """Test motions of the 3-3 Stewart platform: `vertical-z`, `horizontal-x`, `rotation-z`; 3 s, there and back.

    Args:
        example: which of the three.

    Source: Staicu 2009, Eq. (6) and section 4. Checked by: tests/motions/test_paper_motions.py.
    """
    amplitude = EXAMPLES[choice("example", example, tuple(EXAMPLES))]
    return one_minus_cos((0, 0, STEWART_HEIGHT, 0, 0, 0), amplitude, 2 * np.pi / 3, 3.0, samples)


@by_name
def sinatra_motion(example: str = "vertical-z", *, samples: int = 61) -> Motion:
    """Test motions of the hexapod: `vertical-z`, `horizontal-x`, `rotation-z`; 3 s, one way.

    Args:
        example: which of the three.

    Source: Sinatra 2009, sections 2 and 4. Checked by: tests/motions/test_paper_motions.py.
    """
    amplitude = EXAMPLES[choice("example", example, tuple(EXAMPLES))]
    return one_minus_cos((0, 0, HEXAPOD_HEIGHT, 0, 0, 0), amplitude, np.pi / 3, 3.0, samples)


@by_name
def kim_circle(
    *, radius: float = 0.1, rpm: float = 40.0, center: ArrayLike = (0.0, 0.0, 0.93), duration: float = 3.0, samples: int = 61
) -> Motion:
    """Horizontal circle of the HexaSlide at constant speed: 100 mm at 20, 40 or 60 rpm.

    Args:
        radius: [m]; rpm: revolutions per minute; center: (3,) [m].
        duration: [s].

    Source: Kim 2002, section 4, Figs. 7, 9 and 10. Checked by: tests/motions/test_paper_motions.py.
    """
    return circle(center=center, radius=radius, rpm=rpm, duration=duration, samples=samples)


@by_name
def kim_constant_acceleration(
    *, start: ArrayLike = (0.0, 0.0, 0.80, 0.0, 0.0, 0.0), duration: float = 3.0, samples: int = 301
) -> Motion:
    """Constant acceleration of all six coordinates, reversed at half time (1.5 s), where the first value still holds.

    Angles are those of R = Ry(theta) Rx(psi) Rz(phi): the last three of `start` are theta, psi, phi. The paper's last entry,
    printed -0.0, is -0.1.

    Args:
        start: (6,) position [m] and angles [rad].
        duration: [s].

    Source: Kim 2002, Eq. (33). Checked by: tests/motions/test_paper_motions.py.
    """
    acceleration = (0.1, 0.1, 0.1, 0.05, 0.05, 0.1)
    return constant_acceleration_motion(
        start=start, acceleration=acceleration, duration=duration, samples=samples, sequence="YXZ"
    )


@by_name
def dualemps_square(*, side: float = 0.2, samples: int = 2501) -> ActuatorMotion:
    """Square in joint space: each edge in 1.8 s, then rest while the robot vibrates; 25 s.

    Args:
        side: of the square [m].

    Source: Briot 2014, section 5, Fig. 7. Checked by: tests/motions/test_paper_motions.py.
    """
    return joint_square(side=side, duration=1.8, rests=(1.0, 4.2, 4.2, 4.2, 4.2), samples=samples)


@renamed(turns="revolutions")
@by_name
def dualemps_circle_tip(
    *, center: ArrayLike = (0.28, 0.90), radius: float = 0.1, speed: float = 0.2, revolutions: float = 1.0, samples: int = 301
) -> Motion:
    """Circle of point P in the plane x0, z0 at constant speed, with the angle that leg 1, taken rigid, has then.

    Args:
        center: (2,) x and z of its centre [m].
        radius: [m]; speed: along the circle [m/s]; revolutions: how many.

    Source: Briot 2014, section 5, Fig. 8. Checked by: tests/motions/test_paper_motions.py.
    """
    path = _tip_circle(center, radius, speed, revolutions, samples)
    return sampled(partial(_tip, path=path), float(path.time[-1]), samples)


@renamed(turns="revolutions")
@by_name
def dualemps_circle(
    *, center: ArrayLike = (0.28, 0.90), radius: float = 0.1, speed: float = 0.2, revolutions: float = 1.0, samples: int = 301
) -> ActuatorMotion:
    r"""The same circle in slider coordinates, by the closed form of the rigid PRRRP robot.

    .. math:: \theta_1 = \arccos(x/L),\quad q_{11} = y - L\sin\theta_1,\quad
              \theta_2 = \arccos\frac{l\cos\theta_1 - d}{l},\quad q_{21} = q_{11} + l\sin\theta_1 - l\sin\theta_2

    L slider 1 to P, l slider to the joint between the legs, d distance of the rails. Singular where a leg lies across the rails.

    Args:
        center: (2,) x and z of its centre [m].
        radius: [m]; speed: along the circle [m/s]; revolutions: how many.

    Source: Briot 2014, section 5, Fig. 8. Checked by: tests/motions/test_paper_motions.py.
    """
    path = _tip_circle(center, radius, speed, revolutions, samples)
    return sampled(partial(_sliders, path=path), float(path.time[-1]), samples)


def _tip_circle(center: ArrayLike, radius: float, speed: float, revolutions: float, samples: int) -> Motion:
    x, y = np.asarray(center)
    path = circle(center=(x, 0.0, y), radius=radius, speed=speed, revolutions=revolutions, plane="xz", samples=samples)
    if abs(x) + radius >= DUALEMPS_TIP:
        raise InputError(f"center: point P cannot reach x = {abs(x) + radius:g} m; leg 1 is {DUALEMPS_TIP:g} m long")
    return path


def _at(path: Motion, t: Array) -> tuple[Values, Values]:
    """x and z of the path with their derivatives."""
    assert path.formula is not None
    here = path.formula(t)
    x, z = (tuple(values[:, i] for values in (here.position, here.velocity, here.acceleration)) for i in (0, 2))
    return (x[0], x[1], x[2]), (z[0], z[1], z[2])


def _leg_angle(x: Values, length: float) -> Values:
    """Angle of a leg from the coordinate of its end across the rails, x = length cos(angle), with derivatives."""
    theta = np.arccos(x[0] / length)
    s, c = np.sin(theta), np.cos(theta)
    rate = -x[1] / (length * s)
    return theta, rate, -(x[2] / length + c * rate**2) / s


def _sine(angle: Values, length: float) -> Array:
    """length sin(angle) and its derivatives, (3, n)."""
    theta, rate, second = angle
    s, c = np.sin(theta), np.cos(theta)
    return length * np.array([s, c * rate, c * second - s * rate**2])


def _tip(t: Array, *, path: Motion) -> Motion:
    x, y = _at(path, t)
    angle = _leg_angle(x, DUALEMPS_TIP)
    rates, accelerations = (np.column_stack([x[k], y[k], angle[k]]) for k in (1, 2))
    return Motion.planar(time=t, x=x[0], y=y[0], angle=angle[0], rates=rates, accelerations=accelerations, plane="xz")


def _sliders(t: Array, *, path: Motion) -> ActuatorMotion:
    x, y = _at(path, t)
    first = _leg_angle(x, DUALEMPS_TIP)
    q11 = np.array(y) - _sine(first, DUALEMPS_TIP)
    # the joint between the legs lies on leg 1: its coordinate across the rails, seen from rail 2
    ratio = DUALEMPS_LEG / DUALEMPS_TIP
    across = (ratio * x[0] - DUALEMPS_RAILS, ratio * x[1], ratio * x[2])
    second = _leg_angle(across, DUALEMPS_LEG)
    q21 = q11 + _sine(first, DUALEMPS_LEG) - _sine(second, DUALEMPS_LEG)
    position, velocity, acceleration = (np.column_stack([q11[k], q21[k]]) for k in range(3))
    return ActuatorMotion(time=t, position=position, velocity=velocity, acceleration=acceleration)
