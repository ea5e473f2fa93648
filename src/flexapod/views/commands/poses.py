"""Command `poses`: all assembly modes of given actuator coordinates, or all working modes of the home pose."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

import flexapod as fp
from flexapod.errors import amount
from flexapod.views.commands.guard import command, working
from flexapod.views.commands.options import Changes, Json, Out, Payloads, Plot, RobotName, keep, refuse_payload, robot_of
from flexapod.views.output import as_json as dataset_json
from flexapod.views.output import check_places, number, print_json, print_table, print_text, without_noise

if TYPE_CHECKING:
    import xarray as xr

SAME_BRANCH = 1e-6
"""Difference of actuator coordinates [rad, or of the robot's size] that is rounding of a pose."""


def register(app: typer.Typer) -> None:
    """Add the command to the app."""
    command(
        app, "poses",
        "flexapod poses gough-stewart",
        "flexapod poses stewart-3-3 --actuators 0.1,-0.2,0.05,0,0.15,-0.1",
        "flexapod poses hexaslide --working",
    )(poses)  # fmt: skip


def poses(
    robot: RobotName,
    *,
    actuators: Annotated[
        str | None, typer.Option("--actuators", metavar="A,B,..", help="actuator coordinates [m or rad]; default: those of home")
    ] = None,
    working_modes: Annotated[
        bool, typer.Option("--working", help="list the actuator coordinates of the home pose for all branches of the legs")
    ] = False,
    certify: Annotated[
        bool | None, typer.Option(help="prove the poses, and that there are no others, where possible (default)")
    ] = None,
    changes: Changes = [],  # noqa: B006
    payload: Payloads = [],  # noqa: B006
    out: Out = None,
    plot: Plot = None,
    as_json: Json = False,
) -> None:
    """All real poses of the platform for given actuator coordinates (assembly modes), or all leg branches (working modes).

    The side is 1 on home's side of the type 2 singularities, -1 beyond, 0 at one; blank where a leg is on another branch than
    inverse kinematics finds there.
    """
    check_places(out, plot)
    found = robot_of(robot, changes, payload)
    refuse_payload(payload, found, "poses")
    if working_modes:
        if actuators is not None or plot is not None:
            raise fp.InputError("--working: takes neither --actuators nor --plot; it lists actuator coordinates of the home pose")
        if certify is not None:
            raise fp.InputError(f"--{'' if certify else 'no-'}certify: working modes are all found in closed form; leave it out")
        result = fp.working_modes(found, fp.State(position=found.home.position, rotation=found.home.rotation))
        _show_working(found, result, as_json)
    else:
        with working("following all solutions ..."):
            coordinates = _coordinates(found, actuators)
            result = fp.assembly_modes(found, coordinates, certify=certify is not False)
        _show_poses(found, coordinates, result, as_json)
    keep(found.name, out, result, plot, lambda: fp.figures.poses_figure(found, result))


def _coordinates(robot: fp.Robot, text: str | None) -> list[float]:
    if text is None:
        home = fp.State.at_home(robot)
        return [float(q) for q in fp.inverse_kinematics(robot, home, joints=False)["actuator_position"].values.ravel()]
    try:
        values = [float(part) for part in text.split(",")]
    except ValueError:
        raise fp.InputError(f"--actuators {text}: expected numbers between commas, e.g. --actuators 0.1,0.2,0.1") from None
    if len(values) != len(robot.actuators):
        wanted = f"{amount(len(robot.actuators), 'actuator')} of {robot.name} ({', '.join(robot.actuators)})"
        raise fp.InputError(f"--actuators: {len(values)} numbers for the {wanted}")
    return values


def _show_poses(robot: fp.Robot, coordinates: list[float], result: xr.Dataset, as_json: bool) -> None:
    if as_json:
        print_json(dataset_json(result))
        return
    rows, sides = [], _sides(robot, coordinates, result)
    for k in range(int(result["count"])):
        position, side = without_noise(result["position"].values[k], robot.characteristic_length), sides[k]
        kind, proven = str(result["operation_mode"].values[k]), "yes" if result["certified"].values[k] else "no"
        rows.append([str(k + 1), *(number(x) for x in position), number(_angle(robot, result, k)), side, kind, proven])
    head = ("mode", "x [m]", "y [m]", "z [m]", "rotation from home [deg]", "side", "operation mode", "certified")
    all_ = f"{int(result['complex_count'])} complex ones; complete: {result['completeness'].values}"
    print_table(f"{robot.name}: {len(rows)} real poses of {all_}", head, rows)
    print_text(str(result["detail"].values))


def _sides(robot: fp.Robot, coordinates: list[float], result: xr.Dataset) -> list[str]:
    """Sides of the type 2 singularities; no text where `singularities` would look at other leg branches than the pose's."""
    import numpy as np

    count = int(result["count"])
    if count == 0:
        return []
    poses = fp.State(position=result["position"].values[:count], rotation=result["rotation"].values[:count])
    taken = fp.inverse_kinematics(robot, poses, joints=False, on_error="mask")["actuator_position"].values
    rotating = np.array(robot.actuator_units) == "rad"
    apart = np.where(rotating, 2.0 * np.abs(np.sin((taken - coordinates) / 2.0)), np.abs(taken - coordinates) / robot.size)
    side = np.where(apart.max(axis=1) < SAME_BRANCH, fp.singularities(robot, poses, on_error="mask")["side"].values, np.nan)
    return ["" if s != s else number(float(s)) for s in side]


def _angle(robot: fp.Robot, result: xr.Dataset, k: int) -> float:
    """Angle of the rotation from home to a pose [deg]."""
    import numpy as np

    trace = float(np.trace(result["rotation"].values[k] @ robot.home.rotation.T))
    return float(np.degrees(np.arccos(np.clip((trace - 1.0) / 2.0, -1.0, 1.0))))


def _show_working(robot: fp.Robot, result: xr.Dataset, as_json: bool) -> None:
    if as_json:
        print_json(dataset_json(result))
        return
    branches = result["branch"].values
    rows = [
        ["".join(str(b) for b in branches[k]), *(number(q) for q in values)]
        for k, values in enumerate(result["actuator_position"].values)
    ]
    head = ("branches", *(f"{n} [{u}]" for n, u in zip(robot.actuators, robot.actuator_units, strict=True)))
    print_table(f"{robot.name}: {len(rows)} working modes at home", head, rows)
