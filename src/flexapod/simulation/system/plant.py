r"""The robot as a system of differential equations in platform coordinates.

State of a step: position p, unit quaternion, velocity v, angular velocity w (world axes) and joint coordinates of general
legs as start values of their Newton iteration. Loops are closed exactly at every evaluation, so nothing can drift apart.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import casadi as ca

from flexapod.equations.closing import close_leg
from flexapod.equations.model.algebra import LinkValues
from flexapod.equations.model.ball_leg import BallLeg
from flexapod.equations.model.forward_dynamics import link_acceleration, state_legs
from flexapod.equations.model.leg import LinkLeg
from flexapod.equations.platform_inputs import FrameMotion
from flexapod.equations.universal_leg import LegMotion, leg_motion
from flexapod.equations.values import Values
from flexapod.equations.virtual_power.forward_dynamics import StateEquation, state_equation
from flexapod.robot.link_plan import LinkPlan
from flexapod.simulation.system.flexible_plant import deformed_joint, flexible_acceleration
from flexapod.simulation.system.scope import Scope, inlined
from flexapod.spatial import Rot, Vec
from flexapod.spatial.linear import solve_symmetric
from flexapod.spatial.vector import zero

if TYPE_CHECKING:
    from flexapod.arrays import SX
    from flexapod.equations.flexible_platform.assembly import FlexibleEquation
    from flexapod.equations.minimal.planning import MinimalPlan
    from flexapod.robot.robot import Robot


@dataclass(frozen=True, kw_only=True)
class Moment:
    """Pose and twist of the platform as expressions; `joints` starts the closing of general legs.

    Of a flexible platform also elastic coordinates e and rates ed (N,), and the equation of motion once it is assembled; `legs`
    in link axes, once they follow the platform.
    """

    p: SX
    R: SX
    v: SX
    w: SX
    joints: SX
    e: SX | None = None
    ed: SX | None = None
    equation: FlexibleEquation | None = None
    legs: list[LinkLeg | BallLeg] | None = None

    @property
    def elastic(self) -> tuple[SX, SX]:
        """Elastic coordinates and rates of a flexible platform."""
        assert self.e is not None
        assert self.ed is not None
        return self.e, self.ed

    @property
    def twist(self) -> SX:
        """(6,) linear, then angular."""
        return ca.vertcat(self.v, self.w)

    @property
    def inputs(self) -> dict[str, SX]:
        """Inputs by the names of programs."""
        return {"position": self.p, "rotation": self.R, "velocity": self.v, "angular_velocity": self.w, "guess": self.joints}

    @property
    def frame(self) -> FrameMotion:
        """The platform's motion without acceleration."""
        return FrameMotion(
            p=Vec(self.p, "W"), R=Rot(self.R, "W", "P"), v=Vec(self.v, "W"), w=Vec(self.w, "W"), a=zero("W"), alpha=zero("W")
        )


@dataclass(frozen=True, kw_only=True)
class JointCoordinates:
    """Actuator coordinates and rates (actuators,), and all joint coordinates and rates (joints,)."""

    q: SX
    qd: SX
    joints: SX
    joint_rates: SX | None
    @staticmethod
    def unknown(actuators: int) -> JointCoordinates:
        """Zeros in place of joint coordinates, for robots without general legs, where they are not used."""
        none = ca.SX.zeros(actuators)
        return JointCoordinates(q=none, qd=none, joints=ca.SX(0, 1), joint_rates=ca.SX(0, 1))


def is_general(robot: Robot) -> bool:
    """Whether some leg is closed by Newton's method."""
    return any(form is None for form in robot.closed_forms)


def coordinates(scope: Scope, robot: Robot, moment: Moment) -> JointCoordinates:
    """Joint coordinates and rates at a state, legs closed exactly."""
    values, at = Values(scope), 0
    q: list[SX] = []
    qd: list[SX] = []
    driven: list[int] = []
    for i, leg in enumerate(robot.legs):
        own, form, n = values.of(f"legs.{leg.name}"), robot.closed_forms[i], len(leg.moving)
        driven += [at + k for k, index in enumerate(leg.moving) if leg.links[index].actuated]
        if form is not None:
            motion = moved_leg(scope, own, robot, i, moment)
            first = (motion.actuator,)
            parts = motion.angles + first if leg.architecture == "UPS" else first + motion.angles
            q += [c.q for c in parts]
            qd += [c.qd for c in parts]
        else:
            start = [moment.joints[at + k] for k in range(n)]
            closed = close_leg(scope, own, leg, robot.plan.legs[i], moment.frame, start)
            q += closed.q
            qd += closed.qd
        at += n
    return JointCoordinates(
        q=ca.vertcat(*[q[k] for k in driven]), qd=ca.vertcat(*[qd[k] for k in driven]),
        joints=ca.vertcat(*q), joint_rates=ca.vertcat(*qd),
    )  # fmt: skip


def in_link_axes(scope: Scope, robot: Robot, moment: Moment, c: JointCoordinates) -> tuple[Moment, JointCoordinates]:
    """The moment with its legs in link axes, and the coordinates with the actuators' rates that these legs have: theirs are the
    shorter equations, and what nobody uses of the others is left out.

    Args:
        scope: in which iterations start at their solution; moment: with the joint coordinates that close the legs.
    """
    legs = state_legs(scope, LinkValues(scope), robot, moment.frame, moment.joints)
    rates = ca.vertcat(*[leg.qd[k] for leg in legs for k in leg.driven])
    return replace(moment, legs=legs), replace(c, qd=rates)


def moved_leg(scope: Scope, values: Values, robot: Robot, index: int, moment: Moment) -> LegMotion:
    """Motion of a closed-form leg at a state, its joint where the platform has it, deformed or not."""
    leg, form = robot.legs[index], robot.closed_forms[index]
    assert form is not None
    S = None if moment.e is None else deformed_joint(values, robot, moment.frame, *moment.elastic)
    return leg_motion(scope, values, leg, form.sign, moment.frame, S)


def model_equation(scope: Scope, robot: Robot, moment: Moment, prefix: str = "") -> StateEquation:
    """The equation of motion at a state, with the numbers under a prefix."""
    own = scope.under(prefix, moment.inputs)
    if prefix:  # another geometry closes its legs elsewhere
        own.solved = False
    return state_equation(own, robot)  # type: ignore[arg-type]


def acceleration(
    scope: Scope, robot: Robot, moment: Moment, force: SX, wrench: SX | None, plan: MinimalPlan | LinkPlan | None
) -> SX:
    """Acceleration (6,) of the platform under actuator forces and a wrench on the platform; (6 + N,) of a flexible one.

    Args:
        wrench: (6,), or None.
        plan: of the minimal equations (no wrench) or of those in link axes; None: virtual power.

    Checked by: tests/simulation/test_simulate.py.
    """
    if moment.e is not None:
        return flexible_acceleration(scope, robot, moment, force, wrench)
    if isinstance(plan, LinkPlan):
        load = ca.SX(6, 1) if wrench is None else wrench
        assert moment.legs is not None
        own = LinkValues(scope)
        return link_acceleration(scope, own, robot, moment.frame, moment.legs, force=force, wrench=load)
    if plan is not None:
        from flexapod.equations.minimal.forward_dynamics import minimal_forward_dynamics

        found = inlined(scope, minimal_forward_dynamics(robot, plan), {**moment.inputs, "force": force})
        return ca.vertcat(found["acceleration"], found["angular_acceleration"])
    state = model_equation(scope, robot, moment)
    N = state.basis
    right = ca.mtimes(state.jacobian.T, force) - state.c - ca.mtimes(state.A, state.beta)
    if wrench is not None:
        right = right + wrench
    M = ca.mtimes(N.T, ca.mtimes(state.A, N))
    return ca.mtimes(N, solve_symmetric(M, ca.mtimes(N.T, right))) + state.beta
