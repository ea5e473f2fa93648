r"""Friction that depends on joint loads, in forward simulation.

Loads depend on the acceleration, and the acceleration on friction. At every evaluation

.. math:: \dot V \leftarrow \dot V + N (N^T A N)^{-1} N^T J_a^T\,(\Gamma - \Gamma(\dot V))

is repeated until the inverse model with friction demands the forces that act. The sign of a speed is tanh(v/speed), at the
file's speed or at 1e-3 m/s, rad/s: with the exact sign a joint at rest has no acceleration that fits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import casadi as ca

from flexapod.equations.forward_friction import CONVERGED, forces_with_friction
from flexapod.equations.newton_euler.constraint_plan import plain
from flexapod.equations.values import Values
from flexapod.simulation.joint_friction import SPEED
from flexapod.simulation.plant import Moment, model_equation
from flexapod.simulation.scope import Scope
from flexapod.spatial.linear import solve_symmetric

if TYPE_CHECKING:
    from flexapod.robot.robot import Robot

PASSES = 100
"""After which the coupling counts as not converging."""


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
    guess = None if plain(robot) else moment.joints

    def step(builder: Any, V: Any, *_: Any) -> tuple[list[Any], Any]:
        inner = Scope(scope.root, builder)
        found = forces_with_friction(inner, values, robot, moment.frame, V, load, guess)
        missing = force - found.actuators
        error = ca.mmax(ca.fabs(missing)) / ca.fmax(ca.mmax(ca.fabs(force)), 1)
        return [V + ca.mtimes(response, missing), found.heat, inner.code], error

    (V, heat, code), converged, _ = scope.builder.iterate(
        step, start=[start, ca.SX(0), ca.SX(0)], limit=PASSES, tolerance=CONVERGED
    )
    scope.checks.append((code != 0, code))
    scope.fail_if(1 - converged, "the coupling of friction and acceleration does not converge")
    return V, heat
