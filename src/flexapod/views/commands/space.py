"""Commands of the space of poses: workspace as a solid, certified workspace, singularities."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import flexapod as fp
from flexapod.views.commands.guard import bar, command, note, working
from flexapod.views.commands.options import (
    Changes,
    Json,
    Out,
    Payloads,
    Plot,
    Region,
    RobotName,
    keep,
    refuse_payload,
    robot_of,
    span_of,
)
from flexapod.views.output import check_place, check_places, number, print_json, print_table, print_text

MESHES = (".stl", ".ply", ".csv")


def register(app: typer.Typer) -> None:
    """Add the commands to the app."""
    command(
        app, "solid",
        "flexapod solid bench-6ups --resolution 16 --out workspace.stl",
        "flexapod solid bench-6ups --kind reachable --tilt 0.2 --resolution 8",
    )(solid)  # fmt: skip
    command(
        app, "certify",
        "flexapod certify bench-6ups --undecided 0.02",
        "flexapod certify bench-6ups --region z=4.4 --plot slice.html",
    )(certify)  # fmt: skip
    command(
        app, "singularities",
        "flexapod singularities stewart-3-3",
        "flexapod singularities stewart-3-3 --window rz=1:2 --window z=4:5",
    )(singularities)  # fmt: skip


Mesh = Annotated[
    Path | None, typer.Option("--out", metavar="FILE", help="write the surface: .stl, .ply, or its vertices as .csv")
]

Box = Annotated[
    list[str], typer.Option("--region", metavar="AXIS=A:B", help="region of positions; default: all that the legs can reach")
]


def solid(
    robot: RobotName,
    *,
    kind: Annotated[
        str, typer.Option(help="kind of workspace: constant-orientation, orientation, reachable, total-orientation or dexterous")
    ] = "constant-orientation",
    resolution: Annotated[int, typer.Option(help="cells of the grid along its longest side")] = 30,
    tilt: Annotated[float, typer.Option(help="range of orientations: largest tilt [rad]")] = 0.0,
    torsion: Annotated[float, typer.Option(help="range of orientations: largest torsion [rad]")] = 0.0,
    condition: Annotated[float | None, typer.Option(help="largest allowed condition number")] = None,
    clearance: Annotated[float | None, typer.Option(help="smallest allowed distance between the axes of two legs [m]")] = None,
    force: Annotated[float | None, typer.Option(help="largest allowed actuator force at rest [N or N m]")] = None,
    stiffness: Annotated[
        float | None, typer.Option(help="smallest allowed translational stiffness, actuators locked [N/m]")
    ] = None,
    frequency: Annotated[float | None, typer.Option(help="smallest allowed natural frequency [Hz]")] = None,
    mounting: Annotated[
        float | None, typer.Option(help="largest allowed angle of legs from the z axes of base and platform [rad]")
    ] = None,
    region: Box = [],  # noqa: B006
    changes: Changes = [],  # noqa: B006
    payload: Payloads = [],  # noqa: B006
    out: Mesh = None,
    plot: Plot = None,
    as_json: Json = False,
) -> None:
    """The workspace as a solid: volume, area, largest ball, and its surface as a file."""
    check_places(None, plot)
    if out is not None:
        if out.suffix.lower() not in MESHES:
            raise fp.InputError(f"--out {out}: the suffix decides about the format; expected {', '.join(MESHES)}")
        check_place(out, "--out")
    found = robot_of(robot, changes, payload)
    if force is None and stiffness is None and frequency is None:
        refuse_payload(payload, found, "poses without --force, --stiffness or --frequency")
    with working("workspace ..."):
        space = fp.workspace_solid(
            found, kind, resolution=resolution, region=dict(span_of("--region", text) for text in region) or None, tilt=tilt,
            torsion=torsion, condition=condition, clearance=clearance, force=force, stiffness=stiffness, frequency=frequency,
            mounting=mounting,
        )  # fmt: skip
        centre, radius = space.ball()
    figures = {
        "volume": space.volume, "volume_error": space.volume_error, "area": space.area, "area_error": space.area_error,
        "ball_radius": radius, "ball_centre": [float(x) for x in centre], "poses": space.poses, "faces": len(space.faces),
    }  # fmt: skip
    if as_json:
        print_json({"robot": found.name, "kind": kind, **figures})
    else:
        unit = "rad" if kind == "orientation" else "m"
        print_text(f"{found.name}, {kind} workspace from {space.poses} poses")
        spans = zip(space.axes, space.low, space.high, strict=True)
        print_text("region: " + ", ".join(f"{axis} {number(float(a))} to {number(float(b))} {unit}" for axis, a, b in spans))
        rows = [
            ["volume", f"{number(space.volume)} +- {number(space.volume_error)}", f"{unit}^3"],
            ["area", f"{number(space.area)} +- {number(space.area_error)}", f"{unit}^2"],
            ["largest ball: radius", number(radius), unit],
            ["largest ball: centre", ", ".join(number(float(x)) for x in centre), unit],
        ]
        print_table("the solid", ("quantity", "value", "unit"), rows, text=3)
    if out is not None:
        note(f"wrote {space.save(out)}")
    title = f"{kind} workspace of {found.name}".capitalize()
    keep(found.name, None, None, plot, lambda: fp.figures.solid_figure(space, title))


def certify(
    robot: RobotName,
    *,
    region: Region = [],  # noqa: B006
    undecided: Annotated[float, typer.Option(help="part of the volume that may stay undecided")] = 0.01,
    singularities: Annotated[bool, typer.Option(help="only poses on home's side of the type 2 singularities")] = True,
    boxes: Annotated[bool, typer.Option(help="bound the volume by boxes alone, without cutting planes")] = False,
    changes: Changes = [],  # noqa: B006
    payload: Payloads = [],  # noqa: B006
    out: Out = None,
    plot: Plot = None,
    as_json: Json = False,
) -> None:
    """Bounds of the constant-orientation workspace that are proven in interval arithmetic."""
    check_places(out, plot)
    found = robot_of(robot, changes, payload)
    refuse_payload(payload, found, "the poses")
    spans = dict(span_of("--region", text) for text in region)
    with working("deriving the bounds ..."):
        fp.pave(found, spans, singularities=singularities, undecided=0.9, cut=not boxes, most=64, progress=False)
    paving = fp.pave(found, spans, singularities=singularities, undecided=undecided, cut=not boxes, progress=bar())
    open_ = paving.volume_high - paving.volume_low
    reached = open_ <= undecided * paving.volume_low * (1 + 1e-9)
    if as_json:
        volumes = {"volume_low": paving.volume_low, "volume_high": paving.volume_high}
        print_json({"robot": found.name, **volumes, "boxes": paving.boxes, "reached": reached})
    else:
        planes = sum(1 for a, b in zip(paving.low, paving.high, strict=True) if b > a)
        between = f"{paving.volume_low:.6g} and {paving.volume_high:.6g} m^{planes}"
        share = 100 * (paving.volume_high / paving.volume_low - 1) if paving.volume_low > 0 else float("inf")
        print_text(
            f"{found.name}: the workspace is proven to measure between {between} ({share:.3g} % apart), {paving.boxes} boxes"
        )
        for text, count in paving.reasons.items():
            print_text(f"  undecided boxes where {text}: {count}")
        if not reached:
            print_text(
                f"--undecided {undecided:g} was not reached within the largest number of boxes: "
                f"{open_:.3g} m^{planes} stay undecided; a smaller --region decides more, or fp.pave with a larger `most`"
            )
    title = f"Certified workspace of {found.name}"
    keep(found.name, out, None if out is None else paving.table(), plot, lambda: fp.figures.paving_figure(paving, title))


def singularities(
    robot: RobotName,
    *,
    window: Annotated[
        list[str],
        typer.Option(
            "--window", metavar="AXIS=A:B", help="a slice: two axes with a span, others with one number; may be repeated"
        ),
    ] = [],  # noqa: B006
    changes: Changes = [],  # noqa: B006
    payload: Payloads = [],  # noqa: B006
    out: Out = None,
    plot: Plot = None,
    as_json: Json = False,
) -> None:
    """Distances of the home pose to singular ones; with --window the singular curves of a slice."""
    check_places(out, plot)
    if (out is not None or plot is not None) and not window:
        raise fp.InputError("--out, --plot: there are curves to write only with --window, e.g. --window x=-1:1 --window y=-1:1")
    found = robot_of(robot, changes, payload)
    refuse_payload(payload, found, "singular poses")
    with working("singularities ..."):
        home = fp.singularities(found, fp.State(position=found.home.position, rotation=found.home.rotation))
        locus = fp.singularity_locus(found, dict(span_of("--window", text) for text in window)) if window else None
    smallest = float(home["type_1"].min())
    if as_json:
        curves = None if locus is None else [curve.tolist() for curve in locus.curves]
        print_json(
            {"robot": found.name, "type_1": smallest, "type_2": float(home["type_2"]), "constraint": float(home["constraint"]),
             "text": str(home["text"].values), "curves": curves}
        )  # fmt: skip
    else:
        rows = [["type 1 (a leg)", number(smallest)], ["type 2 (the platform)", number(float(home["type_2"]))]]
        if found.plan.constraints:
            rows.append(["constraint", number(float(home["constraint"]))])
        print_table(f"{found.name}, distance of home from singular poses (0 to 1)", ("type", "distance"), rows, text=1)
        print_text(str(home["text"].values))
        if locus is not None:
            closed = sum(locus.closed)
            print_text(f"{len(locus.curves)} singular curves on the slice, {closed} of them closed")
    if locus is not None:
        title = f"Singular poses of {found.name}"
        keep(found.name, out, locus.table(), plot, lambda: fp.figures.locus_figure(locus, title))
