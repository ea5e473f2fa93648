r"""The compiled step of a robot with flexible legs under given forces, for programs without Python (functional mock-up units).

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
import numpy as np

from flexapod.equations.elastodynamics.closing import at_coordinates
from flexapod.equations.elastodynamics.dissipation import dissipated_power, tangent_matrices
from flexapod.equations.elastodynamics.elastic_state import platform_modes, tree_motion
from flexapod.equations.elastodynamics.joint_forces import Friction
from flexapod.equations.elastodynamics.link_assembly import LinkEquation, link_equation_at
from flexapod.equations.elastodynamics.loops import loop_rows, solve_loops
from flexapod.equations.elastodynamics.projection import projected_mass
from flexapod.equations.values import Values
from flexapod.errors import InputError
from flexapod.kernels.program import Program
from flexapod.motions.motion import ActuatorMotion
from flexapod.robot.elastic_plan import driven_columns
from flexapod.robot.robot import Robot
from flexapod.simulation.collocation import METHODS, Collocation
from flexapod.simulation.implicit import Evaluation, SecondOrder, implicit_step
from flexapod.simulation.independent import felt_forces as felt_forces
from flexapod.simulation.independent import placed
from flexapod.simulation.independent import spread as spread
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
    def sliding(self) -> Friction:
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
                            still, X0, layout.sliding)  # fmt: skip

    def evaluate(inner: Any, x: Any, v: Any, a: Any, z: Any, column: Any) -> Evaluation:
        step = _increment(layout, x, column, signals[:, 0])
        rates = _rates(layout, parts["v"] + v, column)
        own, X1, drift, state = _equation(root, values, layout, start, step, rates, corrections=1)
        felt = felt_forces(robot, own, X1, drift, _accelerations(layout, a, column))
        drive = _actuator_force(layout, felt, column)
        lost = dissipated_power(values, robot, state, layout.sliding)
        beside = ca.vertcat(ca.dot(drive, rates[layout.driven]), lost)
        residual = felt[unknown] - _forces(layout, column)[unknown]
        return Evaluation(residual=residual, rate=parts["v"] + v, beside=beside, code=ca.SX(0))

    system = SecondOrder(
        evaluate=evaluate, velocity=parts["v"], acceleration=a0, mass=ca.densify(M[unknown, unknown]),
        damping=ca.densify(D[unknown, unknown]), stiffness=ca.densify(K[unknown, unknown]), beside=2,
    )  # fmt: skip
    found = implicit_step(root, b, layout.collocation, system, h, signals[:, 1:-1])
    end = _increment(layout, found.x, signals[:, -1], signals[:, 0])
    y, modes = placed(values, robot, start, end, corrections=2)
    after = {"y": y, "modes": modes, "v": parts["v"] + found.v, "z": parts["z"] + found.z}
    return after, found.code, ca.vertcat(start.rates, u2, force)


def _equation(
    root: Program, values: Values, layout: LegLayout, start: _Start, step: Any, rates: Any, corrections: int
) -> tuple[LinkEquation, Any, Any, Any]:
    """The equation after a step of u, at rates u'; bound coordinates per independent ones X, their drift, and the state."""
    robot = layout.robot
    y, modes = placed(values, robot, start, step, corrections)
    X = start.X
    if corrections:
        rows, drifts, _ = loop_rows(values, robot, tree_motion(values, robot, at_coordinates(robot, y, modes)))
        X, _ = solve_loops(robot.elastic_plan, rows, drifts)
    state = at_coordinates(robot, y, modes, *spread(robot, X, rates))
    q = link_equation_at(root, values, robot, state, layout.sliding)
    return (q, *solve_loops(robot.elastic_plan, q.A, q.gamma), state)


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


def check_size(robot: Robot) -> None:
    """Refuse robots whose step would take too long to compile."""
    from flexapod.analysis.leg_dynamics import COMPILED

    if len(robot.elastic_plan.columns) > COMPILED:
        raise InputError(
            f"{robot.name} has {len(robot.elastic_plan.columns)} coordinates; steps of flexible legs are compiled for at most "
            f"{COMPILED}. Use fewer elements per beam"
        )


def _begin(layout: LegLayout, motion: Any, start: Any) -> tuple[Any, Any]:
    """The closed state at time 0, and rates of all coordinates: a given state, else the static deflection there."""
    from flexapod.analysis.leg_request import leg_request
    from flexapod.analysis.results import settle
    from flexapod.analysis.state import State

    robot = layout.robot
    words = np.full(1, "", dtype=object)
    first = motion if start is None else start
    if isinstance(first, ActuatorMotion):
        from flexapod.simulation.signals import motion_at

        at = motion_at(first, np.zeros(1))
        first = ActuatorMotion(time=np.zeros(1), position=at.position, velocity=at.velocity, acceleration=0.0 * at.acceleration)
    if not isinstance(first, ActuatorMotion | State):
        raise InputError(f"a robot with flexible legs starts from an ActuatorMotion or a State, not {type(first).__name__}")
    found = leg_request(robot, first, None, None, (None, None, "world"), False, words).state
    settle("simulation", robot, words.astype(str), first, "raise")
    z = np.concatenate([found.modes_velocity, found.joint_velocity], axis=1)
    if robot.elastic_plan.carrier is None:
        z = np.concatenate([found.velocity, found.angular_velocity, z], axis=1)
    return found, z[0]


def carried(layout: LegLayout, state: Any, rates: Any) -> Any:
    """Carried numbers (size,) of a closed state and rates of all coordinates."""
    plan = layout.robot.elastic_plan
    pose = [] if plan.carrier is not None else [state.position[0], state.rotation[0].T.ravel()]
    v = rates[[plan.independent[k] for k in layout.unknown]]
    return np.concatenate([state.joint_position[0], *pose, state.modes[0], v, np.zeros(3)])


def carried_start(layout: LegLayout, start: Any) -> Any:
    """Carried numbers at an ActuatorMotion's start or a State, at rest in its static deflection unless given."""
    return carried(layout, *_begin(layout, start, None))
