"""Mobility of every robot by rank and by the count formula, as published."""

from __future__ import annotations

import numpy as np
import pytest

import flexapod as fp
from support.robots import FILES, robot_named, run

# name: (by rank, by formula, of the platform, actuators)
PUBLISHED = {
    "stewart-3-3": (6, 6, 6, 6),  # Staicu 2009: 6-UPS
    "gough-stewart": (6, 6, 6, 6),  # Long 2014: 6-UPS
    "hexapod": (6, 6, 6, 6),  # Sinatra 2009: 6-PUS
    "hexaslide": (6, 6, 6, 6),  # Kim 2002: 6-PUS
    "hexa": (6, 6, 6, 6),  # Pierrot 1991: 6-RUS
    "delta": (3, 3, 3, 3),  # Tsai and Stamper 1996: 3-RUU, three translations
    "tripteron": (3, 0, 3, 3),  # Gosselin and others 2004: over-constrained, the formula gives 0
    "planar-4-prr": (3, 3, 3, 4),  # Shao and others 2013: one actuator more than freedoms
    "five-bar": (2, 2, 2, 2),
    "dualemps": (2, 2, 2, 2),  # Briot 2014: PRRRP
    "dualemps-topology": (2, 2, 2, 2),  # the same with two elements
    "every-joint": (6, 6, 6, 6),
    "tilting-platform": (3, 3, 3, 3),
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_mobility_is_the_published_one(name: str) -> None:
    found = robot_named(name).mobility
    assert (found.rank, found.formula, found.platform, found.actuators) == PUBLISHED[name]


@pytest.mark.parametrize("name", FILES)
def test_plan_leaves_as_many_freedoms_as_the_platform_has(name: str) -> None:
    """The closing plan and the rank of all loops are counted differently and agree."""
    robot = robot_named(name)
    assert len(robot.plan.platform_independent) == robot.mobility.platform
    assert len(robot.plan.constraints) == 6 - robot.mobility.platform


def test_words() -> None:
    assert str(robot_named("tripteron").mobility) == (
        "mobility 3 by rank, 0 by the count formula; over-constrained: some constraints repeat"
    )
    assert str(robot_named("planar-4-prr").mobility) == (
        "mobility 3 by rank, 3 by the count formula; redundantly actuated (4 actuators)"
    )
    assert str(robot_named("stewart-3-3").mobility) == "mobility 6 by rank, 6 by the count formula"


@pytest.mark.parametrize("name", ["delta", "tripteron"])
def test_translational_robots_forbid_rotations_only(name: str) -> None:
    """What is left over forbids rotations, and no combination with a translation, at any pose."""
    robot = robot_named(name)
    random = np.random.default_rng(2)
    half = np.asarray(robot.sampling.position)
    state = fp.State(
        position=robot.home.position + random.uniform(-1, 1, (50, 3)) * half, rotation=np.tile(robot.home.rotation, (50, 1, 1))
    )
    outputs, status = run(fp.kernel(robot, "jacobian"), {"position": state.position, "rotation": state.rotation})
    assert np.all(status == 0)
    G = outputs["constraint_jacobian"]
    assert np.abs(G[:, :, :3]).max() < 1e-12
    assert np.all(np.linalg.svd(G[:, :, 3:], compute_uv=False)[:, 2] > 1e-3)
