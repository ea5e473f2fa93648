"""Commands `study`, `sensitivity`, `optimise`, `tolerance`, `calibrate`: a request as options, or as a YAML file of its own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

import flexapod as fp
from flexapod.views.commands.guard import INTERRUPTED, command, fail, note, working
from flexapod.views.commands.options import Changes, Json, Out, Payloads, Plot, RobotName, named, robot_of
from flexapod.views.commands.requests import needed, request_of, with_limits
from flexapod.views.output import as_json as dataset_json
from flexapod.views.output import check_page, check_places, check_robot_place, print_json, print_table, write_data, write_text

if TYPE_CHECKING:
    import plotly.graph_objects as go
    import xarray as xr

    from flexapod.views.reports.design_page import DesignResult, DesignTable

T = TypeVar("T")

Request = Annotated[Path | None, typer.Option("--request", metavar="FILE", help="YAML file with the arguments of the verb")]
Vary = Annotated[
    list[str], typer.Option("--vary", metavar="PATH=LOW:HIGH", help="design variable and its limits; may be repeated")
]
FrontOut = Annotated[Path | None, typer.Option("--out", metavar="FILE", help="write the Pareto front: .csv, .parquet or .nc")]
Page = Annotated[Path | None, typer.Option("--page", metavar="FILE", help="write a page with tables and pictures (.html)")]
Criteria = Annotated[list[str], typer.Option("--criterion", metavar="NAME", help="criterion; may be repeated")]


def register(app: typer.Typer) -> None:
    """Add the commands to the app."""
    command(app, "study", "flexapod study stewart-3-3 --vary platform.mass=20:100 --criterion mass")(study)
    command(app, "sensitivity", "flexapod sensitivity hexapod --vary platform.mass=3:5 --criterion mass")(sensitivity)
    command(app, "optimise", "flexapod optimise hexapod --vary platform.mass=3:5 --criterion mass")(optimise)
    command(app, "tolerance", 'flexapod tolerance stewart-3-3 --source "legs.*.slide.zero=20 um"')(tolerance)
    command(app, "calibrate", "flexapod calibrate stewart-3-3 --request measured.yaml --write real.yaml")(calibrate)


def study(
    robot: RobotName,
    *,
    vary: Vary = [],  # noqa: B006
    criterion: Criteria = [],  # noqa: B006
    count: Annotated[int | None, typer.Option(help="number of designs; for a grid: points per variable", min=1)] = None,
    plan: Annotated[str | None, typer.Option(help="plan of designs: grid, random, latin or sobol")] = None,
    save: Annotated[
        Path | None, typer.Option(help="folder of the dataset with every design; an interrupted study continues from it")
    ] = None,
    scheduler: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="address of a Dask scheduler, e.g. tcp://host:8786")
    ] = None,
    request: Request = None,
    changes: Changes = [],  # noqa: B006
    payload: Payloads = [],  # noqa: B006
    out: FrontOut = None,
    plot: Plot = None,
    page: Page = None,
    as_json: Json = False,
) -> None:
    """Criteria of many designs: statistics and Pareto front."""
    _check(out, plot, page)
    given = request_of(request, fp.study, criteria=criterion or None, count=count, plan=plan, save=save, scheduler=scheduler)
    given = with_limits(given, vary)
    needed(given, variables="--vary", criteria="--criterion")
    _check_front(plot, given["criteria"])
    with working("study ..."):
        try:
            found = _called(fp.study, robot_of(robot, changes, payload), given)
        except KeyboardInterrupt:
            kept = given.get("save")
            if kept is None or not Path(kept).is_dir():
                raise
            fail(f"{kept} holds the designs computed so far; the same command goes on from there", INTERRUPTED)
    if as_json:
        print_json({"statistics": dataset_json(found.statistics), "front": dataset_json(found.front), "reasons": found.reasons})
    else:
        table = _pages().study_table(found)
        print_table(table.title, table.head, table.rows)
    for reason, times in found.reasons.items():
        note(f"{times} designs: {reason}")
    if out is not None:
        note(f"wrote the Pareto front to {write_data(out, found.front)}")
    _draw(plot, fp.figures.pareto_figure, found, f"Designs of {robot}")
    _page(page, found, robot)


def sensitivity(
    robot: RobotName,
    *,
    vary: Vary = [],  # noqa: B006
    criterion: Criteria = [],  # noqa: B006
    samples: Annotated[int | None, typer.Option(help="base samples of the Sobol indices", min=2)] = None,
    request: Request = None,
    changes: Changes = [],  # noqa: B006
    payload: Payloads = [],  # noqa: B006
    out: Out = None,
    plot: Plot = None,
    page: Page = None,
    as_json: Json = False,
) -> None:
    """Derivatives and Sobol indices of criteria by variables."""
    _check(out, plot, page)
    given = with_limits(request_of(request, fp.sensitivity, criteria=criterion or None, samples=samples), vary)
    needed(given, variables="--vary", criteria="--criterion")
    with working("sensitivity ..."):
        found = _called(fp.sensitivity, robot_of(robot, changes, payload), given)
    _show(found, as_json, _pages().sensitivity_table(found), out)
    _draw(plot, fp.figures.tornado_figure, found, f"Sensitivity of {robot}")
    _page(page, found, robot)


def optimise(
    robot: RobotName,
    *,
    vary: Vary = [],  # noqa: B006
    criterion: Criteria = [],  # noqa: B006
    request: Request = None,
    changes: Changes = [],  # noqa: B006
    payload: Payloads = [],  # noqa: B006
    write: Annotated[Path | None, typer.Option("--write", metavar="FILE", help="robot file of the best design")] = None,
    out: Out = None,
    plot: Plot = None,
    page: Page = None,
    as_json: Json = False,
) -> None:
    """The best design, or the Pareto front of several criteria."""
    _check(out, plot, page, write)
    given = with_limits(request_of(request, fp.optimise, objectives=criterion or None), vary)
    needed(given, variables="--vary", objectives="--criterion")
    _check_front(plot, given["objectives"])
    with working("optimise ..."):
        best = _called(fp.optimise, robot_of(robot, changes, payload), given)
    _show(best.table, as_json, _pages().designs_table(best.table, f"Best designs of {robot}"), out)
    if write is not None:
        fp.write_robot_file(best.robot().description, write)
        note(f"wrote {write}")
    _draw(plot, fp.figures.pareto_figure, best, f"Best designs of {robot}")
    _page(page, best, robot)


def tolerance(
    robot: RobotName,
    *,
    source: Annotated[list[str], typer.Option("--source", metavar="PATH=AMOUNT", help="tolerance; may be repeated")] = [],  # noqa: B006
    samples: Annotated[int | None, typer.Option(help="Monte-Carlo samples", min=1)] = None,
    request: Request = None,
    changes: Changes = [],  # noqa: B006
    payload: Payloads = [],  # noqa: B006
    out: Out = None,
    plot: Plot = None,
    page: Page = None,
    as_json: Json = False,
) -> None:
    """Pose errors at home from tolerances of the parts."""
    _check(out, plot, page)
    given = request_of(request, fp.tolerance, tolerances=named("--source", source) or None, samples=samples)
    needed(given, tolerances="--source")
    with working("tolerance ..."):
        found = _called(fp.tolerance, robot_of(robot, changes, payload), given)
    _show(found, as_json, _pages().tolerance_table(found), out)
    if float(found.worst_case.max()) > 0.0:
        note(f"tighten first: {found.attrs['tighten_first']}")
    else:
        note("none of these tolerances changes the pose")
    _draw(plot, fp.figures.tornado_figure, found, f"Pose error of {robot}")
    _page(page, found, robot)


def calibrate(
    robot: RobotName,
    *,
    request: Request = None,
    changes: Changes = [],  # noqa: B006
    payload: Payloads = [],  # noqa: B006
    write: Annotated[Path | None, typer.Option("--write", metavar="FILE", help="robot file of the calibrated robot")] = None,
    out: Out = None,
    plot: Plot = None,
    page: Page = None,
    as_json: Json = False,
) -> None:
    """Parameters of the real robot from `measurements` (lists, or the name of a .nc file) of a request file."""
    _check(out, plot, page, write)
    given = request_of(request, fp.calibrate)
    needed(given, measurements="", parameters="")
    if isinstance(given["measurements"], str):
        given["measurements"] = fp.open((request.parent if request else Path()) / given["measurements"])
    with working("calibrate ..."):
        found = fp.calibrate(robot_of(robot, changes, payload), **given)
    _show(found.table, as_json, _pages().calibration_table(found), out)
    if write is not None:
        fp.write_robot_file(found.robot.description, write)
        note(f"wrote {write}")
    _draw(plot, fp.figures.residual_figure, found, f"Residuals of {robot}")
    _page(page, found, robot)


def _draw(plot: Path | None, figure: Callable[[T, str], go.Figure], found: T, title: str) -> None:
    if plot is not None:
        note(f"wrote {fp.figures.save_figure(figure(found, title), plot)}")


def _page(page: Path | None, found: DesignResult, robot: str) -> None:
    if page is not None:
        note(f"wrote {write_text(page, _pages().design_page(found, robot))}")


def _check(out: Path | None, plot: Path | None, page: Path | None, write: Path | None = None) -> None:
    """Refuse places that cannot be written before anything is computed."""
    check_places(out, plot)
    if write is not None:
        check_robot_place(write, "--write")
    if page is not None:
        check_page(page, "--page")


def _check_front(plot: Path | None, criteria: object) -> None:
    """Refuse the picture of a front of one criterion before anything is computed."""
    if plot is not None and (not isinstance(criteria, list) or len(criteria) < 2):
        raise fp.InputError(f"--plot {plot}: draws the front of two or more criteria; give another --criterion, or leave it out")


def _pages() -> Any:
    """The tables and pages, imported with what they draw."""
    from flexapod.views.reports import design_page

    return design_page


def _show(found: xr.Dataset, as_json: bool, table: DesignTable, out: Path | None) -> None:
    if as_json:
        print_json(dataset_json(found))
    else:
        print_table(table.title, table.head, table.rows)
    if out is not None:
        note(f"wrote {write_data(out, found)}")


def _called(verb: Callable[..., T], robot: fp.Robot, given: dict[str, Any]) -> T:
    """The verb with a request; poses of a file are lists of positions."""
    if "at" in given:
        given = {**given, "at": fp.State(**given["at"]) if isinstance(given["at"], dict) else fp.State(position=given["at"])}
    return verb(robot, **given)
