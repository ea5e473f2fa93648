r"""Friction that depends on joint loads, in forward simulation.

Loads depend on the acceleration, and the acceleration on friction: at every evaluation the fixed point of
`equations.forward_friction` is found. The sign of a speed is tanh(v/speed), at the file's speed or at 1e-3 m/s, rad/s: with the
exact sign a joint at rest has no acceleration that fits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import casadi as ca

from flexapod.equations.forward_friction import Forward
from flexapod.equations.newton_euler.constraint_plan import plain
from flexapod.equations.values import Values
from flexapod.simulation.joint_friction import SPEED
from flexapod.simulation.plant import Moment, model_equation
from flexapod.simulation.scope import Scope
from flexapod.spatial.linear import solve_symmetric

if TYPE_CHECKING:
    from flexapod.robot.robot import Robot


def smooth(robot: Robot) -> Robot:
    """The robot with a speed of the tanh law in every friction that has none."""
    laws = {path.rpartition(".")[0] for path in robot.parameters if ".friction." in path}
    missing = {f"{law}.speed": SPEED for law in sorted(laws) if f"{law}.speed" not in robot.parameters}
    return robot.with_parameters(missing) if missing else robot


def loaded_acceleration(scope: Scope, robot: Robot, moment: Moment, force: Any, wrench: Any) -> tuple[Any, Any]:
    """Acceleration (6,) of the platform, and the power that friction turns into heat [W].

    Args:
        robot: of `smooth`.
        moment: with the joint coordinates that close the legs.
        wrench: (6,) load on the platform, or None.

    Checked by: tests/simulation/test_load_friction.py.
    """
    state, values = model_equation(scope, robot, moment), Values(scope)  # type: ignore[arg-type]
    N, load = state.basis, ca.SX.zeros(6) if wrench is None else wrench
    M = ca.mtimes(N.T, ca.mtimes(state.A, N))
    right = load - state.c - ca.mtimes(state.A, state.beta) + ca.mtimes(state.jacobian.T, force)
    start = ca.mtimes(N, solve_symmetric(M, ca.mtimes(N.T, right))) + state.beta
    response = ca.mtimes(N, solve_symmetric(M, ca.mtimes(N.T, state.jacobian.T)))
    forward = Forward(
        robot=robot, values=values, frame=moment.frame, force=force, wrench=load,
        guess=None if plain(robot) else moment.joints, start=start, response=response,
    )  # fmt: skip
    found = forward.solve(scope, scope.builder, lambda builder: Scope(scope.root, builder, solved=scope.solved))
    return found.acceleration, found.heat
