"""Three-vectors as tuples of scalar expressions: the order of every operation is explicit."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from flexapod.arrays import Scalar as Scalar

if TYPE_CHECKING:
    from flexapod.arrays import SX

Triple = tuple[Scalar, Scalar, Scalar]


@dataclass(frozen=True, kw_only=True)
class MovingVector:
    """A vector with its first and second derivative by time."""

    at: Triple
    rate: Triple
    second: Triple


def triple(column: SX) -> Triple:
    """The entries of a column of three."""
    return column[0], column[1], column[2]


def add(a: Triple, b: Triple) -> Triple:
    """Sum."""
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


def subtract(a: Triple, b: Triple) -> Triple:
    """Difference."""
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


def scale(s: Scalar, a: Triple) -> Triple:
    """Product with a scalar."""
    return s * a[0], s * a[1], s * a[2]


def dot(a: Sequence[Scalar], b: Sequence[Scalar]) -> Scalar:
    """Scalar product."""
    return total(x * y for x, y in zip(a, b, strict=True))


def cross(a: Triple, b: Triple) -> Triple:
    """Vector product."""
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


def combine(weights: Sequence[Scalar], vectors: Sequence[Triple]) -> Triple:
    """Weighted sum; weights that are the numbers 0 and 1 cost nothing."""
    return (
        total(times(w, v[0]) for w, v in zip(weights, vectors, strict=True)),
        total(times(w, v[1]) for w, v in zip(weights, vectors, strict=True)),
        total(times(w, v[2]) for w, v in zip(weights, vectors, strict=True)),
    )


def times(w: Scalar, x: Scalar) -> Scalar:
    """Product, with the Python numbers 0 and 1 recognised."""
    if isinstance(w, int) and w in (0, 1):
        return x if w else 0
    return w * x


def total(terms: Iterable[Scalar]) -> Scalar:
    """Sum from the left, without a leading zero."""
    result: Scalar = 0
    for term in terms:
        if isinstance(result, int) and result == 0:
            result = term
        elif not (isinstance(term, int) and term == 0):
            result = result + term
    return result
