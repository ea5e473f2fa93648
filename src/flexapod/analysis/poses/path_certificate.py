r"""Certified paths: the pose that a robot reaches when its actuators move straight, without a singular pose on the way.

The path is cut into segments. Krawczyk's test over all actuator coordinates of a segment, which move together with t, proves that
exactly one solution lies in its polydisc, a simple one, for each of them: a branch without a singularity. Tight enclosures at the
nodes lie in the polydiscs of both neighbours, so that the branches are one. Letters: t part of the way;
q(t) = q_0 + t (q_1 - q_0).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from flexapod.analysis.poses import quaternion_algebra as quat
from flexapod.analysis.poses.discs import Disc
from flexapod.analysis.poses.pose_certificate import certify_quadrics, joined, leg_drift, leg_quadrics, study_quadric
from flexapod.analysis.poses.pose_guess import start_poses
from flexapod.analysis.poses.pose_search import Poses, PoseSearch
from flexapod.analysis.poses.sphere_legs import Spheres, spheres
from flexapod.arrays import Array
from flexapod.rotation_arrays import rotation_quaternion

if TYPE_CHECKING:
    import xarray as xr

    from flexapod.analysis.poses.forward_poses import SolvedPoses
    from flexapod.analysis.requests.state import State
    from flexapod.motions.motion import Motion
    from flexapod.robot.robot import Robot


SMALLEST = 2.0**-22
"""Part of the way below which a segment that cannot be certified means a singular pose."""

FIRST = 2.0**-5
"""First step of the path that is to be certified."""

NEAR = 0.05
"""Largest distance of the prediction from the path, |x| being 1."""

ROUND = 1e-11
"""Relative error of the data that polydiscs of segments allow for: they must be wider than the enclosures of the nodes."""

MOST = 64
"""Segments that are cut at a time, from the first uncertain one on."""

LIMIT = 4_000
"""Largest number of segments: some seconds."""


@dataclass(frozen=True, kw_only=True)
class PathCertificate:
    """End of a certified path.

    Args:
        reached: part of the way that is certified; 1 at the end.
        segments: number of them.
        position: (3,); rotation: (3, 3) at the end of the certified part.
        radius: largest radius of the last enclosure, relative.
        reason: why the path ends before 1; empty if it does not.
    """

    reached: float
    segments: int
    position: Array
    rotation: Array
    radius: float
    reason: str


@dataclass(frozen=True, kw_only=True, eq=False)
class _Path:
    """The straight path q(t) = q0 + t way (actuators,) of a robot's actuators, t from 0 to 1."""

    robot: Robot
    q0: Array
    way: Array

    def spheres(self, t: Array) -> Spheres:
        """Spheres of the legs at times (N,)."""
        return spheres(self.robot, self.q0 + t[:, None] * self.way, arrange=False)


def certify_path(robot: Robot, position: Array, rotation: Array, q0: Array, q1: Array) -> PathCertificate:
    """Follow the pose from q0 to q1 with certainty.

    Args:
        position, rotation: the pose at q0.
        q0, q1: (actuators,).

    Checked by: tests/analysis/test_path_certificate.py.
    """
    path = _Path(robot=robot, q0=q0, way=q1 - q0)
    t, x = _trace(path, _study(position, rotation))
    if len(t) == 1:
        return _ended(x[0], 0.0, 0, np.inf, "the guess is singular, or a singular pose lies right ahead of it")
    nodes = _certified(_quadrics(path, t), x)
    sure = np.zeros(len(t) - 1, dtype=bool)
    while True:
        open_ = np.flatnonzero(~sure)
        fine = _segments(path, t, x, nodes, open_)
        sure[open_[fine]] = True
        rest = open_[~fine]
        rest = rest[: np.searchsorted(rest, rest[0]) + MOST] if len(rest) else rest
        if len(rest) == 0:
            break
        if len(t) > LIMIT or t[rest[0] + 1] - t[rest[0]] < SMALLEST:
            end = int(rest[0])
            where = f"after {100.0 * t[end]:.6g} % of the straight path of the actuators"
            reason = (
                f"the path is nearly singular {where}: {LIMIT} segments do not certify it"
                if t[end + 1] - t[end] >= SMALLEST
                else f"a singular pose lies {where}, or too near to it"
            )
            return _ended(x[end], float(t[end]), end, float(nodes[0].rad[end].max()), reason)
        rest = rest[t[rest + 1] - t[rest] >= SMALLEST]
        half = 0.5 * (t[rest] + t[rest + 1])
        between = _newton(_quadrics(path, half).mid.real, _middle(x[rest], x[rest + 1]))
        found = _certified(_quadrics(path, half), between)
        t, x, sure = np.insert(t, rest + 1, half), np.insert(x, rest + 1, between, axis=0), np.insert(sure, rest + 1, False)
        mid, rad = (np.insert(getattr(nodes[0], k), rest + 1, getattr(found[0], k), axis=0) for k in ("mid", "rad"))
        nodes = Disc(mid, rad), np.insert(nodes[1], rest + 1, found[1])
    if t[-1] < 1.0:
        reason = f"a singular pose lies after {100.0 * t[-1]:.6g} % of the straight path of the actuators"
        return _ended(x[-1], float(t[-1]), len(sure), float(nodes[0].rad[-1].max()), reason)
    return _ended(x[-1], 1.0, len(sure), float(nodes[0].rad[-1].max()), "")


def certify_solved(
    robot: Robot, solved: SolvedPoses, guess: State | Motion | xr.Dataset | None
) -> tuple[NDArray[np.str_], NDArray[np.int64]]:
    """Reasons and numbers of segments of the paths from the guess to every sample; poses and joints that are not those of
    the certified path are replaced."""
    search = PoseSearch(robot)
    wanted = solved.poses.joints[:, list(robot.driven)]
    start, own, refused = start_poses(search, guess, len(wanted))
    reasons, counts = solved.reasons.astype(object), np.zeros(len(wanted), dtype=np.int64)
    rotating = np.array(robot.actuator_units) == "rad"
    for i in range(len(wanted)):
        k = 0 if len(start) == 1 else i
        if refused[k] != "" or not np.all(np.isfinite(wanted[i])):
            continue
        way = wanted[i] - own[k]
        way = np.where(rotating, np.arctan2(np.sin(way), np.cos(way)), way)
        proof = certify_path(robot, start.position[k], start.rotation[k], own[k], own[k] + way)
        reasons[i], counts[i] = proof.reason and f"no certified pose: {proof.reason}", proof.segments
        if not proof.reason:
            near = Poses(position=proof.position[None], rotation=proof.rotation[None], joints=solved.poses.joints[i : i + 1])
            found = search.newton(wanted[i : i + 1], near)
            solved.poses.put(slice(i, i + 1), Poses(position=near.position, rotation=near.rotation, joints=found.poses.joints))
            solved.found.residual[i] = found.residual[0]
    return reasons.astype(str), counts


def _trace(path: _Path, x: Array) -> tuple[Array, Array]:
    """Points t and x of the path, without certainty, as far as Newton's method contracts fast."""
    x = _newton(_quadrics(path, np.zeros(1)).mid.real, x[None])[0]
    times, points, t, h = [0.0], [x], 0.0, FIRST
    while t < 1.0:
        h = min(h, 1.0 - t)
        guess = points[-1]
        if len(times) > 1:
            guess = guess + h / (t - times[-2]) * (guess - points[-2] * np.sign(guess @ points[-2]))
        Q = _quadrics(path, np.array([t + h])).mid.real
        one = _newton(Q, guess[None], 1)[0]
        two = _newton(Q, one[None], 1)[0]
        first, second = np.linalg.norm(one - guess / np.linalg.norm(guess)), np.linalg.norm(two - one)
        if first < NEAR and second < 0.1 * first + 1e-13:
            t = 1.0 if t + h > 1.0 - 1e-15 else t + h
            times.append(t)
            points.append(_newton(Q, two[None])[0])
            h *= 1.5
        else:
            h *= 0.5
            if h < SMALLEST:
                break
    return np.array(times), np.array(points)


def _segments(
    path: _Path, t: Array, x: Array, nodes: tuple[Disc, NDArray[np.bool_]], index: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Whether each segment is certified: it has a polydisc with one branch, in which the enclosures of both nodes lie."""
    middle, half = 0.5 * (t[index] + t[index + 1]), 0.5 * (t[index + 1] - t[index])
    at = _newton(_quadrics(path, middle).mid.real, _middle(x[index], x[index + 1]))
    Q, drift = _moving_quadrics(path, middle, half)
    tube, good = _certified(Q, at, drift)
    chart = np.argmin(tube.rad, axis=1)
    for end in (index, index + 1):
        box = nodes[0][end]
        rows = np.arange(len(index))
        moved = box.over(Disc(box.mid[rows, chart][:, None], box.rad[rows, chart][:, None]))
        inside = moved.inside(tube)
        inside[rows, chart] = True  # both are 1 there
        good = good & nodes[1][end] & inside.all(axis=1)
    return np.asarray(good)


def _middle(x: Array, y: Array) -> Array:
    return np.asarray(x + y * np.sign((x * y).sum(axis=1))[:, None])


def _quadrics(path: _Path, t: Array) -> Disc:
    """Quadrics (N, 7, 8, 8) of the actuator coordinates q(t)."""
    given = path.spheres(t)
    return joined(leg_quadrics(given.a, given.b, given.s), study_quadric())


def _moving_quadrics(path: _Path, t: Array, half: Array) -> tuple[Disc, Disc]:
    """Quadrics Q and D (N, 7, 8, 8): Q + u D, u from -1 to 1, are those of q(t - half) .. q(t + half)."""
    given, robot = path.spheres(t), path.robot
    da, ds, a_spread, s_spread = (np.zeros(v.shape) for v in (given.a, given.s, given.a, given.s))
    for i, leg in enumerate(robot.legs):
        form, move = robot.closed_forms[i], path.way[i] * half
        assert form is not None
        if leg.architecture == "UPS":  # (L + d)^2 - L^2
            ds[:, i], s_spread[:, i] = 2.0 * np.sqrt(given.s[:, i]) * move, move**2 * (1.0 + 1e-12)
        elif leg.architecture == "PUS":
            da[:, i] = form.drive * move[:, None]
        else:  # a chord leaves its tangent by half the square of the angle
            da[:, i] = np.cross(form.drive, given.a[:, i] - form.pivot) * move[:, None]
            a_spread[:, i] = (np.linalg.norm(form.U - form.pivot) * 0.5 * move**2 * (1.0 + 1e-12))[:, None]
    D, square = leg_drift(given.a, given.b, da, ds, ROUND, a_spread)
    Q = leg_quadrics(given.a, given.b, given.s, ROUND, a_spread=a_spread, s_spread=s_spread)
    Q = Disc(Q.mid, (Q.rad + square) * (1.0 + 1e-12))
    still = study_quadric()
    return joined(Q, still), joined(D, Disc(0.0 * still.mid, 0.0 * still.rad))


def _certified(Q: Disc, x: Array, drift: Disc | None = None) -> tuple[Disc, NDArray[np.bool_]]:
    """Polydiscs with exactly one solution around each x, and whether that is proven."""
    proof = certify_quadrics(Q, x.astype(np.complex128), np.ones(len(x), dtype=bool), quaternion=4, drift=drift)
    return proof.box, proof.real


def _newton(Q: Array, x: Array, passes: int = 5) -> Array:
    """Solutions of the quadrics near x (N, 8), of unit length."""
    x = x / np.linalg.norm(x, axis=1, keepdims=True)
    for _ in range(passes):
        rows = (Q @ x[:, None, :, None])[..., 0]
        f = np.concatenate([0.5 * (rows @ x[..., None])[..., 0], np.zeros((len(x), 1))], axis=1)
        A = np.concatenate([rows, x[:, None]], axis=1)
        try:
            step = np.linalg.solve(A, f[..., None])[..., 0]
        except np.linalg.LinAlgError:
            step = (np.linalg.pinv(A) @ f[..., None])[..., 0]
        x = x - step
        x = x / np.linalg.norm(x, axis=1, keepdims=True)
    return x


def _study(position: Array, rotation: Array) -> Array:
    """Study's coordinates of a pose, of unit length."""
    e = rotation_quaternion(rotation)
    x = np.concatenate([e, quat.product(quat.pure(position), e)])
    return np.asarray(x / np.linalg.norm(x))


def _ended(x: Array, reached: float, segments: int, radius: float, reason: str) -> PathCertificate:
    e, g = x[:4], x[4:]
    p = quat.product(g, quat.conjugate(e))[1:] / (e @ e)
    return PathCertificate(reached=reached, segments=segments, position=p, rotation=quat.matrix(e), radius=radius, reason=reason)
