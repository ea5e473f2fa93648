"""Friction: laws as printed, reference values, laws and coupling on every robot, contributions, statuses.

Truth for every robot: friction recomputed in NumPy from the kernel's own reactions and independent joint rates (so the
coupling is checked), free bodies with that friction as a known load, and the power that it takes.
"""

import csv
import json
from dataclasses import replace
from functools import cache
from pathlib import Path

import casadi as ca
import maximal_coordinates as free_bodies
import numpy as np
import pytest

import flexapod
from flexapod.analysis.model.kernels import RobotKernel, kernel
from flexapod.analysis.verbs.inverse_kinematics import solve_from_starts
from flexapod.analysis.verbs.sampling import random_states
from flexapod.description.schema import Friction
from flexapod.equations.friction import Coefficients, axis_friction, bearing_load, guide_load, vector_friction
from flexapod.equations.friction.sliding import sign_of_rate, unit_direction
from flexapod.equations.newton_euler import CONTRIBUTION_NAMES, newton_euler, reaction_names, undetermined
from flexapod.equations.newton_euler.coupled_loads import LegLoading, coupled_loads
from flexapod.equations.newton_euler.fixed_point import fixed_point
from flexapod.errors import InputError
from flexapod.kernels.tape.program import Program
from flexapod.robot.leg_positions import link_poses
from flexapod.robot.named_values import guide_axes
from flexapod.spatial import Vec
from support.plain import compile_kernel, plain_kernel

DATA = Path(__file__).parents[1] / "data"

REFERENCE = 1e-11
"""Relative to the largest entry; the coupling is solved to 1e-12 on both sides. Measured: forces 3.9e-15, friction 2.8e-14,
reactions 1.2e-13 (moments of the universal joints, a thousandth of the other moments)."""

LAW = 1e-11
"""Friction against its law with the kernel's own reactions, relative to the largest: the coupling stops at a change of 1e-13;
measured 2.5e-15."""

TRUTH = 1e-11
"""Free bodies, relative to the largest force: rounding times the condition of the full system; measured below 4e-15."""

SUM = 1e-12
"""Frozen contributions against the force, relative: nothing but rounding."""
FORMULA = 1e-15
"""Of sums of a few numbers: the last digit."""
GUIDES = 1e-14
"""Entries of unit vectors from two cross products; found 1e-16."""
LINEAR_MAP = 1e-12
"""Of a fixed point of size 5: the search ends at a change of 1e-13; found 4e-16."""


def number(expression):
    return np.array(ca.DM(ca.evalf(ca.SX(getattr(expression, "expr", expression))))).ravel()


# -- laws ----------------------------------------------------------------------------------------------
def test_direction_of_a_motion():
    assert [float(number(sign_of_rate(v))[0]) for v in (-2.0, -1e-13, 0.0, 1e-13, 1e-11)] == [-1.0, 0.0, 0.0, 0.0, 1.0]
    assert number(sign_of_rate(0.3, 0.1))[0] == pytest.approx(np.tanh(3.0), rel=FORMULA, abs=0)
    assert np.allclose(number(unit_direction(Vec([3.0, 0.0, -4.0], "W"))), [0.6, 0.0, -0.8], rtol=0, atol=FORMULA)
    assert not number(unit_direction(Vec([1e-13, 0.0, 0.0], "W"))).any()
    smooth = number(unit_direction(Vec([3.0, 0.0, -4.0], "W"), 2.5))
    assert np.allclose(smooth, np.tanh(2.0) * np.array([0.6, 0.0, -0.8]), rtol=0, atol=FORMULA)


def test_axis_friction_adds_viscous_coulomb_preload_and_load():
    c = Coefficients(numbers={"viscous": 0.5, "coulomb": 2.0, "preload": 0.25, "normal": 0.1})
    assert number(axis_friction(c, 3.0, 40.0))[0] == pytest.approx(-(1.5 + 2.0 + 0.25 + 4.0), rel=FORMULA, abs=0)
    assert number(axis_friction(c, -3.0, 40.0))[0] == pytest.approx(1.5 + 2.0 + 0.25 + 4.0, rel=FORMULA, abs=0)
    assert number(axis_friction(c, 0.0, 40.0))[0] == 0.0


def test_vector_friction_opposes_the_angular_velocity():
    c = Coefficients(numbers={"viscous": 0.5, "coulomb": 2.0, "reaction": 0.006})
    w = np.array([1.0, -2.0, 2.0])
    expected = -0.5 * w - (2.0 + 0.006 * 50.0) * w / 3.0
    assert np.allclose(number(vector_friction(c, Vec(list(w), "W"), 50.0)), expected, rtol=FORMULA, atol=0)


def test_loads_of_guides_and_bearings():
    loads = {rule: number(guide_load(-3.0, 4.0, rule))[0] for rule in ("abs_sum", "norm", "literal")}
    assert loads == {"abs_sum": 7.0, "norm": 5.0, "literal": -7.0}
    assert number(bearing_load(Vec([2.0, -3.0, 6.0], "W")))[0] == 7.0


def test_guide_axes_are_those_of_the_reference():
    """HexaSlide exactly; the reference has u of the Hexapod, which has no friction, the other way round."""
    for name, sign in (("hexaslide", 1.0), ("hexapod", -1.0)):
        for leg in json.loads((DATA / "reference" / f"{name}.json").read_text())["legs"]:
            u, v = guide_axes(np.array(leg["rail_direction"]))
            assert np.abs(u - sign * np.array(leg["guide_normal_u"])).max() < GUIDES
            assert np.abs(v - np.array(leg["guide_normal_v"])).max() < GUIDES
    u, v = guide_axes(np.array([0.0, 0.0, 1.0]))
    assert np.abs(np.cross(u, v)).max() == 1.0


@pytest.mark.parametrize("radius", [0.3, 1.5])
def test_fixed_point_of_a_linear_map(radius):
    """Also where plain repetition runs away: two differences solve two unknowns."""
    b = Program("linear")
    c = b.input("c", (2,))
    A = np.array([[-radius, 0.2], [0.0, 0.4]])
    y, converged = fixed_point(b, lambda _, y: ca.mtimes(ca.DM(A), y) + c, 2, limit=60, tolerance=1e-13)
    b.output("y", y)
    b.output("converged", converged)
    given = np.array([[1.0, 2.0], [-3.0, 0.5]])
    outputs = compile_kernel(b, backend="numpy").batch({"c": given}).outputs
    assert outputs["converged"].all()
    assert np.abs(outputs["y"] - given @ np.linalg.inv(np.eye(2) - A).T).max() < LINEAR_MAP


def coupled(strength, backend="numpy"):
    """Two legs of two bearings each, tied by an acceleration z: A z + sum B y = c, y = |P + L y + K z| place by place."""
    random = np.random.default_rng(5)
    A = np.eye(2) + 0.1 * random.normal(size=(2, 2))
    maps = [(strength * random.normal(size=(2, 2)), random.normal(size=6) * 10, strength * random.normal(size=(6, 2)),
             random.normal(size=(6, 2))) for _ in range(2)]  # fmt: skip
    b = Program("coupled")
    c = b.input("c", (2,))

    def loads(f):
        sizes = [ca.sqrt(ca.dot(f[k : k + 3], f[k : k + 3])) for k in (0, 3)]
        slopes = ca.SX(2, 6)
        slopes[0, :3], slopes[1, 3:] = f[:3].T, f[3:].T
        return ca.vertcat(*sizes), ca.vertcat(*sizes), slopes

    legs = [LegLoading(*map(ca.SX, own), loads) for own in maps]  # B, P, L, K
    y, z, converged = coupled_loads(b, ca.SX(A), c, legs)
    for name, value in (("y", ca.vertcat(*y)), ("z", z), ("converged", converged)):
        b.output(name, value)
    given = np.random.default_rng(6).normal(size=(50, 2)) * 5
    return A, maps, given, compile_kernel(b, backend=backend).batch({"c": given}).outputs


@pytest.mark.parametrize("strength", [0.01, 0.2])
def test_coupled_loads_fulfil_both_equations(strength):
    A, maps, given, found = coupled(strength)
    assert found["converged"].all()
    rest = given - found["z"] @ A.T
    for k, (B, P, L, K) in enumerate(maps):
        y = found["y"][:, 2 * k : 2 * k + 2]
        f = P + y @ L.T + found["z"] @ K.T
        assert np.abs(np.linalg.norm(f.reshape(-1, 2, 3), axis=2) - y).max() < LAW * np.abs(y).max()
        rest = rest - y @ B.T
    assert np.abs(rest).max() < LAW * np.abs(given).max()


def test_coupled_loads_that_lock_are_reported():
    """Friction that grows faster than the load it carries: no loads fit, and none are called so."""
    found = coupled(30.0)[-1]
    assert not found["converged"].all()


def test_fixed_point_that_does_not_exist():
    b = Program("away")
    c = b.input("c", (2,))
    _, converged = fixed_point(b, lambda _, y: ca.fabs(y) + ca.fabs(c), 2, limit=60, tolerance=1e-13)
    b.output("converged", converged)
    assert not compile_kernel(b, backend="numpy").batch({"c": np.ones((1, 2))}).outputs["converged"].any()


# -- reference -----------------------------------------------------------------------------------------
def read(file):
    with (DATA / "reference" / f"{file}.csv").open() as stream:
        rows = list(csv.reader(stream))
    return {name: np.array([float(row[i]) for row in rows[1:]]) for i, name in enumerate(rows[0]) if name != "segment"}


def vectors(table, name):
    return np.stack([table[f"{name}_{c}"] for c in "xyz"], axis=1)


def motion_of(table):
    count = len(table["t"])
    rotation = np.stack([table[f"R_{i}{j}"] for i in "123" for j in "123"], axis=1).reshape(count, 3, 3)
    names = {"position": "p", "velocity": "v", "acceleration": "a", "angular_velocity": "w", "angular_acceleration": "alpha"}
    return {name: vectors(table, key) for name, key in names.items()} | {"rotation": rotation, "wrench": np.zeros((count, 6))}


@cache
def hexaslide(contributions=None):
    """Reference motion and results (without contributions on the LLVM backend), samples with a sliding speed of zero left out."""
    robot, table = flexapod.load("hexaslide"), read("hexaslide_circle40rpm_friction")
    if contributions is None:
        outputs = kernel(robot, "newton_euler").batch(motion_of(table)).outputs
    else:
        outputs = run(robot, motion_of(table), contributions=contributions)
    moving = np.all(np.abs(np.stack([table[f"lamd_{i}"] for i in "123456"])) > 1e-12, axis=0)
    assert moving.sum() > 50
    return {k: v[moving] for k, v in table.items()}, {k: v[moving] for k, v in outputs.items()}, moving


def close(ours, theirs, tolerance=REFERENCE, floor=0.0):
    assert np.abs(ours - theirs).max() < tolerance * max(np.abs(theirs).max(), floor)


def test_reference_friction_forces_and_reactions():
    table, outputs, _ = hexaslide()
    robot, names = flexapod.load("hexaslide"), reaction_names(flexapod.load("hexaslide"))
    close(outputs["force"], np.stack([table[f"f_{i}"] for i in "123456"], axis=1))
    for i, leg in zip("123456", robot.legs, strict=True):
        at = {joint: names.index(f"{i}.{joint}") for joint in ("rail", "hip.1", "hip.2", "ball")}
        rail = leg.links[0].placement.rotation[:, 2]
        close(outputs["friction_force"][:, at["rail"]] @ rail, table[f"fs_{i}"])
        moments = outputs["friction_moment"]
        close(moments[:, at["hip.1"]] + moments[:, at["hip.2"]], vectors(table, f"fu_{i}"))
        close(-moments[:, at["ball"]], vectors(table, f"fp_{i}"))  # on the leg from the platform
        for key, joint in (("FU1", "hip.1"), ("FU2", "hip.2"), ("N", "rail")):
            close(outputs["reaction_force"][:, at[joint]], vectors(table, f"{key}_{i}"))
        for key, joint in (("MU1", "hip.1"), ("MU2", "hip.2")):
            close(outputs["reaction_moment"][:, at[joint]], vectors(table, f"{key}_{i}"))
        close(outputs["reaction_moment"][:, at["rail"]], vectors(table, f"Mguide_{i}"))
        close(-outputs["reaction_force"][:, at["ball"]], vectors(table, f"FS_{i}"))


def test_reference_contributions_alone():
    _, outputs, moving = hexaslide("alone")
    parts = read("hexaslide_circle40rpm_parts")
    columns = {
        "linkinertia": "leg_inertia", "fric_slider": "friction_prismatic",
        "fric_U": "friction_universal", "fric_S": "friction_spherical",
    }  # fmt: skip
    for key, name in columns.items():
        theirs = np.stack([parts[f"{key}_{i}"][moving] for i in "123456"], axis=1)
        close(outputs["force_contribution"][:, CONTRIBUTION_NAMES.index(name)], theirs)
    assert 0.6 < np.abs(outputs["force_contribution"].sum(1) - outputs["force"]).max() < 0.7  # does not add up: 0.65 N


def test_frozen_contributions_add_up():
    _, outputs, _ = hexaslide("frozen")
    close(outputs["force_contribution"].sum(1), outputs["force"], SUM)
    share = {name: np.abs(outputs["force_contribution"][:, i]).max() for i, name in enumerate(CONTRIBUTION_NAMES)}
    assert share["wrench"] == share["friction_revolute"] == 0.0
    assert min(share["gravity"], share["platform_inertia"], share["leg_inertia"], share["drive_inertia"]) > 0.1
    # Kim section 4.3: friction of universal and spherical joints is small against that of the sliders and the whole
    assert max(share["friction_universal"], share["friction_spherical"]) < 0.5 * share["friction_prismatic"]


# -- every robot ----------------------------------------------------------------------------------------
SIGN = {"direction": "vector", "normal_rule": "abs_sum"}
SMOOTH = {"direction": "per_axis", "normal_rule": "norm", "speed": 0.05}
LITERAL = {"direction": "per_axis", "normal_rule": "literal"}
CASES = [
    ("stewart-3-3", LITERAL), ("gough-stewart", SMOOTH), ("hexapod", SMOOTH), ("hexaslide", LITERAL), ("hexa", SIGN),
    ("delta", SIGN), ("delta", SMOOTH), ("tripteron", SIGN), ("five-bar", SIGN), ("planar-4-prr", SMOOTH), ("planar-3-rrp", SIGN),
]  # fmt: skip


@cache
def plain_robot(name):
    own = DATA / "virtual_work" / f"{name}.yaml"
    return flexapod.load(own if own.exists() else name)


def with_friction_law(robot, rule, loaded=True):
    """The robot with friction in every joint."""

    def law(linear):
        load = {"normal": 0.15} if linear else {"reaction": 0.02 * robot.characteristic_length}
        return Friction(viscous=0.3, coulomb=0.2, preload=0.1 if linear else 0.0, **(load if loaded else {}), **rule)

    legs = []
    for leg in robot.legs:
        links = tuple(link if link.kind == "fixed" else replace(link, friction=law(link.kind == "P")) for link in leg.links)
        closing = leg.closing
        if closing.type != "fixed":
            closing = replace(closing, friction=law(closing.type == "prismatic"))
        legs.append(replace(leg, links=links, closing=closing))
    result = replace(robot, legs=tuple(legs))
    return replace(result, zeros=frozenset(name for name, value in result.values.items() if value == 0.0))


@cache
def solved(name, rule_items, contributions=None):
    robot = plain_robot(name)
    forces_known = not undetermined(robot).mask[:, 0].any()
    with_law = with_friction_law(robot, dict(rule_items), forces_known)
    states = random_states(robot, 5, seed=4)
    states["wrench"] = np.random.default_rng(4).normal(size=(5, 6)) * 5.0
    return with_law, states, run(with_law, states, contributions=contributions)


def run(robot, states, **options):
    batch = run_batch(robot, states, **options)
    assert not batch.status.any()
    return batch.outputs


def run_batch(robot, states, **options):
    program = newton_euler(robot, **options)
    bound = RobotKernel(robot, plain_kernel(program, robot.zeros))
    batch, _ = solve_from_starts(bound, {i.name: states[i.name] for i in program.signature.inputs if i.name != "guess"})
    return batch


def law(f, rate, load):
    s = np.tanh(rate / f.speed) if f.speed is not None else (0.0 if abs(rate) < 1e-12 else np.sign(rate))
    return -(f.viscous * rate + (f.coulomb + f.preload + load) * s)


def moment_law(f, w, load):
    size = np.linalg.norm(w)
    s = np.tanh(size / f.speed) if f.speed is not None else 1.0
    return -f.viscous * w - (f.coulomb + load) * s * w / size


def guide_term(f, N, axes):
    u, v = axes[0] @ N, axes[1] @ N
    return f.normal * {"abs_sum": abs(u) + abs(v), "norm": np.hypot(u, v), "literal": u - v}[f.normal_rule]


def expected_friction(robot, states, found, outputs, k):
    """Friction (joints, 6) by its laws, from the reactions in `outputs`."""
    twists = free_bodies.relative_twists(robot, states, found)[k]
    forces, rows, joint, at = outputs["reaction_force"][k], [], 0, 0
    for leg in robot.legs:
        poses = link_poses(leg, found["joint_position"][k, at : at + len(leg.moving)])
        home = link_poses(leg, leg.home)
        for i, link in enumerate(leg.links):
            f, (R, _) = link.friction, poses[i]
            z, row = R[:, 2], np.zeros(6)
            group = [j for j, other in enumerate(leg.links) if other.joint == link.joint]
            if f is None:
                pass
            elif link.kind == "P":
                axes = [R @ home[i][0].T @ axis for axis in guide_axes(home[i][0][:, 2])]
                row[:3] = z * law(f, twists[joint, :3] @ z, guide_term(f, forces[joint], axes))
            elif len(group) == 1 or f.direction == "per_axis":
                row[3:] = z * law(f, twists[joint, 3:] @ z, f.reaction * np.linalg.norm(forces[joint]))
            else:
                first = joint - (i - group[0])
                w = twists[first : first + len(group), 3:].sum(0)
                row[3:] = z * (z @ moment_law(f, w, f.reaction * np.linalg.norm(forces[first + len(group) - 1])))
            rows.append(row)
            joint += 1
        rows.append(closing_friction(leg, poses, home, states["rotation"][k], twists[joint], forces[joint]))
        joint += 1
        at += len(leg.moving)
    return np.array(rows)


def closing_friction(leg, poses, home, platform_R, twist, force):
    c, row = leg.closing, np.zeros(6)
    f = c.friction
    if f is None:
        return row
    R_l, R_p = poses[c.link][0] @ c.on_link.rotation, platform_R @ c.on_platform.rotation
    load = f.reaction * np.linalg.norm(force)
    if c.type == "prismatic":
        z, R0 = R_l[:, 2], home[c.link][0] @ c.on_link.rotation
        row[:3] = z * law(f, twist[:3] @ z, guide_term(f, force, [R_l @ R0.T @ axis for axis in guide_axes(R0[:, 2])]))
    elif c.type == "revolute":
        row[3:] = R_l[:, 2] * law(f, twist[3:] @ R_l[:, 2], load)
    elif f.direction == "vector":
        row[3:] = moment_law(f, twist[3:], load)
    else:
        axes = R_p.T if c.type == "spherical" else [R_l[:, 2], R_p[:, 2]]
        row[3:] = sum(axis * law(f, twist[3:] @ axis, load) for axis in axes)
    return row


@pytest.mark.parametrize(("name", "rule"), CASES)
def test_friction_obeys_its_laws_with_the_final_reactions(name, rule):
    robot, states, outputs = solved(name, tuple(rule.items()))
    found = free_bodies.kinematics(robot, states)
    ours = np.concatenate([outputs["friction_force"], outputs["friction_moment"]], axis=2)
    for k in range(3):
        theirs = expected_friction(robot, states, found, outputs, k)
        for part in (slice(0, 3), slice(3, 6)):
            assert np.abs(ours[k, :, part] - theirs[:, part]).max() < LAW * max(np.abs(theirs).max(), 1.0)


@pytest.mark.parametrize(("name", "rule"), CASES)
def test_free_bodies_with_friction(name, rule):
    robot, states, outputs = solved(name, tuple(rule.items()))
    found = free_bodies.kinematics(robot, states)
    friction = np.concatenate([outputs["friction_force"], outputs["friction_moment"]], axis=2)
    ours = np.concatenate([outputs["reaction_force"], outputs["reaction_moment"]], axis=2)
    open_ = undetermined(robot)
    mask = open_.mask.reshape(len(ours[0]), 6)
    scale = np.abs(outputs["reaction_force"]).max() * np.array([1.0] * 3 + [robot.characteristic_length] * 3)
    for k in range(3):
        system = free_bodies.truth(robot, states, found, k, friction[k])
        forces, wrenches, residual = system.solve(outputs["force"][k] if open_.redundant else None)
        assert residual < TRUTH * np.abs(system.b).max()
        assert np.abs(forces - outputs["force"][k]).max() < TRUTH * np.abs(outputs["force"]).max()
        assert (np.abs(ours[k] - wrenches) / scale)[~mask].max() < TRUTH
        if open_.redundant:  # the smallest forces, friction included
            free = np.linalg.svd(system.null(fixed_forces=False)[:, : system.actuators])[2][0]
            assert abs(free @ outputs["force"][k]) < TRUTH * np.abs(outputs["force"]).max()


@pytest.mark.parametrize(("name", "rule"), CASES)
def test_friction_takes_power(name, rule):
    """Actuator and wrench powers pay for the motion without friction, and for what friction turns into heat."""
    robot, states, outputs = solved(name, tuple(rule.items()))
    found = free_bodies.kinematics(robot, states)
    twists = free_bodies.relative_twists(robot, states, found)
    friction = np.concatenate([outputs["friction_force"], outputs["friction_moment"]], axis=2)
    heat = -(friction * twists).sum((1, 2))
    smooth = run(robot, states, friction=False)
    extra = ((outputs["force"] - smooth["force"]) * found["actuator_velocity"]).sum(1)
    assert np.abs(extra - heat).max() < TRUTH * np.abs(outputs["force"] * found["actuator_velocity"]).sum(1).max()
    if rule is not LITERAL:
        assert (heat > 0.0).all()


@pytest.mark.parametrize("name", ["delta", "planar-4-prr", "tripteron"])
def test_frozen_contributions_add_up_on_general_robots(name):
    _, _, outputs = solved(name, tuple(SIGN.items()), "frozen")
    close(outputs["force_contribution"].sum(1), outputs["force"], SUM * 10)


def test_at_rest_there_is_no_friction():
    states = random_states(flexapod.load("hexaslide"), 3, seed=1)
    states |= {"velocity": np.zeros((3, 3)), "angular_velocity": np.zeros((3, 3)), "wrench": np.zeros((3, 6))}
    with_friction, without = (run(flexapod.load("hexaslide"), states, friction=f) for f in (True, False))
    assert not with_friction["friction_force"].any()
    assert not with_friction["friction_moment"].any()
    close(with_friction["force"], without["force"])


# -- statuses and refusals -------------------------------------------------------------------------------
def words(robot, states):
    program = newton_euler(robot)
    batch = run_batch(robot, states)
    return {program.signature.statuses[int(code)].message if code > 0 else int(code) for code in batch.status}


def test_self_locking_is_named():
    robot = flexapod.load("hexaslide").with_parameters({"legs.hip.friction.reaction": 3.0, "legs.ball.friction.reaction": 3.0})
    states = random_states(flexapod.load("hexaslide"), 3, seed=1) | {"wrench": np.zeros((3, 6))}
    assert words(robot, states) == {
        "friction and joint reactions do not converge: the friction coefficients are so large that joints are self-locking"
    }


def test_friction_from_undetermined_reactions_is_named():
    robot = plain_robot("planar-4-prr")
    states = random_states(robot, 2, seed=1) | {"wrench": np.zeros((2, 6))}
    assert words(with_friction_law(robot, SIGN), states) == {
        "friction of joint {joint} depends on a reaction that is statically indeterminate with rigid bodies; set friction=False, "
        "or give the joint a constant or viscous friction"
    }


def test_cylindrical_joints_have_no_friction():
    robot = plain_robot("spatial-3-rrc")
    with pytest.raises(InputError, match="a cylindrical joint slides and turns, and one coefficient cannot describe both"):
        newton_euler(with_friction_law(robot, SIGN))


def test_friction_coefficients_are_parameters():
    """Twice the slider's coefficient is twice its friction, in the same kernel."""
    robot = flexapod.load("hexaslide")
    table, outputs, _ = hexaslide()
    more = robot.with_parameters({"legs.rail.friction.normal": 0.4, "legs.rail.friction.viscous": 0.002})
    assert kernel(more, "newton_euler").compiled is kernel(robot, "newton_euler").compiled
    again = kernel(more, "newton_euler").batch(motion_of(table)).outputs
    close(again["friction_force"], 2.0 * outputs["friction_force"])
    names = {p.name: p.unit for p in kernel(robot, "newton_euler").signature.parameters}
    assert names["legs.1.rail.friction.viscous"] == "N s/m"
    assert names["legs.1.hip.friction.reaction"] == "m"
