"""Independent coordinates of robots with flexible legs: counts by rank, actuators first, ties of over-constrained robots."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest

import flexapod as fp
from flexapod.analysis.model.alternative_rows import with_other_rows
from flexapod.analysis.model.contributions import with_values
from flexapod.robot.chosen_dependents import with_plan
from flexapod.robot.elastic_plan import loop_matrix
from flexapod.robot.plan import pivots
from support.kinds import document_of, robot_of

DATA = Path(__file__).parents[1] / "data" / "elastodynamics"
RANK = 1e-9
"""Singular values below this, of the largest, are zero; the next is above 1e-3."""

SAME = 1e-11
"""Of forces and lengths: the same mechanism closed in another order."""
DOUBTFUL = 1e-4
"""Singular values between RANK and this, of the largest, would leave the rank open."""
LIGHT = 1e-20
"""Of a plate of 70 kg and 1 m: root of its mass over its size is that of 1 ug and 1 mm, with a margin."""
NEAR_SINGULAR = 1e-2
"""Relative: rounding over a pivot of 1e-14; found 3e-4."""

ROBOTS = {"dualemps": 11, "planar-3-rrr": 21, "planar-3-rrr-springs": 24, "tripteron-flexible": 36, "gough-stewart-beams": 42}
"""Independent coordinates: degrees of freedom of the rigid robot, and every elastic coordinate that no loop ties to others."""


@cache
def robot(name: str) -> fp.Robot:
    return fp.load("dualemps" if name == "dualemps" else DATA / f"{name}.yaml")


def rank(matrix: np.ndarray) -> int:
    values = np.linalg.svd(matrix, compute_uv=False)
    assert not np.any((values > RANK * values[0]) & (values < DOUBTFUL * values[0])), "no doubtful singular values"
    return int(np.count_nonzero(values > RANK * values[0]))


@pytest.mark.parametrize("name", ROBOTS)
def test_what_is_solved_for_spans_the_loops(name: str) -> None:
    r = robot(name)
    plan = r.elastic_plan
    A = np.vstack(loop_matrix(r, plan.carrier, plan.first, len(plan.columns)))
    assert sorted(plan.independent + plan.bound) == list(range(len(plan.columns))), "every coordinate once"
    assert len(plan.independent) == len(plan.columns) - rank(A) == ROBOTS[name]
    assert rank(A[:, list(plan.bound)]) == len(plan.bound) == rank(A), "bound coordinates follow from the others"


@pytest.mark.parametrize("name", ROBOTS)
def test_actuators_and_deformations_are_independent(name: str) -> None:
    """In this order; elastic coordinates are bound only where loops tie them."""
    r = robot(name)
    n, ties = len(r.actuators), len(r.elastic_names) + len(r.actuators) - ROBOTS[name]
    assert r.independent[:n] == r.actuators
    assert set(r.independent[n:]) <= set(r.elastic_names)
    assert ties == (3 if name == "tripteron-flexible" else 0)


def test_the_platform_may_be_a_link() -> None:
    plan = robot("dualemps").elastic_plan
    assert plan.carrier == 0
    assert "vx" not in plan.columns
    assert robot("planar-3-rrr").elastic_plan.columns[:6] == ("vx", "vy", "vz", "wx", "wy", "wz")


def test_over_constrained_robots_tie_what_rigid_ones_could_not_have() -> None:
    """Each rigid leg of the Tripteron forbids two rotations, six in all, for three: three rotations of beams follow."""
    r = robot("tripteron-flexible")
    bound = set(r.elastic_names) - set(r.independent)
    assert all(name.split(".")[-1] in ("thx", "thy", "thz") for name in bound)


def test_light_platforms_have_the_plan_of_heavy_ones() -> None:
    """Mass-normalised modes of light plates have large shapes, which displace nothing else."""
    heavy = document_of("gough-stewart-flexible-legs")
    light = document_of("gough-stewart-flexible-legs")
    light["platform"]["flexible"].update(density=7500 * LIGHT, young=20e9 * LIGHT)
    assert robot_of(light).elastic_plan == robot_of(heavy).elastic_plan


def test_pivots() -> None:
    """Columns of the first group go first; later groups fill the rank; columns that repeat are left out."""
    A = np.array([[1.0, 2.0, 0.0, 5.0], [0.0, 0.0, 1.0, 5.0]])
    assert pivots(A, [[0, 1], [2, 3]]) == [1, 3]
    assert pivots(A, [[0], [1, 2]]) == [0, 2]
    assert pivots(A, [[0], [1]]) == [0]
    assert pivots(np.zeros((2, 3)), [[0, 1, 2]]) == []


def test_names() -> None:
    """Body, element from the second on, component; a drive through a spring by its joint."""
    names = robot("planar-3-rrr-springs").elastic_names
    assert names[:7] == (
        "A.root.s", "A.distal.u", "A.distal.v", "A.distal.theta", "A.distal.2.u", "A.distal.2.v", "A.distal.2.theta",
    )  # fmt: skip
    assert robot("gough-stewart-beams").elastic_names[:6] == tuple(f"1.rod.{k}" for k in ("u", "v", "w", "thx", "thy", "thz"))
    assert robot("dualemps").elastic_legs
    assert not fp.load("stewart-3-3").elastic_legs


def test_rows_are_chosen_again_where_those_of_home_are_singular(tmp_path: Path) -> None:
    """A drag link in space whose second crank comes upright: the row along y that closes it at home has no hold there."""
    crank, coupler, second, ground = 0.8, 0.7, 0.9, 0.3

    def meet(a: np.ndarray, ra: float, b: np.ndarray, rb: float, side: float) -> np.ndarray:
        """Where two circles meet, on a side of the line of their centres."""
        far = float(np.linalg.norm(b - a))
        along, u = (ra**2 - rb**2 + far**2) / (2 * far), (b - a) / far
        return np.asarray(a + along * u + side * np.sqrt(ra**2 - along**2) * np.array([-u[1], u[0]]))

    foot, pin = np.array([ground, 0.0]), crank * np.array([0.5, np.sqrt(0.75)])  # at home the crank is at 60 degrees
    end = meet(pin, coupler, foot, second, 1.0)
    above = meet(np.zeros(2), crank, np.array([ground, second]), coupler, 1.0)
    upright = float(np.arctan2(above[1], above[0]))
    rotation, start = (float(np.arctan2(d[1], d[0])) for d in (end - pin, end - foot))
    beam = "young: 70 GPa, poisson: 0.3, density: 2700, section: {shape: rectangle, width: 60 mm, height: 40 mm}"
    (tmp_path / "drag.yaml").write_text(f"""flexapod: 1
name: drag-link
source: written for this test
gravity: [0, -9.81, 0]
characteristic_length: 0.3
home: {{position: [{pin[0]}, {pin[1]}, 0], rotation: {{Z: {rotation}}}}}
platform: {{mass: 2, com: [0.45, 0, 0], inertia: {{diagonal: [0.01, 0.135, 0.135]}}}}
legs:
  each:
    one:
      joints:
        motor: {{type: revolute, from: base, to: crank, axis: [0, 0, 1], actuated: true, start: 60 deg}}
        pin: {{type: revolute, from: crank, to: platform, at: [{crank}, 0, 0], axis: [0, 0, 1]}}
      bodies: {{crank: {{flexible: {{type: beam, length: {crank}, {beam}}}}}}}
    two:
      joints:
        foot: {{type: revolute, from: base, at: [{ground}, 0, 0], to: second, axis: [0, 0, 1], start: {start}}}
        pin: {{type: revolute, from: second, to: platform, at: [{second}, 0, 0], on: [{coupler}, 0, 0], axis: [0, 0, 1]}}
      bodies: {{second: {{flexible: {{type: beam, length: {second}, {beam}}}}}}}
""")
    robot = fp.load(tmp_path / "drag.yaml")
    near = 2 * np.finfo(float).eps * np.arange(-100.0, 101.0)[:, None]  # one of them meets the place to the last bit
    motion = fp.ActuatorMotion(time=near[:, 0] * 1e15, position=upright + near, velocity=0 * near + 1, acceleration=0 * near)
    force = fp.inverse_dynamics(robot, motion, elastic=np.zeros((len(near), len(robot.elastic_names)))).force.values
    np.testing.assert_allclose(force, np.broadcast_to(force[0], force.shape), rtol=NEAR_SINGULAR)
    joints = np.concatenate([leg.home for leg in robot.legs])
    joints[list(robot.coordinates).index("two.foot")] = np.pi / 2 - start  # passive angles are counted from home
    again = with_other_rows(robot, {"joint_position": joints[None]}, 0)
    assert again is not None
    assert again.elastic_plan.independent == robot.elastic_plan.independent


ROD = "{mass: 0.7, com: [0.1, 0.02, 0.01], inertia: {diagonal: [0.002, 0.004, 0.005]}}"
PUCK = "{mass: 1.5, com: [0.01, 0.02, 0.03], inertia: {diagonal: [0.01, 0.02, 0.03]}}"
TABLE = """flexapod: 1
name: table
source: written for this test
gravity: [0.7, -9.81, 1.3]
characteristic_length: 0.3
home: {position: [0.02, 0.29, 0]}
platform: PLATFORM
legs:
  each:
    t: GROUND
"""
ARM = """    {name}:
      joints:
        motor: {{type: revolute, from: base, to: arm, at: [{at}, 0], axis: [0, 0, 1], actuated: true, start: {start}}}
        elbow: {{type: revolute, from: arm, to: rod, at: [0.25, 0, 0], axis: [0, 0, 1], start: {bent}}}
        pin: {{type: revolute, from: rod, to: END, at: [0.25, 0, 0], on: [{on}, 0], axis: [0, 0, 1]}}
      bodies: {{arm: ROD, rod: ROD}}
"""
ARMS = [("a", "0.3, 0", 2.2, 0.6, "0.05, 0"), ("b", "-0.3, 0", 0.9, -0.6, "-0.05, 0"), ("c", "0.1, 0.6", -1.9, 0.9, "0.06, 0.08")]


def on_a_table(tmp_path: Path, platform: str, ground: str, end: str) -> fp.Robot:
    arms = "".join(ARM.format(name=n, at=at, start=start, bent=bent, on=on) for n, at, start, bent, on in ARMS)
    text = TABLE.replace("PLATFORM", platform).replace("GROUND", ground) + arms.replace("END", end).replace("ROD", ROD)
    (tmp_path / "table.yaml").write_text(text)
    return fp.load(tmp_path / "table.yaml")


@pytest.mark.compiled
def test_actuators_are_independent_where_legs_end_on_a_link_with_loops_of_its_own(tmp_path: Path) -> None:
    """A puck that floats on a table is the platform, or a link of a leg that is called so: the same forces and poses."""
    slide = "{type: planar, from: base, to: END, axis: [0, 0, 1]}"
    plain = on_a_table(tmp_path, PUCK, f"{{joints: {{ground: {slide}}}}}".replace("END", "platform"), "platform")
    own = f"{{joints: {{free: {{type: free, from: base, to: puck}}, ground: {slide}}}, bodies: {{puck: {PUCK}}}}}"
    link = on_a_table(tmp_path, "{body: t.puck}", own.replace("END", "puck"), "t.puck")
    assert link.independent == link.actuators
    at = fp.State(position=[0.03, 0.27, 0], velocity=[0.2, -0.1, 0], angular_velocity=[0, 0, 0.5])
    one, two = (fp.inverse_dynamics(r, at).force.values for r in (plain, link))
    np.testing.assert_allclose(two, one, rtol=SAME)
    q = fp.inverse_kinematics(link, at).actuator_position.values
    np.testing.assert_allclose(fp.forward_kinematics(link, q).position.values, at.position, rtol=0, atol=SAME)


def test_another_plan_keeps_the_numbers_of_a_variant() -> None:
    """Numbers that were changed without a new file are those of the robot with the other plan as well."""
    r = robot("dualemps")
    heavy = with_values(r, {"platform.mass": 7.5})
    other = with_plan(heavy, r.elastic_plan)
    assert other.values["platform.mass"] == 7.5
    assert other.independent == r.independent
    assert not other.kept
