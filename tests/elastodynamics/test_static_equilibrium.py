"""Static deflection of an over-constrained robot: at rest in the tests' own model, with the same holding forces."""

from __future__ import annotations

import numpy as np
from beam_robots import model, robot, sizes

import flexapod as fp

NAME = "tripteron-flexible"
REST = 1e-5
"""Largest elastic acceleration [m/s^2, rad/s^2] of the deflected robot; found 2e-7, undeflected it is above 1."""

FORCE = 1e-8
"""Of the largest force; found 1e-10."""
FITS = 1e-16
"""Elastic coordinates [m, rad] that closing the loops may change; found 9e-19."""
PLACE = 1e-13
"""Position [m] of the platform by another kinematics; found 1e-16."""


def test_deflected_robot_stays_at_rest() -> None:
    r, m = robot(NAME), model(NAME)
    held = fp.static_deflection(r, fp.State(position=r.home.position, rotation=r.home.rotation))
    e, none = held.elastic.values, np.zeros(3)
    home = dict(zip(r.coordinates, np.concatenate([leg.home for leg in r.legs]), strict=True))
    steps = held.actuator_position.values - [home[m.maximal.coordinate_names[k]] for k in m.driven]
    s = m.closed_state(steps, e, none, 0 * e, sizes(NAME))
    assert np.abs(s.e - e).max() < FITS
    assert np.abs(s.p[0] - held.position.values).max() < PLACE
    found = m.inverse(s, none)
    assert np.abs(found.elastic).max() < REST
    assert np.abs(found.force - held.force.values).max() < FORCE * np.abs(found.force).max()
    straight = m.closed_state(steps, 0 * e, none, 0 * e, sizes(NAME))
    assert np.abs(m.inverse(straight, none).elastic).max() > 1e5 * REST
