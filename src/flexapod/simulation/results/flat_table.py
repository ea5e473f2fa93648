"""A labelled result as a flat table and back: one column per number and moment (`force.A`, `position.x`, `rotation.x.y`).

The description beside the table keeps dimensions, labels, units and attributes, so that nothing is lost. Without one, dimensions
are guessed from the names of the columns.
"""

from __future__ import annotations

import json
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from flexapod.arrays import Array
from flexapod.errors import InputError

if TYPE_CHECKING:
    import pandas as pd  # type: ignore[import-untyped]
    import xarray as xr

PARTS = ("_real", "_imaginary")
PART_OF = "part_of"
"""Attribute of the two parts of a complex variable: its name."""


def parted(result: xr.Dataset) -> xr.Dataset:
    """The result with two variables for every complex one; refuses variables that no file can hold."""
    for name, array in [*result.coords.items(), *result.data_vars.items()]:
        if array.dtype.kind == "c":
            attrs = {**array.attrs, PART_OF: str(name)}
            both = {f"{name}_real": array.real.assign_attrs(attrs), f"{name}_imaginary": array.imag.assign_attrs(attrs)}
            result = result.drop_vars(str(name)).assign(both)
        elif array.dtype.kind not in "fiubU" and not all(isinstance(v, str) for v in array.values.ravel()):
            raise InputError(f"{name}: values of type {array.dtype} cannot be saved; numbers and texts can")
    return result


def joined(result: xr.Dataset) -> xr.Dataset:
    """The result with its complex variables again."""
    for name in [str(n) for n in result.data_vars if str(n).endswith(PARTS[0])]:
        whole = name.removesuffix(PARTS[0])
        other = whole + PARTS[1]
        if other in result and result[name].attrs.get(PART_OF) == result[other].attrs.get(PART_OF) == whole:
            attrs = {k: v for k, v in result[name].attrs.items() if k != PART_OF}
            value = np.empty(result[name].shape, dtype=np.complex128)
            value.real, value.imag = result[name].values, result[other].values
            result = result.drop_vars([name, other]).assign({whole: (result[name].dims, value, attrs)})
    return result


def flat(result: xr.Dataset) -> tuple[pd.DataFrame, dict[str, Any]]:
    """One column per number and moment, and what is needed to fold them again."""
    import pandas as pd

    row = "time" if "time" in result.dims else str(next(iter(result.dims), ""))
    columns: dict[str, Any] = {}
    about: dict[str, Any] = {"row": row, "attrs": result.attrs, "variables": {}, "coords": {}, "units": {}}
    for kind in ("coords", "variables"):
        group = result.coords if kind == "coords" else result.data_vars
        for name, array in group.items():
            facts: dict[str, Any] = {"dims": list(array.dims), "attrs": array.attrs}
            if row in array.dims or not row:
                facts["dims"] = [row, *[d for d in array.dims if d != row]] if row else []
                values = array.transpose(*facts["dims"]).values if row else array.values[None]
                facts["shape"] = list(values.shape[1:])
                facts["columns"] = _names(str(name), result, facts["dims"][1:], values.shape[1:])
                _add(columns, facts["columns"], values.reshape(len(values), -1))
                about["units"] |= {c: str(array.attrs["units"]) for c in facts["columns"] if "units" in array.attrs}
            else:
                facts["values"] = array.values.tolist()
                facts["dtype"] = array.dtype.str
            about[kind][str(name)] = facts
    if not columns:
        raise InputError("the result holds no numbers; there is nothing to save")
    frame = pd.DataFrame(columns)
    about["dtypes"] = {name: str(v.dtype) if v.dtype.kind in "fiub" else "text" for name, v in columns.items()}
    return frame, about


def _add(columns: dict[str, object], names: list[str], values: Array) -> None:
    for k, name in enumerate(names):
        if name in columns:
            raise InputError(f"two columns would be called {name!r}; save the result as a .nc file")
        columns[name] = values[:, k]


def _names(name: str, result: xr.Dataset, dims: list[str], shape: tuple[int, ...]) -> list[str]:
    names = [name]
    for dim, size in zip(dims, shape, strict=True):
        labels = [str(x) for x in result[dim].values] if dim in result.coords else [str(k) for k in range(size)]
        names = [f"{left}.{right}" for left in names for right in labels]
    return names


def folded(frame: pd.DataFrame, about: dict[str, Any]) -> xr.Dataset:
    """The result from its table and description."""
    import xarray as xr

    def array(facts: dict[str, Any]) -> Any:
        if "columns" not in facts:
            return facts["dims"], np.array(facts["values"], dtype=facts["dtype"]), facts["attrs"]
        kept = [_values(frame[column]) for column in facts["columns"]]
        values = np.stack(kept, axis=1) if kept else np.empty((len(frame), 0))
        shaped = values.reshape(len(frame), *facts["shape"])
        return facts["dims"], shaped if facts["dims"] else shaped[0], facts["attrs"]

    data = {name: array(facts) for name, facts in about["variables"].items()}
    coords = {name: array(facts) for name, facts in about["coords"].items()}
    return xr.Dataset(data, coords=coords, attrs=about["attrs"])


def guessed(frame: pd.DataFrame) -> xr.Dataset:
    """A result from a table alone: dimensions by the names of the columns, no units and no attributes.

    Labels x, y, z are axes (of the world, then of the body); the labels of `force` are the actuators; others make a dimension
    of their own.
    """
    import xarray as xr

    row = "time" if "time" in frame else "row"
    groups: dict[str, list[tuple[str, ...]]] = {}
    for column in map(str, frame.columns):
        name, *rest = column.split(".")
        groups.setdefault(name, []).append(tuple(rest))
    actuators = [x[0] for x in groups.get("force", []) if len(x) == 1]
    data: dict[str, Any] = {}
    coords: dict[str, Any] = {}
    for name, labels in groups.items():
        sets = [list(dict.fromkeys(x)) for x in zip(*labels, strict=False)]
        if len({len(x) for x in labels}) > 1 or list(product(*sets)) != labels:  # no full grid: columns as they are
            data |= {".".join((name, *x)): (row, _values(frame[".".join((name, *x))], True)) for x in labels}
            continue
        dims = [_dimension(name, k, axis, actuators) for k, axis in enumerate(sets)]
        values = np.stack([_values(frame[".".join((name, *x))], True) for x in labels], axis=1)
        data[name] = ([row, *dims], values.reshape(len(frame), *map(len, sets)))
        coords |= dict(zip(dims, sets, strict=True))
    if row in data:
        coords[row] = data.pop(row)[1]
    return xr.Dataset(data, coords=coords)


def _dimension(name: str, place: int, labels: list[str], actuators: list[str]) -> str:
    if labels == ["x", "y", "z"] and place < 2:
        return ("axis", "body_axis")[place]
    return "actuator" if labels == actuators else f"{name}_{place + 1}"


def _values(column: pd.Series, whole: bool = False) -> Any:
    values = column.to_numpy()
    if whole and values.dtype.kind in "iu":
        return values.astype(float)
    return values if values.dtype.kind in "fiub" else np.array([str(v) for v in values], dtype=np.str_)


def encoded(value: object) -> str:
    """A description as JSON; numbers of NumPy become plain ones."""

    def plain(item: object) -> Any:
        if isinstance(item, np.generic | np.ndarray):
            return item.tolist()
        raise InputError(f"attributes: {item!r} cannot be saved; numbers, texts and lists of them can")

    return json.dumps(value, default=plain)
