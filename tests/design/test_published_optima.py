"""Optimisation finds optima of the literature: the cubic Gough platform and the isotropic planar 3-RPR."""

from pathlib import Path

import numpy as np
import pytest

import flexapod as fp

FOUND = 1e-6
"""Of a length: the simplex ends at 1e-10 of the ranges, and the objective is an edge there, not flat."""

K = 1e7
"""[N/m] stiffness of an actuator."""
DEGREES = 1e-4
"""[deg]: an angle printed with four decimals, and FOUND in radians."""


@pytest.mark.parametrize("method", ["slsqp", pytest.param("ipopt", marks=pytest.mark.full)])
def test_cubic_gough_platform(method: str) -> None:
    """Legs along the edges of a cube: stiffness 2 k in every direction (Geng, Haynes 1994; Preumont et al. 2007).

    Triangles of radius R, turned by 60 degrees, h apart, cos^2 = x of the legs to the vertical: K = k diag(3(1-x), 3(1-x), 6x)
    for forces at the middle, where they do not rotate the platform. The smallest is largest, 2 k, at x = 1/3: h = R/sqrt(2),
    54.7356 degrees.
    """
    robot, R = fp.load("stewart-3-3"), 2.5
    variables = {"base": fp.Variable(1, 4.2, paths="legs.*.hip.at.z"), "plate": fp.Variable(0.2, 2, paths="legs.*.ball.on.z")}
    wanted = fp.Criterion(name="stiffness", options={"stiffness": K})
    found = fp.optimise(robot, variables, wanted, method=method, searches=2, plan=32).table
    plate, base = float(found["plate"][0]), float(found["base"][0])
    height = robot.home.position[2] + plate - base
    assert float(found["stiffness"][0]) == pytest.approx(2 * K, rel=FOUND)
    assert height == pytest.approx(R / np.sqrt(2), abs=FOUND * R)
    assert plate == pytest.approx(height / 2, abs=FOUND * R)
    angle = np.degrees(np.arccos(height / np.hypot(height, R)))  # of a leg between corners 60 degrees apart, R from each other
    assert angle == pytest.approx(54.7356, abs=DEGREES)


def test_isotropic_planar_3_rpr() -> None:
    """Condition number 1 where the characteristic length is L = sqrt(2) r sin(gamma), gamma between arm and leg.

    Chablat, Wenger, Caro, Angeles (2002), for planar robots with three legs that push along lines at 120 degrees: rows
    (n_i, r sin(gamma)/L) with sum n n^T = 3/2 I, so that 3 (r sin(gamma)/L)^2 = 3/2. With base radius R and arms a quarter
    revolution ahead, sin(gamma) = R / sqrt(R^2 + r^2): r = L R / sqrt(2 R^2 - L^2), which is 1 m for R = L = 1 m.
    """
    robot = fp.load(Path(__file__).parent / "planar-3-rpr.yaml")
    one = fp.optimise(robot, {"arm": fp.Variable(0.4, 1.8, paths="legs.pin.on.y")}, "worst_condition", searches=2, plan=16)
    assert float(one.table["worst_condition"][0]) == pytest.approx(1.0, abs=FOUND)
    assert float(one.table["arm"][0]) == pytest.approx(1.0, abs=FOUND)


@pytest.mark.full
def test_isotropic_planar_3_rpr_of_two_variables() -> None:
    """As above with arm and base free: every optimum satisfies L^2 (r^2 + R^2) = 2 r^2 R^2; a thousand designs are built."""
    robot = fp.load(Path(__file__).parent / "planar-3-rpr.yaml")
    variables = {"arm": fp.Variable(0.4, 1.8, paths="legs.pin.on.y"), "base": fp.Variable(0.8, 1.6, paths="legs.root.at.x")}
    two = fp.optimise(robot, variables, "worst_condition", searches=2, plan=16).table
    r, R = float(two["arm"][0]), float(two["base"][0])
    assert float(two["worst_condition"][0]) == pytest.approx(1.0, abs=FOUND)
    assert np.sqrt(2) * r * R / np.hypot(r, R) == pytest.approx(1.0, abs=FOUND)
