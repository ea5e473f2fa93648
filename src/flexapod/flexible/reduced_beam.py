r"""A beam of many elements in few coordinates: those of its tip, and modes with both ends held (Craig and Bampton).

Letters: q coordinates of all nodes, e = (tip, modes), q = V e. Columns of the tip are static deflections, root held; modes are of
bending in each plane and of twisting. The axial force is the same all along the beam: stretching has no modes. With c(x) the part
of the tip's stretching that x moves by, and s(x) the integral of v'^2 + w'^2,

.. math:: u(x) = c(x)\,u + \tfrac12\left(c(x)\,s(L) - s(x)\right),\qquad s(L) = e^T B e,\qquad Q(x) = c(x)\,B - S(x)

as in one element (`flexapod.flexible.beam_element.Foreshortening`), so that stiffening by load and spin is that of a beam with
all its elements in one frame.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import linalg

from flexapod.flexible.beam_element import BeamElement, Foreshortening, gauss_points
from flexapod.flexible.beams import BeamChain
from flexapod.flexible.body import FlexibleBody
from flexapod.flexible.checked_arrays import Floats
from flexapod.flexible.errors import FlexibleBodyError
from flexapod.flexible.shape_integrals import shape_integrals

EQUAL = 1e-9
"""Frequencies within this part of each other are equal: of a square beam in its two planes, in the order of the planes."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ReducedBeam:
    """A beam in few coordinates.

    Attributes:
        body: about its root, coordinates of the tip, then `mode1`, `mode2`, ...
        foreshortening: what bending shortens, by these coordinates.
        basis: (d (n + 1), N) V, coordinates of all nodes, the root first.
        omega: (m,) frequencies [rad/s] of the modes with both ends held; above: the next one, infinite if there is none.
    """

    body: FlexibleBody
    foreshortening: Foreshortening
    basis: Floats
    omega: Floats
    above: float


def reduced_beam(elements: Sequence[BeamElement], modes: int, rotary: bool) -> ReducedBeam:
    """The beam with the `modes` lowest modes between its held ends.

    Args:
        elements: from root to tip, of equal length.
        rotary: sections have rotary inertia in bending.

    Source: R. R. Craig, M. C. C. Bampton, AIAA Journal 6(7), 1968. Checked by: tests/flexible/test_reduced_beam.py.
    """
    chain = BeamChain(elements, rotary)
    M, names = shape_integrals(chain.nodes).M_ee, elements[0].coordinates()
    d, n = chain.d, len(elements)
    section = elements[0].section
    radius = float(np.sqrt((section.iy + section.iz) / section.area))
    V, found = np.zeros((chain.size, d)), list[tuple[float, int, Floats]]()
    for group, letters in enumerate(_groups(names)):
        own = [names.index(letter) for letter in letters]
        inner = [k * d + i for k in range(1, n) for i in own]
        tip = [n * d + i for i in own]
        K_ii = chain.K[np.ix_(inner, inner)]
        V[np.ix_(inner, own)] = -np.linalg.solve(K_ii, chain.K[np.ix_(inner, tip)])
        V[tip, own] = 1.0
        if letters == ("u",) or not inner:
            continue
        values, vectors = linalg.eigh(K_ii, M[np.ix_(inner, inner)])
        for value, vector in zip(values, vectors.T, strict=True):
            column = np.zeros(chain.size)
            column[inner] = vector / _largest(vector[:: len(own)]) / (radius if letters == ("thx",) else 1.0)
            found.append((float(np.sqrt(value)), group, column))
    found = _in_order(found)
    if modes > len(found):
        raise FlexibleBodyError(
            f"modes: {n} elements have {len(found)} modes of bending and twisting between their ends, {modes} are asked for. "
            f"Write `modes: {len(found)}` or fewer, or more elements"
        )
    V = np.column_stack([V, *(column for _, _, column in found[:modes])])
    return ReducedBeam(
        body=chain.with_basis(V, [*names, *(f"mode{k + 1}" for k in range(modes))]), foreshortening=_shortening(elements, V),
        basis=V, omega=np.array([w for w, _, _ in found[:modes]]), above=found[modes][0] if modes < len(found) else np.inf,
    )  # fmt: skip


def _groups(names: Sequence[str]) -> list[tuple[str, ...]]:
    """Coordinates of a node that belong together: stretching, bending in each plane, twisting."""
    return [("u",), ("v", "theta")] if "theta" in names else [("u",), ("v", "thz"), ("w", "thy"), ("thx",)]


def _largest(values: Floats) -> float:
    """The entry of the largest size, the first of several equal ones."""
    size = np.abs(values)
    return float(values[int(np.flatnonzero(size > (1.0 - 1e-6) * size.max())[0])])


def _in_order(found: list[tuple[float, int, Floats]]) -> list[tuple[float, int, Floats]]:
    """Sort modes by frequency, equal ones by group."""
    result = sorted(found, key=lambda mode: mode[0])
    for k in range(1, len(result)):
        at = k
        while at and result[at][1] < result[at - 1][1] and result[at][0] <= (1.0 + EQUAL) * result[at - 1][0]:
            result[at - 1], result[at] = result[at], result[at - 1]
            at -= 1
    return result


def _shortening(elements: Sequence[BeamElement], V: Floats) -> Foreshortening:
    """Matrices of the whole beam from those of its elements; sums over the mass of element k are exact."""
    d, step = len(elements[0].coordinates()), elements[0].length
    parts = [(e.foreshortening(), *_moments(e)) for e in elements]
    blocks = [V[k * d : (k + 2) * d] for k in range(len(elements))]
    whole = [v.T @ f.B @ v for (f, *_), v in zip(parts, blocks, strict=True)]
    B, before = sum(whole, np.zeros((V.shape[1],) * 2)), np.zeros((V.shape[1],) * 2)
    first, second = np.zeros_like(B), np.zeros_like(B)
    c = V[::d, 0]
    for k, ((f, m0, m1, m2), v) in enumerate(zip(parts, blocks, strict=True)):
        x, slope = k * step, (c[k + 1] - c[k]) / step
        own_first = m1 / step * whole[k] - v.T @ f.first @ v  # of S of the element, from its root on
        own_second = x * own_first + m2 / step * whole[k] - v.T @ f.second @ v
        first += (c[k] * m0 + slope * m1) * B - m0 * before - own_first
        second += (c[k] * (x * m0 + m1) + slope * (x * m1 + m2)) * B - (x * m0 + m1) * before - own_second
        before = before + whole[k]
    return Foreshortening(B=B, first=first, second=second)


def _moments(element: BeamElement) -> tuple[float, float, float]:
    """Mass, first and second moment of an element about its root [kg, kg m, kg m^2]."""
    x, mass = gauss_points()[0] * element.length, element.masses()
    return float(mass.sum()), float(mass @ x), float(mass @ x**2)
