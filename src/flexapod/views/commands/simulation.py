"""Command `simulate`: a robot that follows a motion under a controller, with its energy balance."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import flexapod as fp
from flexapod.errors import did_you_mean
from flexapod.views.commands.dynamics import figure_of
from flexapod.views.commands.guard import INTERRUPTED, SAID, bar, command, fail, in_words, note, warn, working
from flexapod.views.commands.options import (
    Changes,
    Json,
    MotionName,
    MotionOptions,
    Out,
    Payloads,
    Plot,
    RobotName,
    Slowed,
    pairs,
    robot_of,
)
from flexapod.views.output import as_json as dataset_json
from flexapod.views.output import check_place, check_places, number, print_json, print_table, print_text, write_data, write_plot

if TYPE_CHECKING:
    import xarray as xr

CONTROLLERS = {
    "computed-torque": ("ComputedTorque", {"kp": 100.0, "kd": 20.0}),
    "pd": ("PD", {"kp": 1e5, "kd": 1e3}),
    "pid": ("PID", {"kp": 1e5, "ki": 1e5, "kd": 1e3}),
    "feedforward-pd": ("FeedForwardPD", {"kp": 1e5, "kd": 1e3}),
}
"""Name -> public controller and the gains it has unless given otherwise."""


def register(app: typer.Typer) -> None:
    """Add the command to the app."""
    command(
        app, "simulate",
        "flexapod simulate stewart-3-3 --motion cosine-z --plot energy.html",
        "flexapod simulate hexapod --controller pd --gain kp=2e4 --gain kd=200",
        "flexapod simulate dualemps --duration 0.5 --figure forces --plot forces.html",
    )(simulate)  # fmt: skip


def simulate(
    robot: RobotName,
    motion: MotionName = None,
    *,
    option: MotionOptions = [],  # noqa: B006
    slowed: Slowed = 1.0,
    changes: Changes = [],  # noqa: B006
    payload: Payloads = [],  # noqa: B006
    controller: Annotated[
        str | None, typer.Option(help=f"{', '.join(CONTROLLERS)} or none; default: computed-torque, none for flexible legs")
    ] = None,
    gain: Annotated[list[str], typer.Option("--gain", metavar="NAME=VALUE", help="gain of the controller, e.g. kp=1e5")] = [],  # noqa: B006
    duration: Annotated[float | None, typer.Option(help="duration [s]; default: that of the motion")] = None,
    step: Annotated[float, typer.Option(help="integration step [s]; of dopri the first one")] = 1e-3,
    method: Annotated[
        str | None,
        typer.Option(
            help="integrator: rk4, dopri, implicit, radau or cvode; default: rk4, dopri for friction by joint loads, "
            "implicit for flexible legs, springs, and loops inside or between legs"
        ),
    ] = None,
    friction: Annotated[bool, typer.Option(help="include friction as in the robot file")] = True,
    save: Annotated[Path | None, typer.Option(help="checkpoint file: an interrupted simulation continues from it")] = None,
    out: Out = None,
    plot: Plot = None,
    figure: Annotated[str | None, typer.Option(help="what --plot draws: energy, forces, strokes or spectrum")] = None,
    as_json: Json = False,
) -> None:
    """Simulate the robot following a motion under a controller, with its energy balance.

    Actuators of robots with flexible legs follow the motion exactly, and the links vibrate.
    """
    from flexapod.views.chosen_motion import followed_motion
    from flexapod.views.plots.time_figures import energy_residual, exchanged

    check_places(out, plot)
    if save is not None:
        check_place(save, "--save")
    figure = figure_of(figure, ("energy", "forces", "strokes", "spectrum"), plot)
    with working("deriving the equations of motion ..."):
        found = robot_of(robot, changes, payload)
        if controller is None:
            controller = "none" if found.moved_by == "actuators" else next(iter(CONTROLLERS))
        law = _controller(controller, pairs("--gain", gain))
        moved = followed_motion(found, motion, pairs("--option", option), slowed)
        if found.moved_by == "actuators" and not isinstance(moved, fp.ActuatorMotion):
            raise fp.InputError(
                f"--motion {motion}: {found.name} is simulated along a motion of its actuators; {ACTUATOR_MOTIONS}"
            )
    result = fp.simulate(
        found, moved, controller=law, duration=duration, step=step, friction=friction, progress=bar(), save=save,
        **_chosen(found, method, controller),
    )  # fmt: skip
    if result.attrs.get("interrupted"):
        where = f"; call again to continue from {save}" if save is not None else "; with --save FILE it could be continued"
        fail(f"the simulation at t = {float(result.time[-1]):.4g} s; nothing was written{where}", INTERRUPTED)
    error = _tracking(found, moved, result)
    left = float(abs(energy_residual(result)).max())
    if as_json:
        print_json(dataset_json(result, tracking_error=error))
    else:
        print_text(f"{found.name}: {float(result.time[-1]):g} s simulated, {_driven(controller)}, {result.attrs['method']}")
        stopped = in_words(result.attrs.get("stopped", ""))
        if stopped and not any(stopped in line for line in SAID):
            warn(f"stopped at t = {result.attrs['stopped_at']:.6g} s: {stopped}")
        rows = [
            [
                name,
                number(float(abs(result.force[:, k]).max())),
                number(float(abs(result.power[:, k]).max())),
                number(error[name]),
            ]
            for k, name in enumerate(found.actuators)
        ]
        head = ("actuator", f"peak force [{result.force.attrs['units']}]", "peak power [W]", "largest error of the coordinate")
        print_table("", head, rows)
        print_text(f"energy balance: {left:.3g} J left over")
    if not left <= DOUBTFUL * exchanged(result):  # also where it is not a number
        shorter = min(step, float(result.time[-1])) / 4
        label = f"the energy balance misses {left:.3g} J of {exchanged(result):.3g} J"
        note(f"{label}: the step is too long for these gains; try --step {shorter:.3g}", "warning: ")
    if out is not None:
        note(f"wrote {write_data(out, result)}")
    if plot is not None:
        note(f"wrote {write_plot(plot, _figure_of(found, result, figure), found.name)}")


DOUBTFUL = 1e-3
"""Share of the energy exchanged that the energy balance may leave before a simulation is doubted; good ones leave 1e-6 and
less."""


ACTUATOR_MOTIONS = "choose dualemps-square, dualemps-circle, joint-square, actuator-polygon, or a file with actuator columns"


def _chosen(robot: fp.Robot, method: str | None, controller: str) -> dict[str, Any]:
    """Drive and method: without a controller the actuators of flexible legs follow the motion, others get forces."""
    options: dict[str, Any] = {} if method is None else {"method": method}
    return {**options, "drive": "actuators"} if robot.moved_by == "actuators" and controller == "none" else options


def _driven(controller: str) -> str:
    return "no controller" if controller == "none" else controller


def _figure_of(robot: fp.Robot, result: xr.Dataset, name: str) -> Any:
    """The requested figure of a simulation."""
    from flexapod.views.plots.time_figures import energy_figure, force_figure, spectrum_figure, stroke_figure

    if name == "forces":
        return force_figure(robot, result)
    if name == "strokes":
        return stroke_figure(robot, result)
    if name == "spectrum":
        return spectrum_figure(result, "force", f"Spectrum of the forces of {robot.name}")
    return energy_figure(result, f"Energy of {robot.name}")


def _controller(name: str, gains: dict[str, object]) -> Any:
    if name == "none":
        if gains:
            raise fp.InputError(f"--gain {next(iter(gains))}: there is no controller; name one, or leave it out")
        return None
    if name not in CONTROLLERS:
        hint = did_you_mean(name, CONTROLLERS, f"known are {', '.join(CONTROLLERS)}, none")
        raise fp.InputError(f"--controller: there is no '{name}'; {hint}")
    public, defaults = CONTROLLERS[name]
    unknown = [key for key in gains if key not in defaults]
    if unknown:
        raise fp.InputError(f"--gain: {name} has no gain '{unknown[0]}'; it has {', '.join(defaults)}")
    return getattr(fp, public)(**(defaults | gains))


def _tracking(robot: fp.Robot, motion: fp.Motion | fp.ActuatorMotion, result: xr.Dataset) -> dict[str, float]:
    """Largest difference of each actuator coordinate from the reference, within the time of the motion."""
    import numpy as np

    times = result.time.values[result.time.values <= motion.time[-1] + 1e-9]
    within = np.minimum(times, motion.time[-1])
    if isinstance(motion, fp.ActuatorMotion):
        q = fp.motions.resample(motion, time=within).position
    else:
        wanted = fp.motions.resample(motion, time=within)
        q = fp.inverse_kinematics(robot, wanted, joints=False, on_error="mask").actuator_position.values
    error = np.abs(result.actuator_position.values[: len(times)] - q).max(axis=0)
    return {name: float(error[k]) for k, name in enumerate(robot.actuators)}
