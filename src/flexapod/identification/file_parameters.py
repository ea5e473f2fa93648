r"""Named parameters of the robot file fitted to forces by Gauss-Newton: for flexible robots, and for what is not linear.

.. math:: \min_p\;\sum_k |y_k - \Gamma(p)_k|^2_W,\qquad
          p \leftarrow p + (J^T W J)^{-1} J^T W\,(y - \Gamma(p)),\qquad J = \partial\Gamma/\partial p

Letters: p parameters by dotted path, Gamma forces of `inverse_dynamics`; deflections of flexible bodies are integrated along the
measured motion from their static start. J by differences.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from flexapod.analysis.requests.arguments import scalar_parameter
from flexapod.analysis.verbs.inverse_dynamics import inverse_dynamics
from flexapod.arrays import Array
from flexapod.errors import FlexapodError, InputError
from flexapod.identification.estimators import Block, Estimate, accumulate, essential, finish, residual_noise, solve, whitening
from flexapod.identification.measurement import Measurement, measurement
from flexapod.identification.pose_track import PoseTrack
from flexapod.identification.problem import Options
from flexapod.identification.result import Identification, Validation
from flexapod.identification.signals import averaged, smooth_motion, used
from flexapod.motions.motion import ActuatorMotion, Motion

if TYPE_CHECKING:
    from flexapod.identification.measurement import Data
    from flexapod.robot.robot import Robot

STEP = 1e-4
"""Relative step of the differences; forces are nearly linear in masses, friction and damping."""
PASSES = 10
FINEST = 16
"""Steps per sample of the integration of deflections at most."""
SETTLED = 1e-2
"""Change in standard errors at which the passes end."""


def fit_file_parameters(
    robot: Robot, every: Sequence[Measurement], parameters: Sequence[str], options: Options, *, friction: bool, least: float,
    validate: Data | None,
) -> Identification:  # fmt: skip
    """Estimate parameters by their paths in the robot file; see `identify`.

    Checked by: tests/identification/test_campaigns.py.
    """
    problem, offset = ForceFit(robot, every, parameters, options, friction), options.offset
    found = problem.estimate()
    count, start = len(parameters), problem.start
    p, noise = found.beta[:count], np.sqrt(np.diag(found.noise))
    extra: dict[str, Any] = {"offset": found.beta[count:], "offset_sigma": found.sigma[count:]} if offset else {}
    shift = found.beta[count:] if offset else np.zeros(len(robot.actuators))
    checked = None
    if validate is not None:
        own = MeasuredForces(robot, measurement(robot, validate), options, friction)
        rms = [np.sqrt(np.mean((own.y - shift - own.force(_with(robot, parameters, at))) ** 2, axis=0)) for at in (p, start)]
        checked = Validation(rms=rms[0], before=rms[1], noise=noise)
    source = (
        f"identified from {', '.join(one.source for one in every)} by Gauss-Newton on named parameters, {found.rows} equations"
    )
    return FileIdentification(
        start=robot, parameter_names=tuple(parameters), theta=p, names=tuple(parameters), combinations=tuple(parameters),
        units=tuple(robot.parameters[path].unit if path in robot.parameters else "" for path in parameters), estimate=p,
        sigma=found.sigma[:count], covariance=found.covariance[:count, :count], prior=start, noise=noise,
        condition=found.condition,
        rows=found.rows, method="wls", essential=tuple(parameters[k] for k in essential(found, least) if k < count),
        source=source,
        validation=checked, residual=np.concatenate([r.y - shift - r.force(_with(robot, parameters, p)) for r in problem.data]),
        **extra,
    )  # fmt: skip


class FileIdentification(Identification):
    """An estimate of named parameters: the identified robot has these changed, nothing else."""

    @property
    def robot(self) -> Robot:
        """The robot with the estimated numbers."""
        return _with(self.start, self.parameter_names, self.theta)


class MeasuredForces:
    """A measurement whose forces are predicted, from its first sample on: deflections are integrated from there."""

    def __init__(self, robot: Robot, data: Measurement, options: Options, friction: bool) -> None:
        cutoff, decimate = options.cutoff, options.decimate
        if data.force is None:
            raise InputError("data: named parameters are fitted to forces; convert the currents first")
        self.part, self.d, self.friction, self.fine = used(data, cutoff), decimate, friction, 1
        self.time = data.time - data.time[0]
        self.states = smooth_motion(data, cutoff)
        self.legs = robot.elastic_legs
        self.flexible = self.legs or robot.flexible_platform is not None
        self.motion: Any = ActuatorMotion(
            time=self.time, **dict(zip(("position", "velocity", "acceleration"), self.states, strict=True))
        )
        if not self.legs:
            found = PoseTrack(robot, *self.states).inputs()
            self.motion = Motion(time=self.time, **{k: v for k, v in found.items() if k not in ("guess", "wrench")})
        self.y = averaged(data.force[self.part], decimate)

    def force(self, robot: Robot) -> Array:
        """(n, actuators) predicted forces, decimated as the measured ones."""
        elastic = "simulate" if self.flexible else None
        while True:
            try:
                found = inverse_dynamics(robot, self._refined(), friction=self.friction, elastic=elastic).force.values
                return averaged(found[:: self.fine][self.part], self.d)
            except FlexapodError:
                if not self.legs or self.fine >= FINEST:
                    raise
                self.fine *= 2

    def _refined(self) -> Any:
        """The motion with `fine` steps per sample: passive joints that stick and slip need short ones."""
        if self.fine == 1:
            return self.motion
        from scipy.interpolate import CubicSpline

        time = np.linspace(0.0, self.time[-1], (len(self.time) - 1) * self.fine + 1)
        curves = [CubicSpline(self.time, values, axis=0) for values in self.states]
        names = ("position", "velocity", "acceleration")
        return ActuatorMotion(time=time, **{name: curve(time) for name, curve in zip(names, curves, strict=True)})


class ForceFit:
    """Gauss-Newton on forces of one or more experiments."""

    def __init__(
        self, robot: Robot, every: Sequence[Measurement], parameters: Sequence[str], options: Options, friction: bool
    ) -> None:
        self.robot, self.parameters, self.offset = robot, tuple(parameters), options.offset
        self.start = np.array([scalar_parameter(robot, path) for path in parameters])
        self.data = [MeasuredForces(robot, one, options, friction) for one in every]
        self._at: Array | None = None
        self._J: list[Array] = []

    def forces(self, p: Array) -> list[Array]:
        """Predicted forces of every experiment."""
        robot = _with(self.robot, self.parameters, p)
        return [experiment.force(robot) for experiment in self.data]

    def _jacobian(self, p: Array, here: Sequence[Array]) -> list[Array]:
        """J of every experiment; kept while parameters change by less than a fifth: forces are nearly linear in them."""
        if self._at is not None and np.all(np.abs(p - self._at) <= 0.2 * np.maximum(np.abs(self._at), 1e-12)):
            return self._J
        columns = []
        for k in range(len(p)):
            moved = p.copy()
            moved[k] += STEP * max(abs(p[k]), 1e-3 * max(abs(self.start[k]), 1e-6))
            columns.append([(new - old) / (moved[k] - p[k]) for new, old in zip(self.forces(moved), here, strict=True)])
        self._at, self._J = p.copy(), [np.stack([column[i] for column in columns], axis=2) for i in range(len(self.data))]
        return self._J

    def estimate(self, measured: Sequence[Array] | None = None) -> Estimate:
        """Estimate of the parameters, then of the offsets.

        Args:
            measured: (n, actuators) decimated forces per experiment; left out: the data's own.
        """
        y = [experiment.y for experiment in self.data] if measured is None else list(measured)
        p, n = self.start.copy(), len(self.robot.actuators)
        for _ in range(PASSES):
            here = self.forces(p)
            blocks: list[Block] = []
            for force, J, own in zip(here, self._jacobian(p, here), y, strict=True):
                eye = np.broadcast_to(np.eye(n), (len(force), n, n))
                blocks.append((np.concatenate([J, eye], axis=2) if self.offset else J, own - force + J @ p, None))
            found = _weighted(blocks)
            step = np.abs(found.beta[: len(p)] - p) / np.maximum(found.sigma[: len(p)], 1e-300)
            p = found.beta[: len(p)]
            if step.max() < SETTLED:
                return found
        raise FlexapodError(
            f"identification of {self.robot.name}: no convergence in {PASSES} passes; the data may not determine "
            f"{', '.join(self.parameters)} together; leave out the least certain"
        )


def _weighted(blocks: list[Block]) -> Estimate:
    """Weighted least squares of the linear problem."""
    first = solve(accumulate(iter(blocks), None))
    root = whitening(residual_noise(iter(blocks), first))
    normal = accumulate(iter(blocks), root)
    beta = solve(normal)
    return finish(normal, beta, residual_noise(iter(blocks), beta), root)


def _with(robot: Robot, parameters: Sequence[str], p: Array) -> Robot:
    return robot.with_parameters({path: float(x) for path, x in zip(parameters, p, strict=True)})
