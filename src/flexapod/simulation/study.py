"""`simulate_study`: many trajectories at once, four per vector, each with its own numbers or its own start."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from flexapod.analysis.requests.abilities import refuse
from flexapod.analysis.requests.arguments import checked
from flexapod.analysis.requests.results import raise_failed
from flexapod.analysis.requests.state import State
from flexapod.arrays import Array
from flexapod.errors import InputError
from flexapod.rotation_arrays import rotation_quaternion
from flexapod.simulation.integrators.runner import Runner, advance_many
from flexapod.simulation.simulate import MOST_ROWS, _check, _duration, default_method, make_clock
from flexapod.simulation.study_values import study_columns
from flexapod.simulation.system.flexible_start import elastic_start
from flexapod.simulation.system.load_friction import smooth
from flexapod.simulation.system.setup import Setup, in_independent, make_setup
from flexapod.simulation.system.signals import Span, row_table
from flexapod.simulation.system.start import first_load

if TYPE_CHECKING:
    import xarray as xr

    from flexapod.analysis.requests.state import State
    from flexapod.motions.motion import ActuatorMotion, Motion
    from flexapod.robot.robot import Robot
    from flexapod.simulation.controllers import Controller
    from flexapod.simulation.system.signals import Given


@checked
def simulate_study(
    robot: Robot,
    motion: Motion | ActuatorMotion | None,
    *,
    robots: Sequence[Robot] | None = None,
    values: Mapping[str, ArrayLike] | None = None,
    starts: State | None = None,
    controller: Controller | None = None,
    force: Given | None = None,
    wrench: Given | None = None,
    duration: float | None = None,
    step: float = 1e-3,
    output_step: float | None = None,
    friction: bool | str = True,
) -> xr.Dataset:
    """Simulate many trajectories by fixed-step RK4; flexible robots, or robots whose loops are closed together, one by one by the
    steps that `simulate` takes for them.

    Args:
        motion: as for `simulate`; all trajectories follow it.
        robots: variants of the robot (same structure), one per trajectory; or
        values: numbers per trajectory (n,) by the names that kernels read: those of `robot.values` (``platform.mass``,
            ``gravity.z``, ...) and of the controller (``controller.kp.A``, ...). Much cheaper than building robots.
        starts: (n,) states to start from, where they differ.
        controller, force, wrench, duration, step, output_step, friction: as for `simulate`. Rigid robots are integrated by
            ``"rk4"``, with friction by joint loads too: compare one trajectory with `simulate`, and shorten the step.
    Returns:
        Dataset over (trajectory, time): `position`, `quat_wxyz`, `velocity`, `angular_velocity`, `force`, `supplied_work`;
        `reason` (trajectory,) is empty where the end was reached, and rows after a failure repeat the last good state.

    Checked by: tests/simulation/test_study.py.
    """
    _check("force", "rk4", (), step)
    refuse(robot, "simulate_study", controller=controller, force=force, wrench=wrench, friction=friction)
    length = _duration(motion, duration)
    if starts is not None and not starts.single and len(starts) == 0:
        raise InputError("starts: there is no state; give one per trajectory")
    first = None if starts is None else _single(starts, 0)
    independent = in_independent(robot, "force", None, friction)
    method = default_method(robot, "force", friction) if independent else "rk4"
    given: dict[str, Any] = dict(
        drive="force", controller=controller, force=force, wrench=wrench, friction=friction, method=method, events=(), watch=(),
        tolerance=(1e-9, 1e-11),
    )  # fmt: skip
    setup = make_setup(robot, motion, start=first, step=step, rows=8, **given)
    if setup.function is not None or setup.layout.memory:
        raise InputError("controller: a study takes continuous compiled controllers; run sampled ones and functions one by one")
    setup, columns, count = _varied(setup, robots, values, starts)
    if independent:
        from flexapod.simulation.study_one_by_one import one_by_one

        begins = [None if starts is None else _single(starts, k) for k in range(count)]
        times = dict(duration=length, step=step, output_step=output_step)
        return one_by_one(robots or [robot] * count, motion, begins, columns if robots is None else {}, times, given)
    runner = Runner(setup.layout, setup.values, many=True)
    parameters = np.tile(runner.parameters, (count, 1))
    for k, parameter in enumerate(runner.kernel.signature.parameters):
        if parameter.name in columns:
            parameters[:, k] = columns[parameter.name]
    states = np.tile(setup.start, (count, 1))
    if starts is not None:
        states = _starts(setup, starts, count)
    clock = make_clock(setup, length, step, output_step)
    if length / clock.step > MOST_ROWS:
        raise InputError(f"step: {length / clock.step:.3g} steps do not fit into memory; at most {MOST_ROWS:g} are allowed")
    rows = int(np.ceil(length / clock.step - 1e-9))
    h = length / rows
    table = row_table(setup.layout, setup.signals, Span(start=0.0, h=h, count=rows))
    padded = np.zeros((rows + 1 + -(rows + 1) % setup.layout.rows, setup.layout.columns))
    padded[:rows] = table
    if setup.layout.width:
        padded[rows:, 2:] = np.tile(table[-1, -setup.layout.width :], 3)
    keep = np.unique(np.append(np.arange(0, rows + 1, clock.every), rows))
    found, _ = advance_many(runner, states, padded, parameters, keep)
    return _dataset(setup, runner, found, h * keep)


def _single(states: State, k: int) -> State:
    if states.single:
        return states
    names = ("position", "rotation", "velocity", "angular_velocity", "elastic", "elastic_velocity")
    given = {name: getattr(states, name) for name in names}
    return State(**{name: values[k] for name, values in given.items() if values is not None})


def _varied(
    setup: Setup, robots: Sequence[Robot] | None, values: Mapping[str, ArrayLike] | None, starts: State | None
) -> tuple[Setup, dict[str, Array], int]:
    """Numbers per trajectory by name, and a layout for all of them."""
    columns: dict[str, Array] = {}
    if robots is not None and values is not None:
        raise InputError("give robots or values, not both")
    if robots is not None:
        robots = [smooth(r) if setup.layout.friction == "load" else r for r in robots]
        other = [r.name for r in robots if r.structure != setup.layout.robot.structure]
        if other:
            raise InputError(f"robots: {other[0]} has another structure than {setup.layout.robot.name}")
        columns = {name: np.array([r.values[name] for r in robots]) for name in setup.layout.robot.values}
        columns = {name: column for name, column in columns.items() if np.ptp(column) > 0 or column[0] != setup.values[name]}
    if values is not None:
        columns = study_columns(setup.layout.robot, setup.values, values)
    sizes = {len(column) for column in columns.values()} | ({len(starts)} if starts is not None else set())
    sizes |= {len(robots)} if robots is not None else set()
    if len(sizes) != 1:
        differ = f"the numbers of trajectories differ: {sorted(sizes)}"
        raise InputError(differ if sizes else "nothing varies: give robots, values or starts")
    safe = ("platform.mass", "platform.inertia", "platform.first_moment", "controller.")  # what the fast equations allow
    plain = all(name.startswith(safe) for name in columns)
    zeros = {name for name, column in columns.items() if np.any(column != 0.0)} & setup.layout.robot.zeros
    layout = setup.layout if plain else replace(setup.layout, fast=None)
    if zeros:  # a structural zero is lost: the general kernel is used
        values_now = {**setup.values, **{name: float(columns[name][np.flatnonzero(columns[name])[0]]) for name in zeros}}
        return replace(setup, layout=layout, values=values_now), columns, sizes.pop()
    return replace(setup, layout=layout), columns, sizes.pop()


def _starts(setup: Setup, starts: State, count: int) -> Array:
    from flexapod.analysis.verbs.inverse_kinematics import joint_rates, platform_inputs

    inputs, place = platform_inputs(starts), setup.layout.places
    states = np.tile(setup.start, (count, 1))
    if setup.layout.elastic:
        states[:, place["e"]], states[:, place["ed"]] = elastic_start(setup.layout.robot, starts, *first_load(setup))
    else:
        _, reasons, joints = joint_rates(setup.layout.robot, inputs, accelerations=False)
        raise_failed("the starts of the study", setup.layout.robot, reasons.astype(str), starts, "raise")
    states[:, place["p"]], states[:, place["quat"]] = inputs["position"], rotation_quaternion(inputs["rotation"])
    states[:, place["v"]], states[:, place["w"]] = inputs["velocity"], inputs["angular_velocity"]
    if place["joints"].stop > place["joints"].start:
        states[:, place["joints"]] = joints
    states[:, place["travel"]] = 0.0
    return states


def _dataset(setup: Setup, runner: Runner, found: Array, times: Array) -> xr.Dataset:
    import xarray as xr

    layout, size = setup.layout, setup.layout.size
    place, n = layout.places, layout.actuators
    code = np.rint(found[:, -1, place["code"].start]).astype(int)
    reasons = np.array(["" if c == 0 else runner.kernel.signature.status(int(c)).text for c in code])
    dims = ("trajectory", "time")
    data = {
        "position": ((*dims, "axis"), found[:, :, place["p"]], {"units": "m"}),
        "quat_wxyz": ((*dims, "component"), found[:, :, place["quat"]], {"units": ""}),
        "velocity": ((*dims, "axis"), found[:, :, place["v"]], {"units": "m/s"}),
        "angular_velocity": ((*dims, "axis"), found[:, :, place["w"]], {"units": "rad/s"}),
        "force": ((*dims, "actuator"), found[:, :, size : size + n], {"units": "N or N m"}),
        "supplied_work": ((*dims, "actuator"), found[:, :, place["work"]], {"units": "J"}),
        "reason": (("trajectory",), reasons),
    }
    coords = {
        "time": ("time", times, {"units": "s"}), "axis": ("axis", list("xyz")), "component": ("component", list("wxyz")),
        "actuator": ("actuator", list(layout.robot.actuators)),
    }  # fmt: skip
    if layout.elastic:
        names = {"elastic": "e", "elastic_velocity": "ed"}
        data |= {name: ((*dims, "elastic_coordinate"), found[:, :, place[part]]) for name, part in names.items()}
        coords["elastic_coordinate"] = ("elastic_coordinate", list(layout.robot.elastic_names))
    return xr.Dataset(data, coords=coords, attrs={"robot": layout.robot.name})
