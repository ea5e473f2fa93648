r"""Simulations in independent coordinates: robots whose legs deform, or whose actuators follow a motion while something deforms.

u are the actuators and deformations (``robot.independent``); all other coordinates follow from the loops, closed exactly at every
stage. Unknown are all u where forces drive, the deformations alone where the actuators follow a motion:

.. math:: r = N^T(M_z(N\ddot u + \beta) + h) - A^T\Gamma,\qquad r_x = 0

Controllers, loads, friction, what is integrated beside and what is watched are those of every simulation.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import casadi as ca

from flexapod.arrays import SX
from flexapod.equations.elastodynamics.closing import at_coordinates, moved
from flexapod.equations.elastodynamics.dissipation import dissipated_power, rates_of
from flexapod.equations.elastodynamics.joint_forces import Friction
from flexapod.equations.elastodynamics.link_assembly import LinkEquation, link_equation_at
from flexapod.equations.elastodynamics.loops import all_coordinates, closing_determinant, loop_rows, platform_rates, solve_loops
from flexapod.equations.elastodynamics.program_state import ElasticState, RobotAt, TreeMotion, platform_modes, tree_motion
from flexapod.equations.values import Values
from flexapod.kernels.tape.program import Program
from flexapod.robot.elastic_plan import chosen_drives, driven_columns
from flexapod.robot.robot import Robot
from flexapod.simulation.system.attitude import spin_per_theta, theta_rate
from flexapod.simulation.system.layout import Layout
from flexapod.simulation.system.plant import JointCoordinates, Moment
from flexapod.simulation.system.right_hand_side import accelerometer_signals, controlled
from flexapod.simulation.system.scope import Scope


@dataclass(frozen=True, kw_only=True, eq=False)
class IndependentLayout(Layout):
    """Structure of such a simulation; `follows`: the actuators follow the signal ``driven``."""

    @property
    def follows(self) -> bool:
        """The actuators follow a motion."""
        return "driven" in self.inputs

    @property
    def key(self) -> str:
        """Everything that the compiled loop depends on."""
        return f"independent|{super().key}|{self.robot.elastic_plan!r}"

    @cached_property
    def elastic(self) -> int:
        """Number of elastic coordinates."""
        return len(self.robot.elastic_names)

    @property
    def accelerations(self) -> int:
        """Accelerations that a row returns: of the platform, elastic ones, of the actuators."""
        return 6 + self.elastic + self.actuators

    @cached_property
    def increments(self) -> int:
        """Numbers that a step integrates: unknown coordinates, their rates, then `extra`."""
        return 2 * len(self.unknown) + sum(self.extra.values())

    @property
    def moving(self) -> tuple[str, ...]:
        """Carried numbers that a step changes."""
        return ("p", "R", "v", "w", "joints", "modes", "ud", *self.extra)

    @cached_property
    def extra(self) -> dict[str, int]:
        """Quantities integrated beside the motion."""
        return {name: size for name, size in super().extra.items() if name not in ("e", "ed")}

    @cached_property
    def unknown(self) -> list[int]:
        """Positions of the unknowns among the independent coordinates."""
        driven = chosen_drives(self.robot)[1] if self.follows else []
        return [k for k in range(len(self.robot.elastic_plan.independent)) if k not in driven]

    @cached_property
    def places(self) -> dict[str, slice]:
        """Places of all carried numbers: platform pose and twist, joints, modes, rates of u, and what every simulation
        carries."""
        n, modes, count = len(self.robot.coordinates), platform_modes(self.robot), len(self.robot.elastic_plan.independent)
        sizes = {"p": 3, "R": 9, "v": 3, "w": 3, "joints": n, "modes": modes, "ud": count, **self.extra, **self.memory, "code": 1}
        return self.placed(sizes | self.adaptive)

    @property
    def corrections(self) -> int:
        """Newton's steps on the loops at a stage: three where a step may cross a singular position, see `crossing`."""
        return 1 if self.elastic or self.follows or "singular" in self.watch else 3

    @property
    def sliding(self) -> Friction:
        """Friction with a slope at rest everywhere but at actuators that follow a motion."""
        return bool(self.friction) and ("smooth passive" if self.follows else "smooth")


@dataclass(frozen=True, kw_only=True)
class CarriedLoops:
    """A state with its loops: carried coordinates y, modes, bound rates per independent rate X, rates u', frames; theta: Cayley's
    vector of the platform's rotation since the row's start, where components of it are independent."""

    y: SX
    modes: SX
    X: SX
    rates: SX
    state: ElasticState
    motion: TreeMotion
    theta: SX | None = None


def carried_loops(root: Program, layout: IndependentLayout, parts: dict[str, SX]) -> CarriedLoops:
    """The state of a row's start."""
    own = [parts["p"], parts["R"]] if layout.robot.elastic_plan.carrier is None else []
    return loops_at(Values(root), layout.robot, ca.vertcat(parts["joints"], *own), parts["modes"], parts["ud"])


def loops_at(values: Values, robot: Robot, y: SX, modes: SX, rates: SX, theta: SX | None = None) -> CarriedLoops:
    """The state of closed coordinates at rates u'."""
    rows, drifts, _ = loop_rows(values, robot, tree_motion(values, robot, at_coordinates(robot, y, modes)))
    X, _ = solve_loops(robot.elastic_plan, rows, drifts)
    state = at_coordinates(robot, y, modes, *joint_platform_mode_rates(robot, X, rates))
    return CarriedLoops(y=y, modes=modes, X=X, rates=rates, state=state, motion=tree_motion(values, robot, state), theta=theta)


def placed(values: Values, robot: Robot, start: CarriedLoops, step: SX, corrections: int, rates: SX) -> CarriedLoops:
    """The closed state after a step of u, at rates u': predicted, then corrected on the loops.

    Where components of the platform's rotation are independent, they and the bound ones are Cayley's vector since the start, and
    the loops are solved for its change: what is left of a product of rotations would be of second order in the step.
    """
    plan = robot.elastic_plan
    z, rotates = all_coordinates(robot, step, ca.mtimes(start.X, step)), rotates_freely(robot)
    y, N = moved(robot, start.y, z, range(z.numel())), platform_modes(robot)
    at = z.numel() - len(robot.coordinates) - N
    modes = start.modes + (z[at : at + N] if N else ca.SX(0, 1))
    for _ in range(corrections if plan.bound else 0):
        rows, _, residual = loop_rows(values, robot, tree_motion(values, robot, at_coordinates(robot, y, modes)))
        if not rotates:
            y = moved(robot, y, solve_loops(plan, rows, residual)[1], plan.bound)
            continue
        T = spin_per_theta(z[3:6])
        rows = [ca.horzcat(A[:, :3], ca.mtimes(A[:, 3:6], T), A[:, 6:]) for A in rows]
        z[list(plan.bound)] = z[list(plan.bound)] + solve_loops(plan, rows, residual)[1]
        y = moved(robot, start.y, z, range(z.numel()))
    return loops_at(values, robot, y, modes, rates, z[3:6] if rotates else None)


def rotates_freely(robot: Robot) -> bool:
    """Components of the platform's rotation are independent coordinates."""
    plan = robot.elastic_plan
    return plan.carrier is None and any(column in (3, 4, 5) for column in plan.independent)


def coordinate_rates(layout: IndependentLayout, now: CarriedLoops) -> SX:
    """Rates of the unknown coordinates: u', but for Cayley's vector, whose rate is near the angular velocity."""
    rates = ca.SX(now.rates)
    if now.theta is not None:
        rotating = theta_rate(now.theta, now.motion.platform.w.expr)
        for k, column in enumerate(layout.robot.elastic_plan.independent):
            if column in (3, 4, 5):
                rates[k] = rotating[column - 3]
    return rates[layout.unknown, :]


def joint_platform_mode_rates(robot: Robot, X: SX, rates: SX) -> tuple[SX, SX | None, SX]:
    """Rates of the joints, platform twist, rates of the modes."""
    z = all_coordinates(robot, rates, ca.mtimes(X, rates))
    at, N = z.numel() - len(robot.coordinates), platform_modes(robot)
    return z[at:], z[:6] if robot.elastic_plan.carrier is None else None, z[at - N : at] if N else ca.SX(0, 1)


def projected_forces(robot: Robot, q: LinkEquation, X: SX, beta: SX, accelerations: SX) -> SX:
    """N^T (M z'' + h) (u,) at accelerations u''."""
    return projected(robot, X, ca.mtimes(q.M, all_coordinates(robot, accelerations, ca.mtimes(X, accelerations) + beta)) + q.h)


def projected(robot: Robot, X: SX, f: SX) -> SX:
    """N^T f (u,) of forces (z,)."""
    free, bound = (list(columns) for columns in (robot.elastic_plan.independent, robot.elastic_plan.bound))
    return f[free] + ca.mtimes(X.T, f[bound]) if bound else f[free]


def observed_moment(layout: IndependentLayout, now: CarriedLoops) -> tuple[Moment, JointCoordinates]:
    """Platform and actuators of a state, as controllers see them."""
    robot, frame = layout.robot, now.motion.platform
    joints = ca.vertcat(*[q for leg in now.state.q for q in leg])
    rates = ca.vertcat(*[qd for leg in now.state.qd for qd in leg])
    driven = list(robot.driven)
    e, ed = (now.state.e, now.state.ed) if "acceleration" in layout.inputs else (None, None)  # the inverse model responds to them
    moment = Moment(p=frame.p.expr, R=frame.R.expr, v=frame.v.expr, w=frame.w.expr, joints=joints, e=e, ed=ed)
    return moment, JointCoordinates(q=joints[driven], qd=rates[driven], joints=joints, joint_rates=rates)


@dataclass(frozen=True, kw_only=True)
class Action:
    """Forces and equation of motion at a state: the equation, forces (actuators,), rates of what is integrated beside, residual
    (u,).

    `loaded`: friction by joint loads along the coordinates (z,).
    """

    equation: LinkEquation
    X: SX
    beta: SX
    felt: SX
    driving: SX
    force: SX
    beside: SX
    loaded: SX | None = None


def acting(
    scope: Scope,
    layout: IndependentLayout,
    parts: dict[str, SX],
    now: CarriedLoops,
    a: SX,
    z: SX,
    *,
    column: SX,
    loaded: SX | None = None,
) -> Action:
    """Forces at a state and accelerations a of the unknowns.

    Args:
        z: increments of what is integrated beside, in the order of `layout.extra`.
        column: signals.
        loaded: (z,) friction along the coordinates where it depends on joint loads; left out: not yet known.
    """
    from flexapod.analysis.model.leg_model import elastic_columns

    robot, values, signals = layout.robot, Values(scope.root), layout.at_node(column)
    wrench = signals.get("wrench")
    sliding: Friction = False if layout.friction == "load" else layout.sliding
    rows, drifts, _ = loop_rows(values, robot, now.motion)  # those that gave the rates: one elimination for both
    at = RobotAt(b=scope.root, values=values, robot=robot, state=now.state)
    q = replace(link_equation_at(at, sliding, wrench), A=rows, gamma=drifts)
    q = q if loaded is None else replace(q, h=q.h - loaded)
    X, beta = solve_loops(robot.elastic_plan, rows, drifts)
    felt = projected_forces(robot, q, X, beta, completed(layout, a, signals, 2))
    moment, c = observed_moment(layout, now)
    error = ca.SX.zeros(layout.actuators)
    if layout.follows:
        own, places = chosen_drives(robot)
        force = ca.SX.zeros(layout.actuators)
        force[own] = felt[places]
        supplied, driving = force, ca.SX.zeros(felt.numel())
    else:
        integral = parts["integral"] + z[-layout.actuators :] if "integral" in layout.extra else None
        force, supplied, error = controlled(scope, layout, moment, c, signals, held=parts.get("held"), integral=integral)
        driving = driving_forces(robot, X, force)
        if layout.feels:
            moved = all_coordinates(robot, a, ca.mtimes(X, a) + beta)
            error = error + accelerometer_signals(layout, signals, moved[elastic_columns(robot)])
    external = ca.SX(0) if wrench is None else ca.dot(wrench, moment.twist)
    lost = dissipated_power(values, robot, now.state, sliding)
    lost = lost if loaded is None else lost - ca.dot(loaded, rates_of(robot, now.state))
    rates = {"travel": c.qd, "work": supplied * c.qd, "external": external, "dissipated": lost, "integral": error}
    beside = ca.vertcat(*[rates[name] for name in layout.extra])
    return Action(equation=q, X=X, beta=beta, felt=felt, driving=driving, force=force, beside=beside, loaded=loaded)


def driving_forces(robot: Robot, X: SX, force: SX) -> SX:
    """A^T force (u,)."""
    f = ca.SX.zeros(len(robot.elastic_plan.columns))
    f[driven_columns(robot)] = force
    return projected(robot, X, f)


def _platform_drift(motion: TreeMotion) -> SX:
    """Acceleration (6,) of the platform at zero accelerations of all coordinates."""
    return ca.vertcat(motion.platform.a.expr, motion.platform.alpha.expr)


def drive_determinant(root: Program, layout: IndependentLayout, parts: dict[str, SX]) -> SX:
    """Determinant of the loops at held actuators and deformations: zero where the actuators lose control."""
    now = carried_loops(root, layout, parts)
    matrices, _, _ = loop_rows(Values(root), layout.robot, now.motion)
    return closing_determinant(layout.robot.elastic_plan, matrices)


def completed(layout: IndependentLayout, own: SX, signals: dict[str, SX], which: int) -> SX:
    """(u,): unknowns as given; actuators that follow have the signal's coordinates (0), rates (1) or accelerations (2)."""
    n = layout.actuators
    result = ca.SX.zeros(len(layout.robot.elastic_plan.independent))
    result[layout.unknown, :] = own
    if layout.follows:
        chosen, places = chosen_drives(layout.robot)
        result[places] = signals["driven"][which * n : (which + 1) * n][chosen]
    return result


def carried_parts(layout: IndependentLayout, now: CarriedLoops) -> dict[str, SX]:
    """Carried numbers of a state."""
    n, frame = len(layout.robot.coordinates), now.motion.platform
    return {
        "p": frame.p.expr, "R": ca.vec(frame.R.expr), "v": frame.v.expr, "w": frame.w.expr, "joints": now.y[:n],
        "modes": now.modes, "ud": now.rates,
    }  # fmt: skip


def shown_accelerations(layout: IndependentLayout, start: CarriedLoops, now: Action, second: SX) -> SX:
    """Accelerations of the platform, of the elastic coordinates, of the actuators."""
    from flexapod.analysis.model.leg_model import elastic_columns

    robot = layout.robot
    z = all_coordinates(robot, second, ca.mtimes(now.X, second) + now.beta)
    V = ca.mtimes(platform_rates(robot, start.motion), z) + _platform_drift(start.motion)
    return ca.vertcat(V, *[z[k] for k in (*elastic_columns(robot), *driven_columns(robot))])
