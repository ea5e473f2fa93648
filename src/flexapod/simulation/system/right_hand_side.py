"""Right-hand side of the simulated system: robot, controller, loads, friction, and the energy balance."""

from __future__ import annotations

from dataclasses import dataclass, replace

import casadi as ca

from flexapod.arrays import SX
from flexapod.equations.newton_euler.constraint_plan import plain
from flexapod.robot.link_plan import LinkPlan
from flexapod.simulation.controllers import gain
from flexapod.simulation.system.attitude import matrix, rotated, theta_rate
from flexapod.simulation.system.closure import closed
from flexapod.simulation.system.flexible_plant import damping_power, equation_at, inverse_force
from flexapod.simulation.system.friction_wrench import friction_wrench
from flexapod.simulation.system.layout import MOTION, Layout
from flexapod.simulation.system.load_friction import loaded_acceleration
from flexapod.simulation.system.plant import JointCoordinates, Moment, acceleration, coordinates, in_link_axes
from flexapod.simulation.system.scope import Scope
from flexapod.spatial.rotation import normalised


@dataclass(frozen=True, kw_only=True)
class Rates:
    """Derivative of the increments, the actuator forces and accelerations (platform, elastic) that go with it, and the loads of
    joints with friction (see `Layout.loads`)."""

    dy: SX
    force: SX
    acceleration: SX
    loads: SX | None = None


def moment_of(layout: Layout, parts: dict[str, SX], y: SX | None = None) -> Moment:
    """Pose and twist of a row's start, or after increments y."""
    soft = {name: parts[name] for name in ("e", "ed") if name in layout.extra}
    joints = parts["joints"]
    if y is None:
        p, R, v, w = parts["p"], matrix(parts["quat"]), parts["v"], parts["w"]
        return Moment(p=p, R=R, v=v, w=w, joints=joints, e=soft.get("e"), ed=soft.get("ed"))
    soft = {name: value + _increment(layout, y, name) for name, value in soft.items()}
    return Moment(
        p=parts["p"] + y[:3], R=matrix(rotated(y[3:6], parts["quat"])), v=parts["v"] + y[6:9], w=parts["w"] + y[9:12],
        joints=joints, e=soft.get("e"), ed=soft.get("ed"),
    )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Situation:
    """Forces and signals at an instant: forces (actuators,), wrench (6,) on the platform or None, rates of what is integrated
    beside, signals, and the point where the search for joint loads starts (None: anew)."""

    moment: Moment
    force: SX
    wrench: SX | None
    beside: dict[str, SX]
    signals: dict[str, SX]
    loads: SX | None = None


def situation(scope: Scope, layout: Layout, parts: dict[str, SX], y: SX, column: SX) -> tuple[Scope, Situation]:
    """The robot after increments y at given signals, and the scope in which its legs are closed."""
    robot = layout.robot
    moment, signals = moment_of(layout, parts, y), layout.at_node(column)
    wrench, external, dissipated = signals.get("wrench"), ca.SX(0), ca.SX(0)
    if layout.elastic:
        q = equation_at(scope, robot, moment)
        c = JointCoordinates(q=q.positions, qd=q.rates, joints=moment.joints, joint_rates=None)
        moment, dissipated = replace(moment, equation=q), damping_power(scope, robot, moment.elastic[1])
    else:
        c = JointCoordinates.unknown(layout.actuators) if _looped(layout) else coordinates(scope, robot, moment)
        moment, scope = replace(moment, joints=c.joints), scope.under("", solved=True)
        if isinstance(layout.fast, LinkPlan) and layout.friction != "load":
            moment, c = in_link_axes(scope, robot, moment, c)
    integral = parts["integral"] + _increment(layout, y, "integral") if "integral" in layout.extra else None
    force, supplied, error = controlled(scope, layout, moment, c, signals, held=parts.get("held"), integral=integral)
    if wrench is not None:
        external = ca.dot(wrench, moment.twist)
    if layout.friction and layout.friction != "load":
        opposing, heat = friction_wrench(scope, robot, moment)
        given = wrench if wrench is None or not layout.elastic else ca.vertcat(wrench, ca.SX.zeros(layout.elastic))
        wrench, dissipated = opposing if given is None else given + opposing, dissipated + heat
    beside = {"travel": c.qd, "work": supplied * c.qd, "external": external, "dissipated": dissipated, "integral": error}
    return scope, Situation(moment=moment, force=force, wrench=wrench, beside=beside, signals=signals, loads=parts.get("loads"))


def _looped(layout: Layout) -> bool:
    """Whether the loops over legs with friction by loads give the rates of the drives and check the legs: nothing else needs
    them."""
    return layout.looped and layout.controller is None and layout.friction == "load" and plain(layout.robot)


def rates(scope: Scope, layout: Layout, parts: dict[str, SX], y: SX, column: SX) -> Rates:
    """Derivative of the increments y at given signals.

    Increments: motion (12), then what is integrated beside it in the order of `layout.extra`.

    Checked by: tests/simulation/test_simulate.py.
    """
    inner, now = situation(scope, layout, parts, y, column)
    return rates_of(inner, layout, now, y)


def rates_of(scope: Scope, layout: Layout, now: Situation, y: SX) -> Rates:
    """Derivative of the increments y of a situation."""
    moment, beside, loads = now.moment, dict(now.beside), None
    if layout.friction == "load":
        found = loaded_acceleration(scope, layout.robot, moment, now.force, now.wrench, now.loads, looped=layout.looped)
        Vdot, beside["dissipated"], loads = found.acceleration, found.heat, found.memory
        if _looped(layout):
            assert found.rates is not None
            beside |= {"travel": found.rates, "work": now.force * found.rates}
    else:
        Vdot = acceleration(scope, layout.robot, moment, now.force, now.wrench, layout.fast)
    scope.fail_if(
        ca.logic_not(ca.dot(Vdot, Vdot) < 1e200), "the acceleration is not finite: a leg or the mechanism is singular"
    )
    if moment.ed is not None:
        beside |= {"e": moment.ed, "ed": Vdot[6:]}
    if layout.feels:
        beside["integral"] = beside["integral"] + accelerometer_signals(layout, now.signals, Vdot[6:])
    dy = ca.vertcat(moment.v, theta_rate(y[3:6], moment.w), Vdot[:6], *[beside[name] for name in layout.extra])
    return Rates(dy=dy, force=now.force, acceleration=Vdot, loads=loads)


def advanced(scope: Scope, layout: Layout, parts: dict[str, SX], y: SX) -> dict[str, SX]:
    """The parts of the state after increments y, loops closed."""
    found = dict(parts)
    moved = {"p": parts["p"] + y[:3], "v": parts["v"] + y[6:9], "w": parts["w"] + y[9:12], "joints": parts["joints"]}
    found |= closed(scope, layout.robot, moved | {"quat": normalised(rotated(y[3:6], parts["quat"]))})
    at = MOTION
    for name, size in layout.extra.items():
        found[name] = parts[name] + y[at : at + size]
        at += size
    return found


def accelerometer_signals(layout: Layout, signals: dict[str, SX], edd: SX) -> SX:
    """Signals of accelerometers on the flexible parts in actuator coordinates: coupling (actuators, N) times e'' (N,)."""
    return ca.mtimes(ca.reshape(signals["coupling"], layout.elastic, layout.actuators).T, edd)


def controlled(
    scope: Scope,
    layout: Layout,
    moment: Moment,
    c: JointCoordinates,
    signals: dict[str, SX],
    *,
    held: SX | None,
    integral: SX | None,
) -> tuple[SX, SX, SX]:
    """Actuator forces of controller and signals, the part of them that is supplied, and the integrand of an integral part.

    Args:
        held: forces (and a queue of them) of a sampled controller, or None.
        integral: of the error so far, or None.
    """
    n, controller = layout.actuators, layout.controller
    force, stored, error = ca.SX.zeros(n), ca.SX.zeros(n), ca.SX.zeros(n)
    if controller is not None and controller.rate is not None:
        assert held is not None
        force = held[:n]
    elif controller is not None:
        asked = controller.force(scope, layout.robot, moment, c, signals, integral)
        error = controller.error(scope, layout.robot, c, signals, integral)
        if controller.stores:
            stored = asked
        else:
            force = limited(scope, layout, asked)
    if "force" in signals:
        force = force + signals["force"]
    if "acceleration" in signals:  # the loop of Long 2014, Fig. 3
        force = force + inverse_force(scope, layout.robot, moment, signals["acceleration"])
    if layout.failing:
        force = force * ca.vertcat(*[scope.root.parameter(f"actuator.{a}.gain") for a in layout.robot.actuators])
    return force + stored, force, error


def limited(scope: Scope, layout: Layout, force: SX) -> SX:
    """Forces within the controller's limit."""
    controller = layout.controller
    if controller is None or controller.limit is None:
        return force
    limit = gain(scope, layout.robot, "limit")
    return ca.fmin(ca.fmax(force, -limit), limit)


def _increment(layout: Layout, y: SX, name: str) -> SX:
    at = MOTION
    for key, size in layout.extra.items():
        if key == name:
            return y[at : at + size]
        at += size
    raise KeyError(name)


def sampled_at(
    scope: Scope, layout: Layout, parts: dict[str, SX], signals: dict[str, SX], moment: Moment, c: JointCoordinates, *, tick: SX,
    period: SX,
) -> dict[str, SX]:  # fmt: skip
    """Samples, as `increments.sampled`, with platform and actuators given."""
    controller, n = layout.controller, layout.actuators
    assert controller is not None
    new = {}
    if controller.quantised:
        step = gain(scope, layout.robot, "resolution")
        exact = step == 0
        q = ca.if_else(exact, c.q, ca.floor(c.q / ca.if_else(exact, 1, step) + 0.5) * step)
        c = replace(c, q=q, qd=(q - parts["last"]) / period)
        new["last"] = q
    integral = None
    if controller.integral:
        integral = new["sum"] = parts["sum"] + period * controller.error(scope, layout.robot, c, signals, parts["sum"])
    force = limited(scope, layout, controller.force(scope, layout.robot, moment, c, signals, integral))
    new["held"] = ca.vertcat(parts["held"][n:], force) if controller.queue else force
    return {name: ca.if_else(tick, new[name], parts[name]) for name in layout.memory}
