"""Samples of designs: states and options repeated for every design or taken for some samples, results brought into the dimensions
that were asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from flexapod.analysis.requests.state import State
from flexapod.arrays import Array
from flexapod.errors import InputError
from flexapod.motions.motion import ActuatorMotion, Motion

if TYPE_CHECKING:
    import xarray as xr

    from flexapod.analysis.requests.design_request import DesignAnswer, DesignRequest
    from flexapod.analysis.requests.sample_blocks import Reasons
    from flexapod.analysis.requests.state import StateOrMotion

ANGLES = ("actuator_position", "joint_position")
SAMPLED = ("wrench", "force", "weights", "preload", "elastic", "elastic_velocity", "elastic_acceleration", "guess")
"""Options with a row per sample, where they have two dimensions, or are poses."""


class Moments(State):
    """States that may have accelerations, without a time: samples of a motion, repeated for every design."""

    acceleration: Array
    angular_acceleration: Array


def moments(at: StateOrMotion, request: DesignRequest) -> Moments:
    """Motion or states repeated for every design; one sample stays one row in memory."""
    found = object.__new__(Moments)
    for name in ("position", "rotation", "velocity", "angular_velocity", "acceleration", "angular_acceleration"):
        own = getattr(at, name, None)
        if own is None:
            continue  # states have no acceleration
        tail = own.shape[own.ndim - (2 if name == "rotation" else 1) :]
        if request.samples in (None, 1):
            whole = np.broadcast_to(own.reshape(tail), (request.count, *tail))
        else:
            whole = np.tile(own, (request.designs or 1, *[1] * len(tail)))
        object.__setattr__(found, name, whole)
    for name in ("elastic", "elastic_velocity"):
        object.__setattr__(found, name, getattr(at, name, None))
    return found


def repeated(options: dict[str, object], request: DesignRequest) -> dict[str, object]:
    """Options with a row per sample, repeated for every design."""
    if request.designs is None or not any(np.asarray(options.get(name, 0)).ndim == 2 for name in SAMPLED):
        return options
    return options_of(options, np.tile(np.arange(request.samples or 1), request.designs), request.samples or 0)


def options_of(options: dict[str, object], chosen: NDArray[np.int64], samples: int) -> dict[str, object]:
    """Options of some samples."""
    result = dict(options)
    for name in SAMPLED:
        value = options.get(name)
        if value is None or isinstance(value, str):
            continue
        shape = np.asarray(getattr(value, "position", value)).shape  # of a guess: states, or an earlier result
        if len(shape) != 2:
            continue
        if shape[0] != samples:
            raise InputError(f"{name}: expected one row per sample, got shape {shape}")
        result[name] = samples_of(value, chosen)
    return result


def samples_of(at: Any, chosen: NDArray[np.int64]) -> Any:
    """Some samples of a motion, of states, of a result or of an array."""
    if isinstance(at, Motion | ActuatorMotion | State):
        names = [f.name for f in fields(at) if f.init and getattr(at, f.name) is not None]
        return type(at)(**{name: getattr(at, name)[chosen] for name in names})
    if hasattr(at, "data_vars"):
        return at.isel({dim: chosen for dim in ("time", "sample") if dim in at.dims})
    return np.asarray(at)[chosen]


def shaped(result: Any, request: DesignRequest, reasons: NDArray[Any] | None, at: StateOrMotion, along: bool) -> Any:
    """A result over `design` and the samples' own dimension.

    Args:
        result: of one call over all samples, or a result for each part of the request (None where there is none).
        reasons: (rows,) of designs, where results are masked.
        at: motion or states of the call.
        along: the samples follow each other.
    """
    import xarray as xr

    if isinstance(result, list):
        known = next((r for _, r in result if r is not None), None)
        if known is None:
            reason = "" if reasons is None else next(r for r in reasons if r != "")
            raise InputError(f"parameters: no design has a result; the first: {reason}")
        whole = _together(result, request, at)
        if along and request.per_sample and request.robot.moved_by == "platform":
            _keep_rotating(whole, request, at)
        whole = whole if reasons is None else _with_reasons(whole, request, reasons)
    else:
        known, whole = result, _dataset(result)
        whole = whole if reasons is None else _masked(whole, request, reasons)
        if request.designs is not None:
            whole = whole.rename(sample="design") if request.samples is None else _split(whole, request, at)
    if isinstance(known, xr.Dataset):
        return whole
    return whole[ONLY].rename(known.name).assign_coords({k: whole[k] for k in ("valid", "reason") if k in whole})


def _dataset(result: xr.Dataset | xr.DataArray) -> xr.Dataset:
    """A result as a dataset, a lone array under the name `ONLY`."""
    import xarray as xr

    return result if isinstance(result, xr.Dataset) else result.to_dataset(name=ONLY)


def _masked(whole: xr.Dataset, request: DesignRequest, reasons: Reasons) -> xr.Dataset:
    """NaN and the reason where a design can be no robot."""
    dim = _batch(whole)
    every = reasons if len(reasons) == request.count else np.repeat(reasons, request.samples or 1)
    bad = every != ""
    result = whole.copy()
    for name, variable in whole.data_vars.items():
        if bad.any() and dim in variable.dims and variable.dtype.kind == "f":
            values = variable.values.copy()
            values[bad] = np.nan
            result[name] = (variable.dims, values, variable.attrs)
    texts = whole["reason"].values.astype(object) if "reason" in whole else np.full(len(every), "", dtype=object)
    texts = np.where(bad, every, texts).astype(str)
    return result.assign(valid=(dim, texts == ""), reason=(dim, texts))


def _split(whole: xr.Dataset, request: DesignRequest, at: StateOrMotion) -> xr.Dataset:
    """The samples of all designs as (design, time or sample)."""
    import xarray as xr

    k, n = request.designs or 1, request.samples or 1
    along = isinstance(at, Motion)
    dims = ("design", "time" if along else "sample")
    data: dict[str, Any] = {}
    for name, variable in whole.data_vars.items():
        if "sample" not in variable.dims:
            data[str(name)] = variable
            continue
        values = variable.values.reshape(k, n, *variable.shape[1:])
        if along and name in ANGLES:
            without_jumps(values, np.array([unit == "rad" for unit in _units(str(name), request)], dtype=bool))
        data[str(name)] = ((*dims, *variable.dims[1:]), values, variable.attrs)
    coordinates: dict[str, Any] = {str(key): c for key, c in whole.coords.items() if "sample" not in c.dims}
    if isinstance(at, Motion):
        coordinates["time"] = ("time", at.time, {"units": "s"})
    return xr.Dataset(data, coords=coordinates, attrs=whole.attrs)


def _together(
    results: list[tuple[DesignAnswer, xr.Dataset | xr.DataArray | None]], request: DesignRequest, at: StateOrMotion
) -> xr.Dataset:
    """Results of parts in their places, blank where there is none; all have room for the longest text."""
    import xarray as xr

    sets = [(part, _dataset(r)) for part, r in results if r is not None]
    found = [r for _, r in sets]
    first, by_design = found[0], request.designs is not None
    batch = _batch(first) if request.per_sample else None
    above: dict[Any, int] = {"design": request.designs or 1} if by_design else {}
    above |= {batch: request.samples or 1} if batch else {}
    sizes = {dim: max(r.sizes[dim] for r in found) for dim in first.dims} | above
    data: dict[str, Any] = {}
    for name, variable in first.data_vars.items():
        dims = (*above, *(dim for dim in variable.dims if dim != batch))
        text = variable.dtype.kind in "OU"
        blank = "" if text else np.nan if variable.dtype.kind == "f" else 0
        whole = np.full([sizes[dim] for dim in dims], blank, np.dtype(object) if text else variable.dtype)
        for part, r in sets:
            place = ((part.design,) if by_design else ()) + ((part.samples,) if batch else ())
            values = r[name].values
            whole[(*place, *(slice(n) for n in values.shape[bool(batch) :]))] = values
        data[str(name)] = (dims, whole.astype(str) if text else whole, variable.attrs)
    longest = {dim: next(r for r in found if r.sizes[dim] == sizes[dim]) for dim in first.dims if dim != batch}
    known = {k: longest[c.dims[0]].coords[k] if c.dims else c for k, c in first.coords.items() if batch not in c.dims}
    if batch == "time" and not isinstance(at, State):
        known["time"] = ("time", at.time, {"units": "s"})
    attrs = {k: v for r in found for k, v in r.attrs.items()}
    same = {k: v for k, v in attrs.items() if all(np.array_equal(r.attrs.get(k, v), v) for r in found)}
    return xr.Dataset(data, coords=known, attrs=same)


def _batch(whole: xr.Dataset) -> str:
    """Dimension of the samples."""
    return "time" if "time" in whole.dims else "sample"


def _with_reasons(whole: xr.Dataset, request: DesignRequest, reasons: Reasons) -> xr.Dataset:
    """`valid` and `reason` of designs, and of their samples where these have their own."""
    dims: tuple[Any, ...] = ("design",) if request.designs is not None else ()
    dims += (_batch(whole),) if request.per_sample else ()
    texts = reasons.reshape([whole.sizes[dim] for dim in dims])
    if "reason" in whole:
        dims, own = whole["reason"].dims, whole["reason"].values
        texts = texts.reshape(*texts.shape, *[1] * (own.ndim - texts.ndim))
        texts = np.where(texts != "", texts, own)
    return whole.assign(valid=(dims, texts == ""), reason=(dims, texts.astype(str)))


def _keep_rotating(whole: xr.Dataset, request: DesignRequest, at: StateOrMotion) -> None:
    """Angles along a motion without jumps from part to part, in place; those of actuators stay where they were given."""
    robot = request.robot
    given = "actuator_position" not in whole or (isinstance(at, ActuatorMotion) and bool(robot.elastic_names))
    for name in ANGLES:
        if name in whole:
            rotating = np.array([unit == "rad" for unit in _units(name, request)], dtype=bool)
            if given:
                rotating[list(robot.driven) if name == "joint_position" else slice(None)] = False
            without_jumps(whole[name].values, rotating)


def without_jumps(values: Array, rotating: NDArray[np.bool_]) -> None:
    """Angles (.., n, k) that go on from sample to sample, in place; those of samples without a result are left out.

    Args:
        rotating: (k,) which of them are angles.
    """
    if not rotating.any() or not values.size:
        return
    if np.isfinite(values).all():
        values[..., rotating] = np.unwrap(values[..., rotating], axis=-2)
        return
    for own in values.reshape(-1, *values.shape[-2:]):
        chosen = np.ix_(np.isfinite(own).all(axis=1), rotating)
        if own[chosen].size:
            own[chosen] = np.unwrap(own[chosen], axis=0)


def _units(name: str, request: DesignRequest) -> Sequence[str]:
    return request.robot.actuator_units if name == "actuator_position" else request.robot.coordinate_units


ONLY = "_only"
"""Name of a lone array inside a dataset."""
