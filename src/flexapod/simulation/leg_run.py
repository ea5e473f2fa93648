r"""The compiled run of a robot with flexible legs: rows of time in a loop, each an implicit step in independent coordinates.

Unknown x are the elastic coordinates where the actuators follow a motion, all independent ones where forces drive:

.. math:: r_x = \left(N^T(M_z(N\ddot u + \beta) + h)\right)_x - \Gamma_x = 0,\qquad \Gamma = r_a \text{ of actuators that follow}

Bound coordinates follow from a linear prediction and two Newton steps on the loops at every stage: no drift. Beside the motion,
the work of the actuators and what friction and damping dissipate are integrated.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import casadi as ca

from flexapod.equations.elastodynamics.closing import at_coordinates, moved
from flexapod.equations.elastodynamics.dissipation import dissipated_power, tangent_matrices
from flexapod.equations.elastodynamics.elastic_state import platform_modes, tree_motion
from flexapod.equations.elastodynamics.joint_forces import Friction
from flexapod.equations.elastodynamics.link_assembly import LinkEquation, link_equation_at
from flexapod.equations.elastodynamics.loops import loop_rows, solve_loops
from flexapod.equations.elastodynamics.projection import projected_mass
from flexapod.equations.values import Values
from flexapod.kernels.program import Program
from flexapod.robot.elastic_plan import driven_columns
from flexapod.robot.robot import Robot
from flexapod.simulation.collocation import METHODS, Collocation
from flexapod.simulation.implicit import Evaluation, SecondOrder, implicit_step
from flexapod.simulation.program import finite
from flexapod.spatial.linear import solve_symmetric

ROWS = 32
"""Rows per call of the kernel."""


@dataclass(frozen=True, kw_only=True)
class LegLayout:
    """What a run carries and reads.

    Args:
        drive: ``"actuators"`` (they follow a motion) or ``"force"``.
        friction: of the joints, as in the file; where it has no speed, smoothed at 1e-3 m/s, rad/s as in other runs.
        method: ``"implicit"`` (Gauss) or ``"radau"``.
    """

    robot: Robot
    drive: str
    friction: bool
    method: str

    @property
    def rubbing(self) -> Friction:
        """Friction with a slope at rest everywhere but at actuators that follow a motion."""
        return self.friction and ("smooth" if self.drive == "force" else "smooth passive")

    @property
    def collocation(self) -> Collocation:
        """The method's coefficients."""
        return METHODS[self.method]

    @cached_property
    def driven(self) -> list[int]:
        """Positions of the actuators among the independent coordinates."""
        return [self.robot.elastic_plan.independent.index(k) for k in driven_columns(self.robot)]

    @cached_property
    def unknown(self) -> list[int]:
        """Positions of the unknowns among the independent coordinates."""
        count = len(self.robot.elastic_plan.independent)
        return [k for k in range(count) if self.drive == "force" or k not in self.driven]

    @cached_property
    def sizes(self) -> dict[str, int]:
        """Carried numbers: joints, pose, modes, rates of the unknowns, work and loss, status."""
        pose = 12 if self.robot.elastic_plan.carrier is None else 0
        joints = len(self.robot.coordinates)
        return {
            "y": joints + pose, "modes": platform_modes(self.robot), "v": len(self.unknown), "z": 2, "code": 1,
        }  # fmt: skip

    @property
    def size(self) -> int:
        """Carried numbers in all."""
        return sum(self.sizes.values())

    @property
    def signals(self) -> int:
        """Numbers per node of the table: coordinates, rates, accelerations of the actuators, or their forces."""
        return len(self.robot.actuators) * (3 if self.drive == "actuators" else 1)

    @property
    def nodes(self) -> int:
        """Start, stages, end."""
        return self.collocation.stages + 2

    @property
    def columns(self) -> int:
        """Numbers per row of the table: length, then signals at the nodes."""
        return 1 + self.nodes * self.signals

    @property
    def width(self) -> int:
        """Numbers per row that is returned: carried ones, rates and accelerations of u, forces."""
        return self.size + 2 * len(self.robot.elastic_plan.independent) + len(self.robot.actuators)

    def split(self, column: Any) -> dict[str, Any]:
        """Parts of the carried numbers."""
        parts, at = {}, 0
        for name, size in self.sizes.items():
            parts[name] = column[at : at + size]
            at += size
        return parts


def leg_run(layout: LegLayout, rows: int = ROWS) -> Program:
    """The program of a chunk: `state` and `table` (rows, columns) in, `rows` and `final` out.

    Args:
        rows: per call.

    Checked by: tests/simulation/test_leg_simulation.py.
    """
    root = Program("leg_run")
    state = root.input("state", (layout.size,), doc="carried numbers")
    table = root.input("table", (rows, layout.columns), doc="per row: length, signals at the nodes")

    def row(b: Any, _: Any, carried: Any, column: Any) -> tuple[list[Any], list[Any]]:
        parts = layout.split(carried)
        signals = ca.reshape(column[1:], layout.signals, layout.nodes)
        after, code, begin = _step(root, b, layout, parts, column[0], signals)
        code = ca.if_else(parts["code"] != 0, parts["code"], code)
        following = ca.vertcat(*[after[name] for name in ("y", "modes", "v", "z")], code)
        held = ca.vertcat(*[parts[name] for name in ("y", "modes", "v", "z")], code)
        return [ca.if_else(code == 0, finite(following), held)], [ca.vertcat(held, finite(begin))]

    (final,), (found,) = root.scan(row, rows, carry=[state], each=[table.T])
    root.output("rows", found.T, shape=(rows, layout.width))
    root.output("final", final, shape=(layout.size,))
    return root


@dataclass(frozen=True, kw_only=True)
class _Start:
    """The start of a row: carried coordinates, loops there (bound rates per independent rate), rates u'."""

    y: Any
    modes: Any
    X: Any
    rates: Any


def _step(
    root: Program, b: Any, layout: LegLayout, parts: dict[str, Any], h: Any, signals: Any
) -> tuple[dict[str, Any], Any, Any]:
    """Carried numbers after a row, status, and (u', u'', forces) at its start."""
    robot, values, unknown = layout.robot, Values(root), layout.unknown
    n = len(robot.elastic_plan.independent)
    still = tree_motion(values, robot, at_coordinates(robot, parts["y"], parts["modes"]))
    rows, drifts, _ = loop_rows(values, robot, still)
    X, _ = solve_loops(robot.elastic_plan, rows, drifts)
    start = _Start(y=parts["y"], modes=parts["modes"], X=X, rates=_rates(layout, parts["v"], signals[:, 0]))
    q, X0, beta, _ = _equation(root, values, layout, start, ca.SX.zeros(n), start.rates, corrections=0)
    M = projected_mass(q.M, X0, robot.elastic_plan.independent, robot.elastic_plan.bound)
    known = _accelerations(layout, ca.SX.zeros(len(unknown)), signals[:, 0])
    r = felt_forces(robot, q, X0, beta, known)
    a0 = solve_symmetric(M[unknown, unknown], _forces(layout, signals[:, 0])[unknown] - r[unknown])
    u2 = _accelerations(layout, a0, signals[:, 0])
    force = _actuator_force(layout, r + ca.mtimes(M[:, unknown], a0), signals[:, 0])
    K, D = tangent_matrices(values, robot, at_coordinates(robot, start.y, start.modes, *spread(robot, X0, start.rates)),
                            still, X0, layout.rubbing)  # fmt: skip

    def evaluate(inner: Any, x: Any, v: Any, a: Any, z: Any, column: Any) -> Evaluation:
        step = _increment(layout, x, column, signals[:, 0])
        rates = _rates(layout, parts["v"] + v, column)
        own, X1, drift, state = _equation(root, values, layout, start, step, rates, corrections=1)
        felt = felt_forces(robot, own, X1, drift, _accelerations(layout, a, column))
        drive = _actuator_force(layout, felt, column)
        lost = dissipated_power(values, robot, state, layout.rubbing)
        beside = ca.vertcat(ca.dot(drive, rates[layout.driven]), lost)
        residual = felt[unknown] - _forces(layout, column)[unknown]
        return Evaluation(residual=residual, rate=parts["v"] + v, beside=beside, code=ca.SX(0))

    system = SecondOrder(
        evaluate=evaluate, velocity=parts["v"], acceleration=a0, mass=ca.densify(M[unknown, unknown]),
        damping=ca.densify(D[unknown, unknown]), stiffness=ca.densify(K[unknown, unknown]), beside=2,
    )  # fmt: skip
    found = implicit_step(root, b, layout.collocation, system, h, signals[:, 1:-1])
    end = _increment(layout, found.x, signals[:, -1], signals[:, 0])
    y, modes = _placed(values, robot, start, end, corrections=2)
    after = {"y": y, "modes": modes, "v": parts["v"] + found.v, "z": parts["z"] + found.z}
    return after, found.code, ca.vertcat(start.rates, u2, force)


def _equation(
    root: Program, values: Values, layout: LegLayout, start: _Start, step: Any, rates: Any, corrections: int
) -> tuple[LinkEquation, Any, Any, Any]:
    """The equation after a step of u, at rates u'; bound coordinates per independent ones X, their drift, and the state."""
    robot = layout.robot
    y, modes = _placed(values, robot, start, step, corrections)
    X = start.X
    if corrections:
        rows, drifts, _ = loop_rows(values, robot, tree_motion(values, robot, at_coordinates(robot, y, modes)))
        X, _ = solve_loops(robot.elastic_plan, rows, drifts)
    state = at_coordinates(robot, y, modes, *spread(robot, X, rates))
    q = link_equation_at(root, values, robot, state, layout.rubbing)
    return (q, *solve_loops(robot.elastic_plan, q.A, q.gamma), state)


def _placed(values: Values, robot: Robot, start: _Start, step: Any, corrections: int) -> tuple[Any, Any]:
    """Carried coordinates and modes after a step of u: predicted, then corrected on the loops."""
    z = _all(robot, step, ca.mtimes(start.X, step))
    y, N = moved(robot, start.y, z, range(z.numel())), platform_modes(robot)
    at = z.numel() - len(robot.coordinates) - N
    modes = start.modes + z[at : at + N]
    for _ in range(corrections if robot.elastic_plan.bound else 0):
        rows, _, residual = loop_rows(values, robot, tree_motion(values, robot, at_coordinates(robot, y, modes)))
        y = moved(robot, y, solve_loops(robot.elastic_plan, rows, residual)[1], robot.elastic_plan.bound)
    return y, modes


def _all(robot: Robot, free: Any, bound: Any) -> Any:
    """(z,) from independent and bound entries."""
    z = ca.SX(len(robot.elastic_plan.columns), 1)
    z[list(robot.elastic_plan.independent)] = free
    z[list(robot.elastic_plan.bound)] = bound
    return ca.densify(z)


def spread(robot: Robot, X: Any, rates: Any) -> tuple[Any, Any, Any]:
    """Rates of the joints, platform twist, rates of the modes."""
    z = _all(robot, rates, ca.mtimes(X, rates))
    at, N = z.numel() - len(robot.coordinates), platform_modes(robot)
    return z[at:], z[:6] if robot.elastic_plan.carrier is None else None, z[at - N : at]


def felt_forces(robot: Robot, q: LinkEquation, X: Any, beta: Any, accelerations: Any) -> Any:
    """N^T (M z'' + h) (u,) at accelerations u''."""
    plan = robot.elastic_plan
    z = _all(robot, accelerations, ca.mtimes(X, accelerations) + beta)
    f = ca.mtimes(q.M, z) + q.h
    return f[list(plan.independent)] + ca.mtimes(X.T, f[list(plan.bound)])


def _rates(layout: LegLayout, v: Any, column: Any) -> Any:
    return _with_driven(layout, v, column, 1)


def _accelerations(layout: LegLayout, a: Any, column: Any) -> Any:
    return _with_driven(layout, a, column, 2)


def _increment(layout: LegLayout, x: Any, column: Any, first: Any) -> Any:
    """Increment of u since the start of the row."""
    return _with_driven(layout, x, column - first, 0)


def _with_driven(layout: LegLayout, own: Any, column: Any, which: int) -> Any:
    """(u,): unknowns as given, actuators that follow from the signals."""
    n, count = len(layout.robot.actuators), len(layout.robot.elastic_plan.independent)
    whole = ca.SX.zeros(count)
    whole[layout.unknown] = own
    if layout.drive == "actuators":
        whole[layout.driven] = column[which * n : (which + 1) * n]
    return whole


def _forces(layout: LegLayout, column: Any) -> Any:
    """Given forces (u,)."""
    whole = ca.SX.zeros(len(layout.robot.elastic_plan.independent))
    if layout.drive == "force":
        whole[layout.driven] = column
    return whole


def _actuator_force(layout: LegLayout, felt: Any, column: Any) -> Any:
    return felt[layout.driven] if layout.drive == "actuators" else column
