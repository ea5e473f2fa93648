r"""Computed torque at the actuators: feed-forward of the deflection, and active damping by accelerometers.

Letters: q_r, Gamma_r, M_r coordinates, forces and mass matrix of the actuators along the reference motion, in quasi-static
deflection; e_q = q_r - q; e elastic coordinates; w velocity that the deformation gives to free actuators; f corner frequency.

.. math:: \Gamma = \Gamma_r + M_r\left(k_p\,e_q + k_d\,\dot e_q + k_a\,w\right),\qquad
          \dot w = M_{aa}^{-1} M_{ae}\,\ddot e - 2\pi f\,w

Accelerometers on the flexible parts give e''; the mass matrices are those along the reference. With k_a > 0 the actuators give
way: the acceleration k_a w of actuators that follow takes the power
:math:`k_a\,\dot e^T M_{ea} M_{aa}^{-1} M_{ae}\,\dot e \ge 0` out of every mode, whatever its shape.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import casadi as ca
import numpy as np

from flexapod.analysis.requests.arguments import check_number, check_robot
from flexapod.calls import check_count, check_finite, checked, made
from flexapod.errors import InputError
from flexapod.simulation.controllers import Controller, check_gain, gain
from flexapod.simulation.system.scope import Scope

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from flexapod.analysis.requests.state import State
    from flexapod.arrays import SX
    from flexapod.motions.motion import ActuatorMotion, Motion
    from flexapod.robot.robot import Robot
    from flexapod.simulation.system.plant import JointCoordinates, Moment


@made
@dataclass(frozen=True, kw_only=True, eq=False)
class JointTorque(Controller):
    """Computed torque at the actuators with quasi-static feed-forward of the deflection and active damping.

    A platform motion is followed by the deflected robot: actuators go where the platform, bent by weight and inertia forces, is
    on its path. With a rigid `model` they go where the platform of that robot would be.

    Args:
        kp: [1/s^2], one number or one per actuator; it is multiplied by the effective mass at the actuators.
        kd: [1/s], likewise.
        ka: [1/s] on w, from accelerometers; None for none. `damping_gain` finds it for the damping of a mode.
        corner: of the filter that integrates the accelerometers [Hz], below the frequencies to damp.
        model: the controller's own model; the simulated robot itself if left out.

    Source: A. Preumont, Vibration Control of Active Structures, 4th ed. 2018, chapter 7 (acceleration feedback).
    Checked by: tests/simulation/test_joint_torque.py.
    """

    kp: ArrayLike
    kd: ArrayLike
    ka: ArrayLike | None = None
    corner: float = 0.5
    model: Robot | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        check_gain("ka", self.ka)
        check_number("corner", self.corner)
        if self.model is not None:
            check_robot("model", self.model)
        if not (np.isfinite(self.corner) and self.corner > 0):
            raise InputError(f"corner: expected a frequency above 0 Hz, got {self.corner!r}")
        if self.ka is not None and self.rate is not None:
            raise InputError("ka: accelerometers are filtered continuously; leave out `rate`, or `ka`")

    @property
    def signals(self) -> tuple[str, ...]:  # type: ignore[override]
        """References that it needs."""
        return ("actuators", "feedforward", "inertia", *(("coupling",) if self.feels else ()))

    @property
    def feels(self) -> bool:  # type: ignore[override]
        """Accelerometers are used."""
        return self.ka is not None

    @property
    def integral(self) -> bool:  # type: ignore[override]
        """w is integrated."""
        return self.feels

    def _gains(self, robot: Robot) -> dict[str, ArrayLike]:
        own = {"torque_kp": self.kp, "torque_kd": self.kd}
        felt = {} if self.ka is None else {"torque_ka": self.ka, "corner": self.corner}
        return own | felt | super()._gains(robot)

    def force(
        self, scope: Scope, robot: Robot, moment: Moment, c: JointCoordinates, ref: Mapping[str, SX], integral: SX | None
    ) -> SX:
        """Forces of the reference, and those that bring the error and the vibration back."""
        n = len(robot.actuators)
        q, qd, M = ref["actuators"][:n], ref["actuators"][n:], ca.reshape(ref["inertia"], n, n)
        back = gain(scope, robot, "torque_kp") * (q - c.q) + gain(scope, robot, "torque_kd") * (qd - c.qd)
        if self.feels:
            assert integral is not None
            back = back + gain(scope, robot, "torque_ka") * integral
        return ref["feedforward"] + ca.mtimes(M, back)

    def error(self, scope: Scope, robot: Robot, c: JointCoordinates, ref: Mapping[str, SX], integral: SX | None) -> SX:
        """Rate -2 pi f w at which the state w of the filter decays; without accelerometers as for other controllers."""
        if not self.feels:
            return super().error(scope, robot, c, ref, integral)
        assert integral is not None
        return -2.0 * np.pi * gain(scope, robot, "corner") * integral


def check_held(robot: Robot, motion: Motion | ActuatorMotion | None) -> None:
    r"""Refuse a robot that is unstable on locked actuators where a motion starts: no gains of `JointTorque` hold it.

    Feedback of the actuators' coordinates adds :math:`k \ge 0` to the stiffness of the actuators alone,

    .. math:: K = \begin{bmatrix} K_{aa} + k & K_{ae}\\ K_{ea} & K_{ee}\end{bmatrix}

    and accelerometers, which say nothing at rest, add nothing. Where K_ee (weight included) has a negative direction, so has K,
    whatever k: the static equilibrium is no minimum, and damping does not make it one (Kelvin, Tait, Chetaev).
    """
    from flexapod.analysis.verbs.natural_frequencies import natural_frequencies
    from flexapod.simulation.system.signals import motion_at

    if motion is None:
        return
    modes = natural_frequencies(robot, motion_at(motion, np.zeros(1)), on_error="mask").squeeze()
    omega2 = np.asarray(modes.omega_squared.values, dtype=float)
    if not np.isfinite(omega2).any() or bool(modes.stable.values[np.isfinite(omega2)].all()):
        return
    growth = float(np.sqrt(-np.nanmin(omega2)))
    raise InputError(
        f"JointTorque: {robot.name} is unstable on locked actuators where the motion starts (a deflection grows by {growth:.3g} "
        "1/s): forces that follow actuators and accelerometers cannot hold it, whatever the gains. Make the flexible parts "
        "stiffer or lighter, or measure the platform's pose (ComputedTorque)"
    )


@checked(mode=check_count, damping=check_finite)
def damping_gain(robot: Robot, state: State | Motion | ActuatorMotion, damping: float = 0.1, *, mode: int = 1) -> float:
    r"""Gain ka [1/s] of `JointTorque` that gives a mode with locked actuators a damping ratio, to first order.

    .. math:: k_a = \frac{2\,\zeta\,\omega}{\varphi^T M_{ea} M_{aa}^{-1} M_{ae}\,\varphi},\qquad \varphi^T M\varphi = 1

    Args:
        state: one pose: a `State`, or an `ActuatorMotion` of one sample for flexible legs.
        damping: ratio to critical damping, below 1.
        mode: from 1.
    Returns:
        The gain ka [1/s].

    Checked by: tests/simulation/test_joint_torque.py.
    """
    from flexapod.analysis.verbs.forward_dynamics import mass_matrix
    from flexapod.analysis.verbs.natural_frequencies import natural_frequencies

    if not robot.elastic_names:
        raise InputError(f"damping_gain: {robot.name} is rigid and does not vibrate; load a flexible robot")
    check_number("damping", damping)
    if not 0.0 <= damping < 1.0:
        raise InputError(f"damping: expected a fraction of critical damping from 0 to below 1, got {damping!r}")
    modes = natural_frequencies(robot, state).squeeze()
    if isinstance(mode, bool) or not isinstance(mode, int) or not 1 <= mode <= modes.sizes["mode"]:
        raise InputError(f"mode: {robot.name} has the modes 1 to {modes.sizes['mode']} at this pose, got {mode!r}")
    own, soft = list(robot.actuators), list(robot.elastic_names)
    M = mass_matrix(robot, state, coordinates="actuator").squeeze()
    M_aa, M_ae = (np.asarray(M.sel(coordinate=own, coordinate_=names).values) for names in (own, soft))
    push = M_ae @ np.asarray(modes["shape"].sel(coordinate=soft, mode=mode).values)
    return float(4.0 * np.pi * damping * abs(float(modes.frequency.sel(mode=mode))) / (push @ np.linalg.solve(M_aa, push)))
