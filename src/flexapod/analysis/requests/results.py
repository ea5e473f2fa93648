"""Labelled results from kernel outputs, and errors that name sample, leg and reason from statuses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexapod.arrays import Texts
from flexapod.errors import FlexapodError, InputError

if TYPE_CHECKING:
    import xarray as xr

    from flexapod.kernels.tape.signature import Signature
    from flexapod.robot.robot import Robot

OnError = Literal["raise", "mask"]
Variable = tuple[Sequence[str], NDArray[Any], str]
"""Dimensions after the sample's, values (n, ...), unit."""
AXES = ["x", "y", "z"]
TWIST = ["vx", "vy", "vz", "wx", "wy", "wz"]


class SampleError(FlexapodError):
    """A sample cannot be computed.

    Args:
        sample: index of the first bad sample.
        reason: why.
        bad: indices of all bad samples.
    """

    def __init__(self, text: str, sample: int, reason: str, bad: NDArray[np.int64]) -> None:
        super().__init__(text)
        self.sample, self.reason, self.bad = sample, reason, bad


def check_option(name: str, value: object, allowed: Sequence[str | None]) -> None:
    """Refuse an option that is not one of a few words."""
    if not (value is None or isinstance(value, str)) or value not in allowed:
        raise InputError(f"{name}: expected {' or '.join(map(repr, allowed))}, got {value!r}")


FARTHEST = 1e100
"""[m]: squares of longer distances are no numbers, and a reason found with them would mislead."""
_TOO_LARGE = "an intermediate value is not a finite number, though the inputs are: pose, rates or parameters are too large"


def reasons_of(signature: Signature, status: NDArray[np.int32], inputs: Mapping[str, ArrayLike]) -> NDArray[np.str_]:
    """The reason per sample as text; empty where all is well."""
    if not status.any():
        return np.zeros(len(status), dtype="<U1")
    reasons = np.zeros(len(status), dtype=object)
    reasons[:] = ""
    for code in np.unique(status):
        if code != 0:
            reasons[status == code] = signature.status(int(code)).text
    for i in np.flatnonzero(status == -1):
        wrong = [name for name, values in inputs.items() if not np.all(np.isfinite(np.asarray(values)[i]))]
        reasons[i] = f"input is not a finite number: {', '.join(wrong)}" if wrong else _TOO_LARGE
    if "position" in inputs:
        distance = np.abs(np.asarray(inputs["position"])).reshape(len(status), -1).max(axis=1)
        for i in np.flatnonzero((status != 0) & (distance > FARTHEST) & np.isfinite(distance)):
            reasons[i] = f"position: no robot reaches {distance[i]:.3g} m"
    return reasons.astype(str)


def raise_failed(what: str, robot: Robot, reasons: Texts, at: object, on_error: OnError) -> None:
    """Raise for the first bad sample, unless a mask is wanted."""
    check_option("on_error", on_error, ("raise", "mask"))
    if on_error == "mask" or no_reasons_given(reasons):
        return
    bad = np.flatnonzero(reasons != "")
    if len(bad) == 0:
        return
    first = int(bad[0])
    time = getattr(at, "time", None)
    where = "" if len(reasons) == 1 else f", sample {first}" + (f" (t = {time[first]:g} s)" if time is not None else "")
    count = "" if len(reasons) == 1 else failing(len(bad), len(reasons), " samples")
    raise SampleError(f"{what} of {robot.name}{where}: {reasons[first]}.{count}", first, str(reasons[first]), bad)


def failing(bad: int, all_: int, what: str = "") -> str:
    """Number of failing samples, and how to get the others where there are any."""
    if bad == all_:
        return f" All {all_}{what} fail."
    return f" {bad} of {all_}{what} fail; on_error='mask' returns the others."


def no_reasons_given(reasons: Texts) -> bool:
    """Whether no sample has a reason, in an array without room for one."""
    return reasons.dtype == np.dtype("<U1") and not reasons.view(np.uint32).any()


def sample_dimension(at: object) -> tuple[str, dict[str, Any], bool]:
    """Name of the batch dimension, its coordinates, and whether there is just one sample."""
    time = getattr(at, "time", None)
    if time is not None:
        return "time", {"time": ("time", time, {"units": "s"})}, False
    return "sample", {}, bool(getattr(at, "single", False))


def labels(robot: Robot) -> dict[str, tuple[str, list[str]]]:
    """Coordinates of the dimensions that results may have."""
    return {
        "actuator": ("actuator", list(robot.actuators)),
        "actuator_unit": ("actuator", list(robot.actuator_units)),
        "joint": ("joint", list(robot.coordinates)),
        "leg": ("leg", [leg.name for leg in robot.legs]),
        "body": ("body", list(robot.bodies_by_name)),
        "axis": ("axis", AXES),
        "body_axis": ("body_axis", AXES),
        "twist": ("twist", TWIST),
        "elastic_coordinate": ("elastic_coordinate", list(robot.elastic_names)),
    }


def force_unit(robot: Robot) -> str:
    """Unit of the actuator forces."""
    kinds = set(robot.actuator_units)
    return "N" if kinds == {"m"} else "N m" if kinds == {"rad"} else "N or N m"


FORMER: dict[str, tuple[str, dict[str, str]]] = {
    "energy_residual": ("ledger_residual", {}),
    "force_contribution": ("force_share", {"contribution": "share"}),
    "rotation_vector": ("turn", {}),
}
"""Variables that had another name in the last version, which is kept for one more: that name, and those of its dimensions."""
NOTES = {former: {"deprecated": f"called {name} now"} for name, (former, _) in FORMER.items()}
"""Attributes of variables by their former names."""


def _with_former(
    variables: Mapping[str, Variable], names: Mapping[str, Sequence[str]]
) -> tuple[Mapping[str, Variable], Mapping[str, Sequence[str]]]:
    """Variables and labels of dimensions, those by their former names added."""
    for name, (former, dimensions) in FORMER.items():
        if name in variables:
            dims, values, unit = variables[name]
            variables = {**variables, former: (tuple(dimensions.get(d, d) for d in dims), values, unit)}
            names = {**names, **{old: names[new] for new, old in dimensions.items() if new in names}}
    return variables, names


def dataset(
    robot: Robot,
    variables: Mapping[str, Variable],
    at: object,
    reasons: Texts | None = None,
    names: Mapping[str, Sequence[str]] | None = None,
    attrs: Mapping[str, object] | None = None,
) -> xr.Dataset:
    """A labelled result.

    Args:
        variables: name -> (dimensions after the sample's, values (n, ...), unit).
        at: what it was computed for; gives the batch dimension.
        reasons: per sample; adds `valid` and `reason`.
        names: labels of dimensions that are not the robot's usual ones.
        attrs: attributes besides the robot's name.
    """
    from flexapod.analysis.requests.validity import with_validity

    batch, coordinates, single = sample_dimension(at)
    variables, flexible, above = with_validity(robot, variables, at)
    variables, names = _with_former(variables, names or {})
    data: dict[str, Any] = {}
    used: set[str] = set()
    for name, (dims, values, unit) in variables.items():
        used.update(dims)
        array = np.asarray(values)
        about = {"units": unit, **NOTES.get(name, {})}
        data[name] = (tuple(dims), array[0], about) if single else ((batch, *dims), array, about)
    if reasons is not None:
        flag, text = reasons == "", reasons
        data["valid"] = ((), bool(flag[0]), {}) if single else ((batch,), flag, {})
        data["reason"] = ((), str(text[0]), {}) if single else ((batch,), text, {})
    special = {dim: (dim, list(values)) for dim, values in {**flexible, **names}.items()}
    known = _coordinates(robot, frozenset(used), special)
    whole = {name: plain_variable(dims, values, own) for name, (dims, values, own) in data.items()}
    if coordinates:
        known = _with_time(robot, known, *coordinates["time"])
    return _of_parts(whole, known, {"robot": robot.name, **above, **(attrs or {})})


def _of_parts(variables: Mapping[str, xr.Variable], known: xr.Coordinates, attrs: dict[str, object]) -> xr.Dataset:
    """A dataset of variables and labels that fit together, as `xr.Dataset` makes it, which compares and copies them all.

    Checked by: tests/analysis/test_designs.py.
    """
    import xarray as xr

    own = {name: variable.copy(deep=False) for name, variable in known.variables.items()}
    return xr.Dataset._construct_direct({**variables, **own}, coord_names=set(own), attrs=attrs, indexes=dict(known.xindexes))


def _coordinates(robot: Robot, used: frozenset[str], special: Mapping[str, tuple[str, Sequence[str]]]) -> xr.Coordinates:
    """Labels of the dimensions that are used; those of the robot are made once."""
    key = ("labels", used)
    if special or key not in robot.kept:
        known = {k: v for k, v in {**labels(robot), **special}.items() if v[0] in used}
        found = labelled_dimensions(known)
        if special:
            return found
        robot.kept[key] = found
    kept: xr.Coordinates = robot.kept[key]
    return kept


def plain_variable(dims: Sequence[str], values: ArrayLike, attrs: Mapping[str, object] | None = None) -> xr.Variable:
    """A variable of numbers or texts as they are. xarray would look for arrays of other libraries, and import them to look."""
    import xarray as xr

    return xr.Variable(dims, np.asarray(values), attrs, fastpath=True)


def labelled_dimensions(known: Mapping[str, tuple[str, Sequence[str]]]) -> xr.Coordinates:
    """Coordinates: name -> (dimension, labels); those with the name of their dimension are its index."""
    import pandas as pd  # type: ignore[import-untyped]
    import xarray as xr
    from xarray.indexes import PandasIndex

    variables, indexes = {name: plain_variable((dim,), values) for name, (dim, values) in known.items()}, {}
    for name, (dim, values) in known.items():
        if name == dim:
            index = pd.Index(np.asarray(values))  # xarray would check a plain array for being one of Dask's
            indexes[dim] = PandasIndex(index, dim, coord_dtype=variables[dim].dtype)
            variables |= indexes[dim].create_variables({dim: variables[dim]})
    return xr.Coordinates(variables, indexes=indexes)


def _with_time(robot: Robot, known: xr.Coordinates, dim: str, times: ArrayLike, attrs: Mapping[str, str]) -> xr.Coordinates:
    """Labels with those of the time axis, the last of which is kept: calls one after the other often have the same; others keep
    the indexes that they have."""
    import xarray as xr
    from xarray.indexes import PandasIndex

    times = np.asarray(times)
    last, before, kept = robot.kept.get("labels over time", (None, None, None))
    if last is known and np.array_equal(before, times):
        return cast("xr.Coordinates", kept)
    index = PandasIndex(times.copy(), dim)
    own = index.create_variables({dim: plain_variable((dim,), times, attrs)})
    found = xr.Coordinates({**known.variables, **own}, indexes={**known.xindexes, dim: index})
    robot.kept["labels over time"] = known, times.copy(), found
    return found
