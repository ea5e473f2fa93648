"""Joint reactions of robots with flexible bodies against the multipliers of the tests' own formulation."""

from __future__ import annotations

import numpy as np
import pytest
from beam_robots import model, random_state, robot
from package_models import inputs_of

from flexapod.analysis.model.closed_legs import ClosedLegs, LegRequest
from flexapod.analysis.model.general_dynamics import reactions, solve_inverse

AGREEMENT = 1e-8
"""Of the largest reaction: the oracle closes its loops to 1e-16 m, and beams have 1e8 N/m (see `STATES` of test_multipliers)."""


@pytest.mark.parametrize("name", ["dualemps", "planar-3-rrr", "gough-stewart-beams", "gough-stewart+platform"])
def test_reactions_are_the_multipliers(name: str) -> None:
    r, m = robot(name), model(name)
    s, wanted = random_state(name, 3)
    given = {key: np.ascontiguousarray(values[None]) for key, values in inputs_of(name, s).items()}
    state, words = ClosedLegs(**given), np.full(1, "", dtype=object)
    request = LegRequest(
        state=state, actuator_acceleration=wanted[None], acceleration=None, wrench=np.zeros((1, 6)), source="given"
    )
    found = solve_inverse(r, request, False, words)
    ours = reactions(r, state, found, words)
    assert words[0] == ""
    drive = m.inverse(s, wanted)
    theirs = m.reactions(s, drive)
    assert np.abs(found.force[0] - drive.force).max() < AGREEMENT * np.abs(drive.force).max()
    for part, key in ((slice(3), "reaction_force"), (slice(3, 6), "reaction_moment")):
        mine = ours[key][1][0]
        known = np.isfinite(mine)
        assert known.any()
        assert np.abs(mine - theirs[:, part])[known].max() < AGREEMENT * np.abs(theirs[known.any(axis=1)]).max()
    if not r.planar:
        assert np.isfinite(ours["reaction_force"][1]).all()
