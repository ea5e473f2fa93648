r"""`calibrate`: geometry and offsets of a real robot from measured poses or distances, by weighted least squares.

.. math:: \min_\theta \sum_j \rho\!\left(\frac{y_j - h_j(\theta)}{\sigma_j}\right),\qquad
          \theta \leftarrow \theta + (J^T W J)^{-1} J^T W r,\qquad \mathrm{cov}\,\theta = s^2 (J^T W J)^{-1}

Letters: theta corrections of file parameters, y measurements, h forward kinematics at the actuator readings, J = dh/dtheta, W
weights of Huber's loss (1 below 1.345 standard deviations). What the measurements cannot show is found from the singular values
of J and named.

Source: Khalil, Dombre, Modeling, Identification and Control of Robots (2002), chapter 11; Huber, Robust Statistics (1981).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexapod.analysis.requests.abilities import refuse
from flexapod.analysis.requests.arguments import checked
from flexapod.analysis.requests.state import State
from flexapod.arrays import Array
from flexapod.design.calibration import Calibration
from flexapod.design.measured_poses import MeasuredPoses, actuator_forces, measured_poses
from flexapod.design.pose_errors import REACH, PerturbedPoses
from flexapod.design.variables import scalars
from flexapod.errors import FlexapodError, InputError

if TYPE_CHECKING:
    import xarray as xr

    from flexapod.robot.robot import Robot


RANK = 1e-5
"""Singular value, of the largest, below which a combination of parameters cannot be seen: noise of that size would hide it."""

HUBER = 1.345
"""Standard deviations up to which a residual counts in full: 95 % efficiency for normal noise."""

SETTLED = 4e-10
"""Last step, of the step of differences (a quarter of a thousandth of the length): rounding of the lengths."""

PASSES = 50
FOLDS = 5


class NotIdentifiableError(FlexapodError):
    """Parameters that the measurements do not determine: `names` and `rank`."""

    def __init__(self, message: str, names: tuple[str, ...] = (), rank: int = 0) -> None:
        super().__init__(message)
        self.names, self.rank = names, rank


@checked
def calibrate(
    robot: Robot,
    measurements: Mapping[str, ArrayLike] | xr.Dataset,
    parameters: Sequence[str],
    *,
    sigma: Mapping[str, ArrayLike] | None = None,
    loss: str = "squares",
    unidentifiable: str = "raise",
    validate: bool = True,
) -> Calibration:
    """Estimate parameters of the robot file from measurements of the platform.

    Args:
        robot: the nominal robot, as in the drawing.
        measurements: mapping or dataset: `actuator_position` (n, actuators) readings, and one of: `position` (n, 3) with or
            without `rotation` (n, 3, 3); `distance` (n, k) [m] between `base_points` (k, 3) and `platform_points` (k, 3);
            `fixed_point` (3,), a point of the platform that a socket holds at one unknown place (readings alone then suffice).
            With `wrench` (n, 6) [N, N m], loads on the platform at its origin, the stiffness of every actuator is estimated
            as well, from how the weight and the loads deflect the platform.
        parameters: paths, with `*` and of vectors: ``["legs.*.hip.at", "legs.*.ball.on", "legs.*.slide.zero"]``.
        sigma: standard deviation of ``position``, ``rotation``, ``distance``, ``point``; left out: equal
            weights (rotations times the characteristic length), the scale from the residuals.
        loss: ``"squares"`` or ``"huber"`` against outliers.
        unidentifiable: ``"raise"``, or ``"fix"`` to keep at the file's values what the measurements do not determine.
        validate: also predict each fifth of the measurements from the others.
    Returns:
        `Calibration`: the calibrated `robot`, `table` of parameters with standard deviations, `residuals`, `commands`.
    Raises:
        NotIdentifiableError: names the parameters that the measurements do not determine.

    Checked by: tests/design/test_calibrate.py.
    """
    refuse(robot, "calibrate")
    if loss not in ("squares", "huber"):
        raise InputError(f"loss: 'squares' or 'huber', not {loss!r}")
    if unidentifiable not in ("raise", "fix"):
        raise InputError(f"unidentifiable: 'raise' or 'fix', not {unidentifiable!r}")
    paths = list(dict.fromkeys(path for text in parameters for path in scalars(robot, text)))
    if not paths:
        raise InputError("parameters: give paths of the robot file, e.g. ['legs.*.hip.at']")
    problem = measured_poses(robot, paths, measurements, sigma)
    everything, names = np.arange(problem.count), problem.names
    theta = np.zeros(len(names))
    for last in (False, True)["rotation" in problem.given :]:  # identifiability is judged where residuals are small
        free, hidden, rank = _identifiable(problem.sensitivity(theta), problem)
        if hidden and unidentifiable == "raise" and last:
            raise NotIdentifiableError(_hidden_text(hidden, rank, len(names), problem), tuple(hidden), rank)
        theta, cov, scale = _fit(problem, free, everything, loss)
    for _ in range(PASSES if problem.poses.forces is not None else 0):  # forces belong to the poses and robot that come out
        problem = _reloaded(problem, theta)
        before, (theta, cov, scale) = theta, _fit(problem, free, everything, loss, theta)
        if np.all(np.abs(theta - before) <= SETTLED * problem.poses.steps):
            break
    errors = _cross_validated(problem, free, loss) if validate and problem.count >= 2 * FOLDS else None
    return Calibration(
        drawing=robot, paths=names[: len(paths)], names=names, units=problem.units, correction=theta, covariance=cov,
        residual=problem.residual(theta, everything), weight=problem.weight, labels=problem.labels, rank=rank, scale=scale,
        fixed=tuple(name for k, name in enumerate(names) if k not in set(free)), validation=errors,
    )  # fmt: skip


def _reloaded(problem: MeasuredPoses, theta: Array) -> MeasuredPoses:
    """The same measurements with forces of the calibrated robot at the poses that it predicts."""
    poses = problem.poses
    changes = {path: float(poses.robot.parameter(path)) + float(v) for path, v in zip(poses.paths, theta, strict=False)}  # type: ignore[arg-type]
    p, R = poses.poses(theta[None])
    forces = actuator_forces(poses.robot.with_parameters(changes), State(position=p[0], rotation=R[0]), problem.given["wrench"])
    at = State(position=poses.position, rotation=poses.rotation)
    return replace(problem, poses=PerturbedPoses(poses.robot, poses.paths, at, poses.actuators, forces))


def _fit(
    problem: MeasuredPoses, free: NDArray[np.int64], chosen: NDArray[np.int64], loss: str, start: Array | None = None
) -> tuple[Array, Array, float]:
    """Gauss-Newton with steps halved while they raise the loss; corrections, covariance, standard deviation of unit weight."""
    theta = np.zeros(problem.parameters) if start is None else start
    size = problem.poses.steps[free]
    r = problem.residual(theta, chosen).ravel()
    for _ in range(PASSES):
        w, s = _weights(r, loss, problem.absolute)
        J = problem.jacobian(theta, chosen)[:, free]
        step = size * np.linalg.lstsq(J * size * np.sqrt(w)[:, None], r * np.sqrt(w), rcond=1e-13)[0]
        for _ in range(20):
            trial = theta.copy()
            trial[free] += step
            new = problem.residual(trial, chosen).ravel()
            if np.all(np.isfinite(new)) and _cost(new, loss, s) <= _cost(r, loss, s) * (1 + 1e-12):
                break
            step = step / 2
        else:
            break
        theta, r = trial, new
        if np.abs(step / size).max() < SETTLED:
            break
    w, s = _weights(r, loss, problem.absolute)
    J = problem.jacobian(theta, chosen)[:, free]
    inner = np.linalg.pinv((J * size * w[:, None]).T @ (J * size), hermitian=True) * np.outer(size, size)
    own = len(free) + problem.unknown
    cov = np.zeros((problem.parameters, problem.parameters))
    cov[np.ix_(free, free)] = inner * (1.0 if problem.absolute else _variance(r, w, own))
    return theta, cov, float(np.sqrt(_variance(r, w, own)))


def _variance(r: Array, w: Array, parameters: int) -> float:
    return float((w * r**2).sum() / max(len(r) - parameters, 1))


def _weights(r: Array, loss: str, absolute: bool) -> tuple[Array, float]:
    if loss == "squares":
        return np.ones(len(r)), 1.0
    s = 1.0 if absolute else max(1.4826 * float(np.median(np.abs(r))), 1e-300)
    return np.minimum(1.0, HUBER * s / np.maximum(np.abs(r), 1e-300)), s


def _cost(r: Array, loss: str, s: float) -> float:
    a = np.abs(r) / s
    return float((a**2).sum() if loss == "squares" else np.where(a < HUBER, a**2, 2 * HUBER * a - HUBER**2).sum())


def _identifiable(J: Array, problem: MeasuredPoses) -> tuple[NDArray[np.int64], list[str], int]:
    """Columns that can be estimated, names in combinations that cannot be seen, rank."""
    from scipy.linalg import qr

    paths, d = problem.names, len(problem.poses.axes)
    sizes = [problem.length if axis.unit == "m" else 1.0 for axis in problem.poses.axes]
    scaled = J * np.append(sizes, 4 / REACH * problem.poses.steps[d:])  # compliances: those that move an actuator by the length
    _, s, vt = np.linalg.svd(scaled, full_matrices=True)
    size = np.append(s, np.zeros(max(0, len(paths) - len(s))))
    rank = int((size > RANK * size[0]).sum())
    if rank == len(paths):
        return np.arange(rank), [], rank
    part = np.linalg.norm(vt[rank:], axis=0)
    _, _, order = qr(scaled, mode="economic", pivoting=True)
    return np.sort(order[:rank]), [path for path, v in zip(paths, part, strict=True) if v > 1e-4], rank


def _hidden_text(hidden: Sequence[str], rank: int, count: int, problem: MeasuredPoses) -> str:
    rows = problem.count * len(problem.labels) - problem.unknown
    why = f"{rows} numbers cannot give {count} parameters: measure more poses" if rows < count else (
        "measure poses with other orientations and positions, or leave out parameters that act alike"
    )  # fmt: skip
    shown = ", ".join(hidden[:8]) + (f" and {len(hidden) - 8} more" if len(hidden) > 8 else "")
    why = why[0].upper() + why[1:]
    return f"{rank} of {count} parameters are determined by the measurements; not by themselves: {shown}. {why}"


def _cross_validated(problem: MeasuredPoses, free: NDArray[np.int64], loss: str) -> Array:
    """Residuals (n, rows) of each measurement, predicted from the other folds; NaN where those do not identify all."""
    found = np.full((problem.count, len(problem.labels)), np.nan)
    for fold in range(FOLDS):
        out = np.arange(fold, problem.count, FOLDS)
        rest = np.setdiff1d(np.arange(problem.count), out)
        if len(rest) * len(problem.labels) >= len(free):
            found[out] = problem.residual(_fit(problem, free, rest, loss)[0], out)
    return found
