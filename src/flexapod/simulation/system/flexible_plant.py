r"""A robot with a flexible platform as a system of differential equations (Long 2014, Fig. 3).

Beside the pose and twist of the platform frame, elastic coordinates e and rates e' are states. In platform axes

.. math:: M\,(\dot v, \dot\omega, \ddot e) + c = B\,\Gamma + \text{load}

is solved for all accelerations (direct model); the inverse model finds the forces that give the frame a wanted acceleration.
Legs follow their deformed joints r = r_0 + Phi e.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import casadi as ca

from flexapod.equations.flexible_platform.assembly import FlexibleEquation, flexible_equation, state_of
from flexapod.equations.flexible_platform.dynamics import forward_solution, inverse_solution
from flexapod.equations.flexible_platform.generalized_newton_euler import elastic_moments, first_moments, symmetric_matrix
from flexapod.equations.flexible_platform.joint_shapes import joint_shapes
from flexapod.equations.flexible_platform.kinematics import joint_at
from flexapod.equations.flexible_platform.stretching import platform_energy
from flexapod.equations.jacobian import moving_frame
from flexapod.equations.platform_inputs import FrameMotion, PointMotion
from flexapod.equations.universal_leg import leg_motion
from flexapod.equations.values import Values
from flexapod.equations.virtual_power.inertia_wrench import tensor

if TYPE_CHECKING:
    from flexapod.arrays import SX
    from flexapod.robot.robot import Robot
    from flexapod.simulation.system.plant import Moment
    from flexapod.simulation.system.scope import Scope


def deformed_joint(values: Values, robot: Robot, frame: FrameMotion, e: SX, ed: SX) -> PointMotion:
    """Position and velocity of a leg's joint on the deformed platform.

    Args:
        values: below ``legs.<name>.``.
    """
    shape, letters = robot.flexible_shape
    shapes = joint_shapes(values, shape, letters)
    return joint_at(frame, values.vector("S", "P"), shapes, [e, ed, ca.SX.zeros(shape.modes)])


def equation_at(scope: Scope, robot: Robot, moment: Moment) -> FlexibleEquation:
    """The equation of motion at a state: the one that the moment carries, else assembled here."""
    if moment.equation is not None:
        return moment.equation
    shape, letters = robot.flexible_shape
    state = state_of(moment.p, moment.R, moment.v, moment.w, *moment.elastic)
    return flexible_equation(scope, robot, shape, letters, state, values=Values(scope))


def in_platform(R: SX, six: SX) -> SX:
    """A twist, wrench or acceleration (6,) of world axes in platform axes."""
    return ca.vertcat(ca.mtimes(R.T, six[:3]), ca.mtimes(R.T, six[3:6]))


def in_world(R: SX, x: SX) -> SX:
    """Accelerations or forces (6 + N, k) of platform axes in world axes; elastic ones stay."""
    return ca.vertcat(ca.mtimes(R, x[:3, :]), ca.mtimes(R, x[3:6, :]), x[6:, :])


def generalized_load(moment: Moment, wrench: SX | None) -> SX:
    """Load (6 + N,), platform axes, of a wrench on the frame at its origin, world axes, or None.

    Args:
        wrench: (6,), or (6 + N,) with forces on the elastic coordinates.
    """
    assert moment.e is not None
    none = ca.SX.zeros(moment.e.numel())
    if wrench is None:
        return ca.vertcat(ca.SX.zeros(6), none)
    return ca.vertcat(in_platform(moment.R, wrench), wrench[6:] if wrench.numel() > 6 else none)


def flexible_acceleration(scope: Scope, robot: Robot, moment: Moment, force: SX, wrench: SX | None) -> SX:
    """Accelerations (6 + N,) of frame (world axes) and elastic coordinates: the direct model.

    Source: Long 2014 Eqs. (43)-(46). Checked by: tests/simulation/test_flexible_simulation.py.
    """
    q = equation_at(scope, robot, moment)
    return in_world(moment.R, forward_solution(q, force, generalized_load(moment, wrench)).acceleration)


def inverse_force(scope: Scope, robot: Robot, moment: Moment, wanted: SX) -> SX:
    """Actuator forces that give the frame a wanted acceleration (6,), world axes, at the state as it is: the inverse model.

    Source: Long 2014 Eqs. (46)-(49), Fig. 3. Checked by: tests/simulation/test_flexible_simulation.py.
    """
    q = equation_at(scope, robot, moment)
    return inverse_solution(q, in_platform(moment.R, wanted), generalized_load(moment, None)).force


def damping_power(scope: Scope, robot: Robot, ed: SX) -> SX:
    """Power that elastic damping turns into heat, e' D e' [W]."""
    shape, _ = robot.flexible_shape
    D = symmetric_matrix(Values(scope).of("platform"), "flex.D", shape.modes, shape.normal)
    return ca.dot(ed, ca.mtimes(D, ed))


def platform_energies(scope: Scope, robot: Robot, moment: Moment) -> tuple[SX, SX, SX]:
    r"""Kinetic energy, potential energy of gravity and strain energy [J] of the platform, from the moments of its shapes.

    .. math:: T = \tfrac12 m v^2 + v\cdot(\omega\times c + S\dot e) + \tfrac12\,\omega\cdot I(e)\,\omega
              + \omega\cdot\beta(e)\,\dot e + \tfrac12\,\dot e\cdot M\dot e,\qquad E = \tfrac12\,e\cdot K e

    Platform axes; written by the definitions, apart from the mass matrix of the equation of motion.

    Source: Briot 2014 Eqs. (53)-(68). Checked by: tests/simulation/test_flexible_energy_balance.py.
    """
    values, (shape, _) = Values(scope).of("platform"), robot.flexible_shape
    (e, ed), R = moment.elastic, moment.R
    v, w = ca.mtimes(R.T, moment.v), ca.mtimes(R.T, moment.w)
    S, mass = first_moments(values, shape), values.scalar("mass")
    c = ca.vertcat(*[values.scalar(f"first_moment.{a}") for a in "xyz"]) + ca.mtimes(S, e)
    beta, second = elastic_moments(values, shape, e)
    inertia = tensor(values, "inertia") + second
    M = symmetric_matrix(values, "flex.M", shape.modes, shape.normal)
    linear = mass * ca.dot(v, v) / 2 + ca.dot(v, ca.cross(w, c) + ca.mtimes(S, ed))
    angular = ca.dot(w, ca.mtimes(inertia, w)) / 2 + ca.dot(w, ca.mtimes(beta, ed))
    g = Values(scope).vector("gravity", "W").expr
    potential = -(mass * ca.dot(g, moment.p) + ca.dot(g, ca.mtimes(R, c)))
    return linear + angular + ca.dot(ed, ca.mtimes(M, ed)) / 2, potential, platform_energy(values, shape, e)


def flexible_jacobian(scope: Scope, robot: Robot, moment: Moment) -> SX:
    """Actuator rates per twist of the frame (actuators, 6), joints where the deformed platform has them."""
    frame, twist = moving_frame(moment.p, moment.R)
    assert moment.e is not None
    values, rows, e = Values(scope), [], moment.e
    for leg, form in zip(robot.legs, robot.closed_forms, strict=True):
        assert form is not None
        own = values.of(f"legs.{leg.name}")
        S = deformed_joint(own, robot, frame, e, ca.SX.zeros(e.numel()))
        rows.append(ca.jacobian(leg_motion(scope, own, leg, form.sign, frame, S).actuator.qd, twist))
    return ca.densify(ca.vertcat(*rows))
