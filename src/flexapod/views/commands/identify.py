"""Command of identification: parameters of a robot from measured positions and forces."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

import flexapod as fp
from flexapod.views.commands.guard import command, note, working
from flexapod.views.commands.options import Changes, Json, Payloads, robot_of
from flexapod.views.output import check_page, check_robot_place, number, print_json, print_table, print_text, write_text


def register(app: typer.Typer) -> None:
    """Add the command to the app."""
    command(
        app, "identify",
        "flexapod identify simulated --robot five-bar --cutoff 30 --legs alike",
    )(identify)  # fmt: skip


def identify(
    data: Annotated[
        str, typer.Argument(metavar="DATA", help="table with t, q_NAME, f_NAME or i_NAME; EMPS file (.mat); or `simulated`")
    ],
    robot: Annotated[str, typer.Option("--robot", help="name from `flexapod robots`, or a robot file")],
    *,
    changes: Changes = [],  # noqa: B006
    payload: Payloads = [],  # noqa: B006
    method: Annotated[str, typer.Option(help="estimator: wls, ols, iv (instruments: columns qr_NAME) or robust")] = "wls",
    legs: Annotated[str, typer.Option(help="each: every leg has its own parameters; alike: all legs share them")] = "each",
    parameter: Annotated[
        list[str], typer.Option("--parameter", help="fit only this parameter path of the robot file; may be repeated")
    ] = [],  # noqa: B006
    cutoff: Annotated[float | None, typer.Option(help="cut-off frequency of the zero-phase filter of the positions [Hz]")] = None,
    decimate: Annotated[int, typer.Option(help="number of samples averaged to one equation")] = 1,
    offset: Annotated[bool, typer.Option("--offset", help="estimate a constant offset of every force")] = False,
    backlash: Annotated[
        bool, typer.Option("--backlash", help="estimate the backlash between encoder and robot in every drive")
    ] = False,
    delay: Annotated[str, typer.Option(help="delay of forces behind positions [s], or find")] = "0",
    least_speed: Annotated[float, typer.Option(help="speed below which samples are left out [m/s or rad/s]")] = 0.0,
    physical: Annotated[bool, typer.Option("--physical", help="make the estimate physically consistent (needs cvxpy)")] = False,
    drop_outliers: Annotated[bool, typer.Option("--drop-outliers", help="leave out spikes of the forces")] = False,
    validate: Annotated[
        Path | None, typer.Option(metavar="FILE", help="other data, whose forces are predicted with the estimate")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="estimate even if the data look wrong")] = False,
    out: Annotated[Path | None, typer.Option("--out", metavar="FILE", help="write the identified robot (.yaml)")] = None,
    page: Annotated[Path | None, typer.Option("--page", metavar="FILE", help="write a page with residuals (.html)")] = None,
    as_json: Json = False,
) -> None:
    """Masses, inertias and friction from measured actuator positions and forces, with error bars."""
    if out is not None:
        check_robot_place(out, "--out")
    if page is not None:
        check_page(page, "--page")
    with working("identification ..."):
        start = robot_of(robot, changes, payload)
        found = _identified(
            start, _data(start, data), method=method, legs=legs, cutoff=cutoff, decimate=decimate,
            offset=offset, backlash=backlash, delay=_delay(delay), least_speed=least_speed, physical=physical,
            drop_outliers=drop_outliers, validate=validate, instruments="reference" if method == "iv" else None,
            on_bad="report" if force else "raise",
            **({"parameters": parameter} if parameter else {}),
        )  # fmt: skip
        if out is not None:
            found.save(out)
        if page is not None:
            from flexapod.views.reports.identification_page import identification_page

            write_text(page, identification_page(found))
    for suspicion in found.suspicions:
        note(suspicion.text, f"warning: {suspicion.kind}: ")
    if as_json:
        print_json(_plain(found))
        return
    _print(found)
    for name, place in (("robot file", out), ("page", page)):
        if place is not None:
            print_text(f"{name}: {place.resolve()}")


def _identified(robot: fp.Robot, data: Any, **options: Any) -> fp.Identification:
    try:
        return fp.identify(robot, data, **options)
    except fp.BadDataError as error:
        raise fp.InputError(str(error).replace("set on_bad='report' to estimate all the same", "use --force")) from None


def _data(robot: fp.Robot, data: str) -> Any:
    """A file, or a simulated campaign on the robot's own model."""
    if data != "simulated":
        return Path(data)
    motion = fp.exciting_motion(robot, period=8.0, rate=1000.0, legs="alike", passes=0)
    sizes = fp.inverse_dynamics(robot, fp.platform_motion(robot, motion)).force.values
    return fp.simulated_measurement(robot, motion, force_noise=0.01 * float(sizes.std()))


def _delay(text: str) -> Any:
    if text == "find":
        return text
    try:
        return float(text)
    except ValueError:
        raise fp.InputError(f"--delay {text}: expected seconds, or find") from None


def _print(found: fp.Identification) -> None:
    head = ("parameter", "estimate", "sigma", "t", "robot file", "unit")
    columns = (found.estimate, found.sigma, found.t_ratio, found.prior)
    rows = [[n, *(number(c[k], 5) for c in columns), found.units[k]] for k, n in enumerate(found.names)]
    print_table(f"{found.start.name}: {found.method}, {found.rows} equations, condition {number(found.condition, 3)}", head, rows)
    noise = ", ".join(f"{a} {number(x, 3)}" for a, x in zip(found.start.actuators, found.noise, strict=True))
    print_text(f"residuals [N or N m]: {noise}")
    for name, values, errors in found.extras():
        shown = zip(found.start.actuators, values, errors, strict=True)
        print_text(f"{name}: " + ", ".join(f"{a} {number(x, 4)} +/- {number(e, 2)}" for a, x, e in shown))
    if found.validation is not None:
        print_text("residuals on the other motion: " + ", ".join(number(x, 3) for x in found.validation.rms))


def _plain(found: fp.Identification) -> dict[str, Any]:
    rows = zip(found.names, found.estimate, found.sigma, found.prior, found.units, strict=True)
    return {
        "robot": found.start.name, "method": found.method, "rows": found.rows, "condition": found.condition, "delay": found.delay,
        "parameters": {n: {"estimate": float(e), "sigma": float(s), "file": float(p), "unit": u} for n, e, s, p, u in rows},
        "noise": [float(x) for x in found.noise], 
        **{name: [float(x) for x in values] for name, values, _ in found.extras()},
        "essential": list(found.essential), "suspicions": [[s.kind, s.text] for s in found.suspicions],
    }  # fmt: skip
