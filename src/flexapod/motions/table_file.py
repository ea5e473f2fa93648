"""Tables of numbers over time in files: CSV and Parquet in and out, with errors that name file, column and row.

Rows are counted from 1 without the header; for CSV the line of the file is named too.
"""

from __future__ import annotations

import csv
import difflib
import importlib
import io
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from flexapod.arrays import Array
from flexapod.errors import InputError
from flexapod.files import is_number, write_whole

PARQUET = (".parquet", ".pq")
"""Endings of Parquet files; .mat is MATLAB's, every other file is read as CSV."""


LISTED = 8
"""Variables that a message lists."""


class MotionFileError(InputError):
    """A motion file that cannot be used; says file, column, row and what would be right."""

    def __init__(
        self, what: str, *, file: str, column: str | None = None, row: int | None = None, line: int | None = None
    ) -> None:
        place = [file]
        if column is not None:
            place.append(f"column {column!r}")
        if row is not None:
            place.append(f"row {row}" + ("" if line is None else f" (line {line})"))
        super().__init__(f"{', '.join(place)}: {what}")
        self.file, self.column, self.row, self.line = file, column, row, line


@dataclass(frozen=True, kw_only=True)
class FileTable:
    """Columns of a file as they are, converted to numbers on request.

    Args:
        file: its name, for messages.
        cells: column name to its values, text or numbers.
        lines: line of each row in a CSV file.
        variables: matrices of a MATLAB file to the names of their columns.
    """

    file: str
    cells: dict[str, Any]
    lines: tuple[int, ...] | None = None
    variables: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def error(self, what: str, *, column: str | None = None, index: int | None = None) -> MotionFileError:
        """An error at a column and at a row given by its index from 0."""
        row = None if index is None else index + 1
        line = None if index is None or self.lines is None else self.lines[index]
        return MotionFileError(what, file=self.file, column=column, row=row, line=line)

    def missing(self, name: str, purpose: str) -> MotionFileError:
        """An error for a column that is not there, with the nearest one that is."""
        lower = {column.lower(): column for column in self.cells}
        near = difflib.get_close_matches(name.lower(), list(lower), n=1, cutoff=0.6)
        hint = f"the nearest column is {lower[near[0]]!r}" if near else f"the columns are {', '.join(self.cells) or 'none'}"
        return self.error(f"is missing ({purpose}); {hint}", column=name)

    def column(self, name: str) -> Array:
        """A column as finite numbers."""
        cells = self.cells[name]
        if np.iscomplexobj(cells):
            raise self.error("has complex numbers; write its real part, or what it means in real numbers", column=name)
        try:
            values = np.asarray(cells, dtype=np.float64)
        except (TypeError, ValueError):
            index = next(i for i, cell in enumerate(cells) if not is_number(cell))
            cell = str(cells[index]).strip()
            what = f"{cell!r} is not a number" if cell else "the cell is empty"
            if is_number(cell.replace(",", ".", 1)):
                what += "; write the decimal sign as a point"
            raise self.error(what, column=name, index=index) from None
        bad = np.flatnonzero(~np.isfinite(values))
        if len(bad):
            raise self.error(f"expected a finite number, got {values[bad[0]]}", column=name, index=int(bad[0]))
        return values


def read_table(path: Path, delimiter: str | None = None) -> FileTable:
    """Read a CSV or Parquet file. Checked by: tests/motions/test_motion_files.py."""
    if not path.is_file():
        raise MotionFileError("is a folder; give a file" if path.is_dir() else "no such file", file=str(path))
    if path.suffix.lower() == ".mat":
        table = _read_mat(path)
    else:
        table = _read_parquet(path) if path.suffix.lower() in PARQUET else _read_csv(path, delimiter)
    if not len(next(iter(table.cells.values()), ())):
        raise MotionFileError("has no rows", file=str(path))
    return table


def _read_csv(path: Path, delimiter: str | None) -> FileTable:
    """Header and rows; blank lines and lines that start with # are passed over; comma, semicolon or tab unless given."""
    with path.open(newline="", encoding="utf-8-sig") as stream:
        try:
            numbered = enumerate(stream.read().splitlines(), 1)
        except UnicodeDecodeError as error:
            raise MotionFileError("is not a text file in UTF-8; Parquet files end in .parquet", file=str(path)) from error
    lines = [(i, text) for i, text in numbered if text.strip() and not text.lstrip().startswith("#")]
    if not lines:
        raise MotionFileError("is empty; the first line names the columns", file=str(path))
    if delimiter is not None and (not isinstance(delimiter, str) or len(delimiter) != 1):
        raise InputError(f"delimiter: expected one character, e.g. ';', got {delimiter!r}")
    split = delimiter or max(",;\t", key=lines[0][1].count)
    rows = list(csv.reader((text for _, text in lines), delimiter=split, skipinitialspace=True))
    header = [name.strip() for name in rows[0]]
    for name in header:
        if header.count(name) > 1:
            raise MotionFileError("occurs more than once in the header", file=str(path), column=name)
    for index, row in enumerate(rows[1:]):
        if len(row) != len(header):
            what = f"has {len(row)} cells, but the header has {len(header)}"
            raise MotionFileError(what, file=str(path), row=index + 1, line=lines[index + 1][0])
    cells = dict(zip(header, map(list, zip(*rows[1:], strict=True)), strict=True)) if len(rows) > 1 else {h: [] for h in header}
    return FileTable(file=str(path), cells=cells, lines=tuple(line for line, _ in lines[1:]))


def _read_parquet(path: Path) -> FileTable:
    arrow, parquet = arrow_modules(path)
    try:
        content = parquet.read_table(path)
    except (arrow.ArrowException, OSError) as error:
        raise MotionFileError(f"is not a readable Parquet file ({error})", file=str(path)) from error
    cells = {name: content.column(name).to_pylist() for name in content.column_names}
    return FileTable(file=str(path), cells={name: [np.nan if x is None else x for x in column] for name, column in cells.items()})


def _read_mat(path: Path) -> FileTable:
    """Variables of a MATLAB file: vectors are columns; matrices (n, 3) get the endings _x _y _z, quaternions _0 to _3, rotations
    (n, 3, 3), (3, 3, n) or (n, 9) R_11 to R_33, others _1, _2, ..."""
    from scipy.io import loadmat
    from scipy.io.matlab import MatReadError

    try:
        found = {k: np.asarray(v) for k, v in loadmat(path, squeeze_me=True).items() if not k.startswith("__")}
    except NotImplementedError as error:
        raise MotionFileError("is a MATLAB file of version 7.3; save it with -v7", file=str(path)) from error
    except (ValueError, TypeError, IndexError, OSError, MatReadError) as error:
        raise MotionFileError(f"is not a readable MATLAB file ({error})", file=str(path)) from error
    rows = _rows({name: values for name, values in found.items() if values.ndim})
    rotation = _rotation(rows)
    cells: dict[str, Any] = {name: values for name, values in rows.items() if values.ndim == 1}
    variables = {name: _columns(name, values.shape[1], name == rotation) for name, values in rows.items() if values.ndim == 2}
    for name, columns in variables.items():
        cells |= dict(zip(columns, rows[name].T, strict=True))
    if found and not cells:
        kinds = {True: "a struct", False: "no array of numbers over time"}
        what = ", ".join(f"{name} ({kinds[values.dtype.names is not None]})" for name, values in found.items())
        raise MotionFileError(
            f"holds {what}; save fields as variables of their own: save('m.mat', '-struct', 's')", file=str(path)
        )
    if len({len(v) for v in cells.values()}) > 1:
        shapes = [f"{name}: {'x'.join(map(str, values.shape))}" for name, values in found.items() if values.ndim]
        listed = ", ".join(shapes[:LISTED]) + (f" and {len(shapes) - LISTED} more" if len(shapes) > LISTED else "")
        what = f"has variables of different lengths ({listed}); each has one row per time, rotations are 3x3xN, Nx3x3 or Nx9"
        raise MotionFileError(what, file=str(path))
    three = next((name for name, values in found.items() if values.shape == (3, 3, 3)), None)
    if three is not None:
        raise MotionFileError(f"{three} is 3x3x3, with time first or last; save it as 3x9, one row per time", file=str(path))
    return FileTable(file=str(path), cells=cells, variables=variables)


def _rows(found: dict[str, Array]) -> dict[str, Any]:
    """Variables with one row per time, (n,) or (n, m); rotations (3, 3, n) by their last axis, which is as long as time."""
    vectors = [len(values) for values in found.values() if values.ndim == 1]
    named = [len(found[name]) for name in ("t", "time", "time_s") if name in found]
    times = next(iter([*named, *vectors]), None)
    last = {k: v.ndim == 3 and v.shape[:2] == (3, 3) and v.shape[2] == times != len(v) for k, v in found.items()}
    moved = {k: np.moveaxis(v, -1, 0) if last[k] else v for k, v in found.items()}
    return {k: v if v.ndim == 1 else v.reshape(len(v), -1) for k, v in moved.items()}


def _rotation(rows: dict[str, Array]) -> str | None:
    """The variable that is read as rotation matrices: the one with nine columns, of several the one that is called so."""
    nine = [name for name, values in rows.items() if values.ndim == 2 and values.shape[1] == 9]
    return nine[0] if len(nine) == 1 else next((name for name in nine if name.lower() in ("r", "rotation")), None)


def _columns(name: str, count: int, rotation: bool) -> tuple[str, ...]:
    """Names of a matrix's columns."""
    if rotation:
        return tuple(f"R_{i}{j}" for i in "123" for j in "123")
    if name.startswith("quat_") and count == 4:
        return tuple(f"{name}_{k}" for k in range(4))
    if count == 3 and name not in ("q", "qd", "qdd", "euler"):
        return tuple(f"{name}_{axis}" for axis in "xyz")
    return tuple(f"{name}_{k + 1}" for k in range(count))


def arrow_modules(path: Path) -> tuple[Any, Any]:
    """pyarrow and pyarrow.parquet, imported when needed."""
    try:
        return importlib.import_module("pyarrow"), importlib.import_module("pyarrow.parquet")
    except ImportError as error:
        what = "Parquet files need the package pyarrow; install the extra: pip install 'flexapod[files]', or use a .csv file"
        raise MotionFileError(what, file=str(path)) from error


def write_table(path: Path, columns: dict[str, Array]) -> None:
    """Write columns of equal length, all or nothing: the file appears under its name only when complete.

    Numbers keep every bit. Checked by: tests/motions/test_motion_files.py.
    """
    if not path.parent.is_dir():
        raise MotionFileError(f"the folder {str(path.parent)!r} does not exist", file=str(path))
    if path.suffix.lower() in PARQUET:
        arrow, parquet = arrow_modules(path)
        stream = io.BytesIO()
        parquet.write_table(arrow.table({name: np.ascontiguousarray(values) for name, values in columns.items()}), stream)
        write_whole({path: stream.getvalue()})
        return
    rows = zip(*(values.tolist() for values in columns.values()), strict=True)
    write_whole({path: ("\n".join([",".join(columns), *(",".join(map(repr, row)) for row in rows)]) + "\n").encode()})
