"""Inertias that no body can have: refused, allowed on request; grouped parameters are judged by the robot's mass matrix."""

from __future__ import annotations

import numpy as np
import pytest

import flexapod as fp
from flexapod.robot.mobility import loop_jacobian
from flexapod.robot.positive_mass import free_mass_matrix
from support.kinds import document_of, robot_of

SAME = 1e-9
"""Mass matrices from kernels and from body twists: rounding of sums of inertias over a condition number of 1e3."""


@pytest.mark.parametrize("name", [*fp.catalogue()])
def test_every_catalogue_robot_is_physical(name: str) -> None:
    robot = fp.load(name)
    if not robot.elastic_legs and robot.flexible_platform is None:
        M = free_mass_matrix(robot, [leg.home for leg in robot.legs], robot.home)
        assert np.linalg.eigvalsh(M)[0] > 0.0


def test_mass_matrix_agrees_with_the_kernel() -> None:
    """Eigenvalues of both over the platform's motion: kinetic energies of the same twists."""
    robot = fp.load("gough-stewart")
    M = fp.mass_matrix(robot, fp.State(position=robot.home.position, rotation=robot.home.rotation)).values
    free = free_mass_matrix(robot, [leg.home for leg in robot.legs], robot.home)
    length = robot.characteristic_length
    _, J = loop_jacobian(robot.legs, [leg.home for leg in robot.legs], robot.home)
    scale = np.array([*[length if u == "m" else 1.0 for u in robot.coordinate_units], *[length] * 3, 1.0, 1.0, 1.0])
    _, s, Vt = np.linalg.svd(J * scale)
    twist = (scale[:, None] * Vt[int(np.sum(s > 1e-8 * s[0])) :].T)[-6:]
    np.testing.assert_allclose(free, twist.T @ M @ twist, rtol=0, atol=SAME * np.abs(free).max())


def test_a_negative_mass_matrix_is_refused() -> None:
    document = document_of("gough-stewart")
    document["platform"].pop("inertia", None)
    for key in ("mass", "com"):
        document["platform"].pop(key, None)
    document["platform"]["base_parameters"] = {"M": 1.0, "XX": -900.0, "YY": 1.0, "ZZ": 1.0}
    with pytest.raises(fp.FlexapodError, match=r"gough-stewart: the mass matrix is not positive definite \(smallest"):
        robot_of(document)
    document["allow_unphysical"] = True
    assert robot_of(document).name == "gough-stewart"


def test_variants_are_judged_too() -> None:
    with pytest.raises(fp.FlexapodError, match="no body has this inertia"):
        fp.load("tripteron").with_parameters({"platform.inertia.zz": 0.1})
    near = fp.load("planar-4-prr").with_parameters({"platform.inertia.zz": 0.020001})
    assert near.parameter("platform.inertia.zz") == 0.020001  # equality within rounding passes


def test_what_has_no_mass_has_no_inertia() -> None:
    robot = fp.load("stewart-3-3")
    with pytest.raises(fp.FlexapodError, match=r"platform\.inertia: no body has this inertia: its mass is zero"):
        robot.with_parameters({"platform.mass": 0.0})
    with pytest.raises(fp.FlexapodError, match=r"payloads\.payload\.inertia: no body has this inertia: its mass is zero"):
        robot.with_payload(0, inertia=[1, 1, 1])
    at = fp.State(position=robot.home.position)
    with pytest.raises(fp.FlexapodError, match="design 0: platform: no body has this inertia"):
        fp.mass_matrix(robot, at, parameters={"platform.mass": [0.0, 1.0]})
    document = document_of("stewart-3-3")
    document["platform"]["mass"] = 0.0
    with pytest.raises(fp.FlexapodError, match="its mass is zero"):
        robot_of(document)
    document["allow_unphysical"] = True
    with pytest.warns(UserWarning, match="its mass is zero"):
        assert robot_of(document).platform.mass == 0.0
    document["platform"]["inertia"] = {"diagonal": [0, 0, 0]}
    document["allow_unphysical"] = False
    assert robot_of(document).platform.mass == 0.0  # a platform without mass
