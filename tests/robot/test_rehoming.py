"""Variants whose lengths change: a robot of limited mobility is assembled at the nearest home; others keep theirs."""

from __future__ import annotations

import numpy as np
import pytest

import flexapod as fp
from flexapod.robot.mobility import loop_jacobian

CLOSED = 1e-12
"""Gap of all loops [m, rad] where Newton's method ends; found 2e-15."""
NEAREST = 0.02
"""Position [m]: the home nearest to that of the variant is beside the first one; found 5e-4."""


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("five-bar", {"legs.elbow.at": [0.27, 0, 0]}),
        ("five-bar", {"legs.left.crank.at": [-0.12, 0, 0], "legs.right.pin.at": [0.24, 0, 0]}),
        ("tripteron", {"legs.elbow.at": [0, 0.42, 0]}),
        ("planar-4-prr", {"legs.pin.at": [0.52, 0, 0]}),
        ("delta", {"legs.wrist.at": [0, 0, 0.82]}),
    ],
)
def test_loops_close_after_a_length_has_changed(name: str, changes: dict[str, list[float]]) -> None:
    robot = fp.load(name)
    variant = robot.with_parameters(changes)
    residual, _ = loop_jacobian(variant.legs, [leg.home for leg in variant.legs], variant.home)
    assert np.linalg.norm(residual) < CLOSED
    assert np.linalg.norm(variant.home.position - robot.home.position) < 0.1
    back = variant.with_parameters({path: robot.parameter(path) for path in changes})
    assert np.allclose(back.home.position, robot.home.position, rtol=0, atol=NEAREST)
    held = fp.inverse_dynamics(variant, fp.State(position=variant.home.position, rotation=variant.home.rotation))
    assert np.isfinite(held.force.values).all()


def test_a_robot_that_cannot_be_assembled_is_refused_by_name() -> None:
    short = {"legs.elbow.at": [0.03, 0, 0], "legs.left.tip.at": [0.03, 0, 0], "legs.right.pin.at": [0.03, 0, 0]}
    with pytest.raises(fp.FlexapodError, match="leg left does not close at home"):
        fp.load("five-bar").with_parameters(short)


def test_a_home_that_is_named_is_not_moved() -> None:
    robot = fp.load("stewart-3-3")
    assert robot.with_parameters({"home.position": [0, 0, 4.4]}).home.position[2] == 4.4
    assert robot.with_parameters({"platform.mass": 60}).home_from_file


def test_an_attached_flexible_platform_stays() -> None:
    import flexapod.flexible as flexible

    robot = fp.load("gough-stewart")
    joints = {leg.name: tuple(leg.closing.on_platform.position[:2]) for leg in robot.legs}
    plate = flexible.plate(
        outline=flexible.regular_outline(6, 0.5),
        thickness=0.015,
        young=2e10,
        poisson=0.3,
        density=7500,
        modes=3,
        interfaces=joints,
    )
    soft = robot.with_flexible_body("platform", plate)
    variant = soft.with_parameters({"legs.3.inertial.M": 6.0})
    assert variant.elastic_names == soft.elastic_names
    assert variant.structure == soft.structure
