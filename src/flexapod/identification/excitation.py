r"""`exciting_motion`: a periodic motion of the actuators that distinguishes the parameters of a robot.

.. math:: q_k(t) = q_{k0} + \sum_{j=1}^{H} a_{kj}\sin(2\pi j t/T) + b_{kj}\cos(2\pi j t/T),\qquad
          \min_{a,b}\;\log\operatorname{tr}(N^{-1}),\quad N = S\,Y^T Y\,S

Letters: Y regressor of the base parameters over one period, S scales its columns to one. Largest ratio of any quantity to its
limit, rho <= 1: strokes, speeds, forces, joint angles, condition of the Jacobian, and the box of states of the robot file.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from flexapod.analysis.model.kernels import RobotKernel, kernel
from flexapod.analysis.requests.abilities import refuse
from flexapod.analysis.requests.arguments import checked
from flexapod.analysis.space.limits import limits_of
from flexapod.analysis.space.pose_map import PoseMap
from flexapod.arrays import Array
from flexapod.calls import check_count, check_finite, check_seed
from flexapod.errors import InputError
from flexapod.identification.base_parameters import BaseParameters, base_parameters
from flexapod.identification.linear_model import Legs, RegressorModel
from flexapod.motions.motion import ActuatorMotion, check_samples, with_formula
from flexapod.motions.rotations import rotation_rotvec

if TYPE_CHECKING:
    from flexapod.robot.robot import Robot

SAMPLES = 60
"""Samples per period on which the criterion is evaluated: six per period of the highest of ten harmonics."""
ROOM = 0.999
"""Part of the limits that a motion uses: between samples it must keep them, too."""
STEP = 1e-5
"""Step of the differences, relative to the largest coefficient."""
LOST = 1e6
"""Criterion of a motion that cannot be followed."""
STARTS = 12
"""Random motions of which the best is improved."""


@dataclass(frozen=True, kw_only=True)
class Excitation:
    """The problem: which motions are allowed, and how well they excite.

    Args:
        robot: whose limits count.
        base: parameters to be distinguished.
        period: [s]; harmonics: number of them.
        samples: per period.
    """

    robot: Robot
    base: BaseParameters
    period: float
    harmonics: int
    samples: int = SAMPLES

    @cached_property
    def centre(self) -> Array:
        """(actuators,) coordinates at home."""
        return np.concatenate([leg.home for leg in self.robot.legs])[list(self.robot.driven)]

    @property
    def size(self) -> int:
        """Number of coefficients."""
        return 2 * self.harmonics * len(self.robot.actuators)

    @cached_property
    def _waves(self) -> tuple[Array, Array, Array]:
        """(samples, 2 harmonics) sines and cosines, and their derivatives, over one period."""
        return self.waves(np.linspace(0.0, self.period, self.samples, endpoint=False))

    def waves(self, time: Array) -> tuple[Array, Array, Array]:
        """(n, 2 harmonics) sines and cosines, and their derivatives, at times."""
        w = 2 * np.pi * np.arange(1, self.harmonics + 1) / self.period
        s, c = np.sin(np.outer(time, w)), np.cos(np.outer(time, w))
        return np.hstack([s, c]), np.hstack([c * w, -s * w]), np.hstack([-s * w**2, -c * w**2])

    def at(self, X: Array, waves: tuple[Array, Array, Array] | None = None) -> tuple[Array, Array, Array]:
        """q and its derivatives (m, n, actuators) of m motions."""
        coefficients = X.reshape(len(X), len(self.robot.actuators), 2 * self.harmonics)
        q, qd, qdd = (np.einsum("th,mkh->mtk", wave, coefficients) for wave in waves or self._waves)
        return q + self.centre, qd, qdd

    @cached_property
    def _kernels(self) -> tuple[RobotKernel, RobotKernel, PoseMap, RegressorModel]:
        robot = self.robot
        model = self.base.model.keeping(self.base.names)
        return kernel(robot, "forward_kinematics"), kernel(robot, "platform_from_actuators"), PoseMap(limits_of(robot)), model

    def evaluate(self, X: Array, rows: bool = True) -> tuple[Array, Array]:
        """Ratios to limits (m,) of m motions, infinite where one cannot be followed, and regressors (m, n, actuators, base).

        Args:
            rows: False where only ratios matter; regressors are then empty unless forces have limits.
        """
        m = len(X)
        q, qd, qdd = (np.ascontiguousarray(v.reshape(m * self.samples, -1)) for v in self.at(X))
        poses, rates, chart, model = self._kernels
        count, home = m * self.samples, self.robot.home
        given = {
            "actuator_position": q, "actuator_velocity": qd, "actuator_acceleration": qdd,
            "guess_position": np.tile(home.position, (count, 1)), "guess_rotation": np.tile(home.rotation, (count, 1, 1)),
            "guess": np.tile(np.concatenate([leg.home for leg in self.robot.legs]), (count, 1)), "wrench": np.zeros((count, 6)),
        }  # fmt: skip
        found = poses.batch({i.name: given[i.name] for i in poses.signature.inputs})
        good = (found.status == 0) & (found.outputs["converged"] > 0)
        good &= np.prod(found.outputs["determinant"], axis=1) > 0
        given |= {
            "position": found.outputs["position"],
            "rotation": found.outputs["rotation"],
            "guess": found.outputs["joint_position"],
        }
        given["position"][~good], given["rotation"][~good] = home.position, home.rotation
        moved = rates.batch({i.name: given[i.name] for i in rates.signature.inputs})
        given |= {k: np.where(good[:, None], v, 0.0) for k, v in moved.outputs.items() if v.shape[1:] == (3,)}
        reasons = np.full(count, "", dtype=object)
        rows = rows or bool(np.any(np.isfinite(chart.limits.force)))
        Y = model.rows(given, model.loads(given, reasons), reasons) if rows else np.zeros((count, q.shape[1], self.base.rank))
        good &= (reasons == "") & np.all(np.isfinite(Y), axis=(1, 2))
        ratio = np.where(good, self._ratio(q, qd, given, Y, chart), np.inf)
        return ratio.reshape(m, -1).max(axis=1), Y.reshape(m, self.samples, *Y.shape[1:])

    def _ratio(self, q: Array, qd: Array, inputs: dict[str, Array], Y: Array, chart: PoseMap) -> Array:
        """(n,) largest ratio of each sample to a limit."""
        limits, box, home = chart.limits, self.robot.sampling, self.robot.home
        facts = chart.evaluate(inputs["position"], inputs["rotation"], inputs["guess"] if chart.general else None)
        rotation = rotation_rotvec(inputs["rotation"] @ home.rotation.T)
        room = np.minimum(limits.high - self.centre, self.centre - limits.low)
        ratios = [_over(inputs["position"] - home.position, box.position), _over(rotation, box.rotation)]
        ratios += [
            _over(inputs[k], getattr(box, k)) for k in ("velocity", "angular_velocity", "acceleration", "angular_acceleration")
        ]
        ratios += [_over(q - self.centre, room), _over(qd, limits.speed), _over(Y @ self.base.values, limits.force)]
        ratios += [_over(facts.deflection, limits.angle), facts.condition / box.condition]
        worst = np.max(ratios, axis=0)
        return np.where(np.isfinite(worst), worst, np.inf)

    def criterion(self, X: Array) -> Array:
        """(m,) log tr(N^-1) of motions that are made as large as the limits allow (to first order in their size)."""
        for _ in range(2):
            ratio, _ = self.evaluate(X, rows=False)
            X = X * (ROOM / np.where(np.isfinite(ratio), np.maximum(ratio, 1e-9), 4.0))[:, None]
        ratio, Y = self.evaluate(X)
        flat = Y.reshape(len(X), -1, Y.shape[3])
        flat = flat / np.maximum(np.linalg.norm(flat, axis=1, keepdims=True), 1e-300)
        N = np.swapaxes(flat, 1, 2) @ flat + 1e-13 * np.eye(flat.shape[2])
        trace = np.trace(np.linalg.inv(N), axis1=1, axis2=2)
        value = np.log(np.maximum(trace, 1e-300))
        return np.where((ratio < 1.05) & np.isfinite(value) & (trace > 0), value, LOST)

    def condition(self, x: Array) -> float:
        """Condition number of the regressor with scaled columns."""
        ratio, Y = self.evaluate(x[None])
        return condition_number(Y[0]) if np.isfinite(ratio[0]) else np.inf

    def fitted(self, x: Array) -> Array:
        """The same motion, made as large as the limits allow."""
        low, high, scale = 0.0, np.inf, 1.0
        for _ in range(40):
            ratio = float(self.evaluate(scale * x[None], rows=False)[0][0])
            if ratio <= 1.0:
                low = scale
                if ratio > 0.97:
                    break
            else:
                high = scale
            guess = scale * 0.99 / ratio if 0 < ratio < np.inf else scale / 4
            scale = guess if low < guess < high else (low + min(high, 4 * max(low, scale))) / 2
        return low * x

    def random(self, seed: int) -> Array:
        """A random motion within the limits: coefficients of harmonic j are normal with size 1/j."""
        random = np.random.default_rng(seed)
        fade = np.tile(1.0 / np.arange(1, self.harmonics + 1), 2)
        unit = random.normal(size=(len(self.robot.actuators), 2 * self.harmonics)) * fade
        return self.fitted(unit.ravel() * 0.02 * self.robot.characteristic_length)


def _over(values: Array, limit: ArrayLike) -> Array:
    """(n,) largest size over its limit; limits of zero belong to components that the robot cannot move."""
    bound = np.broadcast_to(np.asarray(limit, dtype=np.float64), np.shape(values)[1:])
    used = bound > 0
    return np.asarray(np.max(np.abs(values)[:, used] / bound[used], axis=1, initial=0.0))


def condition_number(Y: Array) -> float:
    """Condition number of a regressor (n, actuators, parameters) with columns scaled to one."""
    flat = Y.reshape(-1, Y.shape[2])
    s = np.linalg.svd(flat / np.maximum(np.linalg.norm(flat, axis=0), 1e-300), compute_uv=False)
    return float(s[0] / max(s[-1], 1e-300))


@checked(harmonics=check_count, passes=check_seed, period=check_finite, rate=check_finite)
def exciting_motion(
    robot: Robot,
    *,
    period: float = 10.0,
    harmonics: int = 5,
    rate: float = 100.0,
    legs: Legs = "each",
    friction: bool = True,
    passes: int = 40,
    seed: int = 0,
) -> ActuatorMotion:
    """A periodic motion within all limits of the robot that excites its base parameters.

    Limits are those of the robot file (strokes, speeds, forces, joint angles) and its `sampling` box of states (pose, twist,
    acceleration around home, condition of the Jacobian). Best of some random Fourier series, then improved by a quasi-Newton
    method.

    Args:
        robot: any robot with rigid bodies and as many actuators as degrees of freedom.
        period: [s]; harmonics: of the Fourier series, per actuator.
        rate: samples per second of the result.
        legs, friction: which parameters, as for `regressor`.
        passes: most steps of the optimisation.
        seed: of the random start.
    Returns:
        One period, with its formula; `motion_to_file` writes it.

    Source: Swevers et al., Optimal robot excitation and identification (1997). Checked by:
    tests/identification/test_excitation.py.
    """
    refuse(robot, "exciting_motion")
    for name, value in (("period", period), ("rate", rate)):
        if value <= 0.0:
            raise InputError(f"{name}: expected a number above 0, got {value!r}")
    if harmonics < 1 or harmonics > SAMPLES // 6:
        raise InputError(f"harmonics: expected 1 to {SAMPLES // 6}, got {harmonics!r}")
    problem = Excitation(
        robot=robot, base=base_parameters(robot, friction=friction, legs=legs), period=float(period), harmonics=int(harmonics)
    )
    x = optimised(problem, passes, seed)
    return as_motion(problem, x, rate)


def as_motion(problem: Excitation, x: Array, rate: float) -> ActuatorMotion:
    """One period of a series as a motion with its formula."""

    def formula(time: Array) -> ActuatorMotion:
        q, qd, qdd = (v[0] for v in problem.at(x[None], problem.waves(np.asarray(time))))
        return ActuatorMotion(time=np.asarray(time), position=q, velocity=qd, acceleration=qdd)

    count = max(check_samples("rate", max(round(problem.period * rate), 2)), 8)
    return with_formula(formula(np.arange(count + 1) / count * problem.period), formula)


def optimised(problem: Excitation, passes: int, seed: int) -> Array:
    """Coefficients of the best motion found, within the limits."""
    from scipy.optimize import minimize

    drawn = np.array([problem.random(1000 * seed + k) for k in range(STARTS)])
    best = drawn[int(np.argmin(problem.criterion(drawn)))]
    unit = float(np.abs(best).max())

    def with_gradient(z: Array) -> tuple[float, Array]:
        values = problem.criterion(unit * np.vstack([z, z + STEP * np.eye(len(z))]))
        slope = (values[1:] - values[0]) / STEP
        return float(values[0]), np.where(values[1:] < LOST, slope, 0.0)

    if passes < 1:
        return np.asarray(best)
    found = minimize(with_gradient, best / unit, jac=True, method="L-BFGS-B", options={"maxiter": passes, "maxcor": 30})
    x = problem.fitted(found.x * unit)
    return x if problem.condition(x) < problem.condition(best) else np.asarray(best)
