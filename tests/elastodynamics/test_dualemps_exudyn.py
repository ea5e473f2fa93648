"""DualEMPS in Exudyn, another multibody program: natural frequencies with the same number of elements.

About a straight beam the bending of Exudyn's element (`exudyn_plane`) is that of the cubic Euler-Bernoulli element; along the
beam it is cubic where flexapod is linear, which is felt only by modes in which a beam's mass moves along it. Rigid bodies and
joints are Exudyn's own; what is compared is its constrained linearised system.
"""

from __future__ import annotations

import json

import numpy as np
import pytest
from beam_robots import DATA
from exudyn_plane import Plane, Rod, along
from package_models import dualemps_frequencies

REFERENCE = json.loads((DATA.parent / "flexible" / "dualemps-beams.json").read_text())
AGREEMENT = 1e-4
"""Found 1.2e-5 in the sixth mode of one element (axial shapes differ)."""

BENDING = 1e-7
"""All other modes; found 3e-9, the derivatives of Exudyn are numerical."""


def rod(length: float) -> Rod:
    """A beam of DualEMPS."""
    data = REFERENCE["beams"]
    area = data["width_bending"] * data["height"]
    inertia = data["height"] * data["width_bending"] ** 3 / 12
    return Rod(length=length, line_mass=data["rho"] * area, bending=data["E"] * inertia, axial=data["E"] * area)


def frequencies(elements: int) -> np.ndarray:
    """The six lowest [Hz] with locked sliders at q11 = q21 = 0."""
    plane, g, bodies = Plane(elements), REFERENCE["geometry"], REFERENCE["rigid_bodies"]
    length, half = g["d13"] + g["d14_beam"] + g["d15"], 0.5 * g["slider_offset_d21"]
    up, ends = np.sqrt(length**2 - half**2), []
    for leg, angle, x in ((1, np.arctan2(up, half), 0.0), (2, np.arctan2(up, -half), 2 * half)):
        u, slider = along(angle), np.array([x, 0.0])
        first, c = plane.rigid(bodies[f"{leg}2"], slider, angle)
        plane.join(plane.at(plane.ground, x), plane.at(first, -c), clamped=False)
        root, *_, tip = plane.beam(slider + g["d13"] * u, angle, rod(g["d14_beam"]))
        plane.join(plane.at(first, g["d13"] - c), plane.at(*root), clamped=True)
        elbow = slider + (g["d13"] + g["d14_beam"]) * u
        second, c = plane.rigid(bodies[f"{leg}4"], elbow, angle)
        plane.join(plane.at(*tip), plane.at(second, -c), clamped=True)
        ends.append(plane.at(second, g["d15"] - c))
        if leg == 1:
            out = g["d15"] + g["d16"]
            root, *_, tip = plane.beam(elbow + out * u, angle, rod(REFERENCE["beams"]["length"][2]))
            plane.join(plane.at(second, out - c), plane.at(*root), clamped=True)
            last, c = plane.rigid(bodies["17"], elbow + (out + REFERENCE["beams"]["length"][2]) * u, angle)
            plane.join(plane.at(*tip), plane.at(last, -c), clamped=True)
    plane.join(*ends, clamped=False)
    plane.system.Assemble()
    found, _ = plane.system.ComputeODE2Eigenvalues(convert2Frequencies=True)
    return np.sort(found)[:6]


@pytest.mark.parametrize("elements", [1, 2, 4])
def test_frequencies(elements: int) -> None:
    found, expected = frequencies(elements), dualemps_frequencies(elements)
    assert np.allclose(found, expected, rtol=AGREEMENT, atol=0)
    modes = slice(None) if elements > 1 else slice(5)
    assert np.allclose(found[modes], expected[modes], rtol=BENDING, atol=0)


def test_the_comparison_can_fail() -> None:
    """Beams 0.1 % thicker are noticed."""
    width = REFERENCE["beams"]["width_bending"]
    REFERENCE["beams"]["width_bending"] = 1.001 * width
    try:
        found = frequencies(1)
    finally:
        REFERENCE["beams"]["width_bending"] = width
    assert np.abs(found / dualemps_frequencies(1) - 1).max() > 2 * AGREEMENT
