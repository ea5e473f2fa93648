"""Results to files and back: NetCDF, Parquet and CSV by the file's suffix, written whole or not at all.

Parquet and CSV hold one column per number and moment (`force.A`, `position.x`, `rotation.x.y`); a JSON text beside them (in the
Parquet schema, in the first line of the CSV) keeps dimensions, labels, units and attributes, so that nothing is lost.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from flexapod.errors import InputError

if TYPE_CHECKING:
    import pandas as pd  # type: ignore[import-untyped]
    import xarray as xr

SUFFIXES = (".nc", ".parquet", ".csv")
MARK = "# flexapod result "


def save(result: xr.Dataset, path: str | Path) -> Path:
    """Write a result; the suffix decides: ``.nc``, ``.parquet`` or ``.csv``.

    Checked by: tests/simulation/test_store.py.
    """
    target = Path(path)
    suffix = _suffix(target)
    if suffix == ".nc":
        plain = result.assign_attrs({k: json.dumps(v) if isinstance(v, list) else v for k, v in result.attrs.items()})
        _whole(target, lambda name: plain.to_netcdf(name, engine="netcdf4"))
    else:
        frame, about = _flat(result)
        text = json.dumps(about)
        if suffix == ".csv":
            _whole(target, lambda name: _write_csv(name, frame, text))
        else:
            _whole(target, lambda name: _write_parquet(name, frame, text))
    return target


def open(path: str | Path) -> xr.Dataset:
    """Read a result that `save` wrote.

    Checked by: tests/simulation/test_store.py.
    """
    import xarray as xr

    source = Path(path)
    suffix = _suffix(source)
    if not source.is_file():
        raise InputError(f"there is no file {source}")
    if suffix == ".nc":
        with xr.open_dataset(source, engine="netcdf4") as found:
            result = found.load()
        if isinstance(result.attrs.get("events"), str):
            result.attrs["events"] = json.loads(result.attrs["events"])
        return result
    frame, text = _read_csv(source) if suffix == ".csv" else _read_parquet(source)
    if text is None:
        raise InputError(f"{source} was not written by flexapod: it lacks the description of its columns")
    return _folded(frame, json.loads(text))


def _suffix(path: Path) -> str:
    if path.suffix not in SUFFIXES:
        raise InputError(f"{path}: the suffix decides about the format; expected {', '.join(SUFFIXES)}")
    return path.suffix


def _whole(path: Path, write: Callable[[str], Any]) -> None:
    """Write to a temporary file beside the target, then rename it."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.stem}-", suffix=path.suffix)
    os.close(handle)
    try:
        write(temporary)
        mask = os.umask(0)
        os.umask(mask)
        Path(temporary).chmod(0o666 & ~mask)  # as any new file; mkstemp makes private ones
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _flat(result: xr.Dataset) -> tuple[pd.DataFrame, dict[str, Any]]:
    """One column per number and moment, and what is needed to fold them again."""
    import pandas as pd

    row = "time" if "time" in result.dims else str(next(iter(result.dims)))
    columns: dict[str, Any] = {}
    about: dict[str, Any] = {"row": row, "attrs": result.attrs, "variables": {}, "coords": {}}
    for kind in ("coords", "variables"):
        group = result.coords if kind == "coords" else result.data_vars
        for name, array in group.items():
            facts: dict[str, Any] = {"dims": list(array.dims), "attrs": array.attrs}
            if row in array.dims:
                facts["dims"] = [row, *[d for d in array.dims if d != row]]
                values = array.transpose(*facts["dims"]).values
                facts["shape"] = list(values.shape[1:])
                facts["columns"] = _names(str(name), result, facts["dims"][1:], values.shape[1:])
                flat = values.reshape(len(values), -1)
                columns |= {column: flat[:, k] for k, column in enumerate(facts["columns"])}
            else:
                facts["values"] = array.values.tolist()
            about[kind][str(name)] = facts
    return pd.DataFrame(columns), about


def _names(name: str, result: xr.Dataset, dims: list[str], shape: tuple[int, ...]) -> list[str]:
    names = [name]
    for dim, size in zip(dims, shape, strict=True):
        labels = [str(x) for x in result[dim].values] if dim in result.coords else [str(k) for k in range(size)]
        names = [f"{left}.{right}" for left in names for right in labels]
    return names


def _folded(frame: pd.DataFrame, about: dict[str, Any]) -> xr.Dataset:
    import xarray as xr

    def array(facts: dict[str, Any]) -> Any:
        if "columns" not in facts:
            return facts["dims"], np.array(facts["values"]), facts["attrs"]
        values = np.stack([frame[column].to_numpy() for column in facts["columns"]], axis=1)
        return facts["dims"], values.reshape(len(frame), *facts["shape"]), facts["attrs"]

    data = {name: array(facts) for name, facts in about["variables"].items()}
    coords = {name: array(facts) for name, facts in about["coords"].items()}
    return xr.Dataset(data, coords=coords, attrs=about["attrs"])


def _write_csv(name: str, frame: pd.DataFrame, text: str) -> None:
    with Path(name).open("w", encoding="utf-8", newline="\n") as file:
        file.write(MARK + text + "\n")
        frame.to_csv(file, index=False, float_format="%.17g")


def _read_csv(path: Path) -> tuple[pd.DataFrame, str | None]:
    import pandas as pd

    with path.open(encoding="utf-8") as file:
        first = file.readline()
    if not first.startswith(MARK):
        return pd.DataFrame(), None
    return pd.read_csv(path, skiprows=1), first[len(MARK) :]


def _write_parquet(name: str, frame: pd.DataFrame, text: str) -> None:
    import pyarrow as pa  # type: ignore[import-untyped]
    import pyarrow.parquet as pq  # type: ignore[import-untyped]

    table = pa.Table.from_pandas(frame, preserve_index=False)
    pq.write_table(table.replace_schema_metadata({b"flexapod": text.encode()}), name)


def _read_parquet(path: Path) -> tuple[pd.DataFrame, str | None]:
    import pyarrow.parquet as pq

    table = pq.read_table(path)
    text = (table.schema.metadata or {}).get(b"flexapod")
    return table.to_pandas(), None if text is None else text.decode()
