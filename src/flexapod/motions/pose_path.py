r"""Motions through given poses, with rests: straight or on a smooth curve, orientation along the geodesics of SO(3).

Letters: p_i, R_i poses, s fraction of a segment's way, x parameter of the smooth curve (length of the chords).
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from flexapod.arrays import Array
from flexapod.calls import by_name
from flexapod.errors import InputError
from flexapod.motions.argument_checks import choice, finite_array, rotations
from flexapod.motions.motion import Motion, sampled
from flexapod.motions.paths import geodesic
from flexapod.motions.schedule import LawMaker, Schedule, schedule

if TYPE_CHECKING:
    from scipy.interpolate import BSpline


@by_name
def through_poses(
    *,
    positions: ArrayLike,
    orientations: ArrayLike | None = None,
    durations: ArrayLike,
    rests: ArrayLike = 0.0,
    law: LawMaker = "quintic",
    path: str = "straight",
    samples: int = 301,
) -> Motion:
    r"""Motion from pose to pose, at rest at each of them.

    The time law makes every stop smooth; the position goes straight, or along one curve with continuous curvature
    through all positions (cubic spline over the chord length); the orientation turns about one axis in each segment:

    .. math:: R = R_i\exp(s\,r_i),\quad \omega = R_i r_i\,\dot s,\quad \alpha = R_i r_i\,\ddot s,\quad r_i = \log(R_i^T R_{i+1})

    Args:
        positions: (k, 3) [m]; orientations: (k, 3, 3), identity if left out.
        durations: of the k - 1 segments [s]: one for all, or one each.
        rests: [s]: one number: after every arrival; or k of them, the first before the start.
        law: name of a law, a `TimeLaw` that is stretched to each segment, or a function of the duration.
        path: `straight` or `smooth`.

    Source: Long 2014 asks for such motions without printing one. Checked by: tests/motions/test_pose_path.py.
    """
    shape = np.shape(positions)
    if len(shape) != 2 or shape[1] != 3 or shape[0] < 2:
        raise InputError(f"positions: expected shape (poses, 3) with at least 2 poses, got {shape}")
    p = finite_array("positions", positions, shape)
    k = shape[0]
    rotated = np.broadcast_to(np.eye(3), (k, 3, 3)) if orientations is None else orientations
    R = rotations("orientations", rotated, (k, 3, 3))
    plan = schedule(k - 1, durations=durations, rests=rests, law=law)
    choice("path", path, ("straight", "smooth"))
    curve = None if path == "straight" else smooth_curve(p)
    return sampled(partial(_through, p=p, R=R, plan=plan, curve=curve), plan.duration, samples)


def smooth_curve(points: Array) -> tuple[BSpline, Array]:
    """Cubic spline through points over the length of the chords: the curve, and the parameter at each point."""
    from scipy.interpolate import make_interp_spline

    chords = np.linalg.norm(np.diff(points, axis=0), axis=1)
    if np.any(chords == 0.0):
        i = int(np.flatnonzero(chords == 0.0)[0])
        raise InputError(
            f"positions: {i} and {i + 1} are the same point, where a smooth curve has no direction; use path='straight'"
        )
    x = np.concatenate([[0.0], np.cumsum(chords)])
    return make_interp_spline(x, points, k=min(3, len(points) - 1)), x


def _through(t: Array, *, p: Array, R: Array, plan: Schedule, curve: tuple[BSpline, Array] | None) -> Motion:
    i, s, sd, sdd = plan(t)
    if curve is None:
        way = p[i + 1] - p[i]
        position, velocity, acceleration = p[i] + s[:, None] * way, sd[:, None] * way, sdd[:, None] * way
    else:
        spline, x = curve
        chord = (x[i + 1] - x[i])[:, None]
        at = x[i] + s * chord[:, 0]
        first, second = spline(at, 1), spline(at, 2)
        rate, change = chord * sd[:, None], chord * sdd[:, None]
        position, velocity, acceleration = spline(at), first * rate, second * rate**2 + first * change
    rotation, w, alpha = geodesic(R[i], R[i + 1], s, sd, sdd)
    return Motion(
        time=t, position=position, rotation=rotation, velocity=velocity, angular_velocity=w,
        acceleration=acceleration, angular_acceleration=alpha,
    )  # fmt: skip
