r"""Numbers of kernels as functions of a design, without building a robot per design.

.. math:: v_k(x) = v_k(x_0) + \sum_{|a| \le g} c_{k,a} \prod_i (x_i - x_{0i})^{a_i}

Letters: v resolved numbers of the robot (`robot.named_values`), x variables, g degree. Lengths, masses, offsets enter affinely,
moments of a moved centre of mass by degree 2 or 3. The polynomial is found from a few built robots and checked at others;
numbers that none fits are listed; kernels that read them need a robot built per design.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from flexapod.arrays import Array
from flexapod.description.parameters import set_parameters
from flexapod.errors import FlexapodError, InputError
from flexapod.kernels.design_columns import ParameterColumns
from flexapod.robot.leg_tree import RobotBuildError

if TYPE_CHECKING:
    from flexapod.robot.robot import Robot


FITS = 1e-12
"""Error of the polynomial, of the size of a number over the designs: rounding of building a robot, far below any wrong degree."""

MOST_TERMS = 120
"""Terms up to which a higher degree is tried: as many robots are built."""

CHECKS = 3
"""Built designs against which a polynomial is checked."""

OF_HOME = (".n0.", ".y0.", ".home", ".zero", ".R.", "guide_", "characteristic_length")
"""Parts of the names of numbers that follow the directions of legs at home or are lengths: no polynomial over large ranges."""


@dataclass(frozen=True, kw_only=True)
class Axis:
    """A variable that was checked: limits in SI, paths written out, with the file's values."""

    name: str
    unit: str
    low: float
    high: float
    choices: tuple[float, ...] | None
    paths: tuple[str, ...]
    how: str
    nominal: tuple[Any, ...]

    @property
    def start(self) -> float:
        """The file's own value, brought within the limits."""
        plain = {"factor": 1.0, "offset": 0.0}
        value = plain.get(self.how, self.nominal[0] if self.how == "value" else 0.0)
        return float(min(max(value, self.low), self.high))

    def changes(self, x: float) -> dict[str, Any]:
        """Values of the robot file at x."""
        if self.how == "value":
            return dict.fromkeys(self.paths, float(x))
        apply = np.multiply if self.how == "factor" else np.add
        return {p: apply(np.asarray(v), x).tolist() for p, v in zip(self.paths, self.nominal, strict=True)}

    def moves(self, x: float) -> bool:
        """Whether some of `changes` differ from the file."""
        return any(value != _plain(own) for value, own in zip(self.changes(x).values(), self.nominal, strict=True))

    def placed(self, u: Array) -> Array:
        """Values at u in [0, 1); choices in equal parts."""
        if self.choices is not None:
            picked = np.minimum((u * len(self.choices)).astype(np.int64), len(self.choices) - 1)
            return np.asarray(self.choices)[picked]
        return self.low + (self.high - self.low) * u


def _plain(value: object) -> Any:
    """A value of the file as `changes` writes it."""
    return np.asarray(value).tolist() if isinstance(value, tuple) else value


@dataclass(frozen=True, kw_only=True, eq=False)
class DesignValues:
    """Polynomials of the numbers that a design moves.

    `names` (k,) of `robot.named_values`; `center`, `scale` (d,); `powers` (terms, d); `coefficients` (terms, k); `robots`:
    designs built on the way; `unfitted`: names that no polynomial gives; `same`: names that are a variable itself, and which.
    """

    names: tuple[str, ...]
    center: Array
    scale: Array
    powers: NDArray[np.int64]
    coefficients: Array
    robots: tuple[Robot, ...]
    unfitted: frozenset[str]
    same: Mapping[str, int]

    @property
    def degree(self) -> int:
        """Degree of the polynomial; 1 is affine."""
        return int(self.powers.sum(axis=1).max(initial=0))

    def column(self, x: Array, name: str) -> Array:
        """One number (n,) of designs (n, d); each entry depends on its own design alone, to the last bit."""
        k = self.names.index(name)
        if name in self.same:
            return np.ascontiguousarray(x[:, self.same[name]])
        result = np.full(len(x), self.coefficients[0, k])
        for t in np.flatnonzero(self.coefficients[1:, k]) + 1:
            term = np.full(len(x), self.coefficients[t, k])
            for i in np.flatnonzero(self.powers[t]):
                for _ in range(self.powers[t, i]):
                    term *= (x[:, i] - self.center[i]) / self.scale[i]
            result += term
        return result

    def at(self, x: Array) -> Array:
        """The numbers (n, k) of designs (n, d)."""
        return np.array([self.column(x, name) for name in self.names]).reshape(len(self.names), len(x)).T

    def parameters(self, x: Array, names: Sequence[str], base: Array, times: int = 1) -> ParameterColumns:
        """Parameters of a kernel for designs (n, d), each for so many samples.

        Args:
            names: of the kernel's parameters; base: their values where designs do not move them.
        """
        moved = [k for k, name in enumerate(names) if name in self.names]
        columns = [np.repeat(self.column(x, names[k]), times) for k in moved]
        return ParameterColumns(base=base, places=np.array(moved, dtype=np.int64), values=columns, count=len(x) * times)

    def derivative(self, x: Array) -> Array:
        """d numbers / d variables (d, k) at one design (d,)."""
        u = (x - self.center) / self.scale
        result = np.zeros((len(u), len(self.names)))
        for powers, row in zip(self.powers[1:], self.coefficients[1:], strict=True):
            for i in np.flatnonzero(powers):
                lower = powers - (np.arange(len(u)) == i)
                result[i] += powers[i] * np.prod(u**lower) / self.scale[i] * row
        return result


def variant(robot: Robot, axes: Sequence[Axis], x: Iterable[float] | Array) -> Robot:
    """The robot of one design (d,): all values are set where one differs, since copies of a leg follow it where they are not."""
    at = [(axis, float(v)) for axis, v in zip(axes, x, strict=True)]
    if not any(axis.moves(v) for axis, v in at):
        return robot
    return robot.with_parameters({path: value for axis, v in at for path, value in axis.changes(v).items()})


def design_values(robot: Robot, axes: Sequence[Axis], wanted: Collection[str]) -> DesignValues:
    """Find the polynomials of the wanted numbers; the degree rises while some of them do not fit.

    Robots are built in a part of the limits where they can be assembled at home; a polynomial that is exact there is exact
    everywhere. What was found is kept with the robot.

    Checked by: tests/analysis/test_design_values.py.
    """
    key = ("design values", tuple(axes), frozenset(wanted))
    if key not in robot.kept:
        robot.kept[key] = _searched(robot, axes, wanted)
    found: DesignValues = robot.kept[key]
    return found


def values_near(robot: Robot, axes: Sequence[Axis]) -> DesignValues:
    """Polynomials of all numbers, as `design_values`; designs that cannot be built are no error here.

    What was found is used for all later designs that lie not far beyond it.
    """
    key = ("design values", tuple(path for axis in axes for path in axis.paths))
    found: DesignValues | None = robot.kept.get(key)
    if found is not None:
        reach = 2.0 * found.scale * (1.0 + 1e-9)
        low, high = np.array([a.low for a in axes]), np.array([a.high for a in axes])
        if not (np.all(low >= found.center - reach) and np.all(high <= found.center + reach)):
            found = None
    if found is None:
        found = robot.kept[key] = _search(robot, axes, list(robot.values), FlexapodError, OF_HOME)
    return found


def _searched(robot: Robot, axes: Sequence[Axis], wanted: Collection[str]) -> DesignValues:
    for changes in (_ends(axes, low=True), _ends(axes, low=False)):
        set_parameters(robot.description, changes)  # refuses what the file does not allow
    return _search(robot, axes, wanted, RobotBuildError)


def _search(
    robot: Robot, axes: Sequence[Axis], wanted: Collection[str], harmless: type[FlexapodError], first_degree: Sequence[str] = ()
) -> DesignValues:
    """Polynomials found in a part of the limits where robots can be built.

    Args:
        harmless: errors of building after which a smaller part is tried.
        first_degree: parts of names for which no higher degree is tried.
    """
    first: FlexapodError | None = None
    starts = (np.array([(a.low + a.high) / 2 for a in axes]), np.array([a.start for a in axes]))
    for part in (1.0, 0.1, 0.01):
        for center in starts:
            scale = part * np.array([(a.high - a.low) / 2 or 1.0 for a in axes])
            try:
                return _fitted(robot, axes, wanted, center, scale, first_degree)
            except harmless as error:
                first = first or error
    assert first is not None
    raise InputError(f"variables: no robot can be built within their limits; at the middle: {first}") from first


def _ends(axes: Sequence[Axis], low: bool) -> dict[str, Any]:
    return {path: v for a in axes for path, v in a.changes(a.low if low else a.high).items()}


def _fitted(
    robot: Robot, axes: Sequence[Axis], wanted: Collection[str], center: Array, scale: Array, first_degree: Sequence[str]
) -> DesignValues:
    d = len(axes)
    checks = np.random.default_rng(20).uniform(-1.0, 1.0, (CHECKS, d))
    middle = variant(robot, axes, center)
    checked = [variant(robot, axes, center + scale * u) for u in checks]
    if len({r.structure for r in (middle, *checked)}) > 1:
        raise InputError("variables: the structure of the robot changes with them; study each structure by itself")
    names = [name for name in wanted if name in middle.values]
    if not names:
        none = np.zeros((1, 0))
        return DesignValues(
            names=(), center=center, scale=scale, powers=np.zeros((1, d), dtype=np.int64), coefficients=none,
            robots=(middle, *checked), unfitted=frozenset(), same={},
        )  # fmt: skip
    target = np.array([[r.values[name] for name in names] for r in checked]).reshape(CHECKS, len(names))
    built: dict[tuple[float, ...], Array] = {(0.0,) * d: np.array([middle.values[name] for name in names])}
    for degree in (1, 2, 3):
        powers = _powers(d, degree)
        if len(powers) > MOST_TERMS and degree > 1:
            break
        points = _nodes(powers, degree)
        for u in points:
            if tuple(u) not in built:
                values = variant(robot, axes, center + scale * u).values
                built[tuple(u)] = np.array([values[name] for name in names])
        rows = np.array([built[tuple(u)] for u in points])
        coefficients = np.linalg.solve(np.prod(points[:, None, :] ** powers, axis=2), rows)
        size = np.maximum(np.abs(rows).max(axis=0), np.abs(target).max(axis=0))
        coefficients[np.abs(coefficients) < FITS * size] = 0.0
        coefficients[0] = rows[0]
        error = np.abs(np.prod(checks[:, None, :] ** powers, axis=2) @ coefficients - target).max(axis=0)
        used, fits = powers, error <= FITS * size
        if all(fit or any(part in name for part in first_degree) for name, fit in zip(names, fits, strict=True)):
            break
    moved = np.flatnonzero(np.any(coefficients[1:] != 0.0, axis=0) & fits)
    terms = np.append(True, np.any(coefficients[1:, moved] != 0.0, axis=1))
    return DesignValues(
        names=tuple(names[k] for k in moved), center=center, scale=scale, powers=used[terms],
        coefficients=coefficients[terms][:, moved], robots=(middle, *checked),
        unfitted=frozenset(names[k] for k in np.flatnonzero(~fits)), same=_same(names, axes, center + scale * checks, target),
    )  # fmt: skip


def _same(names: Sequence[str], axes: Sequence[Axis], x: Array, target: Array) -> dict[str, int]:
    """Numbers (designs, k) that are the value of a variable (designs, d) to the last bit."""
    plain = [i for i, axis in enumerate(axes) if axis.how == "value"]
    return {name: i for k, name in enumerate(names) for i in plain if np.array_equal(target[:, k], x[:, i])}


def _powers(d: int, degree: int) -> NDArray[np.int64]:
    """Exponents (terms, d) of all monomials up to a degree, the constant first."""
    chosen = [c for g in range(degree + 1) for c in combinations_with_replacement(range(d), g)]
    return np.array([np.bincount(np.array(c, dtype=np.int64), minlength=d) for c in chosen], dtype=np.int64)


def _nodes(powers: NDArray[np.int64], degree: int) -> Array:
    """Points in [-1, 1]^d at which the monomials are independent: a principal lattice, one point per exponent."""
    steps = {1: (0.0, 1.0), 2: (0.0, 1.0, -1.0), 3: (0.0, 1.0, -1.0, 0.5)}[degree]
    return np.array([[steps[p] for p in row] for row in powers])
