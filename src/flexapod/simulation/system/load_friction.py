r"""Friction that depends on joint loads, in forward simulation.

Loads depend on the acceleration, and the acceleration on friction: at every evaluation the fixed point of
`equations.forward_friction` is found. The sign of a speed is tanh(v/speed), at the file's speed or at 1e-3 m/s, rad/s: with the
exact sign a joint at rest has no acceleration that fits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import casadi as ca

from flexapod.arrays import SX
from flexapod.equations.forward_friction import Forward, Sliding
from flexapod.equations.friction import SPEED
from flexapod.equations.newton_euler.constraint_plan import plain
from flexapod.equations.values import Values
from flexapod.simulation.system.plant import Moment, model_equation
from flexapod.simulation.system.scope import Scope

if TYPE_CHECKING:
    from flexapod.robot.robot import Robot


def smooth(robot: Robot) -> Robot:
    """The robot with a speed of the tanh law in every friction that has none."""
    joints = {path.rpartition(".")[0] for path in robot.parameters if ".friction." in path}
    missing = {f"{joint}.speed": SPEED for joint in sorted(joints) if f"{joint}.speed" not in robot.parameters}
    return robot.with_parameters(missing) if missing else robot


def loaded_acceleration(
    scope: Scope, robot: Robot, moment: Moment, force: SX, wrench: SX | None, start: SX | None = None, *, looped: bool = False
) -> Sliding:
    """Acceleration (6,) of the platform, and the power that friction turns into heat [W].

    Args:
        robot: of `smooth`.
        moment: with the joint coordinates that close the legs.
        wrench: (6,) load on the platform, or None.
        start: memory of a state nearby, or None.
        looped: see `Layout`.

    Checked by: tests/simulation/test_load_friction.py.
    """
    forward = Forward(
        robot=robot, values=Values(scope), frame=moment.frame, force=force, wrench=ca.SX.zeros(6) if wrench is None else wrench,
        guess=None if plain(robot) else moment.joints, equation=lambda: model_equation(scope, robot, moment),
        looped=looped,
    )  # fmt: skip
    return forward.solve(scope, scope.builder, start)
