r"""`pave`: boxes of poses that are proven to lie inside a robot's workspace, proven to lie outside, and undecided ones.

Boxes are halved along every axis until the undecided ones are few. Every decision is made in interval arithmetic, so that it
holds for every pose of the box, whatever the rounding. Undecided boxes at the end are cut by planes: with the gradient at the
middle and its range over the box, every limit lies between two affine functions whose distance falls with the square of the
box, so that the volume's bounds converge to second order.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexapod.analysis.requests.abilities import refuse
from flexapod.analysis.requests.arguments import checked
from flexapod.analysis.requests.properties import PROPERTIES
from flexapod.analysis.requests.sample_blocks import progress_bar
from flexapod.analysis.space.box_columns import SlabColumns, cut_columns
from flexapod.analysis.space.box_decision import Trim
from flexapod.analysis.space.paving import Paving
from flexapod.analysis.space.pose_bounds import PoseBounds
from flexapod.analysis.space.search_box import search_box
from flexapod.analysis.space.shell_bounds import ShellBounds, applies
from flexapod.analysis.space.tube_bounds import TubeBounds
from flexapod.arrays import Array
from flexapod.errors import InputError
from flexapod.motions.argument_checks import finite_array, rotations

if TYPE_CHECKING:
    from flexapod.robot.robot import Robot


CHUNK = 8192
"""Boxes evaluated at a time."""

Bounds = PoseBounds | ShellBounds | TubeBounds
"""Ways to decide boxes."""

GRID = 2.0**-20
"""Corners of the first box are multiples of it, so that those of all boxes are exact."""

COARSER = 10.0
"""Volume that may stay undecided before boxes are cut into columns, over that at the end: both take about as long."""

MOST = (4_000_000, 200_000)
"""Boxes in interval arithmetic, and by contraction, which takes some hundred times longer for a box."""

SUMS = 1e-12
"""Relative rounding of sums of volumes."""


@checked
def pave(
    robot: Robot,
    region: Mapping[str, ArrayLike] | None = None,
    *,
    orientation: ArrayLike | Mapping[str, ArrayLike] | None = None,
    position: ArrayLike | None = None,
    kind: str = "position",
    strokes: bool = True,
    angles: bool = True,
    singularities: bool = True,
    clearance: float | None = None,
    undecided: float = 0.01,
    cut: bool = True,
    most: int | None = None,
    progress: bool | None = None,
) -> Paving:
    """A certified paving of a workspace.

    Args:
        robot: with six legs in closed form (UPS, PUS, RUS), bounded in interval arithmetic, or with others, whose branch from
            home is proven by contraction (kind "position", no clearance).
        region: axis -> (smallest, largest), or one number for a slice; axes left out are chosen so that nothing is missed
            (positions), or all angles. Axes: x, y, z [m], without those that the robot cannot control; with kind "orientation"
            tilt, azimuth, torsion [rad].
        orientation: (3, 3), that of home if left out; with kind "orientation" the one from which angles count.
        position: (3,) with kind "orientation", that of home if left out.
        kind: "position" (constant orientation) or "orientation" (constant position).
        strokes, angles: limits of the file that count.
        singularities: poses must be on home's side of the type 2 singularities (sign of the determinant).
        clearance: smallest distance between the axes of two legs without a common joint [m].
        undecided: part of the proven volume that may stay undecided; halving ends there.
        cut: for tight bounds of the volume, undecided boxes are cut by planes into a part that is certainly inside, one that
            is certainly outside, and what lies between, which alone counts as undecided. False: only boxes count; an undecided
            box is trimmed along one axis into boxes inside, outside and undecided, and these are cut again across it.
        most: boxes to examine; halving also ends there. 4 million if left out, 200 000 of legs that are closed by iteration.
        progress: a bar; None shows one at a terminal for long pavings.
    Returns:
        A `Paving`.

    Source: after Merlet, Parallel Robots, ch. 7; Jaulin et al., Applied Interval Analysis, ch. 3. Checked by:
    tests/analysis/test_pave.py.
    """
    refuse(robot, "pave", kind=kind, position=position, clearance=clearance)
    if kind not in ("position", "orientation"):
        raise InputError(f"kind: expected 'position' or 'orientation', got {kind!r}")
    if not 0 < float(undecided) < 1:
        raise InputError(f"undecided: expected a number between 0 and 1, got {undecided!r}")
    R = None if orientation is None else rotations("orientation", orientation, (3, 3))
    p = None if position is None else finite_array("position", position, (3,))
    counted = {"strokes": strokes, "angles": angles, "singularities": singularities}
    bounds: Bounds
    if applies(robot, kind, clearance):
        bounds = ShellBounds(robot, R, **counted)
    elif PROPERTIES["legs without bounds"](robot):
        bounds = TubeBounds(robot, R, **counted)
    else:
        bounds = PoseBounds(robot, kind, p, R, **counted, clearance=clearance)
    low, high = _first_box(robot, bounds, region, R)
    target = float(undecided)
    most = MOST[isinstance(bounds, TubeBounds)] if most is None else most
    halving = _Halving(bounds, low, high, target if cut else min(COARSER * target, 0.5), cut, most)
    return halving.run(progress, None if cut else target)


def _known(robot: Robot, bounds: Bounds, region: Mapping[str, ArrayLike], R: Array | None) -> Mapping[str, Any]:
    """Ranges of the axes: those given, else all that may be needed."""
    follow = [bounds.axes[k] for k in bounds.dependent_axes] if isinstance(bounds, TubeBounds) else []
    for name in region:
        if name not in bounds.axes or name in follow:
            there = ", ".join(axis for axis in bounds.axes if axis not in follow)
            why = f": {robot.name} cannot control it" if name in follow else ""
            raise InputError(f"region: no axis {name!r}{why}; there are {there}")
    if isinstance(bounds, TubeBounds):
        home = {name: float(robot.home.position["xyz".index(name)]) for name in follow}
        whole = {**home, **region}
        return whole if all(name in whole for name in bounds.axes) else {**bounds.region(), **region}
    if bounds.chart == "position":
        return {**search_box(robot, R), **region}
    return {"tilt": (0.0, np.pi), "azimuth": (-np.pi, np.pi), "torsion": (-np.pi, np.pi), **region}


def _first_box(robot: Robot, bounds: Bounds, region: Mapping[str, ArrayLike] | None, R: Array | None) -> tuple[Array, Array]:
    known = _known(robot, bounds, region or {}, R)
    low, high = [], []
    for name in bounds.axes:
        given = known[name]
        if np.ndim(given) == 0:
            a = b = float(finite_array(name, given, ()))
        else:
            a, b = finite_array(f"region: {name}", given, (2,))
            if not a < b:
                raise InputError(f"region: {name}: the first number must be the smaller one, got {given!r}")
            a, b = np.floor(a / GRID) * GRID, np.ceil(b / GRID) * GRID
        low.append(a)
        high.append(b)
    if np.all(np.array(low) == np.array(high)):
        raise InputError("region: every axis is one number; give at least one as (smallest, largest)")
    return np.array(low), np.array(high)


Undecided = tuple[NDArray[np.int64], NDArray[np.bool_], Array, Trim | None]
"""Undecided boxes of a level: numbers, open groups, fractions (2, n) certainly and possibly inside, and how they are trimmed."""


class _Halving:
    """Boxes halved level by level, those first where most is open."""

    def __init__(self, bounds: Bounds, low: Array, high: Array, target: float, cut: bool, most: int) -> None:
        self.bounds, self.low, self.high, self.target, self.cut, self.most = bounds, low, high, target, cut, most
        self.free = np.flatnonzero(high > low)
        self.inside: dict[int, NDArray[np.int64]] = {}
        self.kept: dict[int, NDArray[np.int64]] = {}
        self.trims: dict[int, Trim] = {}
        self.groups: dict[int, NDArray[np.bool_]] = {}
        self.boxes, self.proven, self.frozen = 0, 0.0, np.zeros(3)
        self.opened: Any = 0.0
        bounds.prepared(low, high)

    def run(self, progress: bool | None, columns: float | None = None) -> Paving:
        """Halve until little is undecided; `columns`: what may then stay undecided of the boxes cut into columns."""
        number, groups = np.zeros((1, len(self.low)), dtype=np.int64), np.ones((1, 3), dtype=bool)
        whole = float(np.prod((self.high - self.low)[self.free]))
        with progress_bar(f"paving of {self.bounds.robot.name}", self.most, progress, 0) as report:
            for level in range(41):
                unit = whole * 0.5 ** (level * len(self.free))
                found = left, groups, fractions, _ = self._level(number, groups, level)
                self.proven += len(self.inside[level]) * unit
                report(min(self.boxes, self.most))
                between = (fractions[1] - fractions[0]) * unit
                proven = self.proven + self.frozen[0] + float(np.sum(fractions[0])) * unit
                budget = self.target * proven
                total = float(np.sum(between)) + self.frozen[1] - self.frozen[0]
                if total <= budget or self.boxes + len(left) * 2 ** len(self.free) > self.most:
                    self._freeze(level, found, unit, np.ones(len(left), dtype=bool))
                    break
                again = self._worth_halving(between, budget - (self.frozen[1] - self.frozen[0]))
                self._freeze(level, found, unit, ~again)
                number, groups = self._halved(left[again]), np.repeat(groups[again], 2 ** len(self.free), axis=0)
        return self._paving(None if columns is None else self._cut_again(columns))

    def _cut_again(self, target: float) -> SlabColumns | None:
        """Undecided parts of the trimmed boxes, cut into columns."""
        parts: list[Any] = []
        for level, trim in self.trims.items():
            h = (self.high - self.low) * 0.5**level
            low = self.low + self.kept[level] * h
            for first, last in ((0, 1), (2, 3)):
                own = np.flatnonzero(trim.ends[:, first] < trim.ends[:, last])
                one = Trim(**{k: v[own] for k, v in vars(trim).items()})
                one.ends[:, [0, 1, 2, 3]] = one.ends[:, [first, last, last, last]]
                parts.append((*one.parts(low[own], low[own] + h, "undecided"), self.groups[level][own], one.axis))
        if not parts:
            return None
        low, high, groups, axis = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
        proven = self.proven + self.frozen[0]
        left = max(self.most - self.boxes, 0)
        return cut_columns(
            self.bounds, low, high, groups, axis, target=lambda inside: target * (proven + inside), most=left
        )  # fmt: skip

    def _worth_halving(self, between: Array, budget: float) -> NDArray[np.bool_]:
        """Boxes to halve: all but those with least open volume, which together keep a fifth of the remaining budget."""
        order = np.argsort(between)
        small = np.cumsum(between[order]) <= max(budget, 0.0) / 5
        again = np.ones(len(between), dtype=bool)
        again[order[small]] = False
        return again

    def _freeze(self, level: int, found: Undecided, unit: float, chosen: NDArray[np.bool_]) -> None:
        """Keep the chosen of the undecided boxes of a level, of volume `unit` each: they are not halved again."""
        left, groups, fractions, trim = found
        if not np.any(chosen):
            return
        self.kept[level] = left[chosen]
        sums = np.sum(fractions[:, chosen], axis=1)
        if trim is not None:
            self.groups[level] = groups[chosen]
            self.trims[level] = Trim(**{name: values[chosen] for name, values in vars(trim).items()})
        self.frozen += [*(sums * unit), (int(chosen.sum()) if trim is None else sums[1] - sums[0]) * unit]

    def _halved(self, number: NDArray[np.int64]) -> NDArray[np.int64]:
        corner = np.zeros((2 ** len(self.free), len(self.low)), dtype=np.int64)
        for j, axis in enumerate(self.free):
            corner[:, axis] = (np.arange(len(corner)) >> j) & 1
        doubled = number.copy()
        doubled[:, self.free] *= 2
        return (doubled[:, None] + corner).reshape(-1, len(self.low))

    def _level(self, number: NDArray[np.int64], groups: NDArray[np.bool_], level: int) -> Undecided:
        """Undecided boxes, their open groups, fractions (2, n) that are certainly and possibly inside, and how they are
        trimmed."""
        h = (self.high - self.low) * 0.5**level
        inside, left, fractions, open_groups = [number[:0]], [number[:0]], [np.zeros((2, 0))], [groups[:0]]
        trims: list[Trim] = []
        self.opened = 0.0
        for start in range(0, len(number), CHUNK):
            part, own = number[start : start + CHUNK], groups[start : start + CHUNK]
            low = self.low + part * h
            decision = self.bounds.decide(low, low + h, own)
            self.boxes += len(part)
            inside.append(part[decision.inside])
            rest = ~(decision.inside | decision.outside)
            left.append(part[rest])
            open_groups.append(decision.groups[rest])
            self.opened = self.opened + decision.open[rest].sum(axis=0)
            if not np.any(rest):
                continue
            here = low[rest], low[rest] + h, decision.groups[rest]
            if self.cut:
                fractions.append(np.stack(self.bounds.cut(*here, decision, rest)))
            else:
                trims.append(self.bounds.trim(*here, rest))
                fractions.append(np.stack([trims[-1].certain, trims[-1].possible]))
        self.inside[level] = np.concatenate(inside)
        trim = Trim(**{k: np.concatenate([getattr(t, k) for t in trims]) for k in vars(trims[0])}) if trims else None
        return np.concatenate(left), np.concatenate(open_groups), np.concatenate(fractions, axis=1), trim

    def _paving(self, columns: SlabColumns | None) -> Paving:
        low, high, undecided = (float(x) for x in self.frozen)
        if columns is not None:
            self.boxes += columns.total
            low, undecided = low + columns.inside, columns.undecided
            high = low + undecided
        reasons = {text: int(n) for text, n in zip(self.bounds.texts, np.atleast_1d(self.opened), strict=False) if n}
        return Paving(
            robot=self.bounds.robot.name, axes=self.bounds.axes, low=self.low, high=self.high,
            inside={k: v for k, v in self.inside.items() if len(v)}, undecided=self.kept,
            volume_inside=self.proven, volume_undecided=float(undecided),
            volume_low=(self.proven + low) * (1 - SUMS), volume_high=(self.proven + high) * (1 + SUMS),
            boxes=self.boxes, bounds=self.bounds, trimmed=self.trims, columns=columns,
            reasons=dict(sorted(reasons.items(), key=lambda item: -item[1])),
        )  # fmt: skip
