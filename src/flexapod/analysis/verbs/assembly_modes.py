"""`assembly_modes`: all real poses of given actuator coordinates, certified where a proven number allows it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexapod.analysis.poses.planar_circles import CIRCLES, certify_circles, is_on_circles
from flexapod.analysis.poses.pose_certificate import certify_quadrics, joined, leg_quadrics, study_quadric
from flexapod.analysis.poses.sphere_legs import Spheres, is_on_spheres, spheres
from flexapod.analysis.requests.abilities import refuse
from flexapod.analysis.requests.actuator_targets import Samples, targets
from flexapod.analysis.requests.arguments import checked
from flexapod.analysis.requests.results import OnError, SampleError, check_option, dataset, raise_failed
from flexapod.arrays import Array
from flexapod.errors import InputError

if TYPE_CHECKING:
    import xarray as xr

    from flexapod.analysis.poses.operation_modes import Generic
    from flexapod.analysis.poses.platform_poses import RealPoses, Solutions
    from flexapod.analysis.requests.results import Variable
    from flexapod.motions.motion import ActuatorMotion
    from flexapod.robot.robot import Robot


class SelfMotionError(SampleError):
    """The platform can move while the actuators are at rest: its poses are a curve and cannot be listed."""


@dataclass(kw_only=True)
class Found:
    """Real poses of one sample and what is known about them.

    Args:
        position: (r, 3); rotation: (r, 3, 3); residual: (r,) relative error of leg lengths, or closing error.
        determinant: (r,) of the lines of the legs, of unit length and relative to the characteristic length; NaN where not known.
        certified: (r,) proven to exist, to be real and simple.
        mode: (r,) operation mode by name.
        complex_count: distinct complex poses found, real ones included.
        self_motion: ``"none"``, or ``"real"`` or ``"complex"`` where the isolated poses are not all: a curve of poses has the
            same actuator coordinates.
        completeness: ``"proven"``, ``"trace-tested"`` or ``"unknown"``.
        detail: why.
        problem: why there is no answer.
    """

    position: Array = field(default_factory=lambda: np.zeros((0, 3)))
    rotation: Array = field(default_factory=lambda: np.zeros((0, 3, 3)))
    residual: Array = field(default_factory=lambda: np.zeros(0))
    determinant: Array = field(default_factory=lambda: np.zeros(0))
    certified: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, dtype=bool))
    mode: list[str] = field(default_factory=list)
    complex_count: int = 0
    self_motion: str = "none"
    completeness: str = "unknown"
    detail: str = ""
    problem: str = ""


@checked
def assembly_modes(
    robot: Robot,
    actuator_position: ArrayLike | ActuatorMotion,
    *,
    certify: bool = True,
    seed: int = 0,
    on_error: OnError = "raise",
) -> xr.Dataset:
    """All real poses of the platform for given actuator coordinates, nearest to home first.

    Paths of all complex solutions are followed from a generic start system to the given coordinates. Where the platform's points
    lie on six spheres (6-UPS, PUS or RUS, 3-3, 6-3, 3-RPS, 3-RSR, three pairs of rods) or, in a plane, on three circles (3-RRR,
    3-RPR), Krawczyk's test then proves that each pose exists, and, where the number of complex poses reaches the proven bound
    (40; 16 with three platform points; 6 in a plane), that there is no other. Other robots, loops inside and between legs
    included, are solved by monodromy, and the trace test shows whether the operation modes that it found are complete. Singular
    poses are listed once, not certified, unless they lie on a self-motion. Flexible bodies are taken undeformed; limits of the
    file do not count (see `check_pose`).

    Args:
        robot: with as many actuators as degrees of freedom.
        actuator_position: (actuators,) or (n, actuators) [m or rad].
        certify: prove the poses, or test that the list is complete; False saves about 5 ms per sample, and seconds for the first
            of a robot without a proven bound.
        seed: of the random paths; the answer does not depend on it.
        on_error: ``"raise"``, or ``"mask"`` to get `valid` and `reason` per sample.
    Returns:
        Dataset over `mode` (and `sample`; missing poses are NaN): `position`, `rotation`, `residual`, `determinant`, `certified`,
        `operation_mode`; per sample `count`, `complex_count`, `self_motion` (``none``, ``real``, ``complex``), `completeness`,
        `detail`.
    Raises:
        SelfMotionError: no pose is isolated.

    Checked by: tests/analysis/test_assembly_modes.py, tests/analysis/test_loop_poses.py.
    """
    check_option("on_error", on_error, ("raise", "mask"))
    refuse(robot, "assembly_modes", certify=certify, seed=seed, on_error=on_error)
    target, at = targets(robot, actuator_position)
    if at.time is not None:
        raise InputError("actuator_position: expected coordinates (actuators,) or (n, actuators), not a motion")
    found = (
        _on_spheres(robot, target, certify, seed)
        if is_on_spheres(robot)
        else [_by_loops(robot, q, certify, seed) for q in target]
    )
    return _dataset(robot, found, at, on_error)


def _on_spheres(robot: Robot, target: Array, certify: bool, seed: int) -> list[Found]:
    from flexapod.analysis.poses.platform_poses import real_poses, solve_platforms

    finite = np.all(np.isfinite(target), axis=1)
    home = np.concatenate([leg.home for leg in robot.legs])[list(robot.driven)]
    given = spheres(robot, np.where(finite[:, None], target, home))
    solutions = solve_platforms(given.a, given.b, given.s, family=given.family, seed=seed)
    real = real_poses(given.a, given.b, given.s, solutions)
    return [
        _sphere_answer(robot, given, solutions, real, i, certify) if finite[i] else Found(problem=_NOT_FINITE)
        for i in range(len(target))
    ]


def _sphere_answer(robot: Robot, given: Spheres, solutions: Solutions, real: RealPoses, i: int, certify: bool) -> Found:
    """Answer from the solutions of one sample."""
    a, b, s = given.a[i], given.b[i], given.s[i]
    singular, finite, motion = solutions.singular[i], solutions.found[i], "none"
    if singular.any():
        from flexapod.analysis.poses.self_motion import self_motions

        moving, really = self_motions(a, b, s, solutions.x[i][singular], np.random.default_rng(1))
        motion = ("real" if really else "complex") if moving else "none"
        if moving and not finite.any():
            return Found(problem=_SELF_MOTION if really else _COMPLEX_MOTION)
    mine = np.flatnonzero(real.platform == i)
    p, R, residual = real.position[mine], real.rotation[mine], real.residual[mine]
    if singular.any() and motion == "none":
        from flexapod.analysis.poses.self_motion import multiple_poses

        more = multiple_poses(a, b, s, solutions.x[i][singular])
        p, R, residual = (np.concatenate(parts) for parts in zip((p, R, residual), more, strict=True))
    arm = b @ np.swapaxes(R, 1, 2)
    lines = p[:, None] + arm - a
    lines = lines / np.linalg.norm(lines, axis=2, keepdims=True)
    moments = np.cross(arm, lines) / robot.characteristic_length
    determinant = np.linalg.det(np.concatenate([lines, moments], axis=2)) * (-1.0 if given.swapped else 1.0)
    if given.swapped:
        R = np.swapaxes(R, 1, 2)
        p = -(R @ p[..., None])[..., 0]
    count = int(finite.sum()) + len(p) - len(mine)
    found = Found(
        position=p, rotation=R, residual=residual, determinant=determinant, certified=np.zeros(len(p), dtype=bool),
        mode=_modes_of(robot, R), complex_count=count, self_motion=motion,
    )  # fmt: skip
    _judge(found, given, solutions, real.index[mine], i, certify)
    _merge(found, robot.characteristic_length)
    return found


def _modes_of(robot: Robot, R: Array) -> list[str]:
    """Operation modes of poses with rotations R (r, 3, 3): of a robot that only translates, those with home's rotation apart."""
    still = np.abs(R - robot.home.rotation).max(axis=(1, 2), initial=0.0) < ONE_POSE
    moves = set(robot.plan.platform_independent) <= {0, 1, 2}
    return ["translational" if one and moves else "general" for one in still]


ONE_POSE = 1e-5
"""Poses that are not certified and nearer than this [rad or characteristic lengths] are one: rounding splits a double pose by its
root, ends of paths at poses of higher multiplicity are found to 3e-6."""


def _merge(found: Found, length: float) -> None:
    """Count a pose of higher multiplicity once."""
    keys = np.concatenate([found.position / length, found.rotation.reshape(-1, 9)], axis=1)
    near = np.abs(keys[:, None] - keys[None]).max(axis=2) < ONE_POSE
    kept = found.certified | ~np.tril(near, -1).any(axis=1)
    found.complex_count -= int((~kept).sum())
    found.position, found.rotation, found.residual = found.position[kept], found.rotation[kept], found.residual[kept]
    found.determinant, found.certified = found.determinant[kept], found.certified[kept]
    found.mode = [name for name, keep in zip(found.mode, kept, strict=True) if keep]


_NOT_FINITE = "input is not a finite number: actuator_position"
_SELF_MOTION = "self-motion: the platform can move while the actuators are at rest, so its poses are a curve and cannot be listed"
_COMPLEX_MOTION = (
    "self-motion of complex poses: the solutions are a curve, on which no real pose was found; the robot's geometry is singular "
    "(architecture singularity)"
)


def _judge(found: Found, given: Spheres, solutions: Solutions, index: NDArray[np.int64], i: int, certify: bool) -> None:
    """Certify the solutions of one sample, and say whether the list is complete."""
    finite, bound = np.flatnonzero(solutions.found[i]), given.bound
    infinite, singular = int(solutions.infinite[i].sum()), int(solutions.singular[i].sum())
    rest = f"{len(finite)} of at most {bound} complex poses found"
    rest += f", {infinite} paths end at infinity" if infinite else ""
    where = "poses of higher multiplicity" if found.self_motion == "none" else f"on a self-motion of {found.self_motion} poses"
    rest += f", {singular} paths end {'at ' * (found.self_motion == 'none')}{where}" if singular else ""
    found.detail = rest
    if not certify:
        found.detail += "; not certified"
        return
    Q = joined(leg_quadrics(given.a[i], given.b[i], given.s[i], given.data_error), study_quadric())
    proof = certify_quadrics(Q, solutions.x[i][finite], np.isin(finite, index), quaternion=4)
    found.certified[: len(index)] = proof.real[np.searchsorted(finite, index)]
    sure = bool(proof.distinct and np.all(proof.real | proof.complex))
    if sure and len(finite) == bound:
        found.completeness = "proven"
        found.detail = f"all {bound} complex poses certified and distinct: no other pose exists"
    elif sure and len(finite):
        found.detail += "; all of them certified and distinct"
    elif len(finite):
        found.detail += f"; {int((proof.real | proof.complex).sum())} of them certified"


def _by_loops(robot: Robot, q: Array, certify: bool, seed: int) -> Found:
    from flexapod.analysis.poses.loop_poses import loop_poses
    from flexapod.analysis.poses.operation_modes import generic_solutions, traced_solutions

    if not np.all(np.isfinite(q)):
        return Found(problem=_NOT_FINITE)
    if certify and not (is_on_circles(robot) and len(generic_solutions(robot)[1].x) == CIRCLES):
        traced_solutions(robot)
    poses = loop_poses(robot, q, seed)
    _, generic = generic_solutions(robot)
    if poses.self_motion != "none" and poses.complex_count == 0:
        return Found(problem=_SELF_MOTION if poses.self_motion == "real" else _COMPLEX_MOTION)
    kinds = ["translational" if still else "general" for still in generic.translational]
    names = [kind if kinds.count(kind) == 1 else f"{kind} {kinds[: k + 1].count(kind)}" for k, kind in enumerate(kinds)]
    detail = (
        f"{poses.complex_count} of {len(generic.x)} complex poses found in {len(kinds)} operation mode{'s' * (len(kinds) > 1)}; "
        f"the last {generic.quiet} monodromy loops found no other"
    )
    r, multiple = len(poses.p), len(poses.p) - len(poses.index)
    detail += f"; {multiple} real pose{'s' * (multiple > 1)} of higher multiplicity" if multiple else ""
    detail += f"; paths end on a self-motion of {poses.self_motion} poses" if poses.self_motion != "none" else ""
    found = Found(
        position=poses.p, rotation=poses.R, residual=poses.residual,
        determinant=np.full(r, np.nan), certified=np.zeros(r, dtype=bool),
        mode=[names[m] for m in poses.mode], complex_count=poses.complex_count,
        self_motion=poses.self_motion, detail=detail,
    )  # fmt: skip
    proof = certify_circles(robot, q, poses) if certify and is_on_circles(robot) else None
    if proof is None:
        found.detail += "; not certified"
    elif proof.distinct and bool(np.all(proof.real | proof.complex)):
        found.certified[: len(poses.index)] = proof.real[poses.index]
        found.detail += "; all regular ones certified and distinct"
        if len(proof.real) == CIRCLES:
            found.completeness = "proven"
            found.detail = f"all {CIRCLES} complex poses certified and distinct: no other pose exists"
    if certify and found.completeness == "unknown":
        _trace(found, generic)
    return found


def _trace(found: Found, generic: Generic) -> None:
    """Whether the trace test makes the list complete."""
    paths = "but some of their paths end at infinity or at singular poses"
    if generic.degree < 0 and len(generic.x) == CIRCLES:
        left = paths if found.complex_count != CIRCLES else "but not all of them are certified"
        found.detail += f"; there are no more than these {CIRCLES} generic poses, {left}"
    elif generic.degree < 0:
        found.detail += f"; no trace test: it takes minutes with {len(generic.x)} complex poses"
    elif generic.degree == 0:
        found.detail += "; the trace test did not close"
    elif found.complex_count != len(generic.x):
        found.detail += f"; the trace test found all generic poses, {paths}"
    else:
        found.completeness = "trace-tested"
        found.detail += f"; trace test of degree {generic.degree}: these operation modes have no other pose"


def _dataset(robot: Robot, found: list[Found], at: Samples, on_error: OnError) -> xr.Dataset:
    reasons = np.array([f.problem for f in found], dtype=object).astype(str) if found else np.zeros(0, dtype=str)
    try:
        raise_failed("assembly modes", robot, reasons, at, on_error)
    except SampleError as error:
        kind = SelfMotionError if error.reason.startswith("self-motion") else SampleError
        raise kind(str(error), error.sample, error.reason, error.bad) from None
    n, most = len(found), max((len(f.position) for f in found), default=0)
    position, rotation = np.full((n, most, 3), np.nan), np.full((n, most, 3, 3), np.nan)
    residual, determinant = np.full((n, most), np.nan), np.full((n, most), np.nan)
    certified, mode = np.zeros((n, most), dtype=bool), np.full((n, most), "", dtype=object)
    for i, f in enumerate(found):
        r = len(f.position)
        way = np.linalg.norm(f.position - robot.home.position, axis=1) / robot.characteristic_length
        way = way + np.linalg.norm(f.rotation - robot.home.rotation, axis=(1, 2))
        order = np.argsort(way, kind="stable")
        position[i, :r], rotation[i, :r], residual[i, :r] = f.position[order], f.rotation[order], f.residual[order]
        determinant[i, :r], certified[i, :r] = f.determinant[order], f.certified[order]
        mode[i, :r] = [f.mode[k] for k in order]
    variables: dict[str, Variable] = {
        "position": (("mode", "axis"), position, "m"),
        "rotation": (("mode", "axis", "body_axis"), rotation, ""),
        "residual": (("mode",), residual, ""),
        "determinant": (("mode",), determinant, ""),
        "certified": (("mode",), certified, ""),
        "operation_mode": (("mode",), mode.astype(str), ""),
        "count": ((), np.array([len(f.position) for f in found], dtype=np.int64), ""),
        "complex_count": ((), np.array([f.complex_count for f in found], dtype=np.int64), ""),
        "self_motion": ((), np.array([f.self_motion for f in found], dtype=object).astype(str), ""),
        "completeness": ((), np.array([f.completeness for f in found], dtype=object).astype(str), ""),
        "detail": ((), np.array([f.detail for f in found], dtype=object).astype(str), ""),
    }
    names = {"mode": [str(k + 1) for k in range(most)]}
    return dataset(robot, variables, at, reasons if on_error == "mask" else None, names=names)
