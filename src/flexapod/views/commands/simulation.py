"""Command `simulate`: a robot that follows a motion under a controller, with its ledger of energy."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

import flexapod as fp
from flexapod.views.commands.dynamics import figure_of
from flexapod.views.commands.guard import INTERRUPTED, bar, command, fail, note, working
from flexapod.views.commands.options import (
    Changes,
    Json,
    MotionName,
    MotionOptions,
    Out,
    Plot,
    RobotName,
    Slowed,
    pairs,
    robot_of,
)
from flexapod.views.output import as_json as dataset_json
from flexapod.views.output import check_place, check_places, number, print_json, print_table, print_text, write_data, write_plot

CONTROLLERS = {
    "computed-torque": ("ComputedTorque", {"kp": 100.0, "kd": 20.0}),
    "pd": ("PD", {"kp": 1e5, "kd": 1e3}),
    "pid": ("PID", {"kp": 1e5, "ki": 1e5, "kd": 1e3}),
    "feedforward-pd": ("FeedForwardPD", {"kp": 1e5, "kd": 1e3}),
}
"""Name -> public controller and the gains it has unless told otherwise."""


def register(app: typer.Typer) -> None:
    """Add the command to the app."""
    command(
        app, "simulate",
        "flexapod simulate stewart-3-3 --motion cosine-z --plot energy.html",
        "flexapod simulate hexapod --controller pd --gain kp=2e4 --gain kd=200",
    )(simulate)  # fmt: skip


def simulate(
    robot: RobotName,
    motion: MotionName = None,
    option: MotionOptions = [],  # noqa: B006
    slowed: Slowed = 1.0,
    changes: Changes = [],  # noqa: B006
    controller: Annotated[str, typer.Option(help=f"{', '.join(CONTROLLERS)}, or none")] = "computed-torque",
    gain: Annotated[list[str], typer.Option("--gain", metavar="NAME=VALUE", help="gain of the controller, e.g. kp=1e5")] = [],  # noqa: B006
    duration: Annotated[float | None, typer.Option(help="[s]; that of the motion if left out")] = None,
    step: Annotated[float, typer.Option(help="[s]")] = 1e-3,
    method: Annotated[str, typer.Option(help="rk4, dopri, implicit, radau or cvode")] = "rk4",
    friction: Annotated[bool, typer.Option(help="friction as in the file")] = True,
    save: Annotated[Path | None, typer.Option(help="checkpoint file: an interrupted run goes on from there")] = None,
    out: Out = None,
    plot: Plot = None,
    figure: Annotated[str | None, typer.Option(help="what --plot draws: energy, forces, strokes or spectrum")] = None,
    as_json: Json = False,
) -> None:
    """Simulate the robot following a motion under a controller, with its ledger of energy."""
    from flexapod.views.chosen_motion import chosen_motion

    check_places(out, plot)
    if save is not None:
        check_place(save, "--save")
    figure = figure_of(figure, ("energy", "forces", "strokes", "spectrum"))
    law = _controller(controller, pairs("--gain", gain))
    with working("deriving the equations of motion ..."):
        found = robot_of(robot, changes)
        moved = chosen_motion(found, motion, pairs("--option", option), slowed)
    chosen: Any = method
    run = fp.simulate(
        found, moved, controller=law, duration=duration, step=step, method=chosen, friction=friction, progress=bar(), save=save
    )
    if run.attrs.get("interrupted"):
        where = f"; call again to go on from {save}" if save is not None else "; --save FILE would let it go on later"
        fail(f"the simulation at t = {float(run.time[-1]):.4g} s; nothing was written{where}", INTERRUPTED)
    error = _tracking(found, moved, run)
    left = float(abs(run.ledger_residual).max())
    if as_json:
        print_json(dataset_json(run, tracking_error=error))
    else:
        print_text(f"{found.name}: {float(run.time[-1]):g} s simulated, {controller}, {method}")
        if run.attrs.get("stopped"):
            note(f"stopped at t = {run.attrs['stopped_at']:.6g} s: {run.attrs['stopped']}", "warning: ")
        rows = [
            [name, number(float(abs(run.force[:, k]).max())), number(float(abs(run.power[:, k]).max())), number(error[name])]
            for k, name in enumerate(found.actuators)
        ]
        head = ("actuator", f"peak force [{run.force.attrs['units']}]", "peak power [W]", "largest error of the coordinate")
        print_table("", head, rows)
        print_text(f"ledger of energy: {left:.3g} J left over")
    if not left <= DOUBTFUL * _exchanged(run):  # also where it is not a number
        told = f"the ledger leaves {left:.3g} J of {_exchanged(run):.3g} J"
        note(f"{told}: too long a step for these gains; try --step {step / 4:g}", "warning: ")
    if out is not None:
        note(f"wrote {write_data(out, run)}")
    if plot is not None:
        note(f"wrote {write_plot(plot, _run_figure(found, run, figure), found.name)}")


DOUBTFUL = 1e-3
"""Share of the energy exchanged that the ledger may leave before a run is doubted; good runs leave 1e-6 and less."""


def _exchanged(run: Any) -> float:
    """Largest energy in the ledger [J]: supplied, dissipated, from outside, kinetic or potential."""
    parts = (abs(run.supplied_work).sum("actuator"), run.dissipated_energy, run.external_work, run.kinetic_energy)
    lifted = run.potential_energy - run.potential_energy[0]
    return max(float(abs(part).max()) for part in (*parts, lifted))


def _run_figure(robot: fp.Robot, run: Any, name: str) -> Any:
    """The figure of a simulation that was asked for."""
    from flexapod.views.plot_time import energy_figure, force_figure, spectrum_figure, stroke_figure

    if name == "forces":
        return force_figure(robot, run)
    if name == "strokes":
        return stroke_figure(robot, run)
    if name == "spectrum":
        return spectrum_figure(run, "force", f"Spectrum of the forces of {robot.name}")
    return energy_figure(run, f"Energy of {robot.name}")


def _controller(name: str, gains: dict[str, Any]) -> Any:
    import difflib

    if name == "none":
        return None
    if name not in CONTROLLERS:
        near = difflib.get_close_matches(name, CONTROLLERS, n=1)
        hint = f"did you mean '{near[0]}'?" if near else f"known are {', '.join(CONTROLLERS)}, none"
        raise fp.InputError(f"--controller: there is no '{name}'; {hint}")
    public, defaults = CONTROLLERS[name]
    unknown = [key for key in gains if key not in defaults]
    if unknown:
        raise fp.InputError(f"--gain: {name} has no gain '{unknown[0]}'; it has {', '.join(defaults)}")
    return getattr(fp, public)(**(defaults | gains))


def _tracking(robot: fp.Robot, motion: fp.Motion, run: Any) -> dict[str, float]:
    """Largest difference of each actuator coordinate from the reference, within the time of the motion."""
    import numpy as np

    times = run.time.values[run.time.values <= motion.time[-1] + 1e-9]
    wanted = fp.motions.resample(motion, time=np.minimum(times, motion.time[-1]))
    q = fp.inverse_kinematics(robot, wanted, joints=False, on_error="mask").actuator_position.values
    error = np.abs(run.actuator_position.values[: len(times)] - q).max(axis=0)
    return {name: float(error[k]) for k, name in enumerate(robot.actuators)}
