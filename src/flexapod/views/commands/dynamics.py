"""Commands of dynamics: inverse dynamics and simulation."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

import flexapod as fp
from flexapod.views.commands.guard import INTERRUPTED, bar, command, fail, note, working
from flexapod.views.commands.options import (
    Changes,
    Json,
    Mask,
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
    """Add the commands to the app."""
    command(
        app, "inverse-dynamics",
        "flexapod inverse-dynamics stewart-3-3 --motion staicu --out forces.csv",
        "flexapod inverse-dynamics hexapod --set platform.mass=6 --plot forces.html",
    )(inverse_dynamics)  # fmt: skip
    command(
        app, "simulate",
        "flexapod simulate stewart-3-3 --motion cosine-z --plot energy.html",
        "flexapod simulate hexapod --controller pd --gain kp=2e4 --gain kd=200",
    )(simulate)  # fmt: skip


def inverse_dynamics(
    robot: RobotName,
    motion: MotionName = None,
    option: MotionOptions = [],  # noqa: B006
    slowed: Slowed = 1.0,
    changes: Changes = [],  # noqa: B006
    friction: Annotated[bool, typer.Option(help="friction as in the file")] = True,
    reactions: Annotated[bool, typer.Option("--reactions", help="also the loads of all joints")] = False,
    shares: Annotated[bool, typer.Option("--shares", help="also parts of the force: gravity, inertia, friction")] = False,
    formulation: Annotated[
        str, typer.Option(help="auto, virtual_power, virtual_work, newton_euler or minimal; all agree to rounding")
    ] = "auto",
    wrench: Annotated[
        str | None, typer.Option(metavar="FX,FY,FZ,MX,MY,MZ", help="load on the platform [N, N m], world axes")
    ] = None,
    point: Annotated[str | None, typer.Option(help="point of the platform where the load acts, e.g. tool")] = None,
    mask: Mask = False,
    out: Out = None,
    plot: Plot = None,
    figure: Annotated[
        str | None, typer.Option(help="what --plot draws: forces, change (by --set), shares, reactions, spectrum")
    ] = None,
    as_json: Json = False,
) -> None:
    """Forces and powers of the actuators along a motion, with a table for choosing them."""
    from flexapod.views.chosen_motion import chosen_motion
    from flexapod.views.sizing import JOINT_HEAD, actuator_sizing, joint_rows, sizing_table

    check_places(out, plot)
    figure = figure_of(figure, ("forces", "change", "shares", "reactions", "spectrum"))
    if figure == "change" and not changes:
        raise fp.InputError("--figure change: draws the robot as in its file and as changed by --set; give --set as well")
    reactions, shares = reactions or figure == "reactions", shares or figure == "shares"
    with working("inverse dynamics ..."):
        found = robot_of(robot, changes)
        moved = chosen_motion(found, motion, pairs("--option", option), slowed)
        chosen: Any = formulation
        load = _numbers("--wrench", wrench, 6)
        drive = fp.inverse_dynamics(
            found, moved, friction=friction, reactions=reactions, shares="frozen" if shares else None, formulation=chosen,
            wrench=load, point=point, on_error="mask" if mask else "raise",
        )  # fmt: skip
        legs = fp.inverse_kinematics(found, moved, joints=False, on_error="mask" if mask else "raise")
        sizing = actuator_sizing(found, legs, drive)
        load_at_origin = load if point is None else None
        warnings = [str(v) for v in fp.check_motion(found, moved, friction=friction, wrench=load_at_origin).violations]
    if as_json:
        print_json(dataset_json(drive, sizing=sizing, violations=warnings))
    else:
        print_table(f"{found.name}, {len(moved)} samples, {drive.attrs.get('formulation', '')}", *sizing_table(sizing))
        if reactions:
            print_table("joint loads", JOINT_HEAD, joint_rows(drive))
        for text in warnings:
            note(text, "warning: ")
    if out is not None:
        note(f"wrote {write_data(out, drive)}")
    if plot is not None and figure == "change":
        from flexapod.views.plot_time import change_figure

        options: Any = {"friction": friction, "formulation": chosen, "wrench": load, "point": point}
        before = fp.inverse_dynamics(fp.load(robot), moved, on_error="mask" if mask else "raise", **options)
        note(f"wrote {write_plot(plot, change_figure(found, before, drive, ', '.join(changes)), found.name)}")
    elif plot is not None:
        note(f"wrote {write_plot(plot, _drive_figure(found, drive, figure), found.name)}")


def _drive_figure(robot: fp.Robot, drive: Any, name: str) -> Any:
    """The figure of inverse dynamics that was asked for."""
    from flexapod.views.plot_time import force_figure, reaction_figure, share_figure, spectrum_figure

    if name == "reactions":
        closing = [f"{leg.name}.{leg.closing.joint}" for leg in robot.legs]
        return reaction_figure(drive, closing, f"Loads of the platform joints of {robot.name}")
    if name == "shares":
        return share_figure(drive, f"Parts of the forces of {robot.name}")
    if name == "spectrum":
        return spectrum_figure(drive, "force", f"Spectrum of the forces of {robot.name}")
    return force_figure(robot, drive)


def figure_of(name: str | None, known: tuple[str, ...]) -> str:
    """A figure by name, the first if none is given."""
    if name is None:
        return known[0]
    if name not in known:
        raise fp.InputError(f"--figure {name}: expected {', '.join(known)}")
    return name


def _numbers(option: str, text: str | None, count: int) -> list[float] | None:
    if text is None:
        return None
    try:
        values = [float(part) for part in text.split(",")]
    except ValueError:
        values = []
    if len(values) != count:
        raise fp.InputError(f"{option} {text}: expected {count} numbers between commas")
    return values


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
    method: Annotated[str, typer.Option(help="rk4, dopri or cvode")] = "rk4",
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
    if out is not None:
        note(f"wrote {write_data(out, run)}")
    if plot is not None:
        note(f"wrote {write_plot(plot, _run_figure(found, run, figure), found.name)}")


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
