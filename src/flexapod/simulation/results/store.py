"""Results as files: NetCDF, Parquet and CSV by the file's suffix, written whole or not at all, checked when read.

A CSV is a plain table that any program reads. What a table cannot hold (dimensions, labels, units, attributes), its number of
rows and its digest are in a side file: `run.csv.json` beside `run.csv`. Parquet keeps the same in its metadata, NetCDF in
attributes; a NetCDF file ends with the digest of its bytes, behind what other readers look at. Digests are checked before a
library sees the bytes: a file that was cut off, altered or damaged is refused.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flexapod.calls import check_dataset, check_path, checked, users_level
from flexapod.errors import FileError, FileWarning, InputError
from flexapod.files import read_whole, write_whole
from flexapod.simulation.results.broken_files import ALTERED, csv_reason, netcdf_reason, parquet_reason, table_reason
from flexapod.simulation.results.flat_table import encoded, flat, folded, guessed, joined, parted

if TYPE_CHECKING:
    import pandas as pd  # type: ignore[import-untyped]
    import xarray as xr

SUFFIXES = (".nc", ".parquet", ".csv")
FORMAT = "flexapod result 1"
END = re.compile(rb"\nflexapod sha256 ([0-9a-f]{64})\n\Z")
DIGEST = re.compile(rb"flexapod_sha256.{1,8}?([0-9a-f]{64})", re.DOTALL)
NONE = b"flexapod".ljust(64, b"0")
"""Bytes in place of the digest of a Parquet file while it is computed."""
DAMAGED = "is damaged; restore it or write the result again"
EXTRA = "install the extra: pip install 'flexapod[files]', or use a .csv file"


@checked(result=check_dataset, path=check_path)
def save(result: xr.Dataset, path: str | Path) -> Path:
    """Write a result; the suffix decides: ``.nc``, ``.parquet``, or ``.csv`` with its side file ``.csv.json``.

    Complex variables become two, ``_real`` and ``_imaginary``; `open` joins them again.

    Args:
        result: of any verb.
        path: of the file.
    Returns:
        The path of the file.
    Raises:
        FileError: the file cannot be written (no space, no permission, ...); the old one is unchanged.
        InputError: the result has something that the format cannot hold.

    Checked by: tests/simulation/test_store.py.
    """
    target = Path(path)
    suffix = _suffix(target)
    plain = parted(result)
    if suffix == ".nc":
        write_whole({target: _netcdf(plain)})
        return target
    frame, about = flat(plain)
    if suffix == ".parquet":
        write_whole({target: _parquet(frame, about)})
        return target
    table = frame.to_csv(index=False, float_format="%.17g", na_rep="nan", lineterminator="\n").encode()
    write_whole({target: table, side_file(target): _description(table, len(frame), about)})
    return target


@checked(path=check_path)
def open(path: str | Path) -> xr.Dataset:
    """Read a result that `save` wrote.

    A CSV without its side file is read with a `FileWarning`: nothing then says whether it is whole, and it has no units.

    Args:
        path: with the suffix that `save` was given.
    Returns:
        The Dataset as it was saved, with units and attributes.
    Raises:
        FileError: the file is not there, empty, cut off, altered, damaged, or was not written by `save`; one message per cause.

    Checked by: tests/simulation/test_store.py, tests/simulation/test_damaged_results.py.
    """
    source = Path(path)
    suffix = _suffix(source)
    data = read_whole(source)
    if suffix == ".csv":
        return joined(_open_csv(source, data))
    if not data:
        raise FileError(f"{source}: is empty; write the result again")
    return joined(_open_netcdf(source, data) if suffix == ".nc" else _open_parquet(source, data))


def side_file(path: Path) -> Path:
    """Path of the description of a CSV."""
    return path.with_name(path.name + ".json")


def _suffix(path: Path) -> str:
    if path.suffix.lower() not in SUFFIXES:
        raise InputError(f"{path}: the suffix decides about the format; expected {', '.join(SUFFIXES)}")
    return path.suffix.lower()


# -- CSV ---------------------------------------------------------------------------------------------
def _description(table: bytes, rows: int, about: dict[str, Any]) -> bytes:
    """The side file: format, rows, digest of the CSV, and the description with a digest of its own."""
    text = encoded(about)
    head = {"format": FORMAT, "rows": rows, "sha256": _sha(table), "about_sha256": _sha(text.encode())}
    return (json.dumps(head, indent=1)[:-2] + f',\n "about": {text}\n}}\n').encode()


def _open_csv(path: Path, data: bytes) -> xr.Dataset:
    side = side_file(path)
    without = f"; without {side.name} it is read as a plain table, with a warning"
    if not side.exists():
        text = f"{path}: {side.name} is missing: nothing shows whether the table is whole, and it has no units"
        warnings.warn(text, FileWarning, stacklevel=users_level())
        if reason := table_reason(data):
            raise FileError(f"{path}: {reason}")
        return guessed(_table(path, data, {}))
    head = _side(side, without)
    if _sha(data) != head["sha256"]:
        reason = csv_reason(data, head["rows"], head["about"]["dtypes"])
        raise FileError(f"{path}: {reason}{without if data else ''}")
    about = head["about"]
    frame = _table(path, data, about["dtypes"])
    if len(frame) != head["rows"]:
        raise FileError(f"{side}: {DAMAGED}{without}")
    return _folded(path, frame, about)


def _side(side: Path, without: str) -> dict[str, Any]:
    try:
        head: dict[str, Any] = json.loads(read_whole(side))
        if head["format"] != FORMAT:
            raise FileError(f"{side}: has the format {head['format']!r}; this version of flexapod reads {FORMAT!r}")
        whole = head["about_sha256"] == _sha(encoded(head["about"]).encode())
        ok = whole and isinstance(head["rows"], int) and isinstance(head["sha256"], str)
    except (ValueError, KeyError, TypeError, RecursionError):
        ok = False
    if not ok:
        raise FileError(f"{side}: {DAMAGED}{without}")
    return head


def _table(path: Path, data: bytes, dtypes: dict[str, str]) -> pd.DataFrame:
    import pandas as pd

    known = {name: "str" if kind == "text" else kind for name, kind in dtypes.items()}
    empty = {"keep_default_na": False, "na_values": {n: ["nan", ""] for n, kind in dtypes.items() if kind == "float64"}}
    recent = tuple(map(int, pd.__version__.split(".")[:2])) >= (3, 1)  # reads every bit by default
    exact = {} if recent else {"float_precision": "round_trip"}
    try:
        frame = pd.read_csv(io.BytesIO(data), dtype=known, **exact, **(empty if dtypes else {}))
    except Exception as error:  # the parser's own errors, wrong encodings, impossible numbers
        raise FileError(f"{path}: is not a readable CSV file ({_first(error)})") from error
    if not len(frame.columns) or not frame.index.equals(pd.RangeIndex(len(frame))):
        raise FileError(f"{path}: is not a table: the first line does not name every column")
    return frame


# -- Parquet -----------------------------------------------------------------------------------------
def _parquet(frame: pd.DataFrame, about: dict[str, Any]) -> bytes:
    pa, pq = _arrow()
    table = pa.Table.from_pandas(frame, preserve_index=False)
    units = about["units"]
    fields = [f.with_metadata({"units": units[f.name]}) if f.name in units else f for f in table.schema]
    own = {"flexapod": encoded(about), "flexapod_format": FORMAT, "flexapod_rows": str(len(frame))}
    stream, schema = io.BytesIO(), pa.schema(fields, metadata=own)
    with pq.ParquetWriter(stream, schema) as writer:
        writer.write_table(table.cast(schema))
        writer.add_key_value_metadata({"flexapod_sha256": NONE.decode()})
    data = stream.getvalue()
    return data.replace(NONE, _sha(data).encode(), 1)


def _open_parquet(path: Path, data: bytes) -> xr.Dataset:
    _, pq = _arrow()
    if not data.startswith(b"PAR1"):
        raise FileError(f"{path}: is not a Parquet file")
    if not data.endswith(b"PAR1"):
        raise FileError(f"{path}: {parquet_reason(data)}")
    digest = DIGEST.search(data, max(data.rfind(b"flexapod_sha256"), 0))
    if digest is None:
        raise FileError(f"{path}: was not written by flexapod: it lacks the digest of a result; pandas.read_parquet may read it")
    if _sha(data[: digest.start(1)] + NONE + data[digest.end(1) :]) != digest[1].decode():
        raise FileError(f"{path}: {ALTERED}")
    table = pq.read_table(io.BytesIO(data))
    return _folded(path, table.to_pandas(), json.loads(table.schema.metadata[b"flexapod"]))


def _arrow() -> tuple[Any, Any]:
    try:
        import pyarrow as pa  # type: ignore[import-untyped]
        import pyarrow.parquet as pq  # type: ignore[import-untyped]
    except ImportError as error:
        raise InputError(f"Parquet files need the package pyarrow; {EXTRA}") from error
    return pa, pq


# -- NetCDF ------------------------------------------------------------------------------------------
def _netcdf(result: xr.Dataset) -> bytes:
    netcdf, xarray = _netcdf4()
    plain = (str, int, float)
    coded = {key: encoded(v) for key, v in result.attrs.items() if isinstance(v, bool) or not isinstance(v, plain)}
    attrs = {**result.attrs, **coded, "flexapod_format": FORMAT, "flexapod_json": " ".join(coded)}
    file = netcdf.Dataset("result.nc", "w", memory=1 << 16)
    result.assign_attrs(attrs).dump_to_store(xarray.backends.NetCDF4DataStore(file))
    data = bytes(file.close())
    return data + b"\nflexapod sha256 " + _sha(data).encode() + b"\n"


def _open_netcdf(path: Path, data: bytes) -> xr.Dataset:
    netcdf, xarray = _netcdf4()
    if not data.startswith(b"\x89HDF\r\n\x1a\n"):
        raise FileError(f"{path}: is not a NetCDF file of version 4")
    end = END.search(data, max(len(data) - 100, 0))
    if end is None:
        raise FileError(f"{path}: {netcdf_reason(data)}")
    data = data[: end.start()]
    if _sha(data) != end[1].decode():
        raise FileError(f"{path}: {ALTERED}")
    file = netcdf.Dataset("result.nc", "r", memory=data)
    try:
        result: xr.Dataset = xarray.open_dataset(xarray.backends.NetCDF4DataStore(file)).load()
    finally:
        file.close()
    coded = str(result.attrs.pop("flexapod_json", "")).split()
    result.attrs.pop("flexapod_format", None)
    attrs = {key: value.item() if hasattr(value, "item") else value for key, value in result.attrs.items()}
    result.attrs = attrs | {key: json.loads(attrs[key]) for key in coded}
    result.encoding = {}
    return result


def _netcdf4() -> tuple[Any, Any]:
    try:
        import netCDF4
        import xarray
    except ImportError as error:
        raise InputError(f"NetCDF files need the package netCDF4; {EXTRA}") from error
    return netCDF4, xarray


# -- shared ------------------------------------------------------------------------------------------
def _folded(path: Path, frame: pd.DataFrame, about: dict[str, Any]) -> xr.Dataset:
    try:
        return folded(frame, about)
    except (KeyError, ValueError, TypeError) as error:
        raise FileError(f"{path}: its description does not fit its columns ({_first(error)}); write the result again") from error


def _sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _first(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0][:200]
