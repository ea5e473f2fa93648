r"""Viscous and constant Coulomb friction of joints as a wrench on the platform.

.. math:: W = -\sum_j \left(\frac{\partial \dot q_j}{\partial V}\right)^T \tau_j(\dot q_j),\qquad
          \tau = c\,\dot q + (F_s + \tau_b/p)\tanh(\dot q/v_0)

Joint rates are linear in the platform's twist V, so the transposed Jacobian brings joint friction to the platform. With a
flexible platform V is joined by the elastic rates, and W by the forces on them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import casadi as ca

from flexapod.equations.closing import close_leg
from flexapod.equations.closing_rows import half_on_link, half_on_platform
from flexapod.equations.elastodynamics.joint_forces import LegView, closing_joint
from flexapod.equations.friction import smoothed
from flexapod.equations.jacobian import moving_frame
from flexapod.equations.newton_euler.friction_points import friction_points
from flexapod.equations.newton_euler.leg import LinkJoint
from flexapod.equations.platform_inputs import FrameMotion
from flexapod.equations.universal_leg import leg_motion
from flexapod.equations.values import Values
from flexapod.errors import InputError
from flexapod.simulation.system.flexible_plant import deformed_joint
from flexapod.simulation.system.plant import Moment
from flexapod.simulation.system.scope import Scope

if TYPE_CHECKING:
    from flexapod.arrays import SX
    from flexapod.robot.robot import Robot


def check_friction(robot: Robot, friction: bool | str) -> bool | str:
    """Friction of the joints: False, True (viscous and constant parts only), or ``"load"`` where friction depends on loads.

    Args:
        friction: False, True (as in the file), or ``"constant"`` (viscous and constant Coulomb parts only).
    """
    if friction not in (True, False, "constant"):
        raise InputError(f"friction: expected True, False or 'constant', got {friction!r}")
    if not friction:
        return False
    everything: list[Any] = [part for leg in robot.legs for part in (*leg.links, leg.closing)]
    found = [part.friction for part in everything if part.friction is not None]
    if friction is True and any(f.given(by_load=True) for f in found):
        return "load"
    return any(f.given(by_load=False) for f in found)


def friction_wrench(scope: Scope, robot: Robot, moment: Moment) -> tuple[SX, SX]:
    """Wrench (6,) on the platform, (6 + N,) on a flexible one, and the power that friction turns into heat [W].

    Checked by: tests/simulation/test_simulation_friction.py.
    """
    frame, V = moving_frame(moment.p, moment.R)
    now, values = moment.twist, Values(scope)
    if moment.e is not None:
        ed = ca.SX.sym("ed", moment.e.numel())
        now, V, moment = ca.vertcat(now, moment.elastic[1]), ca.vertcat(V, ed), replace(moment, ed=ed)
    views = [_view(scope, robot, i, values.of(f"legs.{leg.name}"), moment, frame) for i, leg in enumerate(robot.legs)]
    total = ca.SX.zeros(V.numel())
    for point in friction_points(views, values):  # type: ignore[arg-type]
        point = replace(point, coefficients=smoothed(point.coefficients))
        for rate, force in point.work(point.friction_at([0] * len(point.places))):
            total = total + ca.mtimes(ca.jacobian(rate, V).T, force)
    total = ca.densify(ca.substitute(total, V, now))
    return total, -ca.dot(total, now)


def _view(scope: Scope, robot: Robot, i: int, values: Values, moment: Moment, frame: FrameMotion) -> LegView:
    """A leg at a motion of the platform; a flexible one's own rotation at the closing joint is not known here."""
    leg, form = robot.legs[i], robot.closed_forms[i]
    half = half_on_platform(values, leg, frame)
    if form is None:
        at = sum(len(other.moving) for other in robot.legs[:i])
        start = [moment.joints[at + k] for k in range(len(leg.moving))]
        closed = close_leg(scope, values, leg, robot.plan.legs[i], frame, start)
        axes, rates = [link.R.column(2) for link in closed.links], dict(zip(leg.moving, closed.qd, strict=True))
        end = half_on_link(values, leg, closed.links)
    else:
        S = None if moment.e is None else deformed_joint(values, robot, frame, *moment.elastic)
        motion = leg_motion(scope, values, leg, form.sign, frame, S)
        first, second = motion.angles
        axes, qd = [motion.cross.R.column(0), motion.cross.R.column(1)], [first.qd, second.qd]
        place = 2 if leg.architecture == "UPS" else 0
        axes.insert(place, motion.leg.R.column(2))  # one coordinate: its axis is not needed
        qd.insert(place, motion.actuator.qd)
        rates, end = dict(enumerate(qd)), motion.tip
    joints = [
        LinkJoint(kind=link.kind, axis=axes[k], centre=half.p, rate=rates.get(k, ca.SX(0)), acceleration=ca.SX(0))
        for k, link in enumerate(leg.links)
    ]
    return LegView(leg=leg, joints=tuple(joints), closing=closing_joint(values, leg, end, half, guides=False))
