r"""Paths of the platform: a straight line and a circle, each followed by a time law.

Letters: p position, s fraction of the way, phi angle on the circle, e1, e2 directions of its plane. Orientation goes along
the geodesic of SO(3), :math:`R = R_0\exp(s\,r)` with :math:`r = \log(R_0^T R_1)`, so that :math:`\omega = R_0 r\,\dot s` exactly.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from flexapod.arrays import Array
from flexapod.calls import by_name, renamed
from flexapod.errors import InputError
from flexapod.motions.argument_checks import choice, finite_array, number, positive, rotations
from flexapod.motions.motion import Motion, sampled
from flexapod.motions.quaternions import RotationMotion
from flexapod.motions.rotations import rotation_rotvec, rotvec_rotation
from flexapod.motions.schedule import LAWS, LawMaker, law_for
from flexapod.motions.time_laws import TimeLaw, constant_speed

PLANES = {"xy": (0, 1), "yz": (1, 2), "xz": (0, 2), "yx": (1, 0), "zy": (2, 1), "zx": (2, 0)}
"""Named planes: the axes from the first to the second of which the circle turns."""


def geodesic(R0: Array, R1: Array, s: Array, sd: Array, sdd: Array) -> RotationMotion:
    """Rotation, angular velocity and acceleration on the shortest way from R0 to R1; (n, 3, 3) and (n,) each.

    Half a revolution has two shortest ways: one is taken. Checked by: tests/motions/test_motion_paths.py.
    """
    r = rotation_rotvec(np.swapaxes(R0, -1, -2) @ R1)
    axis = np.einsum("...ij,...j->...i", R0, r)  # the same in world axes all the way
    R = R0 @ rotvec_rotation(s[..., None] * r)
    return R, axis * sd[..., None], axis * sdd[..., None]


@by_name
def line(
    *,
    start: ArrayLike,
    end: ArrayLike,
    duration: float | None = None,
    law: LawMaker = "quintic",
    start_rotation: ArrayLike | None = None,
    end_rotation: ArrayLike | None = None,
    samples: int = 301,
) -> Motion:
    """A straight line with a rotation along the geodesic.

    Args:
        start, end: (3,) [m].
        duration: [s]; may be left out with a `TimeLaw`, which brings its own.
        law: name of a law, a `TimeLaw`, or a function of the duration.
        start_rotation, end_rotation: (3, 3); identity, and the start's, if left out.

    Checked by: tests/motions/test_motion_paths.py.
    """
    R0 = rotations("start_rotation", np.eye(3) if start_rotation is None else start_rotation, (3, 3))
    R1 = R0 if end_rotation is None else rotations("end_rotation", end_rotation, (3, 3))
    chosen = _law(law, duration)
    p0, p1 = finite_array("start", start, (3,)), finite_array("end", end, (3,))
    return sampled(partial(_line, p0=p0, p1=p1, R0=R0, R1=R1, law=chosen), chosen.duration, samples)


def _line(t: Array, *, p0: Array, p1: Array, R0: Array, R1: Array, law: TimeLaw) -> Motion:
    s, sd, sdd = law.fraction(t)
    n = len(t)
    R, w, alpha = geodesic(np.broadcast_to(R0, (n, 3, 3)), np.broadcast_to(R1, (n, 3, 3)), s, sd, sdd)
    d = p1 - p0
    return Motion(
        time=t, position=p0 + np.outer(s, d), rotation=R, velocity=np.outer(sd, d), angular_velocity=w,
        acceleration=np.outer(sdd, d), angular_acceleration=alpha,
    )  # fmt: skip


@renamed(sense="direction", turns="revolutions")
@by_name
def circle(
    *,
    center: ArrayLike,
    radius: float,
    speed: float | None = None,
    rpm: float | None = None,
    law: LawMaker | None = None,
    duration: float | None = None,
    revolutions: float | None = None,
    plane: str | ArrayLike = "xy",
    start_angle: float = 0.0,
    direction: str = "counterclockwise",
    rotation: ArrayLike | None = None,
    samples: int = 301,
) -> Motion:
    r"""A circle at constant orientation.

    .. math:: p = c + r\,(\cos\varphi\,e_1 + \sin\varphi\,e_2)

    Args:
        center: (3,) [m]; radius: [m].
        speed: along the circle [m/s], constant from start to end; or
        rpm: revolutions per minute, constant from start to end; or
        law: a time law over the whole way (rest to rest), with its duration [s].
        duration: with speed or rpm: how long, instead of the number of revolutions.
        revolutions: how many, 1 if neither is given.
        plane: `xy`, `xz`, ...: e1 and e2 along these axes; or a normal (3,), then e1 is the world x axis laid into the
            plane (y where the normal is along x) and e2 = normal x e1.
        start_angle: from e1 [rad].
        direction: `counterclockwise` (from e1 towards e2) or `clockwise`.
        rotation: (3, 3) world-from-platform, identity if left out.

    Source: Kim 2002, section 4 (by rpm); Briot 2014, section 5 (by speed). Checked by: tests/motions/test_motion_paths.py.
    """
    r = positive("radius", radius)
    given = [name for name, value in (("speed", speed), ("rpm", rpm), ("law", law)) if value is not None]
    if len(given) != 1:
        raise InputError(f"circle: give exactly one of speed, rpm and law, got {' and '.join(given) or 'none'}")
    if law is not None:
        chosen = _law(law, duration)
        angle = 2 * np.pi * (1.0 if revolutions is None else positive("revolutions", revolutions))
    else:
        rate = positive("speed", speed) / r if speed is not None else positive("rpm", rpm) * 2 * np.pi / 60
        if duration is not None and revolutions is not None:
            raise InputError("circle: give duration or revolutions, not both, when the speed is constant")
        span = 2 * np.pi * positive("revolutions", 1.0 if revolutions is None else revolutions) / rate
        chosen = constant_speed(span if duration is None else duration)
        angle = rate * chosen.duration
    e1, e2 = plane_directions(plane)
    sign = 1.0 if choice("direction", direction, ("counterclockwise", "clockwise")) == "counterclockwise" else -1.0
    R = rotations("rotation", np.eye(3) if rotation is None else rotation, (3, 3))
    formula = partial(
        _circle, center=finite_array("center", center, (3,)), radius=r, e1=e1, e2=e2, R=R,
        start=number("start_angle", start_angle), angle=sign * angle, law=chosen,
    )  # fmt: skip
    return sampled(formula, chosen.duration, samples)


def _circle(
    t: Array, *, center: Array, radius: float, e1: Array, e2: Array, R: Array, start: float, angle: float, law: TimeLaw
) -> Motion:
    s, sd, sdd = law.fraction(t)
    phi, rate, second = start + angle * s, (angle * sd)[:, None], (angle * sdd)[:, None]
    out = radius * (np.outer(np.cos(phi), e1) + np.outer(np.sin(phi), e2))
    along = radius * (np.outer(-np.sin(phi), e1) + np.outer(np.cos(phi), e2))
    zero = np.zeros((len(t), 3))
    return Motion(
        time=t, position=center + out, rotation=np.broadcast_to(R, (len(t), 3, 3)), velocity=along * rate,
        angular_velocity=zero, acceleration=along * second - out * rate**2, angular_acceleration=zero,
    )  # fmt: skip


def plane_directions(plane: str | ArrayLike) -> tuple[Array, Array]:
    """Two perpendicular unit vectors of a plane given by name or by its normal."""
    if isinstance(plane, str):
        i, j = PLANES[choice("plane", plane, tuple(PLANES))]
        return np.eye(3)[i], np.eye(3)[j]
    normal = finite_array("plane", plane, (3,))
    length = np.linalg.norm(normal)
    if length < 1e-12:
        raise InputError("plane: the normal is zero, so it has no direction")
    n = normal / length
    x = np.eye(3)[0] if abs(n[0]) < 0.9 else np.eye(3)[1]
    flat = x - (x @ n) * n
    e1 = flat / np.linalg.norm(flat)
    return e1, np.cross(n, e1)


def _law(law: LawMaker, duration: float | None) -> TimeLaw:
    if duration is None:
        if not isinstance(law, TimeLaw):
            if isinstance(law, str):
                choice("law", law, tuple(LAWS))
            raise InputError("duration: is missing; only a TimeLaw has a duration of its own")
        return law
    return law_for(law, positive("duration", duration))
