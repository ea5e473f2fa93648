"""Damage of result files: cut off, altered, or written by another program; one sentence each."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Collection

from flexapod.files import is_number

DIGEST = re.compile(rb"\nflexapod sha256 [0-9a-f]{64}\n")
"""Behind the last byte of a NetCDF file that other readers look at."""
ALTERED = "was altered after it was written (its digest differs); restore it or write it again"
AGAIN = "restore it or write it again"


def csv_reason(data: bytes, rows: int, columns: Collection[str]) -> str:
    """Reason for a table whose digest differs: `rows` and `columns` are those that were written."""
    if not data:
        return f"is empty; {rows} rows were written"
    first, newline, _ = data.partition(b"\n")
    found = max(data.count(b"\n") - 1, 0)
    if _is_header(first, columns, whole=bool(newline)) and found < rows:
        return f"is cut off: {found} of {rows} rows are complete; {AGAIN}"
    return ALTERED


def table_reason(data: bytes) -> str:
    """Reason for a table of which nothing is known but its bytes; empty where it is whole, or a parser will report it.

    A row with fewer fields than the first line has is the end of a table that was cut off.

    Checked by: tests/simulation/test_damaged_results.py.
    """
    try:
        names, *rows = list(csv.reader(io.StringIO(data.decode("utf-8-sig"), newline="")))
    except (ValueError, csv.Error):  # no text, or nothing
        return ""
    if any(is_number(name) for name in names):
        return "is not a table: the first line has numbers where the names of the columns should be"
    if len(names) == 1 and ";" in names[0]:
        return "is not a table with commas: its columns are separated by semicolons"
    if twice := [name for name in names if names.count(name) > 1]:
        return f"is not a table: two columns are called {twice[0]!r}"
    short = next((k for k, row in enumerate(rows, 1) if row and len(row) < len(names)), None)
    if short is not None:
        return f"is cut off: row {short} has {len(rows[short - 1])} of {len(names)} fields; {AGAIN}"
    return ""


def _is_header(line: bytes, columns: Collection[str], whole: bool) -> bool:
    """Whether a line names the columns, or is the beginning of one that does."""
    try:
        names = next(csv.reader([line.decode("utf-8", "replace")]), [""])
    except csv.Error:
        return False
    if whole:
        return sorted(names) == sorted(columns)
    return set(names[:-1]) <= set(columns) and any(name.startswith(names[-1]) for name in columns)


def parquet_reason(data: bytes) -> str:
    """Reason for a file that begins as Parquet and does not end so."""
    end = data.rfind(b"PAR1") + 4
    if end > 8:
        return trailing_bytes(len(data) - end)
    return f"is cut off: the end of the Parquet file is missing; {AGAIN}"


def netcdf_reason(data: bytes) -> str:
    """Reason for a NetCDF file that does not end with the digest of a result."""
    ends = [found.end() for found in DIGEST.finditer(data)]
    if ends:
        return trailing_bytes(len(data) - ends[-1])
    length = hdf5_length(data)
    if length > len(data) or (length < len(data) and b"flexapod_format" in data):  # cut in the data, or in the digest behind them
        return f"is cut off: the end of the NetCDF file is missing; {AGAIN}"
    if b"flexapod_format" in data:
        return (
            "is a whole NetCDF file without the digest of a result: another program wrote it again, perhaps with other numbers, "
            f"or its last bytes are missing; {AGAIN}, or read it by xarray.open_dataset"
        )
    return "was not written by flexapod: it lacks the digest of a result; xarray.open_dataset may read it"


def trailing_bytes(count: int) -> str:
    """Reason for a file with bytes behind its end."""
    return f"was altered after it was written: {count} byte{'s' * (count != 1)} more follow its end; {AGAIN}"


def hdf5_length(data: bytes) -> int:
    """Bytes that an HDF5 file has by its superblock, 0 where that cannot be read.

    Source: HDF5 File Format Specification 3.0, section II.A: the end of file address, of 8 bytes, is at 40 in versions 0 and 1
    (44 in 1), at 28 in versions 2 and 3.
    """
    if len(data) < 52:
        return 2**63
    at = {0: 40, 1: 44, 2: 28, 3: 28}.get(data[8])
    return 0 if at is None else int.from_bytes(data[at : at + 8], "little")
