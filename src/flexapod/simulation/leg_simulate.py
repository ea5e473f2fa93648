"""`simulate` for robots with flexible legs: a compiled implicit run from the static start, and its labelled result."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from flexapod.analysis.closed_legs import ClosedLegs, close
from flexapod.analysis.leg_dynamics import COMPILED, energies
from flexapod.analysis.leg_model import elastic_columns
from flexapod.analysis.progress import progress_bar
from flexapod.analysis.validity import spin_variable
from flexapod.errors import FlexapodError, InputError
from flexapod.kernels import KernelFamily
from flexapod.motions.motion import ActuatorMotion
from flexapod.robot.elastic_plan import driven_columns
from flexapod.simulation.balance import until_broken
from flexapod.simulation.leg_run import ROWS, LegLayout, leg_run
from flexapod.simulation.signals import motion_at, over_time

if TYPE_CHECKING:
    import xarray as xr

    from flexapod.robot.robot import Robot

Array = NDArray[np.float64]
BAR = 2000
"""Steps between two marks of the progress bar; an interrupt is taken there."""


class LegSimulationError(FlexapodError):
    """A run of a robot with flexible legs cannot go on."""


def leg_simulate(
    robot: Robot, motion: Any, *, drive: str, force: Any, start: Any, duration: float, step: float, output_step: float | None,
    method: str, friction: bool, progress: bool | None, options: dict[str, Any],
) -> xr.Dataset:  # fmt: skip
    """The run of `simulate`; arguments as there.

    Checked by: tests/simulation/test_leg_simulation.py.
    """
    layout = _layout(robot, motion, drive, force, method, friction)
    count = max(1, int(np.ceil(duration / step - 1e-9)))
    h = duration / count
    every = 1 if output_step is None else max(1, round(output_step / h))
    if output_step is not None and abs(output_step / h / every - 1.0) > 1e-6:
        raise InputError(f"output_step must be a whole multiple of the step, it is {output_step / h:g} of them")
    rows, stopped = integrate(layout, motion, force, start, np.append(h * np.arange(count), duration), progress)
    keep = np.unique(np.append(np.arange(0, len(rows), every), len(rows) - 1))
    return _result(layout, rows[keep], keep * h, stopped, options)


def check_size(robot: Robot) -> None:
    """Refuse robots whose run would take too long to compile."""
    if len(robot.elastic_plan.columns) > COMPILED:
        raise InputError(
            f"simulate: {robot.name} has {len(robot.elastic_plan.columns)} coordinates; runs with flexible legs are compiled for "
            f"at most {COMPILED}. Use fewer elements per beam"
        )


def _layout(robot: Robot, motion: Any, drive: str, force: Any, method: str, friction: bool) -> LegLayout:
    check_size(robot)
    if drive == "actuators" and not isinstance(motion, ActuatorMotion):
        raise InputError(f"drive='actuators' of {robot.name} needs an ActuatorMotion, got {type(motion).__name__}")
    if drive == "force" and force is None:
        raise InputError("drive='force': give the actuator forces")
    return LegLayout(robot=robot, drive=drive, friction=friction, method=method)


def integrate(layout: LegLayout, motion: Any, force: Any, start: Any, times: Array, progress: bool | None) -> tuple[Array, str]:
    """Rows (n, width) at times (n,), one step between two of them, and why the run stopped early (empty: it did not)."""
    state, rates = _begin(layout, motion, start)
    return _run(layout, state, rates, _table(layout, motion, force, times), progress)


def _begin(layout: LegLayout, motion: Any, start: Any) -> tuple[ClosedLegs, Array]:
    """The closed state at time 0, and rates of all coordinates: a given state, else the static deflection there."""
    from flexapod.analysis.leg_request import leg_request
    from flexapod.analysis.results import settle
    from flexapod.analysis.state import State

    robot = layout.robot
    words = np.full(1, "", dtype=object)
    first = motion if start is None else start
    if isinstance(first, ActuatorMotion):
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


def _table(layout: LegLayout, motion: Any, force: Any, edges: Array) -> Array:
    """Length and signals of every row; the last row has no length."""
    count, h = len(edges) - 1, np.diff(edges)
    inner = layout.collocation.c[layout.collocation.c < 1.0]
    offsets = np.concatenate([[0.0], inner])
    times = np.append((edges[:-1, None] + h[:, None] * offsets).ravel(), edges[-1])
    if layout.drive == "actuators":
        at = motion_at(motion, times)
        values = np.concatenate([at.position, at.velocity, at.acceleration], axis=1)
    else:
        values = over_time("force", force, len(layout.robot.actuators))(times)
    own = values[:-1].reshape(count, len(offsets), -1)
    end = np.concatenate([own[1:, :1], values[None, -1:]])
    last = [end] * (layout.nodes - len(offsets))  # Radau's last stage is the end of the step
    whole = -(-(count + 1) // ROWS) * ROWS
    table = np.zeros((whole, layout.columns))
    table[:count, 0] = h
    table[:count, 1:] = np.concatenate([own, *last], axis=1).reshape(count, -1)
    table[count:, 1:] = np.tile(values[-1], layout.nodes)
    return table


def carried(layout: LegLayout, state: ClosedLegs, rates: Array) -> Array:
    """Carried numbers (size,) of a closed state and rates of all coordinates."""
    plan = layout.robot.elastic_plan
    pose = [] if plan.carrier is not None else [state.position[0], state.rotation[0].T.ravel()]
    v = rates[[plan.independent[k] for k in layout.unknown]]
    return np.concatenate([state.joint_position[0], *pose, state.modes[0], v, np.zeros(3)])


def carried_start(layout: LegLayout, start: Any) -> Array:
    """Carried numbers at an ActuatorMotion's start or a State, at rest in its static deflection unless given."""
    return carried(layout, *_begin(layout, start, None))


def _run(layout: LegLayout, state: ClosedLegs, rates: Array, table: Array, bar: bool | None) -> tuple[Array, str]:
    """Rows (steps + 1, width), and why the run stopped early (empty: it did not)."""
    robot = layout.robot
    family = KernelFamily(
        lambda: leg_run(layout),
        f"leg_run({layout.drive},{layout.friction},{layout.method})|{robot.structure}", robot.zeros,
    )  # fmt: skip
    signature = family.specialised.signature
    kernel = family.pick(np.array([robot.values[p.name] for p in signature.parameters]))
    constants = kernel.constants(np.array([robot.values[p.name] for p in kernel.signature.parameters]))
    final = carried(layout, state, rates)[None]
    steps = int(np.count_nonzero(table[:, 0])) + 1
    rows, status = np.empty((len(table), layout.width)), np.zeros(1, dtype=np.int32)
    code = layout.size - 1
    with progress_bar("simulation", steps, bar, 0) as show:
        for first in range(0, len(table), ROWS):
            part = slice(first, first + ROWS)
            given = [final.copy(), table[part].reshape(1, -1)]
            kernel.executable.run(given, constants, [rows[part].reshape(1, -1), final], status)
            if final[0, code] != 0.0:
                bad = int(np.flatnonzero(rows[part, code])[0]) if np.any(rows[part, code]) else ROWS
                text = kernel.signature.status(int(final[0, code])).text
                if first + bad == 0:
                    raise LegSimulationError(f"the simulation of {robot.name} cannot start: {text}")
                return rows[: min(first + bad, steps)], text
            if first % BAR < ROWS:
                show(min(first + ROWS, steps))
    return rows[:steps], ""


def _result(layout: LegLayout, rows: Array, times: Array, stopped: str, options: dict[str, Any]) -> xr.Dataset:
    """Dataset of a run: actuators, elastic coordinates, platform, forces, ledger."""
    from flexapod.analysis.flexible_dynamics import force_unit
    from flexapod.analysis.results import dataset

    robot, n = layout.robot, len(layout.robot.elastic_plan.independent)
    parts = {name: values.T for name, values in layout.split(rows.T).items()}
    u1, u2, force = np.split(rows[:, layout.size :], [n, 2 * n], axis=1)
    state = closed_rows(layout, parts["y"], parts["modes"], u1)
    e, ed = state.elastic(robot)
    q, qd = state.actuators(robot)
    plan = robot.elastic_plan
    columns = {column: k for k, column in enumerate(plan.independent)}
    own = [k for k, column in enumerate(elastic_columns(robot)) if column in columns]
    edd = np.full_like(e, np.nan)
    edd[:, own] = u2[:, [columns[elastic_columns(robot)[k]] for k in own]]
    kinetic, potential, elastic = energies(robot, state)
    total = kinetic + potential + elastic
    work, lost = parts["z"].T
    act, ela = ("actuator",), ("elastic_coordinate",)
    variables: dict[str, Any] = {
        "position": (("axis",), state.position, "m"), "rotation": (("axis", "body_axis"), state.rotation, ""),
        "velocity": (("axis",), state.velocity, "m/s"), "angular_velocity": (("axis",), state.angular_velocity, "rad/s"),
        "actuator_position": (act, q, "m or rad"), "actuator_velocity": (act, qd, "m/s or rad/s"),
        "actuator_acceleration": (act, u2[:, [columns[k] for k in driven_columns(robot)]], "m/s^2 or rad/s^2"),
        "elastic": (ela, e, "m or rad"), "elastic_velocity": (ela, ed, "m/s or rad/s"),
        "elastic_acceleration": (ela, edd, "1/s^2 of the coordinate"),
        "force": (act, force, force_unit(robot)), "power": (act, force * qd, "W"),
        "joint_position": (("joint",), state.joint_position, "m or rad"),
        "kinetic_energy": ((), kinetic, "J"), "potential_energy": ((), potential + elastic, "J"),
        "elastic_energy": ((), elastic, "J"), "work": ((), work, "J"), "dissipated": ((), lost, "J"),
        "ledger": ((), total - total[0] - work + lost, "J"), **spin_variable(robot, state),
    }  # fmt: skip
    variables, times, broken = until_broken(robot.name, variables, times)
    q, qd, stopped = q[: len(times)], qd[: len(times)], broken or stopped
    at = ActuatorMotion(time=times, position=q, velocity=qd, acceleration=np.zeros_like(q))
    attrs = {**{k: str(v) for k, v in options.items()}, "interrupted": 0}
    if stopped:
        attrs |= {"stopped": stopped, "stopped_at": float(times[-1])}
    return dataset(robot, variables, at).assign_attrs(attrs)


def closed_rows(layout: LegLayout, y: Array, modes: Array, rates: Array) -> ClosedLegs:
    """Closed states of rows of a run."""
    robot, n = layout.robot, len(layout.robot.coordinates)
    z = np.zeros((len(y), len(robot.elastic_plan.columns)))
    z[:, list(robot.elastic_plan.independent)] = rates
    count, none = len(y), np.zeros((len(y), 3))
    own = robot.elastic_plan.carrier is None
    position = y[:, n : n + 3] if own else none
    rotation = y[:, n + 3 :].reshape(count, 3, 3).transpose(0, 2, 1) if own else np.tile(np.eye(3), (count, 1, 1))
    at = ClosedLegs(
        joint_position=np.ascontiguousarray(y[:, :n]), joint_velocity=np.zeros((count, n)), position=position,
        rotation=rotation, velocity=none, angular_velocity=none, modes=modes, modes_velocity=np.zeros_like(modes),
    )  # fmt: skip
    e, _ = at.elastic(robot)
    q, _ = at.actuators(robot)
    words = np.full(count, "", dtype=object)
    return close(robot, at, q, e, z[:, driven_columns(robot)], z[:, elastic_columns(robot)], words)
