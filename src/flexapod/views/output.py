"""Results to files and text: tables, JSON, pictures; every file appears whole or not at all."""

from __future__ import annotations

import asyncio
import importlib
import importlib.util
import json
import math
import os
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import flexapod as fp
from flexapod.files import write_whole

if TYPE_CHECKING:
    import plotly.graph_objects as go
    import xarray as xr
    from numpy.typing import ArrayLike

DATA = (".csv", ".parquet", ".nc")
PICTURES = (".html", ".png", ".svg")
PACKAGES = {
    ".nc": ("netCDF4", "files", ".csv"),
    ".parquet": ("pyarrow", "files", ".csv"),
    ".png": ("kaleido", "pictures", ".html"),
    ".svg": ("kaleido", "pictures", ".html"),
}
"""Suffix -> package that writes such files, the extra that brings it, and a suffix that needs none."""
BROWSERS = 2
"""Browsers that are started for a picture, one after another."""
WAIT = 120.0
"""Seconds that one of them has. On a busy machine one may start and never answer (seen once)."""


def check_places(out: Path | None, plot: Path | None) -> None:
    """Refuse wrong suffixes, missing packages and folders that do not exist before anything is computed.

    Checked by: tests/views/test_output_files.py.
    """
    for path, option, known in ((out, "--out", DATA), (plot, "--plot", PICTURES)):
        if path is None:
            continue
        suffix = path.suffix.lower()
        if suffix not in known:
            raise fp.InputError(f"{option} {path}: the suffix decides about the format; expected {', '.join(known)}")
        check_place(path, option)
        if suffix in PACKAGES and importlib.util.find_spec(PACKAGES[suffix][0]) is None:
            package, extra, other = PACKAGES[suffix]
            fix = f"install the extra: pip install 'flexapod[{extra}]', or use a {other} file"
            raise fp.InputError(f"{option} {path}: {suffix} files need the package {package}; {fix}")


def check_place(path: Path, option: str) -> None:
    """Refuse a file that cannot be written."""
    if path.is_dir():
        raise fp.InputError(f"{option} {path}: is a folder; give a file in it")
    folder = path.parent
    if not folder.is_dir():
        raise fp.InputError(f"{option} {path}: there is no folder {folder}; create it first")
    if not os.access(folder, os.W_OK):
        raise fp.InputError(f"{option} {path}: the folder {folder.resolve()} cannot be written; choose another place")


def check_page(path: Path, option: str) -> None:
    """Refuse what is no place for a page."""
    if path.suffix.lower() not in (".html", ".htm"):
        raise fp.InputError(f"{option} {path}: expected a name that ends with .html")
    check_place(path, option)


def check_robot_place(path: Path, option: str) -> None:
    """Refuse what is no place for a robot file."""
    if path.suffix.lower() not in (".yaml", ".yml"):
        raise fp.InputError(f"{option} {path}: a robot file ends in .yaml")
    check_place(path, option)


def write_text(path: Path, text: str) -> Path:
    """A text file, whole or not at all; after Ctrl-C nothing is left."""
    write_whole({path: text.encode()})
    return path


def write_data(path: Path, result: xr.Dataset) -> Path:
    """A result by suffix. Grids become one row per pose in tables."""
    return fp.save(storable(result, path.suffix.lower()), path)


def storable(result: xr.Dataset, suffix: str) -> xr.Dataset:
    """The result in a form that tables can hold."""
    if suffix == ".nc" or "reason_text" not in result:
        return result
    texts = result["reason_text"].values
    axes = [dim for dim in result["reason"].dims if dim in result.coords]
    named = result.drop_vars(["reason_text", "words"], errors="ignore").assign(
        reason=(result["reason"].dims, texts[result["reason"].values])
    )
    return named.stack(pose=axes).reset_index("pose").transpose("pose", ...)


def write_plot(path: Path, figure: go.Figure, title: str = "flexapod") -> Path:
    """A figure by suffix; pictures are drawn by the installed Chromium."""
    if path.suffix.lower() == ".html":
        from flexapod.views.reports.html import html_page

        return write_text(path, html_page(title, [("", [figure])]))
    write_whole({path: picture_bytes(figure, path.suffix.lower()[1:])})
    return path


def picture_bytes(figure: go.Figure, kind: str) -> bytes:
    """A figure as a picture (`png`, `svg`), drawn by the installed Chromium. Checked by: tests/views/test_output_files.py."""
    try:
        importlib.import_module("kaleido")
    except ImportError:
        raise fp.InputError(
            "no picture could be drawn: PNG and SVG need the package kaleido; install it with "
            "`pip install 'flexapod[pictures]'`; --plot FILE.html needs none"
        ) from None
    size = {"width": 1000, "height": figure.layout.height or 520, "scale": 2 if kind == "png" else 1}
    for left in reversed(range(BROWSERS)):
        begun = time.monotonic()
        try:
            return _drawn(figure, {"format": kind, **size})
        except Exception as error:
            late = time.monotonic() - begun >= WAIT
            if late and left:
                continue
            first = f"{BROWSERS} browsers did not answer within {WAIT:g} s." if late else _first_line(error)
            raise fp.InputError(
                f"no picture could be drawn: {first} PNG and SVG need a Chrome or Chromium browser "
                "(on Debian: install chromium); --plot FILE.html needs none"
            ) from None
    raise AssertionError


def _drawn(figure: go.Figure, options: dict[str, object]) -> bytes:
    """A figure drawn by kaleido within WAIT, in a thread of its own: the caller may have a running event loop."""
    import kaleido

    async def picture() -> bytes:
        return bytes(await asyncio.wait_for(kaleido.calc_fig(figure.to_dict(), opts=options), WAIT))

    found: list[bytes | Exception] = []

    def draw() -> None:
        try:
            found.append(asyncio.run(picture()))
        except Exception as error:
            found.append(error)

    thread = threading.Thread(target=draw, daemon=True)  # the process ends without the threads of a browser that was given up
    thread.start()
    thread.join()
    if isinstance(found[0], Exception):
        raise found[0]
    return found[0]


def _first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]


def as_json(result: xr.Dataset, **extra: object) -> dict[str, Any]:
    """A result as plain data: dimensions, units and values of every variable; numbers that are not finite are null."""
    about = {
        kind: {
            str(name): {"dims": list(a.dims), "units": a.attrs.get("units", ""), "values": plain(a.values)}
            for name, a in group.items()
        }
        for kind, group in (("coordinates", result.coords), ("variables", result.data_vars))
    }
    return {"attributes": {k: plain(v) for k, v in result.attrs.items()}, **about, **extra}


def plain(value: object) -> Any:
    """Plain data for JSON."""
    import numpy as np

    if isinstance(value, np.ndarray):
        if np.iscomplexobj(value):
            return {"real": plain(value.real), "imaginary": plain(value.imag)}
        return plain(value.tolist())
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(v) for v in value]
    return value if isinstance(value, str | int | bool | None) else str(value)


def print_json(data: object) -> None:
    """JSON on the output stream."""
    print(json.dumps(plain(data), indent=1, allow_nan=False))


def number(value: float, digits: int = 5) -> str:
    """A number for people, zero without a sign; a dash where there is none."""
    return f"{value + 0.0:.{digits}g}" if math.isfinite(value) else "-"


def without_noise(values: ArrayLike, size: float) -> Any:
    """Values with those set to zero that are rounding only: below 1e-12 of a size that they are of."""
    import numpy as np

    values = np.asarray(values, dtype=float)
    return np.where(np.abs(values) > 1e-12 * size, values, 0.0)


def print_table(title: str, head: Sequence[str], rows: Sequence[Sequence[str]], text: int = 1) -> None:
    """A table on the output stream; columns after the first `text` are right-aligned numbers."""
    from rich.table import Table
    from rich.text import Text

    if title:
        console().print(Text(title, style="bold"), soft_wrap=True)
    cells = [[row[k] for row in rows] for k in range(len(head))]
    gaps = 2 * len(head)
    fits = sum(max(map(len, [name, *column])) for name, column in zip(head, cells, strict=True)) + gaps <= console().width
    table, needed = Table(box=None, pad_edge=False, header_style="bold"), gaps
    for k, (name, column) in enumerate(zip(head, cells, strict=True)):
        uncut = name.split() + (column if k >= text else [word for cell in column for word in cell.split()])
        least = max(map(len, uncut), default=1)  # numbers and words are never cut, heads and texts may be folded
        needed += least
        if k < text:
            table.add_column(Text(name), overflow="fold", min_width=None if fits else least)
        else:
            table.add_column(Text(name), justify="right", width=None if fits else least)
    for row in rows:
        table.add_row(*[Text(cell) for cell in row])
    console(needed).print(table)


def console(needed: int = 0) -> Any:
    """The output stream; wide where it is not a terminal, so that tables in files and pipes are not folded.

    Args:
        needed: columns without which something would be cut off; a narrow terminal then folds the lines by itself.
    """
    import sys

    from rich.console import Console

    if not sys.stdout.isatty() and "COLUMNS" not in os.environ:
        return Console(width=max(WIDE, needed))
    return Console(width=max(Console().width, needed))


WIDE = 160


def print_text(text: str) -> None:
    """Plain text on the output stream, without markup."""
    from rich.text import Text

    console().print(Text(text), soft_wrap=True)
