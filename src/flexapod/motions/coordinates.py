r"""Motions in six coordinates: x, y, z and three Euler angles of a named sequence, each a formula of time.

Letters: q (n, 6) coordinates: position [m], then the angles [rad] in the order of the sequence's letters; qd, qdd their
derivatives. Angular velocity and acceleration are exact (Euler rates), never differences.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from flexapod.arrays import Array
from flexapod.calls import by_name
from flexapod.errors import InputError
from flexapod.motions.argument_checks import finite_array
from flexapod.motions.motion import Motion, sampled
from flexapod.motions.phase_laws import constant_acceleration
from flexapod.motions.rotations import check_sequence, euler_motion
from flexapod.motions.time_laws import TimeLaw


@by_name
def motion_from_coordinates(*, time: ArrayLike, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, sequence: str = "XYZ") -> Motion:
    """A motion from six coordinates and their derivatives.

    Args:
        time: (n,) [s].
        q, qd, qdd: (n, 6): x, y, z, then the angles in the order of the sequence's letters.
        sequence: three letters; `XYZ`: R = Rx Ry Rz about rotated axes, `xyz`: about fixed axes.

    Checked by: tests/motions/test_coordinate_motions.py.
    """
    t = np.asarray(time)
    n = len(t)
    values = [finite_array(name, value, (n, 6)) for name, value in (("q", q), ("qd", qd), ("qdd", qdd))]
    R, w, alpha = euler_motion(_three(sequence), *(value[:, 3:] for value in values))
    p, v, a = (value[:, :3] for value in values)
    return Motion(time=t, position=p, rotation=R, velocity=v, angular_velocity=w, acceleration=a, angular_acceleration=alpha)


@by_name
def one_minus_cos(
    start: ArrayLike, amplitude: ArrayLike, omega: ArrayLike, duration: float, samples: int = 301, sequence: str = "XYZ"
) -> Motion:
    r"""The test motions of Staicu and Sinatra.

    .. math:: q_j(t) = q_{j0} + A_j\,(1 - \cos\omega_j t)

    Args:
        start, amplitude: (6,) position [m] and angles [rad].
        omega: (6,), or one number for all [rad/s].
        duration: [s]; samples: number of samples, both ends included.
        sequence: of the angles.

    Source: Staicu 2009, Eq. (6); Sinatra 2009, section 3. Checked by: tests/motions/test_paper_motions.py.
    """
    w = np.full(6, omega) if np.ndim(omega) == 0 else omega
    formula = partial(
        _one_minus_cos,
        start=finite_array("start", start, (6,)),
        amplitude=finite_array("amplitude", amplitude, (6,)),
        omega=finite_array("omega", w, (6,)),
        sequence=_three(sequence),
    )
    return sampled(formula, duration, samples)


def _one_minus_cos(t: Array, *, start: Array, amplitude: Array, omega: Array, sequence: str) -> Motion:
    c, s = np.cos(np.outer(t, omega)), np.sin(np.outer(t, omega))
    q, qd, qdd = start + amplitude * (1 - c), amplitude * omega * s, amplitude * omega**2 * c
    return motion_from_coordinates(time=t, q=q, qd=qd, qdd=qdd, sequence=sequence)


@by_name
def harmonic_motion(
    *,
    center: ArrayLike,
    amplitude: ArrayLike,
    omega: ArrayLike,
    duration: float,
    phase: ArrayLike = 0.0,
    samples: int = 301,
    sequence: str = "XYZ",
) -> Motion:
    r"""Harmonic in any of the six coordinates: :math:`q_j = c_j + A_j\sin(\omega_j t + \varphi_j)`.

    Args:
        center, amplitude: (6,); omega, phase: (6,), or one number for all [rad/s, rad].
        duration, samples, sequence: as for `one_minus_cos`.

    Checked by: tests/motions/test_coordinate_motions.py.
    """
    spread = {name: np.full(6, x) if np.ndim(x) == 0 else x for name, x in (("omega", omega), ("phase", phase))}
    formula = partial(
        _harmonic_motion,
        center=finite_array("center", center, (6,)),
        amplitude=finite_array("amplitude", amplitude, (6,)),
        omega=finite_array("omega", spread["omega"], (6,)),
        phase=finite_array("phase", spread["phase"], (6,)),
        sequence=_three(sequence),
    )
    return sampled(formula, duration, samples)


def _harmonic_motion(t: Array, *, center: Array, amplitude: Array, omega: Array, phase: Array, sequence: str) -> Motion:
    angle = np.outer(t, omega) + phase
    q, qd = center + amplitude * np.sin(angle), amplitude * omega * np.cos(angle)
    qdd = -amplitude * omega**2 * np.sin(angle)
    return motion_from_coordinates(time=t, q=q, qd=qd, qdd=qdd, sequence=sequence)


@by_name
def coordinate_motion(*, start: ArrayLike, change: ArrayLike, law: TimeLaw, samples: int = 301, sequence: str = "XYZ") -> Motion:
    """All six coordinates follow one time law: q = start + change s(t) / distance.

    Args:
        start, change: (6,) position [m] and angles [rad].
        law: of time; the whole change is reached where s is the law's distance.
        samples, sequence: as for `one_minus_cos`.

    Checked by: tests/motions/test_coordinate_motions.py.
    """
    formula = partial(
        _coordinate_motion,
        start=finite_array("start", start, (6,)),
        change=finite_array("change", change, (6,)),
        law=law,
        sequence=_three(sequence),
    )
    return sampled(formula, law.duration, samples)


def _coordinate_motion(t: Array, *, start: Array, change: Array, law: TimeLaw, sequence: str) -> Motion:
    s, sd, sdd = law.fraction(t)
    q, qd, qdd = start + np.outer(s, change), np.outer(sd, change), np.outer(sdd, change)
    return motion_from_coordinates(time=t, q=q, qd=qd, qdd=qdd, sequence=sequence)


@by_name
def constant_acceleration_motion(
    *,
    start: ArrayLike,
    acceleration: ArrayLike,
    duration: float,
    switch: float | None = None,
    samples: int = 301,
    sequence: str = "XYZ",
) -> Motion:
    """Constant accelerations of the six coordinates, with signs reversed at the switch.

    Args:
        start, acceleration: (6,) position and angles, and their second derivatives before the switch.
        duration: [s]; switch: [s], half of it if left out; the first value still holds there.
        samples, sequence: as for `one_minus_cos`.

    Source: Kim 2002, Eq. (33). Checked by: tests/motions/test_paper_motions.py.
    """
    unit = constant_acceleration(duration, acceleration=1.0, switch=switch)
    a = finite_array("acceleration", acceleration, (6,))
    return coordinate_motion(start=start, change=unit.distance * a, law=unit, samples=samples, sequence=sequence)


def _three(sequence: str) -> str:
    letters = check_sequence(sequence)
    if len(letters) != 3:
        raise InputError(f"sequence: six coordinates need three letters, got {letters!r}")
    return letters
