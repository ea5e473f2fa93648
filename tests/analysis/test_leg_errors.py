"""What the verbs for flexible legs refuse, each in one sentence that names what is wrong and what would be right."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from leg_robots import moment, robot

import flexapod as fp

E = np.zeros(9)


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"elastic": np.zeros(8)}, r"elastic: expected shape \(9,\) or \(1, 9\), one entry per elastic coordinate, got \(8,\)"),
        ({"elastic": E, "elastic_velocity": np.zeros((2, 9))}, r"elastic_velocity: expected shape \(9,\) or \(1, 9\)"),
        ({"elastic": "rigid"}, "elastic: expected an array or one of 'static', 'zero', 'simulate', got 'rigid'"),
        ({"elastic": "given"}, "elastic: expected an array or one of 'static', 'zero', 'simulate', got 'given'"),
        ({"elastic": "static", "elastic_velocity": E}, "elastic_velocity: elastic='static' chooses the rates itself"),
        ({"elastic": "simulate"}, "elastic='simulate' of dualemps integrates along an ActuatorMotion"),
        ({"legs": "massless"}, "legs='massless': the legs of dualemps deform, and without mass their deformations have no"),
        ({"formulation": "virtual_work"}, "formulation='virtual_work': is derived for rigid robots alone"),
    ],
)
def test_options_of_inverse_dynamics(given: dict[str, Any], text: str) -> None:
    with pytest.raises(fp.errors.InputError, match=text):
        fp.inverse_dynamics(robot("dualemps"), moment([0.0, 0.0]), **given)


def test_shapes() -> None:
    r = robot("dualemps")
    with pytest.raises(fp.errors.InputError, match="position: dualemps has 2 actuators, the motion has 3"):
        fp.inverse_dynamics(r, moment([0.0, 0.0, 0.0]))
    with pytest.raises(fp.errors.InputError, match=r"position: expected shape \(2,\) or \(n, 2\), got \(3,\)"):
        fp.State.from_actuators(r, [0.0, 0.0, 0.0])
    with pytest.raises(fp.errors.InputError, match="force: expected shape"):
        fp.forward_dynamics(r, fp.State.from_actuators(r, [0, 0]), [1.0, 2.0, 3.0])
    with pytest.raises(fp.errors.InputError, match="elastic: stewart-3-3 is rigid and has no elastic coordinates; leave it out"):
        fp.State.from_actuators(fp.load("stewart-3-3"), np.zeros(6), elastic=np.zeros(3))
    with pytest.raises(fp.errors.InputError, match=r"dualemps has no point '1.17.tpi', did you mean '1.17.tip'"):
        fp.point_motion(r, moment([0, 0]), "1.17.tpi")


def test_coordinates() -> None:
    r = robot("dualemps")
    state = fp.State.from_actuators(r, [0, 0])
    with pytest.raises(fp.errors.InputError, match=r"needs mobility 6 .* dualemps has 11 DOF .* Use 'independent'"):
        fp.mass_matrix(r, state, coordinates="platform")
    with pytest.raises(fp.errors.InputError, match="coordinates"):
        fp.gravity_force(r, state, coordinates="joint")  # type: ignore[arg-type]


def test_poses() -> None:
    """Out of reach; elastic coordinates that do not fit the pose; both also as reasons of masked samples."""
    r = robot("dualemps")
    state = fp.State.from_actuators(r, [0, 0])
    e = np.array([1e-2 if name == "13.theta" else 0.0 for name in r.elastic_names])
    bent = fp.State(position=state.position, rotation=state.rotation, elastic=e)
    with pytest.raises(fp.errors.FlexapodError, match=r"contradict each other: rotation about y .* State.from_actuators"):
        fp.inverse_dynamics(r, bent)
    with pytest.raises(
        fp.errors.FlexapodError, match="the loops cannot be closed from here: out of reach, singular, or too far from the start"
    ):
        fp.inverse_dynamics(r, moment([[0.0, 0.0], [0.0, 5.0]]))
    found = fp.inverse_dynamics(r, moment([[0.0, 0.0], [0.0, 5.0]]), on_error="mask")
    assert found.valid.values.tolist() == [True, False]
    assert found.reason.values[1] != ""
    assert np.isnan(found.force.values[1]).all()
    assert np.isfinite(found.force.values[0]).all()
    far = fp.State(position=state.position + np.array([0.5, 0, 0]), rotation=state.rotation)
    with pytest.raises(
        fp.errors.FlexapodError, match="the platform cannot be brought to this pose: translation along x misses by"
    ):
        fp.static_deflection(r, far)
