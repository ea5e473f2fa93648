"""A beam reduced to its tip and modes against the beam of all its nodes, and against one element."""

from __future__ import annotations

import numpy as np
import pytest

from flexapod.flexible import Section, beam
from flexapod.flexible.beam_element import BeamElement
from flexapod.flexible.errors import FlexibleBodyError
from flexapod.flexible.materials import Material
from flexapod.flexible.reduced_beam import reduced_beam

STEEL = Material(name="steel", young=210e9, density=7850.0, poisson=0.3)
LENGTH = 0.5
ROUNDING = 1e-10
"""Static solutions and products of shapes of eight elements."""
DIFFERENCES = 1e-7
"""Relative: slopes by central differences over a millionth of an element; found 1e-10."""
TWO = 1e-4
"""Of the first frequency with two modes beside the tip; found 6e-5."""


def elements(count: int, planar: bool = False, shear: bool = True, taper: float = 0.0) -> list[BeamElement]:
    """A rectangular beam whose height falls by a part from root to tip."""
    height = 0.03 * (1.0 - taper * (np.arange(count) + 0.5) / count)
    return [
        BeamElement(
            length=LENGTH / count, section=Section.rectangle(width=0.02, height=h), material=STEEL, planar=planar, shear=shear
        )
        for h in height
    ]  # fmt: skip


@pytest.mark.parametrize("planar", [True, False])
def test_without_modes_it_is_one_element(planar: bool) -> None:
    """Static deflections under tip loads are those of one element, and what they shorten, too."""
    one = BeamElement(length=LENGTH, section=elements(1)[0].section, material=STEEL, planar=planar, shear=True)
    alone = beam(length=LENGTH, section=one.section, material=STEEL, planar=planar, theory="timoshenko")
    found, short = reduced_beam(elements(6, planar), 0, True), one.foreshortening().of_tip()
    for name in ("K_ee", "M_ee", "MS_de", "I_re", "I_ee"):
        expected = getattr(alone, name)
        assert getattr(found.body, name) == pytest.approx(expected, abs=ROUNDING * np.abs(expected).max()), name
    for name in ("B", "first", "second"):
        expected = getattr(short, name)
        assert getattr(found.foreshortening, name) == pytest.approx(expected, abs=ROUNDING * np.abs(expected).max()), name


@pytest.mark.parametrize("taper", [0.0, 0.5])
def test_moments_of_what_is_drawn_in(taper: float) -> None:
    """B, and the first and second moment of Q(x) = c(x) B - S(x) over the mass, by quadrature of the nodes' own shapes."""
    parts = elements(5, planar=True, taper=taper)
    found = reduced_beam(parts, 3, True)
    e = np.array([0.0, 0.7, -0.3, 0.4, 0.2, -0.5])
    q, step = found.basis @ e, LENGTH / 5
    c = found.basis[::3, 0]
    x, w = np.polynomial.legendre.leggauss(12)
    s, w = (x + 1) / 2, w / 2

    def slopes(k: int, at: np.ndarray) -> np.ndarray:
        h = 1e-6 * step
        ends = [parts[k].shapes(at + d)[0][:, 1] @ q[3 * k : 3 * k + 6] for d in (-h, h)]
        return (ends[1] - ends[0]) / (2 * h)

    whole = [step * w @ slopes(k, step * s) ** 2 for k in range(5)]
    first = second = 0.0
    for k, part in enumerate(parts):
        for at, weight in zip(s, w, strict=True):
            dm = part.material.density * part.section.area * step * weight
            drawn = (c[k] + at * (c[k + 1] - c[k])) * sum(whole) - sum(whole[:k]) - at * step * w @ slopes(k, at * step * s) ** 2
            first, second = first + dm * drawn, second + dm * drawn * (k + at) * step
    short = found.foreshortening
    assert e @ short.B @ e == pytest.approx(sum(whole), rel=DIFFERENCES)
    assert e @ short.first @ e == pytest.approx(first, rel=DIFFERENCES)
    assert e @ short.second @ e == pytest.approx(second, rel=DIFFERENCES)


def test_frequencies_come_from_above_and_end_at_those_of_all_nodes() -> None:
    full = beam(length=LENGTH, section=elements(1)[0].section, material=STEEL, elements=8, planar=True, theory="timoshenko")
    exact = full.angular_frequency
    errors = []
    for modes in (0, 1, 2, 4, 14):
        found = reduced_beam(elements(8, planar=True), modes, True)
        errors.append(found.body.angular_frequency[:2] / exact[:2] - 1.0)
        assert found.above > found.omega.max(initial=0.0)
    assert (np.diff(errors, axis=0) < ROUNDING).all(), "every mode brings them down"
    assert np.abs(errors[-1]).max() < ROUNDING
    assert errors[2][0] < TWO
    assert found.above == np.inf


def test_equal_planes_keep_their_order() -> None:
    """A square beam: pairs of equal frequencies, xy before xz; a mode has its largest displacement at 1 m."""
    square = [
        BeamElement(length=0.1, section=Section.rectangle(width=0.02, height=0.02), material=STEEL, planar=False, shear=False)
    ]
    found = reduced_beam(square * 6, 4, False)
    modes = found.basis[:, 6:].reshape(7, 6, 4)
    assert [("v", "w")[int(np.abs(modes[:, 2, k]).max() > 0.5)] for k in range(4)] == ["v", "w", "v", "w"]
    assert np.abs(modes[:, 1:3]).max(axis=(0, 1)) == pytest.approx(np.ones(4))
    assert (modes[[0, -1]] == 0).all()


def test_more_modes_than_nodes_have() -> None:
    with pytest.raises(
        FlexibleBodyError, match="2 elements have 2 modes of bending and twisting between their ends, 3 are asked"
    ):
        reduced_beam(elements(2, planar=True), 3, True)
