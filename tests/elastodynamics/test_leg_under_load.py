"""A leg of a 6-UPS robot in its plane: pivot, driven slide, flexible rod, pivot; its bending frequency under axial load."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import numpy as np
import pytest
from beam_alone import hub

import flexapod as fp

FILE = """
flexapod: 1
name: loaded-leg
source: closed form of a beam between two pivots
gravity: [0, 0, 0]
plane: xy
home: {position: [1, 0, 0]}
platform: {mass: 2, inertia: {diagonal: [1e-3, 1e-3, 1e-3]}}
legs:
  each:
    leg:
      joints:
        pivot: {type: revolute, from: base, to: cylinder, axis: [0, 0, 1]}
        slide: {type: prismatic, from: cylinder, to: rod, axis: [1, 0, 0], actuated: true}
        end: {type: revolute, from: rod, to: platform, at: [1, 0, 0], axis: [0, 0, 1]}
      bodies:
        cylinder: {}
        rod:
          flexible:
            {type: beam, length: 1, elements: 3, young: 70e9, density: 2700,
             section: {shape: rectangle, width: 0.01, height: 0.02}}
    guide:
      joints:
        rail: {type: prismatic, from: base, to: platform, at: [1, 0, 0], axis: [1, 0, 0]}
"""
EI, MASS = 70e9 * 0.02 * 0.01**3 / 12, 2700 * 2e-4
EULER = np.pi**2 * EI
THREE = 5e-3
"""Frequency and load of three elements between two pivots: 8e-4 without load, 4.2e-3 at 0.8 of the buckling load, where an error
of the load (1.7e-3) counts five times."""


@cache
def leg() -> fp.Robot:
    file = Path(mkdtemp()) / "loaded-leg.yaml"
    file.write_text(FILE)
    return fp.load(file)


@pytest.mark.full
@pytest.mark.parametrize("part", [-0.8, -0.4, 0.0, 1.0])
def test_frequency_of_a_leg_under_its_load(part: float) -> None:
    """omega = (pi/L)^2 sqrt(EI/m) sqrt(1 + P/P_E), load on the platform, actuator locked."""
    found = fp.natural_frequencies(leg(), hub(), wrench=[part * EULER, 0, 0, 0, 0, 0])
    exact = np.pi**2 * np.sqrt(EI / MASS) * np.sqrt(1 + part)
    assert 2 * np.pi * found.frequency.values[0, 0] == pytest.approx(exact, rel=THREE)


@pytest.mark.full
def test_the_leg_buckles_at_eulers_load() -> None:
    found = fp.buckling(leg(), hub(), [-1000.0, 0, 0, 0, 0, 0])
    assert float(found.critical_load[0, 0]) == pytest.approx(-EULER, rel=THREE)
