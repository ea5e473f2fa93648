"""Mobility of every robot by rank and by the count formula, as published."""

from __future__ import annotations

import numpy as np
import pytest

import flexapod as fp
from flexapod.robot.mobility import loop_jacobian
from support.robots import FILES, LOOPS, robot_named, run

ROUNDING = 1e-12
"""Entries of twists and constraints of size 1 that vanish; found 3e-16."""

# name: (by rank, by formula, of the platform, actuators)
PUBLISHED = {
    "stewart-3-3": (6, 6, 6, 6),  # Staicu 2009: 6-UPS
    "gough-stewart": (6, 6, 6, 6),  # Long 2014: 6-UPS
    "hexapod": (6, 6, 6, 6),  # Sinatra 2009: 6-PUS
    "hexaslide": (6, 6, 6, 6),  # Kim 2002: 6-PUS
    "hexa": (6, 6, 6, 6),  # Pierrot 1991: 6-RUS
    "delta": (3, 3, 3, 3),  # Tsai and Stamper 1996: 3-RUU, three translations
    "tripteron": (3, 0, 3, 3),  # Gosselin and others 2004: over-constrained, the formula gives 0
    "planar-4-prr": (3, 3, 3, 4),  # Shao and others 2013: one actuator more than degrees of freedom
    "five-bar": (2, 2, 2, 2),
    "bench-6ups": (6, 6, 6, 6),
    "gough-stewart-flexible": (6, 6, 6, 6),
    "gough-stewart-flexible-legs": (6, 6, 6, 6),
    "hexaglide": (6, 6, 6, 6),  # Honegger and others 1997: 6-PUS
    "8-ups": (6, 6, 6, 8),  # Plummer 2010: two actuators more than needed
    "eclipse": (6, 6, 6, 8),  # Kim and others 2001: six, with two redundant actuators
    "3-rps": (3, 3, 3, 3),  # Lee and Shah 1988
    "3-prs": (3, 3, 3, 3),  # Carretero and others 2000
    "3-upu": (3, 3, 3, 3),  # Tsai 1996: three translations
    "3-puu": (3, 3, 3, 3),  # Li and Xu 2006: three translations
    "3-rsr": (3, 3, 3, 3),  # Canfield 1998
    "3-rrs-wrist": (3, 3, 3, 3),  # Di Gregorio 2004: three rotations, not over-constrained
    "3-ups-s": (3, 3, 3, 3),  # Innocenti and Parenti-Castelli 1993: three rotations
    "tricept": (3, 3, 3, 3),  # Siciliano 1999
    "agile-eye": (3, -3, 3, 3),  # Gosselin and Hamel 1994: three rotations, the formula gives -3
    "spherical-five-bar": (2, -1, 2, 2),  # Ouerfelli and Kumar 1994: a spherical loop counts three constraints too many
    "exechon": (3, 1, 3, 3),  # Bi and Jin 2011: two constraints repeat
    "4-ruu": (4, 2, 4, 4),  # Amine and others 2012: four constraints on two rotations
    "planar-3-rrr": (3, 3, 3, 3),  # Gosselin and Angeles 1988
    "planar-3-rrr-flexible": (3, 3, 3, 3),
    "planar-3-rpr": (3, 3, 3, 3),  # Merlet 1996
    "planar-3-prr": (3, 3, 3, 3),  # Gosselin and others 1996
    "planar-4-rrr": (3, 3, 3, 4),  # Van der Wijk and others 2013
    "delta-flexible": (3, 3, 3, 3),
    "delta-parallelograms": (3, 3, 3, 3),  # Clavel 1988: three translations, and no idle motion with universal joints at the arms
    "h4": (4, 4, 4, 4),  # Pierrot and Company 1999: three translations and a rotation
    "par4": (4, 0, 4, 4),  # Nabat and others 2005: three translations and a rotation
    "orthoglide": (3, -9, 3, 3),  # Wenger and Chablat 2000: three translations; each parallelogram repeats three constraints
    "hexapod-floating": (12, 12, 6, 6),  # six of the platform, six of the base
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
def test_plan_leaves_as_many_degrees_of_freedom_as_the_platform_has(name: str) -> None:
    """The closing plan and the rank of all loops are counted differently and agree."""
    robot = robot_named(name)
    assert len(robot.plan.platform_independent) == robot.mobility.platform
    assert len(robot.plan.constraints) == 6 - robot.mobility.platform


def test_every_robot_has_a_published_mobility() -> None:
    assert {*FILES, *LOOPS} == {*PUBLISHED}


def test_words() -> None:
    assert str(robot_named("tripteron").mobility) == (
        "mobility 3 by rank, 0 by the count formula; over-constrained: some constraints repeat"
    )
    assert str(robot_named("planar-4-prr").mobility) == (
        "mobility 3 by rank, 3 by the count formula; redundantly actuated (4 actuators)"
    )
    assert str(robot_named("stewart-3-3").mobility) == "mobility 6 by rank, 6 by the count formula"


@pytest.mark.parametrize("name", ["delta", "tripteron", "3-upu", "3-puu"])
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
    assert np.abs(G[:, :, :3]).max() < ROUNDING
    assert np.all(np.linalg.svd(G[:, :, 3:], compute_uv=False)[:, 2] > 1e-3)


# name: directions (translations, then rotations, in world axes) that the platform has at home, up to what follows them there
MOTIONS = {
    "3-rps": (2, 3, 4), "3-prs": (2, 3, 4), "3-rsr": (2, 3, 4), "3-upu": (0, 1, 2), "3-puu": (0, 1, 2), "4-ruu": (0, 1, 2, 5),
    "agile-eye": (3, 4, 5), "3-rrs-wrist": (3, 4, 5), "3-ups-s": (3, 4, 5), "spherical-five-bar": (3, 4),
}  # fmt: skip
SEEN_AT = {"3-rsr": (0.0, 0.0, -0.15)}  # in the plane of symmetry, which holds the axes of its rotations


@pytest.mark.parametrize("name", MOTIONS)
def test_platform_has_the_published_motions_at_home(name: str) -> None:
    """Every published direction is possible at home, and no combination of the others is."""
    robot = robot_named(name)
    _, J = loop_jacobian(robot.legs, [leg.home for leg in robot.legs], robot.home)
    _, s, Vt = np.linalg.svd(J)
    twists = Vt[int(np.sum(s > 1e-9 * s[0])) :, -6:]  # a basis of what the platform can do
    twists[:, :3] += np.cross(twists[:, 3:], SEEN_AT.get(name, (0.0, 0.0, 0.0)))
    others = [i for i in range(6) if i not in MOTIONS[name]]
    assert np.linalg.matrix_rank(twists[:, list(MOTIONS[name])], tol=1e-6) == len(MOTIONS[name]) == len(twists)
    assert np.abs(twists[:, others]).max() < ROUNDING
