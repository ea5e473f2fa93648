r"""Inverse and direct dynamics of a robot with a flexible platform: the closed forms of the paper and the whole matrix.

Inverse: platform acceleration given, forces and elastic accelerations found (Long 2014 Eqs. 44-49). Direct: forces given,
both accelerations found, by one symmetric solve of size 6 + N.
"""

from __future__ import annotations

import casadi as ca

from flexapod.arrays import SX
from flexapod.equations.flexible_platform.assembly import (
    FlexibleEquation,
    FlexibleState,
    PlatformSolution,
    flexible_equation,
    state_inputs,
)
from flexapod.equations.flexible_platform.through_joints import forward_through_joints, inverse_through_joints
from flexapod.equations.platform_inputs import wrench_input
from flexapod.equations.values import Values
from flexapod.kernels.tape.program import Program
from flexapod.robot.robot import Robot
from flexapod.spatial.linear import solve_gram_schmidt, solve_symmetric


def _start(name: str, robot: Robot, second_order: bool) -> tuple[Program, FlexibleState, FlexibleEquation]:
    b = Program(name)
    shape, letters = robot.flexible_shape
    state = state_inputs(b, shape.modes)
    return b, state, flexible_equation(b, robot, shape, letters, state, values=Values(b), second_order=second_order)


def load_inputs(b: Program, state: FlexibleState) -> SX:
    """Generalized load (6 + N,), platform axes, from the inputs `wrench` and `elastic_load`."""
    wrench = wrench_input(b)
    modal = b.input("elastic_load", (state.e.numel(),), doc="external generalized force on the elastic coordinates")
    return ca.vertcat(ca.mtimes(state.R.T, wrench[:3]), ca.mtimes(state.R.T, wrench[3:]), modal)


def flexible_inverse_dynamics(robot: Robot, second_order: bool = True) -> Program:
    """The program: acceleration of the platform frame in; `force`, `power`, `elastic_acceleration`, `joint_force` out.

    Checked by: tests/equations/test_flexible_platform.py.
    """
    b, state, q = _start("flexible_inverse_dynamics", robot, second_order)
    load = load_inputs(b, state)
    R, n = state.R, len(robot.actuators)
    a = b.input("acceleration", (3,), unit="m/s^2", doc="of the platform frame origin, world")
    alpha = b.input("angular_acceleration", (3,), unit="rad/s^2", doc="of the platform frame, world")
    V = ca.vertcat(ca.mtimes(R.T, a), ca.mtimes(R.T, alpha))
    found = inverse_solution(q, V, load)
    edd = found.acceleration[6:]
    b.output("force", found.force, shape=(n,), unit="N or N m", dims=("actuator",))
    b.output("power", found.force * q.rates, shape=(n,), unit="W", dims=("actuator",))
    b.output("elastic_acceleration", edd, shape=(edd.numel(),), dims=("elastic_coordinate",))
    _joint_forces(b, state, found)
    return b


def inverse_solution(q: FlexibleEquation, V: SX, load: SX) -> PlatformSolution:
    """Actuator forces and elastic accelerations for the frame's acceleration V (6,), platform axes.

    Source: Long 2014 Eqs. (44)-(49). Checked by: tests/equations/test_flexible_platform.py.
    """
    if q.axis is not None:
        return inverse_through_joints(q, V, load)
    A_re, A_ee, n = q.M[:6, 6:], q.M[6:, 6:], len(q.legs)
    # e'' = A_ee^-1 (B_e Gamma - A_er V' - c_e)  (Eq. 44), put into the first six rows (Eqs. 46-49)
    solved = solve_symmetric(A_ee, ca.horzcat(q.B[6:, :], load[6:] - q.c[6:] - ca.mtimes(A_re.T, V)))
    J = q.B[:6, :] - ca.mtimes(A_re, solved[:, :n])
    y = ca.mtimes(q.M[:6, :6], V) + q.c[:6] - load[:6] + ca.mtimes(A_re, solved[:, n])
    force = solve_gram_schmidt(ca.densify(J), y)
    return _solution(q, ca.vertcat(V, ca.mtimes(solved[:, :n], force) + solved[:, n]), force)


def forward_solution(q: FlexibleEquation, force: SX, load: SX) -> PlatformSolution:
    """Accelerations of frame and elastic coordinates under actuator forces and a generalized load (6 + N,), platform axes.

    Source: Long 2014 Eqs. (43)-(46). Checked by: tests/equations/test_flexible_platform.py.
    """
    if q.axis is not None:
        return forward_through_joints(q, force, load)
    order = [*range(6, q.c.numel()), *range(6)]  # one elimination, elastic rows first
    x = solve_symmetric(q.M[order, order], (ca.mtimes(q.B, force) + load - q.c)[order])
    return _solution(q, ca.vertcat(x[-6:], x[:-6]), force)


def _solution(q: FlexibleEquation, x: SX, force: SX) -> PlatformSolution:
    """Solution with the forces of the legs at their joints (Long 2014 Eq. 37)."""
    joints = [ca.mtimes(leg.inertia, ca.mtimes(leg.Y, x)) + leg.bias - leg.direction * force[k] for k, leg in enumerate(q.legs)]
    return PlatformSolution(acceleration=x, force=force, joints=joints)


def flexible_forward_dynamics(robot: Robot, second_order: bool = True, outputs: str = "accelerations") -> Program:
    """The program: `force` in; `acceleration`, `angular_acceleration`, `elastic_acceleration` out.

    Checked by: tests/equations/test_flexible_platform.py.
    """
    b, state, q = _start("flexible_forward_dynamics", robot, second_order)
    load = load_inputs(b, state)
    force = b.input("force", (len(robot.actuators),), unit="N or N m", doc="actuator forces")
    found = forward_solution(q, force, load)
    x = found.acceleration
    b.output("acceleration", ca.mtimes(state.R, x[:3]), shape=(3,), unit="m/s^2", dims=("axis",))
    b.output("angular_acceleration", ca.mtimes(state.R, x[3:6]), shape=(3,), unit="rad/s^2", dims=("axis",))
    b.output("elastic_acceleration", x[6:], shape=(x.numel() - 6,), dims=("elastic_coordinate",))
    if outputs == "all":
        _joint_forces(b, state, found)
    return b


def flexible_mass_matrix(robot: Robot, second_order: bool = True) -> Program:
    """The program: `mass_matrix`, `bias`, `actuator_map` in (v, omega) of **platform** axes and elastic coordinates."""
    b, _, q = _start("flexible_mass_matrix", robot, second_order)
    n = q.c.numel()
    b.output("mass_matrix", q.M, shape=(n, n), dims=("coordinate", "coordinate_"))
    b.output("bias", q.c, shape=(n,), dims=("coordinate",))
    b.output("actuator_map", q.B, shape=(n, len(robot.actuators)), dims=("coordinate", "actuator"))
    b.output("actuator_position", q.positions, shape=(len(robot.actuators),), dims=("actuator",))
    b.output("actuator_velocity", q.rates, shape=(len(robot.actuators),), dims=("actuator",))
    return b


def _joint_forces(b: Program, state: FlexibleState, found: PlatformSolution) -> None:
    """Forces of the legs on the platform at their joints, world axes (Long 2014 Eq. 37)."""
    rows = ca.vertcat(*[ca.mtimes(state.R, -demand).T for demand in found.joints])
    b.output("joint_force", rows, shape=rows.shape, unit="N", dims=("leg", "axis"))
