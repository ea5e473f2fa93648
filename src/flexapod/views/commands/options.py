"""Options that commands share: robot with changes, motion by name or file, where results go."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import flexapod as fp
from flexapod.views.commands.guard import note
from flexapod.views.output import write_data, write_plot
from flexapod.views.payload import with_payloads

if TYPE_CHECKING:
    import plotly.graph_objects as go
    import xarray as xr


def _robots(incomplete: str) -> list[str]:
    return [name for name in fp.catalogue() if name.startswith(incomplete)]


def _motions(incomplete: str) -> list[tuple[str, str]]:
    return [(name, text) for name, text in fp.motions.motion_names().items() if name.startswith(incomplete)]


RobotName = Annotated[
    str, typer.Argument(metavar="ROBOT", help="name from `flexapod robots`, or a robot file", autocompletion=_robots)
]
Changes = Annotated[
    list[str], typer.Option("--set", metavar="PATH=VALUE", help="change a parameter, e.g. platform.mass=60; may be repeated")
]
Payloads = Annotated[
    list[str],
    typer.Option(
        "--payload", metavar="MASS [on BODY] [at X,Y,Z] [inertia XX,YY,ZZ]",
        help="payload of the platform or another body, e.g. '500 kg at 0,0,0.4' (body axes, m); may be repeated",
    ),
]  # fmt: skip
MotionName = Annotated[
    str | None,
    typer.Option(
        "--motion", metavar="NAME|FILE", autocompletion=_motions,
        help="a named motion (`flexapod motions`) or a .csv, .parquet or .mat file; default: a small cosine from home",
    ),
]  # fmt: skip
MotionOptions = Annotated[
    list[str], typer.Option("--option", metavar="NAME=VALUE", help="option of the motion, e.g. radius=0.1, omega='1 Hz'")
]
Slowed = Annotated[float, typer.Option("--slowed", help="factor by which the motion takes longer")]
Out = Annotated[Path | None, typer.Option("--out", metavar="FILE", help="write the result: .csv, .parquet or .nc")]
Plot = Annotated[Path | None, typer.Option("--plot", metavar="FILE", help="draw the result: .html, .png or .svg")]
Json = Annotated[bool, typer.Option("--json", help="print JSON for scripts instead of a table")]
Region = Annotated[
    list[str],
    typer.Option(
        "--region", metavar="AXIS=A:B", help="region of positions; one number for a slice; default: all that the legs can reach"
    ),
]
Mask = Annotated[bool, typer.Option("--mask", help="keep valid samples where others fail")]


def keep(name: str, out: Path | None, data: xr.Dataset | None, plot: Path | None, figure: Callable[[], go.Figure]) -> None:
    """Write a result and its figure where they are wanted, and say so; figures are drawn only then."""
    if out is not None and data is not None:
        note(f"wrote {write_data(out, data)}")
    if plot is not None and figure is not None:
        note(f"wrote {write_plot(plot, figure(), name)}")


def span_of(option: str, text: str) -> tuple[str, Any]:
    """`x=-0.2:0.2` (smallest, largest) or `x=0.1`."""
    name, equals, value = text.partition("=")
    try:
        numbers = [float(x) for x in value.split(":")]
        if not equals or len(numbers) not in (1, 2):
            raise ValueError
    except ValueError:
        raise fp.InputError(
            f"{option} {text}: expected AXIS=SMALLEST:LARGEST, or AXIS=NUMBER, e.g. {option} x=-0.2:0.2"
        ) from None
    return name.strip(), numbers[0] if len(numbers) == 1 else (numbers[0], numbers[1])


def pairs(option: str, given: list[str]) -> dict[str, Any]:
    """`NAME=VALUE` texts as a dictionary; values are JSON (numbers, lists), comma-separated numbers, or text."""
    return {name: value_of(value) for name, value in named(option, given).items()}


def named(option: str, given: list[str]) -> dict[str, str]:
    """`NAME=VALUE` texts as a dictionary of texts; a name that is given twice is refused."""
    result: dict[str, str] = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise fp.InputError(f"{option} {text}: expected NAME=VALUE, e.g. {_EXAMPLE.get(option, 'a=1')}")
        if name.strip() in result:
            raise fp.InputError(f"{option} {name.strip()}: is given twice; give it once")
        result[name.strip()] = value.strip()
    return result


_EXAMPLE = {"--set": "--set platform.mass=60", "--option": "--option radius=0.1", "--grid": "--grid x=-0.2:0.2:41"}
_EXAMPLE |= {f"--{name}": f"--{name} 'legs.*.slide.zero=20 um'" for name in ("tolerance", "source")}
_EXAMPLE["--vary"] = "--vary platform.mass=20:100"


def value_of(text: str) -> Any:
    """A value from text: JSON where it is JSON, else numbers between commas, else the text (e.g. `60 kg`)."""
    try:
        return json.loads(text)
    except ValueError:
        pass
    if text.lower().lstrip("+-") in ("nan", "inf", "infinity"):
        return float(text)
    if "," in text:
        try:
            return [float(part) for part in text.split(",")]
        except ValueError:
            pass
    return text


def robot_of(name: str, changes: list[str], payloads: list[str]) -> fp.Robot:
    """The robot with its changes and payloads; a path that does not exist is refused with the nearest that does."""
    return with_payloads(_changed(fp.load(name), changes), payloads)


def _changed(robot: fp.Robot, changes: list[str]) -> fp.Robot:
    if not changes:
        return robot
    given = pairs("--set", changes)
    try:
        return robot.with_parameters(given)
    except fp.FlexapodError as error:
        near = [_nearest(path, list(robot.parameters)) for path in given if path not in robot.parameters]
        hints = [path for path in near if path and path not in str(error)]
        if not hints:
            raise
        raise fp.InputError(f"{error} The nearest parameter is {', '.join(hints)}.") from None


def _nearest(path: str, known: list[str]) -> str:
    import difflib

    return next(iter(difflib.get_close_matches(path, known, n=1, cutoff=0.7)), "")


def refuse_payload(payloads: list[str], robot: fp.Robot, what: str) -> None:
    """Refuse a payload where nothing that is computed depends on masses."""
    if payloads:
        raise fp.InputError(f"--payload {payloads[0]}: {what} of {robot.name} do not depend on masses; leave it out")


def numbers_of_option(option: str, text: str | None, count: int) -> list[float] | None:
    """Exactly `count` numbers between commas; None if the option is not given."""
    if text is None:
        return None
    try:
        values = [float(part) for part in text.split(",")]
    except ValueError:
        values = []
    if len(values) != count or not all(math.isfinite(value) for value in values):
        raise fp.InputError(f"{option} {text}: expected {count} numbers between commas, all of them finite")
    return values
