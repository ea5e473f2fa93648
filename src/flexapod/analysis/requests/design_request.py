"""Designs given by `parameters={path: values}`: how they combine with samples, and which of them are physically possible.

Leading dimensions of a path's values, before those that the file's value has: for one state (k,) are k designs; for n samples
(n,) gives every sample its own value, (k, 1) are k designs at every sample, (k, n) both. A value without any holds for all.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexapod.analysis.requests.design_values import Axis
from flexapod.analysis.requests.sample_blocks import SampleReasons
from flexapod.arrays import Array, given_array, kind_given
from flexapod.description.check_body import ROUNDING as PRINTED
from flexapod.description.parameters import set_parameters
from flexapod.description.shared_places import SharedPlaces
from flexapod.description.unit_parser import LARGEST
from flexapod.description.units import Quantity, quantity_of
from flexapod.errors import FlexapodError, InputError

if TYPE_CHECKING:
    from flexapod.robot.robot import Robot


@dataclass(frozen=True, kw_only=True, eq=False)
class DesignAnswer:
    """The part of a request that one robot answers.

    Args:
        rows: (m,) of `Request.x`, all with the same values.
        samples: (m,) which of the samples, ascending; None for all.
    """

    rows: NDArray[np.int64]
    design: int
    samples: NDArray[np.int64] | None


@dataclass(frozen=True, kw_only=True, eq=False)
class DesignRequest:
    """Designs of a call.

    Args:
        robot: with the values that hold for all.
        paths: scalar paths that vary.
        x: (rows, d) their values, columns contiguous: a row per design, or per design and sample where `per_sample`.
        designs: number of designs, None where only samples differ.
        samples: number of samples of the motion or states; None for one state.
        reasons: (rows,) why a row can be no robot, empty where it can; None where all can.
    """

    robot: Robot
    paths: tuple[str, ...]
    x: Array
    designs: int | None
    samples: int | None
    per_sample: bool
    reasons: SampleReasons

    @property
    def count(self) -> int:
        """Number of evaluations."""
        return (self.designs or 1) * (self.samples or 1)

    def parts(self, in_order: bool) -> list[DesignAnswer]:
        """Parts that one robot each evaluates: a design, or the samples of a design that share its values.

        Args:
            in_order: only samples that follow each other share a part.

        Checked by: tests/analysis/test_designs.py.
        """
        if not self.per_sample:
            return [DesignAnswer(rows=np.array([i]), design=i, samples=None) for i in range(len(self.x))]
        found: list[DesignAnswer] = []
        for design in range(self.designs or 1):
            first = design * (self.samples or 1)
            own = self.x[first : first + (self.samples or 1)]
            if in_order:
                label = np.append(0, np.cumsum(np.any(own[1:] != own[:-1], axis=1)))
            else:
                label = np.unique(own, axis=0, return_inverse=True)[1].ravel()
            order = np.argsort(label, kind="stable")
            groups = np.split(order, np.flatnonzero(np.diff(label[order])) + 1)
            found += [DesignAnswer(rows=first + g, design=design, samples=g) for g in sorted(groups, key=lambda g: int(g[0]))]
        return found

    def axes(self) -> tuple[Axis, ...]:
        """The paths that vary, with the range of those designs that can exist."""
        good = self.x if self.reasons is None else self.x[self.reasons == ""]
        part = good if len(good) else self.x[:1]
        return tuple(
            Axis(
                name=path, unit="", low=float(low), high=float(high), choices=None, paths=(path,), how="value",
                nominal=(self.robot.parameter(path),),
            )
            for path, low, high in zip(self.paths, part.T.min(axis=1), part.T.max(axis=1), strict=True)
        )  # fmt: skip


def read_request(robot: Robot, parameters: Mapping[str, ArrayLike], samples: int | None) -> DesignRequest:
    """Check the paths and shapes of a request.

    Args:
        samples: number of samples, None for one state.

    Checked by: tests/analysis/test_designs.py.
    """
    if not parameters:
        raise InputError("parameters: is empty; give paths of the robot file with values, or leave it out")
    fixed: dict[str, Any] = {}
    varied: dict[str, tuple[Array, tuple[int, ...]]] = {}
    for path, value in parameters.items():
        nominal = robot.parameter(path)
        own = np.shape(nominal)
        array = value if isinstance(value, str) else _numbers(path, value)
        if isinstance(array, str) or array.shape == own:
            fixed[path] = array if isinstance(array, str) else array.tolist()
            continue
        lead = array.shape[: array.ndim - len(own)]
        _check_lead(path, array.shape, lead, own, samples)
        varied[path] = array, lead if samples is None or len(lead) == 2 else (1, *lead)
    if not varied:
        raise InputError("parameters: no value varies; use robot.with_parameters for one design")
    base = robot.with_parameters(fixed) if fixed else robot
    designs = {lead[0] for _, lead in varied.values()} - {1}
    if len(designs) > 1:
        shown = ", ".join(f"{path}: {lead[0]}" for path, (_, lead) in varied.items())
        raise InputError(f"parameters: different numbers of designs ({shown}); give one value per design for each")
    alone = samples is not None and all(np.ndim(parameters[p]) - len(np.shape(robot.parameter(p))) == 1 for p in varied)
    k = None if alone else max(lead[0] for _, lead in varied.values())
    per_sample = samples is not None and (alone or any(lead[1] != 1 for _, lead in varied.values()))
    return _request(base, varied, k, samples, per_sample)


def _request(
    robot: Robot, varied: Mapping[str, tuple[Array, tuple[int, ...]]], designs: int | None, samples: int | None, per_sample: bool
) -> DesignRequest:
    rows = (designs or 1, samples) if per_sample else (designs or 1,)
    paths: list[str] = []
    columns: list[Array] = []
    for path, (array, lead) in varied.items():
        own = array.shape[array.ndim - len(np.shape(robot.parameter(path))) :]
        flat = array.reshape(*(lead if per_sample else lead[:1]), *own)
        whole = np.broadcast_to(flat, (*rows, *own)).reshape(-1, *own)
        for name, column in _scalars(robot, path, whole):
            paths.append(name)
            columns.append(column)
    x = np.stack(columns).T
    reasons: SampleReasons = None
    shared = SharedPlaces(robot.description)
    given = [shared.find(name) is not None for name in paths]
    for name, column, known in zip(paths, x.T, given, strict=True):
        reasons = reasons if known else _bounds(robot, name, column, reasons)
    if any(given):
        reasons = _read_one_by_one(robot, paths, x, reasons)
    return DesignRequest(
        robot=robot, paths=tuple(paths), x=x, designs=designs, samples=samples, per_sample=per_sample, reasons=reasons
    )


def _numbers(path: str, value: ArrayLike) -> Array:
    array = given_array(f"parameters: {path}", value)
    if array.dtype.kind not in "iuf":
        raise InputError(f"parameters: {path}: expected numbers, got {kind_given(array)}")
    return np.asarray(array, dtype=np.float64)


def _check_lead(path: str, shape: Sequence[int], lead: Sequence[int], own: Sequence[int], samples: int | None) -> None:
    """Refuse shapes that are neither designs nor samples."""
    tail = "".join(f", {s}" for s in own)
    fits = len(shape) > len(own) and tuple(shape[len(lead) :]) == tuple(own) and 0 not in shape
    if samples is None:
        if not fits or len(lead) != 1:
            raise InputError(f"parameters: {path}: expected shape (designs{tail}) for one state, got {tuple(shape)}")
    elif not fits or len(lead) > 2 or lead[-1] not in ((samples,) if len(lead) == 1 else (1, samples)):
        raise InputError(
            f"parameters: {path}: expected shape ({samples}{tail}), a value for every sample, or (designs, 1{tail}) or "
            f"(designs, {samples}{tail}); got {tuple(shape)}"
        )


def _scalars(robot: Robot, path: str, values: Array) -> list[tuple[str, Array]]:
    """A path as scalar paths with their columns (rows,)."""
    if values.ndim == 1:
        return [(path, values)]
    names = [f"{path}.{i}" for i in "xyz"]
    try:
        known = values.shape[1:] == (3,) and [robot.parameter(name) for name in names]
    except FlexapodError:
        known = False
    if not known:
        raise InputError(f"parameters: {path}: is neither a number nor a vector with x, y, z; name one of its numbers")
    return list(zip(names, values.T, strict=True))


def _bounds(robot: Robot, path: str, column: Array, reasons: SampleReasons) -> SampleReasons:
    """Reasons of values that the file does not allow at a path."""
    quantity = quantity_of(robot.description.addresses.find(path).annotation) or Quantity("1")
    low, high = float(column.min()), float(column.max())  # NaN where one is
    allowed = (-LARGEST if quantity.minimum is None else quantity.minimum) <= low and high <= LARGEST
    if allowed and (quantity.above is None or low > quantity.above):
        return reasons
    result = np.full(len(column), "", dtype=object) if reasons is None else reasons
    for i, value in enumerate(column):
        if result[i] == "":
            result[i] = _refusal(quantity, path, float(value))
    return result


def _read_one_by_one(robot: Robot, paths: Sequence[str], x: Array, reasons: SampleReasons) -> SampleReasons:
    """Reasons of rows (n, d) of which the file allows no robot: what a shared number gives is known where the file is read."""
    result = np.full(len(x), "", dtype=object) if reasons is None else reasons
    rows, place = np.unique(x, axis=0, return_inverse=True)
    for k, row in enumerate(rows):
        own = (place.ravel() == k) & (result == "")
        if own.any():
            try:
                set_parameters(robot.description, dict(zip(paths, row.tolist(), strict=True)))
            except FlexapodError as error:
                result[own] = str(error).rstrip(".")
    return reasons if reasons is None and not np.any(result != "") else result


def _refusal(quantity: Quantity, path: str, value: float) -> str:
    from pydantic_core import PydanticCustomError

    try:
        quantity.convert(value)
    except PydanticCustomError as error:
        return f"{path}: {(error.context or {})['what']}"
    return ""


def impossible_inertias(robot: Robot, values: Mapping[str, Array]) -> SampleReasons:
    r"""Reasons of designs (n,) in which a body has an inertia that no body has.

    With I_C the tensor about the centre of mass, :math:`\tfrac12 \mathrm{tr}(I_C) 1 - I_C` has no negative eigenvalue: principal
    moments obey the triangle inequality. The leading minors decide. What has no mass has no inertia.

    Args:
        values: numbers that vary, by name.

    Checked by: tests/analysis/test_designs.py.
    """
    count = len(next(iter(values.values())))
    reasons: SampleReasons = None
    if robot.description.file.allow_unphysical:
        return reasons
    for name, title, given in _bodies(robot):
        moved = [k for k in values if k.startswith((f"{name}.inertia.", f"{name}.first_moment."))]
        if not given or not (moved or f"{name}.mass" in values):
            continue
        bad = _impossible({k: values.get(f"{name}.{k}", robot.values[f"{name}.{k}"]) for k in MOMENTS}, robot.planar, count)
        if bad.any():
            reasons = np.full(count, "", dtype=object) if reasons is None else reasons
            reasons[bad & (reasons == "")] = f"{title}: {NO_BODY}"
    return reasons


BLOCK = 8192
"""Designs whose inertias are judged at once: all numbers of a block stay in the cache."""

NO_BODY = (
    "no body has this inertia: its principal moments about the centre of mass violate the triangle inequality, or its mass is "
    "zero"
)
MOMENTS = ("mass", *(f"first_moment.{i}" for i in "xyz"), *(f"inertia.{k}" for k in ("xx", "yy", "zz", "xy", "xz", "yz")))


def _bodies(robot: Robot) -> list[tuple[str, str, bool]]:
    """Of every body: name in `robot.named_values`, name for people, whether the inertia that the file gives must be possible."""
    top = robot.description.file.platform
    found = [("platform", "platform", "inertia" in top.model_fields_set and top.base_parameters is None)]
    for leg in robot.legs:
        bodies = robot.description.legs[leg.name].bodies
        for link in leg.links:
            own = bodies.get(link.body.name) if link.body else None
            if link.body is not None and own is not None:
                known = "inertia" in own.model_fields_set and own.base_parameters is None
                found.append((f"legs.{leg.name}.{link.coordinate}.body", f"leg {leg.name}, {link.body.name}", known))
    return found


def _impossible(number: Mapping[str, Any], planar: bool, count: int) -> NDArray[np.bool_]:
    """Designs (count,) with an impossible inertia; numbers that do not vary stay numbers, and blocks stay in the cache."""
    found = np.empty(count, dtype=bool)
    for start in range(0, count, BLOCK):
        part = slice(start, start + BLOCK)
        found[part] = _impossible_in_block({k: v[part] if np.ndim(v) else float(v) for k, v in number.items()}, planar)
    return found


def _impossible_in_block(number: Mapping[str, Any], planar: bool) -> Any:
    mass, sx, sy, sz, xx, yy, zz, xy, xz, yz = (number[k] for k in MOMENTS)
    with np.errstate(divide="ignore", invalid="ignore"):
        cx, cy, cz = (np.where(mass > 0.0, s / np.asarray(mass), 0.0) if np.any(s) else 0.0 for s in (sx, sy, sz))
    size = functools.reduce(np.maximum, map(np.abs, (xx, yy, zz, xy, xz, yz)))
    a, b, c = xx - sy * cy - sz * cz, yy - sx * cx - sz * cz, zz - sx * cx - sy * cy
    d, e, f = xy + sx * cy, xz + sx * cz, yz + sy * cz
    tolerance = PRINTED * size
    if not planar:
        half = (a + b + c) / 2.0
        a, b, c, d, e, f, tolerance = half - a, half - b, half - c, -d, -e, -f, tolerance / 2.0
    a, b, c = a + tolerance, b + tolerance, c + tolerance
    third = a * (b * c - f * f) - d * (d * c - f * e) + e * (d * f - b * e)
    return (a < 0.0) | (a * b - d * d < 0.0) | (third < 0.0) | ((mass == 0.0) & (size > 0.0))
