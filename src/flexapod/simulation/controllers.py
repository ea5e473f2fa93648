"""Controllers that are compiled into the simulation loop: joint PD and PID, feed-forward, computed torque, springs.

A controller is continuous (evaluated in every stage of the integrator) unless `rate` is given: then it is sampled, held, and may
be delayed. Its gains are parameters of the kernel: other gains never recompile.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, TypedDict, Unpack

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from flexapod.analysis.requests.arguments import check_array, check_number, check_robot
from flexapod.calls import checked, made
from flexapod.errors import InputError
from flexapod.simulation.system.attitude import rotation_error
from flexapod.simulation.system.flexible_plant import inverse_force
from flexapod.simulation.system.plant import JointCoordinates, Moment, model_equation
from flexapod.simulation.system.scope import Scope
from flexapod.spatial.linear import solve_gram_schmidt, solve_symmetric

if TYPE_CHECKING:
    from flexapod.arrays import SX
    from flexapod.robot.robot import Robot

MODEL = "model."
"""Prefix of the numbers of a controller's own model of the robot."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Controller:
    """Common options of all controllers.

    Args:
        rate: samples per second; None for a continuous controller.
        delay: from sampling to the force [s], a whole number of sampling periods.
        resolution: of the encoders [m or rad], one number or one per actuator; 0 for exact ones. Rates are then differences.
        limit: largest force [N or N m], one number or one per actuator; None for no limit.
    """

    rate: float | None = None
    delay: float = 0.0
    resolution: ArrayLike = 0.0
    limit: ArrayLike | None = None

    signals: ClassVar[tuple[str, ...]] = ()
    integral: ClassVar[bool] = False
    feels: ClassVar[bool] = False
    """The acceleration of the deformation enters the integral part; see `JointTorque`."""

    def __post_init__(self) -> None:
        for name in ("rate", "delay"):
            check_number(name, getattr(self, name))
        for name in ("resolution", "limit", "kp", "ki", "kd", "stiffness", "free"):
            check_gain(name, getattr(self, name, None))
        if getattr(self, "model", None) is not None:
            check_robot("model", self.model)  # type: ignore[attr-defined]
        if self.delay is None or not math.isfinite(self.delay) or not math.isfinite(self.rate or 0.0):
            raise InputError(f"rate, delay: expected finite numbers, got {self.rate!r} and {self.delay!r}")
        if self.rate is not None and not self.rate > 0:
            raise InputError(f"rate: expected samples per second above 0, got {self.rate!r}")
        if self.rate is None and (self.delay or np.any(np.asarray(self.resolution) != 0)):
            raise InputError("delay and resolution belong to a sampled controller: give its rate as well")
        periods = self.delay * (self.rate or 0.0)
        if self.delay < 0 or abs(periods - round(periods)) > 1e-9:
            raise InputError(f"delay: expected a whole number of sampling periods, got {periods:g} of them")

    @property
    def queue(self) -> int:
        """Sampling periods between a sample and its force."""
        return round(self.delay * (self.rate or 0.0))

    @property
    def quantised(self) -> bool:
        """Encoders have steps."""
        return bool(np.any(np.asarray(self.resolution) != 0))

    @property
    def own_model(self) -> Robot | None:
        """The controller's own model, where it has one."""
        return None

    @property
    def structure(self) -> str:
        """Structure on which the compiled loop depends."""
        facts = (type(self).__name__, self.rate is not None, self.queue, self.quantised, self.limit is not None, self.integral)
        return repr((*facts, self._structure()))

    def _structure(self) -> object:
        return ()

    def parameters(self, robot: Robot) -> dict[str, float]:
        """Numbers of the controller by name, those of its model under a prefix."""
        found: dict[str, float] = {}
        for name, value in self._gains(robot).items():
            spread = per_actuator(robot, name, value)
            found |= {f"controller.{name}.{a}": float(x) for a, x in zip(robot.actuators, spread, strict=True)}
        if self.own_model is not None:
            found |= {MODEL + name: value for name, value in self.own_model.values.items()}
        return found

    def _gains(self, robot: Robot) -> dict[str, ArrayLike]:
        shared = {"resolution": self.resolution} if self.quantised else {}
        return shared | ({"limit": self.limit} if self.limit is not None else {})

    def force(
        self, scope: Scope, robot: Robot, moment: Moment, c: JointCoordinates, ref: Mapping[str, SX], integral: SX | None
    ) -> SX:
        """Actuator forces (actuators,) [N or N m] that the controller asks for."""
        raise NotImplementedError

    def error(self, scope: Scope, robot: Robot, c: JointCoordinates, ref: Mapping[str, SX], integral: SX | None) -> SX:
        """Error (actuators,) that an integral part adds up, beside the acceleration that it `feels`."""
        return ca.SX.zeros(c.q.numel())

    def elastic_energy(self, scope: Scope, robot: Robot, c: JointCoordinates) -> SX:
        """Energy stored in actuators [J]; their force is then not counted as supplied."""
        return ca.SX(0)

    def stiffness_at(self, scope: Scope, robot: Robot) -> tuple[SX, SX] | None:
        """Gains (actuators,) on coordinates and rates of the actuators that may be stiff, for implicit steps; None for none."""
        return None

    @property
    def stores(self) -> bool:
        """The force is that of springs."""
        return False


def check_gain(name: str, value: object) -> None:
    """Refuse gains that are not finite; a limit may be infinite."""
    check_array(name, value)
    if value is None:
        return
    array = np.asarray(value) if not callable(value) else np.asarray(None)
    if array.dtype.kind not in "iuf":
        raise InputError(f"{name}: expected numbers, got {value!r}")
    wrong = array[np.isnan(array) if name == "limit" else ~np.isfinite(array)]
    if len(wrong):
        raise InputError(f"{name}: expected finite numbers, got {wrong[0]:g}")


def per_actuator(robot: Robot, name: str, value: ArrayLike) -> np.ndarray:
    """One number per actuator."""
    array = np.asarray(value, dtype=np.float64)
    n = len(robot.actuators)
    if not np.all(np.isfinite(array)):
        raise InputError(f"{name}: expected finite numbers, got {array[~np.isfinite(array)][0]:g}")
    if array.shape not in ((), (n,)):
        raise InputError(f"{name}: expected one finite number or one per actuator ({n}), got shape {array.shape}")
    return np.array(np.broadcast_to(array, (n,)))


def gain(scope: Scope, robot: Robot, name: str) -> SX:
    """A gain as a column of parameters."""
    return ca.vertcat(*[scope.root.parameter(f"controller.{name}.{a}") for a in robot.actuators])


@made
@dataclass(frozen=True, kw_only=True, eq=False)
class JointControl(Controller):
    """Force from the error of each actuator coordinate: kp e + kd e' + ki int e, plus a feed-forward.

    Args:
        kp: [N/m or N m/rad], one number or one per actuator.
        kd: [N s/m or N m s/rad], likewise.
        ki: [N/(m s) or N m/(rad s)], likewise.
        feedforward: add the forces that the reference motion demands of the `model`.
        model: the controller's own model; the simulated robot itself if left out.
    """

    kp: ArrayLike
    kd: ArrayLike = 0.0
    ki: ArrayLike | None = None
    feedforward: bool = False
    model: Robot | None = None

    @property
    def signals(self) -> tuple[str, ...]:  # type: ignore[override]
        """References that it needs."""
        return ("actuators", "feedforward") if self.feedforward else ("actuators",)

    @property
    def integral(self) -> bool:  # type: ignore[override]
        """Whether the controller has an integral part."""
        return self.ki is not None

    def _structure(self) -> object:
        return (self.feedforward,)

    def _gains(self, robot: Robot) -> dict[str, ArrayLike]:
        own = {"kp": self.kp, "kd": self.kd} | ({"ki": self.ki} if self.ki is not None else {})
        return own | super()._gains(robot)

    def force(
        self, scope: Scope, robot: Robot, moment: Moment, c: JointCoordinates, ref: Mapping[str, SX], integral: SX | None
    ) -> SX:
        """kp e + kd e' + ki int e + feed-forward."""
        n = len(robot.actuators)
        q, qd = ref["actuators"][:n], ref["actuators"][n:]
        total = gain(scope, robot, "kp") * (q - c.q) + gain(scope, robot, "kd") * (qd - c.qd)
        if self.integral:
            assert integral is not None
            total = total + gain(scope, robot, "ki") * integral
        return total + ref["feedforward"] if self.feedforward else total

    def stiffness_at(self, scope: Scope, robot: Robot) -> tuple[SX, SX] | None:
        """kp and kd of a continuous controller."""
        return None if self.rate is not None else (gain(scope, robot, "kp"), gain(scope, robot, "kd"))

    def error(self, scope: Scope, robot: Robot, c: JointCoordinates, ref: Mapping[str, SX], integral: SX | None) -> SX:
        """Error of the actuator coordinates."""
        return ref["actuators"][: c.q.numel()] - c.q


class Common(TypedDict, total=False):
    """Options of every `Controller`."""

    rate: float | None
    delay: float
    resolution: ArrayLike
    limit: ArrayLike | None


@checked
def PD(*, kp: ArrayLike, kd: ArrayLike, **options: Unpack[Common]) -> JointControl:
    """Joint PD controller: kp e + kd e' of the error e of every actuator.

    Args:
        kp: [N/m or N m/rad], one number or one per actuator.
        kd: [N s/m or N m s/rad], likewise.
        options: rate, delay, resolution and limit, as for `JointControl`.
    """
    return JointControl(kp=kp, kd=kd, **options)


@checked
def PID(*, kp: ArrayLike, ki: ArrayLike, kd: ArrayLike, **options: Unpack[Common]) -> JointControl:
    """Joint PID controller: kp e + ki int e + kd e' of the error e of every actuator.

    Args:
        kp: [N/m or N m/rad], one number or one per actuator.
        ki: [N/(m s) or N m/(rad s)], likewise.
        kd: [N s/m or N m s/rad], likewise.
        options: rate, delay, resolution and limit, as for `JointControl`.
    """
    return JointControl(kp=kp, ki=ki, kd=kd, **options)


@checked
def FeedForwardPD(*, kp: ArrayLike, kd: ArrayLike, model: Robot | None = None, **options: Unpack[Common]) -> JointControl:
    """Joint PD plus the forces that the reference motion demands of a model of the robot.

    Args:
        kp: [N/m or N m/rad], one number or one per actuator.
        kd: [N s/m or N m s/rad], likewise.
        model: the controller's own model; the simulated robot itself if left out.
        options: rate, delay, resolution and limit, as for `JointControl`.
    """
    return JointControl(kp=kp, kd=kd, feedforward=True, model=model, **options)


@made
@dataclass(frozen=True, kw_only=True, eq=False)
class ComputedTorque(Controller):
    r"""Computed torque in platform space.

    .. math:: \Gamma = (J_a N)^{-T} N^T\left(A(N\dot u_c+\beta) + c\right),\qquad
              \dot V_c = \dot V_r + k_d (V_r - V) + k_p\,e

    with A, c of the controller's model, e the error of position and rotation vector, u_c the independent components. On a
    flexible platform the inverse model with the elastic state is used, unless `model` is a rigid robot.

    Args:
        kp: [1/s^2], one number or six (linear, then angular).
        kd: [1/s], likewise.
        model: the controller's own model, rigid; the simulated robot itself if left out.

    Source: Long 2014, Eqs. (46)-(49) as a control law. Checked by: tests/simulation/test_controllers.py.
    """

    kp: ArrayLike
    kd: ArrayLike
    model: Robot | None = None
    signals: ClassVar[tuple[str, ...]] = ("platform",)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.quantised:
            raise InputError("resolution: computed torque reads the platform's pose, not encoders; leave it out")

    @property
    def own_model(self) -> Robot | None:
        """The controller's own model."""
        return self.model

    def _structure(self) -> object:
        return () if self.model is None else self.model.structure

    def parameters(self, robot: Robot) -> dict[str, float]:
        """Gains per component of the twist, and the model's numbers."""
        found = super().parameters(robot)
        for name, value in (("kp", self.kp), ("kd", self.kd)):
            if np.shape(value) not in ((), (6,)):
                raise InputError(
                    f"{name}: expected one number or six, one per component of the twist, got shape {np.shape(value)}"
                )
            array = np.broadcast_to(np.asarray(value, dtype=np.float64), (6,))
            found |= {f"controller.{name}.{i}": float(x) for i, x in enumerate(array)}
        return found

    def force(
        self, scope: Scope, robot: Robot, moment: Moment, c: JointCoordinates, ref: Mapping[str, SX], integral: SX | None
    ) -> SX:
        """Forces that give the commanded acceleration in the controller's model."""
        r = ref["platform"]
        R_r = ca.reshape(r[3:12], 3, 3).T
        error = ca.vertcat(r[:3] - moment.p, rotation_error(R_r, moment.R))
        kp, kd = (ca.vertcat(*[scope.root.parameter(f"controller.{k}.{i}") for i in range(6)]) for k in ("kp", "kd"))
        command = r[18:24] + kd * (r[12:18] - moment.twist) + kp * error
        if self.model is None and moment.e is not None:
            return inverse_force(scope, robot, moment, command)
        robot = self.model if self.model is not None else robot
        state = model_equation(scope, robot, moment, MODEL if self.model is not None else "")
        N, free = state.basis, list(robot.plan.platform_independent)
        Vdot = ca.mtimes(N, command[free]) + state.beta
        y = ca.mtimes(N.T, ca.mtimes(state.A, Vdot) + state.c)
        A = ca.densify(ca.mtimes(state.jacobian, N))
        if A.shape[0] > A.shape[1]:
            return ca.mtimes(A, solve_symmetric(ca.mtimes(A.T, A), y))
        return solve_gram_schmidt(A.T, y)


@made
@dataclass(frozen=True, kw_only=True, eq=False)
class Springs(Controller):
    """Springs in place of actuators: k (free - q), which store energy.

    Args:
        stiffness: [N/m or N m/rad], one number or one per actuator.
        free: coordinates at which they are relaxed; None: such that the robot is in balance where the simulation starts.
    """

    stiffness: ArrayLike
    free: ArrayLike | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.rate is not None or self.limit is not None:
            raise InputError("springs are continuous and have no limit: leave out rate and limit")

    def _gains(self, robot: Robot) -> dict[str, ArrayLike]:
        return {"stiffness": self.stiffness, "free": 0.0 if self.free is None else self.free}

    def force(
        self, scope: Scope, robot: Robot, moment: Moment, c: JointCoordinates, ref: Mapping[str, SX], integral: SX | None
    ) -> SX:
        """Force of the springs."""
        return gain(scope, robot, "stiffness") * (gain(scope, robot, "free") - c.q)

    def stiffness_at(self, scope: Scope, robot: Robot) -> tuple[SX, SX] | None:
        """Stiffness of the springs."""
        return gain(scope, robot, "stiffness"), ca.SX.zeros(len(robot.actuators))

    def elastic_energy(self, scope: Scope, robot: Robot, c: JointCoordinates) -> SX:
        """k (q - free)^2 / 2 of all springs."""
        stretch = c.q - gain(scope, robot, "free")
        return ca.dot(gain(scope, robot, "stiffness") * stretch, stretch) / 2

    @property
    def stores(self) -> bool:
        """The force is that of springs."""
        return True
