"""Samples of designs: states and options repeated for every design, results brought into the dimensions that were asked for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from flexapod.analysis.requests.state import State
from flexapod.arrays import Array
from flexapod.errors import InputError
from flexapod.motions.motion import Motion

if TYPE_CHECKING:
    import xarray as xr

    from flexapod.analysis.requests.design_request import Request
    from flexapod.analysis.requests.sample_blocks import Reasons

ANGLES = ("actuator_position", "joint_position")
SAMPLED = ("wrench", "force")
"""Options with a row per sample."""


class Moments(State):
    """States that may have accelerations, without a time: samples of a motion, repeated for every design."""

    acceleration: Array
    angular_acceleration: Array


def moments(at: Any, request: Request) -> Moments:
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


def repeated(options: dict[str, Any], request: Request) -> dict[str, Any]:
    """Options with a row per sample, repeated for every design."""
    result = dict(options)
    for name in SAMPLED:
        value = options.get(name)
        if value is None or request.designs is None or np.ndim(value) != 2:
            continue
        if len(value) != (request.samples or 0):
            raise InputError(f"{name}: expected one row per sample, got shape {np.shape(value)}")
        result[name] = np.tile(np.asarray(value), (request.designs, 1))
    return result


def shaped(result: Any, request: Request, reasons: NDArray[Any] | None, at: Any) -> Any:
    """A result over `design` and the samples' own dimension.

    Args:
        result: of one call over all samples, or a list of results per design (None where there is none).
        reasons: (rows,) of designs, where results are masked.
        at: motion or states of the call.
    """
    import xarray as xr

    if isinstance(result, list):
        return _together(result, reasons)
    whole = result if isinstance(result, xr.Dataset) else result.to_dataset(name=ONLY)
    if reasons is not None:
        whole = _masked(whole, request, reasons)
    if request.designs is not None:
        whole = whole.rename(sample="design") if request.samples is None else _split(whole, request, at)
    if isinstance(result, xr.Dataset):
        return whole
    return whole[ONLY].rename(result.name).assign_coords({k: whole[k] for k in ("valid", "reason") if k in whole})


def _masked(whole: xr.Dataset, request: Request, reasons: Reasons) -> xr.Dataset:
    """NaN and the reason where a design can be no robot."""
    dim = "time" if "time" in whole.dims else "sample"
    every = reasons if len(reasons) == request.count else np.repeat(reasons, request.samples or 1)
    bad = every != ""
    result = whole.copy()
    for name, variable in whole.data_vars.items():
        if bad.any() and dim in variable.dims and variable.dtype.kind == "f":
            values = variable.values.copy()
            values[bad] = np.nan
            result[name] = (variable.dims, values, variable.attrs)
    said = whole["reason"].values.astype(object) if "reason" in whole else np.full(len(every), "", dtype=object)
    said = np.where(bad, every, said).astype(str)
    return result.assign(valid=(dim, said == ""), reason=(dim, said))


def _split(whole: xr.Dataset, request: Request, at: Any) -> xr.Dataset:
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
            turning = np.array([unit == "rad" for unit in _units(whole, str(name), request)], dtype=bool)
            values[..., turning] = np.unwrap(values[..., turning], axis=1)
        data[str(name)] = ((*dims, *variable.dims[1:]), values, variable.attrs)
    coordinates: dict[str, Any] = {str(key): c for key, c in whole.coords.items() if "sample" not in c.dims}
    if along:
        coordinates["time"] = ("time", at.time, {"units": "s"})
    return xr.Dataset(data, coords=coordinates, attrs=whole.attrs)


def _units(whole: xr.Dataset, name: str, request: Request) -> Sequence[str]:
    return request.robot.actuator_units if name == "actuator_position" else request.robot.coordinate_units


def _together(results: list[Any], reasons: NDArray[Any] | None) -> Any:
    """Results of designs side by side; those without one are NaN."""
    import xarray as xr

    known = next((r for r in results if r is not None), None)
    if known is None:
        reason = "" if reasons is None else next(r for r in reasons if r != "")
        raise InputError(f"parameters: no design has a result; the first: {reason}")
    is_dataset = isinstance(known, xr.Dataset)
    sets = [r if r is None or is_dataset else r.to_dataset(name=ONLY) for r in results]
    template = known if is_dataset else known.to_dataset(name=ONLY)
    empty = template.map(lambda v: xr.full_like(v, np.nan) if v.dtype.kind == "f" else xr.zeros_like(v))
    whole = xr.concat(
        [empty if r is None else r for r in sets], "design", data_vars="all", coords="minimal", compat="override",
        join="override", combine_attrs="drop_conflicts",
    )  # fmt: skip
    if reasons is not None:
        whole = _with_reasons(whole, reasons)
    return whole if is_dataset else whole[ONLY].rename(known.name)


def _with_reasons(whole: xr.Dataset, reasons: Reasons) -> xr.Dataset:
    """`valid` and `reason` of designs, and of their samples where these have their own."""
    if "reason" not in whole:
        return whole.assign(valid=("design", reasons == ""), reason=("design", reasons.astype(str)))
    said = whole["reason"].values.astype(object)
    shape = (-1, *[1] * (said.ndim - 1))
    said = np.where(reasons.reshape(shape) != "", reasons.reshape(shape), said).astype(str)
    return whole.assign(valid=(whole["valid"].dims, said == ""), reason=(whole["reason"].dims, said))


ONLY = "_only"
"""Name of a lone array inside a dataset."""
