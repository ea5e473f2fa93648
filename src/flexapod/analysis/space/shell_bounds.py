"""Fast bounds for robots whose six legs change their length, at one orientation: kernels of `flexapod.equations.shells`."""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexapod.analysis.space.box_decision import Decision, Trim
from flexapod.analysis.space.limits import limits_of
from flexapod.analysis.space.pose_bounds import SINGULAR
from flexapod.arrays import Array
from flexapod.equations.box_trims import shell_trims
from flexapod.equations.shells import MONOMIALS, shell_cuts, shells
from flexapod.kernels.cache import cached_kernel
from flexapod.kernels.kernel import Kernel

if TYPE_CHECKING:
    from flexapod.robot.robot import Robot


SLACK = 2.0**-38
"""Bound of the rounding of a limit over its largest terms: no more than a hundred operations, data and `SAME` included."""

SAME = 1e-13
"""Relative difference of two shells or cones that are one: legs whose joints coincide twice at an orientation."""

CUBIC_SLACK = 1e-12
"""Bound of the rounding of the determinant over Hadamard's bound, rounding of its data and coefficients included."""


def applies(robot: Robot, chart: str, clearance: float | None) -> bool:
    """Whether this way is open: legs that change their length, strokes that are limited, no distances of legs."""
    ups = len(robot.legs) == 6 and all(leg.architecture == "UPS" for leg in robot.legs)
    return chart == "position" and ups and clearance is None


PROGRAMS = {"shells": shells, "shell_cuts": shell_cuts, "shell_trims": shell_trims}


class ShellBounds:
    """Decides boxes of positions."""

    axes = ("x", "y", "z")
    chart = "position"

    def __init__(self, robot: Robot, rotation: ArrayLike | None, *, strokes: bool, angles: bool, singularities: bool) -> None:
        self.robot = robot
        R = np.asarray(robot.home.rotation if rotation is None else rotation, dtype=float)
        limits = limits_of(robot)
        legs = [leg.name for leg in robot.legs]

        def vectors(name: str) -> Array:
            return np.array([[robot.values[f"legs.{leg}.{name}.{k}"] for k in "xyz"] for leg in legs])

        U, S = vectors("U"), vectors("S")
        self.arms = S @ R.T
        self.centres = U - self.arms
        offset = np.array([robot.values[f"legs.{leg}.length"] + robot.values[f"legs.{leg}.zero"] for leg in legs])
        limited = np.flatnonzero(np.isfinite(limits.low) & np.isfinite(limits.high)) if strokes else np.zeros(0, dtype=int)
        self.numbers: dict[str, float] = {}
        self.texts = ["a leg is beyond its stroke", "a joint is beyond its angle limit", SINGULAR]
        ends = np.stack([np.maximum(limits.low + offset, 0.0), limits.high + offset], axis=1)
        limited = limited[_different(np.hstack([self.centres, ends])[limited])]
        for i, k in enumerate(limited):
            self._vector(f"centre.{i}", self.centres[k])
            self.numbers[f"shortest.{i}"], self.numbers[f"longest.{i}"] = (float(x) ** 2 for x in ends[k])
        home = robot.home.position + S @ robot.home.rotation.T - U
        home /= np.linalg.norm(home, axis=1)[:, None]
        relative, cones = R @ robot.home.rotation.T, []
        for swivel, angle in zip(limits.swivels, limits.angle, strict=True):
            if angles and np.isfinite(angle):
                axis = relative @ home[swivel.leg] if swivel.closing else home[swivel.leg]
                cones.append([*self.centres[swivel.leg], *axis, np.cos(angle)])
        rows = np.array(cones).reshape(-1, 7)
        rows = rows[_different(rows)]
        for i, row in enumerate(rows):
            self._vector(f"cone.{i}.centre", row[:3])
            self._vector(f"cone.{i}.axis", row[3:6])
            self.numbers[f"cone.{i}.cosine"] = float(row[6])
        self.counts = (len(limited), len(rows), bool(singularities))

    def _vector(self, name: str, values: Array) -> None:
        for k, value in zip("xyz", values, strict=True):
            self.numbers[f"{name}.{k}"] = float(value)

    def kernel(self, kind: str, counts: tuple[int, int, bool]) -> Kernel:
        """The kernel that decides or cuts boxes under some of the limits."""
        return cached_kernel(f"{kind}{counts}", lambda: PROGRAMS[kind](*counts))

    def prepared(self, low: Array, high: Array) -> None:
        """Note the first box: bounds of the roundings, and the cubic, belong to it."""
        far = np.maximum(np.abs(low - self.centres), np.abs(high - self.centres))
        largest = float(np.max(np.sum(far**2, axis=1)))
        longest = max([value for name, value in self.numbers.items() if name.startswith("longest")], default=1.0)
        self.numbers["slack"] = SLACK * max(largest, longest, 1.0)
        if self.counts[2]:
            self._set_cubic(np.maximum(np.abs(low), np.abs(high)), far)

    def _set_cubic(self, size: Array, far: Array) -> None:
        arms = np.linalg.norm(self.arms, axis=1)
        hadamard = float(np.prod(np.linalg.norm(far, axis=1) * np.sqrt(1 + arms**2)))
        sums = 0.0
        for (i, j, k), value in zip(MONOMIALS, self.cubic * self.side, strict=True):
            self.numbers[f"cubic.{i}{j}{k}"] = float(value)
            sums += abs(value) * np.prod((2 * size) ** np.array([i, j, k]))
        self.numbers["cubic.slack"] = CUBIC_SLACK * (hadamard + float(sums))

    @cached_property
    def cubic(self) -> Array:
        """Coefficients of the determinant, from exact values on a lattice."""
        C, r = ([[Fraction(float(x)) for x in row] for row in rows] for rows in (self.centres, self.arms))
        values: dict[tuple[int, ...], Fraction] = {m: _determinant(C, r, m) for m in MONOMIALS}
        return np.array([float(value) for value in _coefficients(values).values()])

    @cached_property
    def side(self) -> float:
        """Sign of the determinant at home."""
        R = self.robot.home.rotation
        legs = [leg.name for leg in self.robot.legs]
        S = np.array([[self.robot.values[f"legs.{leg}.S.{k}"] for k in "xyz"] for leg in legs]) @ R.T
        U = np.array([[self.robot.values[f"legs.{leg}.U.{k}"] for k in "xyz"] for leg in legs])
        d = self.robot.home.position + S - U
        return float(np.sign(np.linalg.det(np.hstack([d, np.cross(S, d)]))))

    def decide(self, low: Array, high: Array, groups: NDArray[np.bool_]) -> Decision:
        """Boxes of one size; `groups` (n, 3): shells, cones, cubic that may be open, from the box that they are part of."""
        out = self._by_groups("shells", low, high, groups)
        opened = out["open"] != 0
        return Decision(inside=out["inside"] != 0, outside=out["outside"] != 0, groups=opened, open=opened)

    def cut(self, low: Array, high: Array, groups: NDArray[np.bool_], _: Decision, __: object) -> tuple[Array, Array]:
        """Certain and possible fractions of undecided boxes."""
        out = self._by_groups("shell_cuts", low, high, groups)
        return out["certain"], out["possible"]

    def trim(self, low: Array, high: Array, groups: NDArray[np.bool_], _: object = None) -> Trim:
        """Undecided boxes of any sizes trimmed along an axis each."""
        out = self._by_groups("shell_trims", low, high, groups)
        return Trim(axis=out.pop("axis").astype(np.int64), **out)

    def _by_groups(self, kind: str, low: Array, high: Array, groups: NDArray[np.bool_]) -> dict[str, Array]:
        """Outputs of a kernel over boxes; each box under the groups of limits that may be open in it."""
        middle, radius = (low + high) / 2, (high - low) / 2
        code = groups @ np.array([1, 2, 4])
        found: dict[str, Array] = {}
        for value in np.unique(code) if len(code) else [0]:
            own = np.flatnonzero(code == value)
            counts = (self.counts[0] * bool(value & 1), self.counts[1] * bool(value & 2), bool(value & 4) and self.counts[2])
            out = self._bounds_of_kind(kind, counts, middle[own], radius[own])
            if len(own) == len(low):
                return dict(out)
            for name, values in out.items():
                found.setdefault(name, np.zeros((len(low), *values.shape[1:])))[own] = values
        return found

    def _bounds_of_kind(self, kind: str, counts: tuple[int, int, bool], middle: Array, radius: Array) -> dict[str, Array]:
        """Outputs of a kernel; but for trims, boxes have the size of the first."""
        kernel = self.kernel(kind, counts)
        size = radius[0] if len(radius) else np.zeros(3)
        known = {**self.numbers, **{f"radius.{k}": float(x) for k, x in zip("xyz", size, strict=True)}}
        parameters = np.array([known[p.name] for p in kernel.signature.parameters])
        inputs = {"at": np.ascontiguousarray(middle), "radius": np.ascontiguousarray(radius)}
        return kernel.batch({i.name: inputs[i.name] for i in kernel.signature.inputs}, parameters).outputs


def _different(rows: Array) -> NDArray[np.int64]:
    """Numbers of rows that differ from all before: of equal limits one is enough, and cuts count each once."""
    kept: list[int] = []
    for k, row in enumerate(rows):
        if all(np.abs(row - rows[j]).max() > SAME * max(1.0, np.abs(row).max()) for j in kept):
            kept.append(k)
    return np.array(kept, dtype=np.int64)


def _determinant(C: list[list[Fraction]], r: list[list[Fraction]], at: tuple[int, int, int]) -> Fraction:
    """Determinant of the rows (d, r x d), d = at - C, exactly."""
    rows = []
    for c, a in zip(C, r, strict=True):
        d = [at[k] - c[k] for k in range(3)]
        rows.append([*d, a[1] * d[2] - a[2] * d[1], a[2] * d[0] - a[0] * d[2], a[0] * d[1] - a[1] * d[0]])
    result = Fraction(1)
    for k in range(6):
        pivot = next((i for i in range(k, 6) if rows[i][k] != 0), None)
        if pivot is None:
            return Fraction(0)
        if pivot != k:
            rows[k], rows[pivot], result = rows[pivot], rows[k], -result
        result *= rows[k][k]
        for i in range(k + 1, 6):
            factor = rows[i][k] / rows[k][k]
            rows[i] = [x - factor * y for x, y in zip(rows[i], rows[k], strict=True)]
    return result


def _coefficients(values: dict[tuple[int, ...], Fraction]) -> dict[tuple[int, ...], Fraction]:
    """Coefficients of a cubic from its values at the lattice points of `MONOMIALS`: divided differences, then powers."""
    table = dict(values)
    for step in (_differences, _powers):
        for axis in range(3):
            for base in [m for m in MONOMIALS if m[axis] == 0]:
                line = [tuple(e + (n if k == axis else 0) for k, e in enumerate(base)) for n in range(4 - sum(base))]
                for m, value in zip(line, step([table[m] for m in line]), strict=True):
                    table[m] = value
    return table


def _differences(c: list[Fraction]) -> list[Fraction]:
    """Newton's coefficients from values at 0, 1, 2, ..."""
    for order in range(1, len(c)):
        for n in range(len(c) - 1, order - 1, -1):
            c[n] = (c[n] - c[n - 1]) / order
    return c


def _powers(c: list[Fraction]) -> list[Fraction]:
    """Coefficients of powers from those of 1, x, x (x - 1), ..."""
    for start in range(len(c) - 2, -1, -1):
        for n in range(start, len(c) - 1):
            c[n] = c[n] - start * c[n + 1]
    return c
