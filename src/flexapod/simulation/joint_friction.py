r"""Viscous and constant Coulomb friction of joints as a wrench on the platform.

.. math:: W = -\sum_j \left(\frac{\partial \dot q_j}{\partial V}\right)^T \tau_j(\dot q_j),\qquad
          \tau = c\,\dot q + (F_s + \tau_b/p)\tanh(\dot q/v_0)

Joint rates are linear in the platform's twist V, so the transposed Jacobian brings joint friction to the platform. With a
flexible platform V is joined by the elastic rates, and W by the forces on them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import casadi as ca

from flexapod.equations.values import Values
from flexapod.errors import InputError
from flexapod.simulation.flexible_plant import deformed_joint
from flexapod.simulation.plant import Moment
from flexapod.simulation.scope import Scope
from flexapod.spatial import Vec

if TYPE_CHECKING:
    from flexapod.robot.model import Leg
    from flexapod.robot.robot import Robot

SPEED = 1e-3
"""Speed [m/s, rad/s] of the tanh law where the robot file gives none: the exact sign has no solution at rest."""


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
    if friction is True and any(f.normal or f.reaction for f in found):
        return "load"
    return any(f.viscous or f.coulomb or f.preload for f in found)


def friction_wrench(scope: Scope, robot: Robot, moment: Moment) -> tuple[Any, Any]:
    """Wrench (6,) on the platform, (6 + N,) on a flexible one, and the power that friction turns into heat [W].

    Checked by: tests/simulation/test_simulation_friction.py.
    """
    rates = moment.twist if moment.e is None else ca.vertcat(moment.twist, moment.ed)
    values, at, total = Values(scope), 0, ca.SX.zeros(rates.numel())  # type: ignore[arg-type]
    for i, leg in enumerate(robot.legs):
        own = values.of(f"legs.{leg.name}")
        J, closing = _joint_rates(scope, robot, i, own, moment, at)
        for name, rows in _groups(leg).items():
            part = J[rows, :] if rows else closing
            total = total + ca.mtimes(part.T, _law(own, leg, name, ca.mtimes(part, rates)))
        at += len(leg.moving)
    return total, -ca.dot(total, rates)


def _groups(leg: Leg) -> dict[str, list[int]]:
    """Joints with friction: positions of their coordinates; the closing joint has none of its own."""
    found: dict[str, list[int]] = {}
    for k, index in enumerate(leg.moving):
        link = leg.links[index]
        if link.friction is not None:
            found.setdefault(link.joint, []).append(k)
    if leg.closing.friction is not None:
        found[leg.closing.joint] = []
    return found


def _law(values: Values, leg: Leg, joint: str, rates: Any) -> Any:
    """Generalized friction forces of a joint: along the rate of one coordinate, or along several as one vector."""
    parts: list[Any] = [*leg.links, leg.closing]
    part = next(p for p in parts if p.joint == joint and p.friction is not None)

    def read(key: str) -> Any:
        return values.scalar(f"{joint}.friction.{key}")

    speed = read("speed") if part.friction.speed is not None else SPEED
    constant = read("coulomb") + read("preload")
    if rates.numel() == 1 or part.friction.direction == "per_axis":
        return -(read("viscous") * rates + constant * ca.tanh(rates / speed))
    size = ca.sqrt(ca.dot(rates, rates) + 1e-30)
    return -(read("viscous") + constant * ca.tanh(size / speed) / size) * rates


def _joint_rates(scope: Scope, robot: Robot, i: int, values: Values, moment: Moment, at: int) -> tuple[Any, Any]:
    """(n, 6) coordinates' rates per platform twist, and (3, 6) relative angular velocity of the closing joint.

    With a flexible platform N more columns per elastic rate; its own turning at the closing joint is not known here.
    """
    from flexapod.equations.closing import close_leg
    from flexapod.equations.jacobian import moving_frame
    from flexapod.equations.universal_leg import leg_motion

    leg, form = robot.legs[i], robot.closed_forms[i]
    frame, twist = moving_frame(moment.p, moment.R)
    if form is not None:
        S = None
        if moment.e is not None:
            ed = ca.SX.sym("ed", moment.e.numel())
            S, twist = deformed_joint(values, robot, frame, moment.e, ed), ca.vertcat(twist, ed)
        motion = leg_motion(scope, values, leg, form.sign, frame, S)  # type: ignore[arg-type]
        first = (motion.actuator,)
        parts = motion.angles + first if leg.architecture == "UPS" else first + motion.angles
        rates, w = ca.vertcat(*[c.qd for c in parts]), motion.tip.w
    else:
        start = [moment.joints[at + k] for k in range(len(leg.moving))]
        closed = close_leg(scope, values, leg, robot.plan.legs[i], frame, start)  # type: ignore[arg-type]
        rates, w = ca.vertcat(*closed.qd), closed.links[leg.closing.link].w
    relative: Vec = frame.w - Vec(w.expr, "W")
    return ca.densify(ca.jacobian(rates, twist)), ca.densify(ca.jacobian(relative.expr, twist))
