r"""Simulations of robots with many coordinates: the same rows as the compiled loop has, stepped in NumPy with kernels for the
terms.

A loop with everything in it would compile for minutes beyond some 24 coordinates. Here kernels close the loops and give terms;
linear algebra is LAPACK's. Methods and tolerances are those of the compiled loop (`numeric_steps`), but implicit steps that do
not converge are halved.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from flexapod.analysis.model.closed_legs import ClosedLegs, evaluate, platform_jacobian
from flexapod.analysis.model.leg_model import LegTerms, elastic_columns, leg_terms, matrices_at
from flexapod.analysis.requests.properties import COMPILED
from flexapod.analysis.requests.sample_blocks import Reasons
from flexapod.arrays import Array
from flexapod.kernels.tape.program import Program
from flexapod.robot.elastic_plan import chosen_drives, driven_columns
from flexapod.rotation_arrays import axial, cayley_rotation, cross
from flexapod.simulation.integrators.compiled_rows import LOST_CONTROL, NEAR
from flexapod.simulation.integrators.implicit import LOST
from flexapod.simulation.integrators.numeric_friction import loaded_friction
from flexapod.simulation.integrators.numeric_steps import (
    StepStart,
    adaptive_row,
    implicit_increments,
    part_of_row,
    rk4_increments,
    signal_of,
)
from flexapod.simulation.integrators.runner import Runner, compiled
from flexapod.simulation.system.independent import IndependentLayout
from flexapod.simulation.system.layout import Layout
from flexapod.simulation.system.plant import JointCoordinates, Moment
from flexapod.simulation.system.right_hand_side import controlled, sampled_at
from flexapod.simulation.system.scope import Scope

if TYPE_CHECKING:
    from flexapod.robot.robot import Robot

HALVINGS = 6
"""Implicit steps that do not converge are halved up to this often."""


def runner_of(layout: Layout, values: Mapping[str, float]) -> Any:
    """Integrator of a simulation: the compiled loop, or rows in numbers where it would take too long to compile."""
    return NumericRows(layout, values) if is_large(layout) else Runner(layout, values)  # type: ignore[arg-type]


def drive_determinant_at(robot: Robot, state: ClosedLegs, reasons: Reasons) -> float:
    """Determinant of the drives, as `drive_determinant`, in numbers."""
    return float(evaluate(robot, "elastic_control", state.inputs(), reasons)["determinant"][0])


def is_large(layout: Layout) -> bool:
    """The whole simulation would take too long to compile."""
    return isinstance(layout, IndependentLayout) and len(layout.robot.elastic_plan.columns) > COMPILED


def control_program(layout: IndependentLayout) -> Program:
    """The program: platform, actuators, signals and memory in; forces and memory out. Without the dynamics of the robot."""
    root, n = Program("control"), layout.actuators
    given = {"p": 3, "R": 9, "v": 3, "w": 3, "q": n, "qd": n, "integral": n, **layout.memory, "tick": 1}
    if "acceleration" in layout.inputs:
        given |= dict.fromkeys(("modes", "modes_velocity"), len(layout.robot.platform_modes))
    x = {name: root.input(name, (size,)) for name, size in given.items()}
    column = root.input("signals", (max(layout.width, 1),))
    scope, signals = Scope(root, root), layout.at_node(column)
    e, ed = x.get("modes"), x.get("modes_velocity")
    moment = Moment(p=x["p"], R=ca.reshape(x["R"], 3, 3), v=x["v"], w=x["w"], joints=ca.SX(0, 1), e=e, ed=ed)
    c = JointCoordinates(q=x["q"], qd=x["qd"], joints=ca.SX(0, 1), joint_rates=None)
    memory = {name: x[name] for name in layout.memory}
    if memory:
        memory = sampled_at(
            scope, layout, memory, signals, moment, c, tick=x["tick"], period=root.parameter("controller.period")
        )  # fmt: skip
    force, supplied, error = controlled(scope, layout, moment, c, signals, held=memory.get("held"), integral=x["integral"])
    for name, value in {"force": force, "supplied": supplied, "error": error}.items():
        root.output(name, value, shape=(n,))
    for name, value in memory.items():
        root.output(f"next_{name}", value, shape=(layout.memory[name],))
    return root


class NumericRows:
    """Advances a trajectory row by row; see `Runner`."""

    def __init__(self, layout: IndependentLayout, values: Mapping[str, float]) -> None:
        self.layout, self.values, self.width = layout, values, layout.row_width
        self.messages: list[str] = []
        robot = layout.robot
        self.free = list(robot.elastic_plan.independent)
        self.own, self.places = chosen_drives(robot)
        self.control = None if layout.follows else compiled(layout, "control", control_program, values)  # type: ignore[arg-type]
        self.gains = self._gains()

    def reason(self, code: float) -> str:
        """Reason why a simulation stopped."""
        return self.messages[round(code) - 1]

    def _gains(self) -> tuple[Array, Array] | None:
        """Gains (actuators,) of a continuous controller on coordinates and rates of the actuators."""
        controller, robot = self.layout.controller, self.layout.robot
        if controller is None or controller.rate is not None:
            return None
        names = ("stiffness",) if controller.stores else ("kp", "kd")
        found = [np.array([self.values.get(f"controller.{name}.{a}", 0.0) for a in robot.actuators]) for name in names]
        return found[0], found[1] if len(found) > 1 else np.zeros(len(robot.actuators))

    def advance(self, state: Array, table: Array, rows: Array) -> tuple[Array, int]:
        """Advance by all rows of a table; as `Runner.advance`."""
        place, nodes = self.layout.places, len(self.layout.nodes)
        now = np.array(state)
        for i, column in enumerate(table):
            signals = column[2:].reshape(nodes, -1) if self.layout.width else np.zeros((nodes, 1))
            following, begin, why = self._row(now, float(column[0]), float(column[1]), signals)
            rows[i] = np.concatenate([now, begin])
            if why:
                self.messages.append(why)
                now[place["code"]] = len(self.messages)
                rows[i, place["code"]] = now[place["code"]]
                return now, i + 1
            now = following
        return now, len(table)

    # -- one row ------------------------------------------------------------------------------------------
    def _row(self, now: Array, h: float, tick: float, signals: Array) -> tuple[Array, Array, str]:
        layout, signal = self.layout, signal_of(self.layout.method, signals)
        begun = self.begun(now, signal(0.0), tick)
        start, shown, why = begun.start, begun.shown, begun.why
        if why or h == 0.0:
            return now, np.nan_to_num(shown), why
        if layout.method == "dopri":
            following, why = adaptive_row(self, start, h, signal)
            return (now if why else following), shown, why
        if layout.method == "rk4":
            y, why = rk4_increments(self, start, h, signal)
            following, _, why = (now, None, why) if why else self.advanced(start, y, signals[-1:])
        else:
            following, why = self._implicit(begun, h, signals, HALVINGS)
        return (now if why else following), shown, why

    def _implicit(self, begun: SimpleNamespace, h: float, signals: Array, halvings: int) -> tuple[Array, str]:
        """Carried numbers after an implicit step, and a reason where it fails; a step whose passes do not converge (friction that
        changes its sign within it) is made of two halves."""
        start: StepStart = begun.start
        y, why = implicit_increments(self, start, h, signals, begun.acceleration, (begun.M, *self._tangent(begun)))
        if not why:
            following, _, why = self.advanced(start, y, signals[-1:])
            return following, why
        if why != LOST or not halvings:
            return start.now, why
        middle, why = self._implicit(begun, h / 2.0, part_of_row(self.layout.nodes, signals, 0.0), halvings - 1)
        if why:
            return middle, why
        second = part_of_row(self.layout.nodes, signals, 0.5)
        again = self.begun(middle, second[:1])
        return (middle, again.why) if again.why else self._implicit(again, h / 2.0, second, halvings - 1)

    def begun(self, now: Array, column: Array, tick: float = 0.0) -> SimpleNamespace:
        """The start of a row at signals (1, width): M and accelerations of the unknowns, forces and accelerations to show, and a
        reason where there are none."""
        layout, place, reasons = self.layout, self.layout.places, np.full(1, "", dtype=object)
        begin, none = self.closed(now[None], reasons), np.zeros((1, sum(layout.extra.values())))
        rates, still = now[place["ud"]][None], np.zeros((1, len(layout.unknown)))
        first = self.evaluate(begin, rates, still, none, column, reasons, now=now, tick=tick)
        M = first.terms.M[0][np.ix_(layout.unknown, layout.unknown)]
        a0 = np.linalg.solve(M, -first.residual[0]) if len(layout.unknown) else np.zeros(0)
        second = self.completed(a0[None], column, 2)
        shown = np.concatenate([self._force(first, second)[0], self._accelerations(begin, first.terms, second, reasons)])
        why = str(reasons[0]) or self._outside(begin) or self._lost(now, begin, reasons)
        held = now.copy()
        for name, values in first.memory.items():
            held[place[name]] = values
        start = StepStart(now=held, begin=begin, N=first.terms.N[0], signals=column)
        return SimpleNamespace(start=start, first=first, M=M, acceleration=a0, shown=shown, why=why)

    def _tangent(self, begun: SimpleNamespace) -> tuple[Array, Array]:
        """Damping and stiffness of the unknowns at the start of a row, with what a continuous controller adds."""
        first, reasons = begun.first, np.full(1, "", dtype=object)
        N, (own_K, own_D) = first.terms.N[0], matrices_at(self.layout.robot, begun.start.begin, reasons)
        K, D = (N.T @ matrix @ N for matrix in (own_K[0], own_D[0] + first.slope[0]))
        if self.gains is not None:
            A = first.terms.A[0]
            K, D = K + A.T * self.gains[0] @ A, D + A.T * self.gains[1] @ A
        part = np.ix_(self.layout.unknown, self.layout.unknown)
        return D[part], K[part]

    # -- states -------------------------------------------------------------------------------------------
    def closed(self, states: Array, reasons: Reasons) -> ClosedLegs:
        """Closed states of carried vectors (n, size)."""
        place = self.layout.places
        rotation = np.ascontiguousarray(states[:, place["R"]].reshape(-1, 3, 3).transpose(0, 2, 1))
        none = np.zeros((len(states), 3))
        start = ClosedLegs(
            joint_position=np.ascontiguousarray(states[:, place["joints"]]), joint_velocity=0.0 * states[:, place["joints"]],
            position=np.ascontiguousarray(states[:, place["p"]]), rotation=rotation, velocity=none, angular_velocity=none,
            modes=np.ascontiguousarray(states[:, place["modes"]]), modes_velocity=0.0 * states[:, place["modes"]],
        )  # fmt: skip
        return self.moved(start, np.zeros((len(states), len(self.free))), states[:, place["ud"]], reasons)

    def moved(self, start: ClosedLegs, step: Array, rates: Array, reasons: Reasons, N: Array | None = None) -> ClosedLegs:
        """States after steps (n, u) of the independent coordinates, at rates (n, u), loops closed; from N step where given."""
        robot, plan = self.layout.robot, self.layout.robot.elastic_plan
        z, modes = np.zeros((len(step), len(plan.columns))), start.modes.shape[1]
        z[:, self.free] = step
        if N is not None:
            z = step @ N.T
        at = z.shape[1] - start.joint_position.shape[1]
        rotation = start.rotation if plan.carrier is not None else cayley_rotation(z[:, 3:6]) @ start.rotation
        shift = np.zeros((len(step), 3)) if plan.carrier is not None else z[:, :3]
        e = start.modes + z[:, at - modes : at]
        given = {
            **start.inputs(), "joint_position": start.joint_position + z[:, at:], "position": start.position + shift,
            "rotation": rotation, "modes": e, "independent_velocity": rates,
        }  # fmt: skip
        found = evaluate(robot, "elastic_closing", given, reasons)
        whole = np.zeros_like(z)
        whole[:, self.free] = rates
        return ClosedLegs(
            joint_position=found["closed_position"], joint_velocity=found["closed_velocity"],
            position=found["platform_position"], rotation=found["platform_rotation"], velocity=found["platform_velocity"],
            angular_velocity=found["platform_angular_velocity"], modes=e, modes_velocity=whole[:, at - modes : at],
        )  # fmt: skip

    def rates(self, begin: ClosedLegs, at: ClosedLegs, v: Array) -> Array:
        """Rates (unknowns, n) of coordinates: v, but for those of the platform's rotation since `begin` (Cayley's vector)."""
        plan = self.layout.robot.elastic_plan
        columns = [plan.independent[k] for k in self.layout.unknown]
        if plan.carrier is not None or not any(column in (3, 4, 5) for column in columns):
            return v
        E, w = at.rotation @ begin.rotation.transpose(0, 2, 1), at.angular_velocity
        theta = 2.0 * axial(E) / (1.0 + np.trace(E, axis1=1, axis2=2))[:, None]
        rotating = w + cross(w, theta) / 2.0 + theta * (np.einsum("ni,ni->n", w, theta) / 4.0)[:, None]
        return np.array([rotating[:, c - 3] if c in (3, 4, 5) else v[k] for k, c in enumerate(columns)])

    def completed(self, own: Array, signals: Array, which: int) -> Array:
        """(n, u): unknowns as given; actuators that follow by the signal's coordinates (0), rates (1) or accelerations (2)."""
        result, n = np.zeros((len(own), len(self.free))), self.layout.actuators
        result[:, self.layout.unknown] = own
        if self.layout.follows:
            at = self.layout.signals["driven"].start + which * n
            result[:, self.places] = signals[:, at : at + n][:, self.own]
        return result

    def slopes(self, at: ClosedLegs) -> Array:
        """N (z, u) of a closed state; NaN where its loops are singular."""
        reasons = np.full(1, "", dtype=object)
        return np.asarray(leg_terms(self.layout.robot, at, np.zeros((1, 6)), False, reasons).N[0])

    def advanced(self, start: StepStart, y: Array, signals: Array) -> tuple[Array, ClosedLegs, str]:
        """Carried numbers and closed state after increments y (k,), and a reason where there are none; signals there."""
        layout, place, reasons = self.layout, self.layout.places, np.full(1, "", dtype=object)
        n, result = len(layout.unknown), start.now.copy()
        step = self.completed(y[None, :n], signals - start.signals, 0)
        rates = self.completed((start.now[place["ud"]][layout.unknown] + y[n : 2 * n])[None], signals, 1)
        last = self.moved(start.begin, step, rates, reasons, start.N)
        found = {
            "p": last.position[0], "R": last.rotation[0].T.ravel(), "v": last.velocity[0], "w": last.angular_velocity[0],
            "joints": last.joint_position[0], "modes": last.modes[0], "ud": rates[0],
        }  # fmt: skip
        for name, values in found.items():
            result[place[name]] = values
        at = 2 * n
        for name, size in layout.extra.items():
            result[place[name]] += y[at : at + size]
            at += size
        return result, last, str(reasons[0])

    def _outside(self, state: ClosedLegs) -> str:
        """An actuator beyond its stroke, as text."""
        q = state.actuators(self.layout.robot)[0][0]
        for k, (name, has) in enumerate(zip(self.layout.robot.actuators, self.layout.strokes, strict=True)):
            if has and not self.values[f"stroke.{name}.low"] <= q[k] <= self.values[f"stroke.{name}.high"]:
                return f"leg {name} leaves its stroke"
        return ""

    def _lost(self, now: Array, state: ClosedLegs, reasons: Reasons) -> str:
        """The actuators have lost control of the platform; the determinant is carried on."""
        place = self.layout.places
        if "determinant" not in place:
            return ""
        before, start = float(now[place["determinant"]][0]), self.values["determinant.start"]
        value = drive_determinant_at(self.layout.robot, state, reasons)
        now[place["determinant"]] = value
        return LOST_CONTROL if value * before < 0 or abs(value) <= NEAR * start else ""

    # -- equations ----------------------------------------------------------------------------------------
    def evaluate(
        self, at: ClosedLegs, rates: Array, a: Array, z: Array, signals: Array, reasons: Reasons, *, now: Array,
        tick: float = 0.0,
    ) -> SimpleNamespace:  # fmt: skip
        """Residual (n, unknowns), rates of the quantities integrated beside, and the values they were computed from.

        Args:
            now: carried numbers at the start of the row; tick: 1 where the controller samples there.
        """
        layout, robot, count = self.layout, self.layout.robot, len(rates)
        place = layout.signals
        wrench = signals[:, place["wrench"]] if "wrench" in place else np.zeros((count, 6))
        terms: LegTerms = leg_terms(robot, at, wrench, False, reasons)
        zd = np.einsum("nzu,nu->nz", terms.N, rates)
        friction, slope = self._friction(at, terms, wrench, signals, reasons, lambda: self._forces(at, z, signals, now, tick)[0])
        second = self.completed(a, signals, 2)
        felt = np.einsum("nij,nj->ni", terms.M, second) + terms.c + np.einsum("nzu,nz->nu", terms.N, friction)
        _, qd = at.actuators(robot)
        damped = np.broadcast_to(matrices_at(robot, at, reasons)[1], (count, zd.shape[1], zd.shape[1]))
        lost = np.einsum("ni,nij,nj->n", zd, damped, zd) + np.einsum("ni,ni->n", zd, friction)
        twist = np.concatenate([at.velocity, at.angular_velocity], axis=1)
        force, supplied, error, memory = self._forces(at, z, signals, now, tick, felt)
        if layout.feels:
            moved = (np.einsum("nzu,nu->nz", terms.N, second) + terms.beta)[:, elastic_columns(robot)]
            coupling = signals[:, place["coupling"]].reshape(count, layout.actuators, -1)
            error = error + np.einsum("nae,ne->na", coupling, moved)
        driving = np.einsum("nau,na->nu", terms.A, force) if not layout.follows else np.zeros_like(felt)
        parts = {"travel": qd, "work": supplied * qd, "external": np.einsum("ni,ni->n", wrench, twist)[:, None],
                 "dissipated": lost[:, None], "integral": error}  # fmt: skip
        beside = np.concatenate([parts[name] for name in layout.extra], axis=1)
        return SimpleNamespace(
            residual=(felt - driving)[:, layout.unknown], beside=beside, terms=terms, felt=felt, force=force, slope=slope,
            memory=memory,
        )  # fmt: skip

    def _friction(
        self, at: ClosedLegs, terms: LegTerms, wrench: Array, signals: Array, reasons: Reasons, force: Callable[[], Array]
    ) -> tuple[Array, Array]:
        """Friction (n, z) against the coordinates, and its slope (n, z, z) by their rates at zero loads."""
        layout = self.layout
        if not layout.sliding:
            return np.zeros_like(terms.forces), np.zeros_like(terms.mass)
        found = evaluate(layout.robot, "elastic_sliding", at.inputs(), reasons, friction=layout.sliding)
        if layout.friction != "load":
            return found["friction"], found["slope"]
        given = self.completed(np.zeros((len(wrench), len(layout.unknown))), signals, 2)
        own = None if layout.follows else force()
        return loaded_friction(self, at, terms, wrench, given, reasons, force=own), found["slope"]

    def _forces(
        self, at: ClosedLegs, z: Array, signals: Array, now: Array, tick: float, felt: Array | None = None
    ) -> tuple[Array, Array, Array, dict[str, Array]]:
        layout, n, place = self.layout, self.layout.actuators, self.layout.places
        q, qd = at.actuators(layout.robot)
        none = np.zeros_like(q)
        if self.control is None:
            assert felt is not None
            force = none.copy()
            force[:, self.own] = felt[:, self.places]
            return force, force, none, {}
        kernel, parameters = self.control
        integral = now[place["integral"]] + z[:, -n:] if "integral" in layout.extra else none
        count = len(q)
        given = {
            "p": at.position, "R": at.rotation.transpose(0, 2, 1).reshape(count, 9), "v": at.velocity, "w": at.angular_velocity,
            "q": q, "qd": qd, "integral": integral, "tick": np.full((count, 1), tick), "signals": signals, "modes": at.modes,
            "modes_velocity": at.modes_velocity,
            **{name: np.tile(now[place[name]], (count, 1)) for name in layout.memory},
        }  # fmt: skip
        batch = kernel.batch({i.name: np.ascontiguousarray(given[i.name]) for i in kernel.signature.inputs}, parameters)
        found = batch.outputs
        memory = {name: found[f"next_{name}"][0] for name in layout.memory}
        return found["force"], found["supplied"], found["error"], memory

    def _force(self, first: SimpleNamespace, second: Array) -> Array:
        """Forces at the start of a row: of actuators that follow, with the accelerations found."""
        if not self.layout.follows:
            return np.asarray(first.force)
        force = np.array(first.force)
        free = second.copy()
        free[:, self.places] = 0.0
        whole = first.felt + np.einsum("nij,nj->ni", first.terms.M, free)
        force[:, self.own] = whole[:, self.places]
        return force

    def _accelerations(self, state: ClosedLegs, terms: LegTerms, second: Array, reasons: Reasons) -> Array:
        robot = self.layout.robot
        z = (np.einsum("nzu,nu->nz", terms.N, second) + terms.beta)[0]
        J, drift = platform_jacobian(robot, state, reasons)
        return np.concatenate([J[0] @ second[0] + drift[0], z[elastic_columns(robot)], z[driven_columns(robot)]])
