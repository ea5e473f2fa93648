"""Newton-Euler: reference reactions, free bodies in NumPy, power balance, general against closed form, mutants.

Truth for every robot and every reaction: `maximal_coordinates` (all reactions unknown, one system per sample).
"""

import csv
import tempfile
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
from flexapod.equations import friction as friction_package
from flexapod.equations import newton_euler as package
from flexapod.equations.newton_euler import CONTRIBUTION_NAMES, mark_undetermined, newton_euler, reaction_names, undetermined
from flexapod.errors import InputError
from flexapod.robot.catalogue import catalogue
from flexapod.robot.leg_positions import link_poses
from support.mutants import mutated, one_per_module
from support.plain import compile_kernel, plain_kernel

DATA = Path(__file__).parents[1] / "data"
CLOSED = ["stewart-3-3", "gough-stewart", "hexapod", "hexaslide", "hexa"]
CATALOGUE = [*CLOSED, "delta", "five-bar", "tripteron", "planar-4-prr"]
OWN = ["tricept", "planar-3-rrp", "spatial-3-rrc", "stewart-upru"]
"""Robots made for tests: legs without actuator, prismatic, cylindrical and universal closing joints, branches, rotors."""

VARIANTS = {
    "hexa-oblique": ("hexa", {
        "at: [0.25, 0, 0], axis1: [0, 1, 0]": "at: [0.25, 0.03, 0.02], axis1: [0.3, 0.9, 0.2]",
        "cross: {mass: 0.02}": "cross: {mass: 0.2, com: [0.01, 0.02, -0.01], inertia: {diagonal: [0.02, 0.03, 0.01]}}",
    }),
    "hexapod-offset": ("hexapod", {
        "to: link, direction: home": "to: link, at: [0.02, -0.03, 0.04], direction: home",
        "slider: {mass: 0.1}": "slider: {mass: 0.1, com: [0.01, 0.02, 0.03]}",
        "cross: {mass: 0.05}": "cross: {mass: 0.05, com: [0.01, 0.0, 0.02], inertia: {diagonal: [0.001, 0.002, 0.003]}}",
    }),
}  # fmt: skip
"""Catalogue robots without the symmetries that would hide terms: crank not parallel to the universal axis, joints off origins."""

ALL = [*CATALOGUE, *OWN, *VARIANTS]
REFERENCES = [
    "stewart-3-3_vertical_z", "stewart-3-3_rotation_z", "hexapod_vertical_z", "hexapod_rotation_z", "hexaslide_circle40rpm",
]  # fmt: skip

REFERENCE = 1e-11
"""Relative to the largest entry, moments that vanish to a thousandth of force times length. Measured: forces 1.1e-15, reactions
below 1e-12 (the vanishing moments; the others below 1e-13)."""

TRUTH = 1e-11
"""Relative to the largest force, moments to force times length: rounding times the condition of the full system of free
bodies; measured below 6e-15."""

BALANCE = 1e-13
"""Relative to the largest sum of absolute powers; measured below 7e-16."""

BROKEN = 1e-7
"""A mutant differs from the original by more than this; rounding stays five orders below."""
NEGLECTED = 1e-5
"""Force [N] that the spin of the HexaSlide's links adds at most."""
NINEFOLD = 1e-12
"""Of the largest: one product three times as fast; found 6e-16."""
COPY = 1e-11
"""Of the largest entry: the same equations from a copy of their modules."""

OPERATIONS = {
    "stewart-3-3": 3784, "gough-stewart": 3946, "hexapod": 3298, "hexaslide": 3182, "hexa": 4430,
    "delta": 5740, "five-bar": 1025, "tripteron": 1740, "planar-4-prr": 1635,
}  # fmt: skip
"""Most operations per sample, forces and all reactions, no friction, with the zero pattern of the robot: as measured, and a
hundredth more for general legs, whose position is solved elsewhere."""


@cache
def robot_of(name):
    if name in VARIANTS:
        base, changes = VARIANTS[name]
        text = catalogue()[base].read_text()
        for old, new in changes.items():
            assert old in text
            text = text.replace(old, new)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / f"{name}.yaml"
            path.write_text(text)
            return flexapod.load(path)
    return flexapod.load(DATA / "virtual_work" / f"{name}.yaml" if name in OWN else name)


@cache
def states_of(name, number=12, seed=5):
    states = random_states(robot_of(name), number, seed=seed)
    states["wrench"] = np.random.default_rng(seed).normal(size=(number, 6)) * 5.0
    return states


@cache
def bound_kernel(robot, **options):
    """The equations as they are; what the passes and LLVM make of them is compared with that in the tests of kernels."""
    return RobotKernel(robot, plain_kernel(newton_euler(robot, **options), robot.zeros))


def solve(robot, states, **options):
    bound = bound_kernel(robot, **options)
    batch, _ = solve_from_starts(bound, {i.name: states[i.name] for i in bound.signature.inputs if i.name != "guess"})
    assert not batch.status.any()
    return batch.outputs


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


def compare_reactions(robot, table, outputs):
    """Every reaction column of a reference file against the kernel's conventions."""
    names, legs = reaction_names(robot), [leg.name for leg in robot.legs]
    largest = max(np.abs(outputs["reaction_force"]).max(), 1.0)

    def at(kind, leg, joint):
        return outputs[f"reaction_{kind}"][:, names.index(f"{leg}.{joint}")]

    columns = {
        "FU1": lambda leg: at("force", leg, "hip.1"), "MU1": lambda leg: at("moment", leg, "hip.1"),
        "FU2": lambda leg: at("force", leg, "hip.2"), "MU2": lambda leg: at("moment", leg, "hip.2"),
        "FS": lambda leg: -at("force", leg, "ball"),  # on the leg from the platform
        "N": lambda leg: at("force", leg, "rail"), "Mguide": lambda leg: at("moment", leg, "rail"),
        "FP": lambda leg: at("force", leg, "slide"),
        "MP": lambda leg: at("moment", leg, "slide") + piston_arm(robot, table, leg, at("force", leg, "slide")),
    }  # fmt: skip
    compared = []
    for key, ours in columns.items():
        if f"{key}_{legs[0]}_x" not in table:
            continue
        theirs = np.stack([vectors(table, f"{key}_{leg}") for leg in legs], axis=1)
        floor = 1e-3 * largest * (robot.characteristic_length if key[0] == "M" else 1.0)
        error = np.abs(np.stack([ours(leg) for leg in legs], axis=1) - theirs).max() / max(np.abs(theirs).max(), floor)
        assert error < REFERENCE, (key, error)
        compared.append(key)
    return compared


def piston_arm(robot, table, name, force):
    """Moment of a force when the point moves from the piston's frame (at S) to its centre of mass, 1.5 m back along the leg."""
    leg = next(leg for leg in robot.legs if leg.name == name)
    motion = motion_of(table)
    S = motion["position"] + np.einsum("nij,j->ni", motion["rotation"], leg.closing.on_platform.position)
    d = S - leg.links[0].placement.position
    return np.cross(1.5 * d / np.linalg.norm(d, axis=1, keepdims=True), force)


@pytest.mark.parametrize("file", REFERENCES)
def test_reference_forces_and_reactions(file):
    robot, table = robot_of(file.split("_")[0]), read(file)
    outputs = solve(robot, motion_of(table), friction=False)
    theirs = np.stack([table[f"f_{leg.name}"] for leg in robot.legs], axis=1)
    assert np.abs(outputs["force"] - theirs).max() < REFERENCE * np.abs(theirs).max()
    compared = compare_reactions(robot, table, outputs)
    expected = ["FU1", "MU1", "FU2", "MU2", "FS"] + (["FP", "MP"] if robot.name == "stewart-3-3" else ["N", "Mguide"])
    assert compared == expected


@pytest.mark.parametrize("name", ALL)
def test_free_bodies(name):
    robot, states = robot_of(name), states_of(name)
    found = free_bodies.kinematics(robot, states)
    outputs = solve(robot, states, friction=False)
    ours = np.concatenate([outputs["reaction_force"], outputs["reaction_moment"]], axis=2)
    mask = undetermined(robot).mask.reshape(len(reaction_names(robot)), 6)
    scale = np.abs(outputs["reaction_force"]).max() * np.array([1.0] * 3 + [robot.characteristic_length] * 3)
    for k in range(6):
        system = free_bodies.truth(robot, states, found, k)
        forces = outputs["force"][k]
        theirs, wrenches, residual = system.solve(forces if undetermined(robot).redundant else None)
        assert np.abs(theirs - forces).max() < TRUTH * np.abs(outputs["force"]).max()
        assert residual < TRUTH * np.abs(system.b).max()
        error = np.abs(ours[k] - wrenches) / scale
        assert error[~mask].max() < TRUTH


@pytest.mark.parametrize("name", ALL)
def test_undetermined_components_are_those_of_the_free_bodies(name):
    robot, states = robot_of(name), states_of(name)
    found = free_bodies.kinematics(robot, states)
    touched = np.zeros((len(reaction_names(robot)), 6), dtype=bool)
    for k in range(3):
        system = free_bodies.truth(robot, states, found, k)
        for vector in system.null(fixed_forces=True):
            touched |= np.abs(system.wrenches(vector)) > 1e-8
        free_forces = np.linalg.matrix_rank(system.null(fixed_forces=False)[:, : system.actuators], tol=1e-8)
        assert free_forces == undetermined(robot).redundant
    assert np.array_equal(touched, undetermined(robot).mask.reshape(touched.shape))


def test_undetermined_is_named():
    assert undetermined(robot_of("delta")).names == ()
    tripteron = undetermined(robot_of("tripteron"))
    assert (tripteron.unknowns, tripteron.rank, tripteron.redundant) == (9, 6, 0)
    assert tripteron.names[:2] == ("X.rail moment y", "X.rail moment z")
    assert len(tripteron.names) == 24
    planar = undetermined(robot_of("planar-4-prr"))
    assert (planar.unknowns, planar.rank, planar.redundant) == (16, 6, 1)
    assert all(name.endswith(("force z", "moment x", "moment y")) for name in planar.names)
    assert "1 actuator force(s) free, the smallest are given" in str(planar)
    states = states_of("tripteron")
    outputs = mark_undetermined(robot_of("tripteron"), solve(robot_of("tripteron"), states, friction=False))
    assert np.isfinite(outputs["force"]).all()
    assert np.isfinite(outputs["reaction_force"]).all()
    assert np.isnan(outputs["reaction_moment"]).sum() == 24 * len(states["position"])


def test_redundant_forces_are_the_smallest():
    robot, states = robot_of("planar-4-prr"), states_of("planar-4-prr")
    found = free_bodies.kinematics(robot, states)
    force = solve(robot, states, friction=False)["force"]
    for k in range(3):
        free = free_bodies.truth(robot, states, found, k).null(fixed_forces=False)[:, :4]
        direction = np.linalg.svd(free)[2][0]
        assert abs(direction @ force[k]) < TRUTH * np.abs(force).max()


def power_terms(robot, states, found):
    """Powers that bodies and rotors need (gravity included), and that the external wrench gives."""
    bodies = list(robot.bodies_by_name.values())
    needed = np.zeros(len(states["position"]))
    for i, body in enumerate(bodies):
        R = found["body_rotation"][:, i]
        keys = ("velocity", "angular_velocity", "acceleration", "angular_acceleration")
        v, w, a, alpha = (found[f"body_{key}"][:, i] for key in keys)
        h = np.einsum("nij,j->ni", R, body.body_axes.T @ body.first_moment)
        I_B = body.body_axes.T @ body.inertia @ body.body_axes
        to_B = lambda x, R=R: np.einsum("nij,ni->nj", R, x)  # noqa: E731
        # d/dt of kinetic energy m v.v/2 + v.(w x h) + w.I w/2, and of the potential energy -g.(m p + h)
        h_dot = np.cross(w, h)
        kinetic = body.mass * (v * a).sum(1) + (a * h_dot).sum(1)
        kinetic += (v * (np.cross(alpha, h) + np.cross(w, h_dot))).sum(1) + (to_B(w) @ I_B * to_B(alpha)).sum(1)
        needed += kinetic - (robot.gravity * (body.mass * v + h_dot)).sum(1)
    rotors = np.array([link.inertia for leg in robot.legs for link in leg.links if link.actuated])
    needed += (rotors * found["actuator_velocity"] * found["actuator_acceleration"]).sum(1)
    twist = np.hstack([states["velocity"], states["angular_velocity"]])
    return needed, (states["wrench"] * twist).sum(1)


@pytest.mark.parametrize("name", ALL)
def test_power_balance(name):
    robot, states = robot_of(name), states_of(name, 400, 9)
    found = free_bodies.kinematics(robot, states)
    force = solve(robot, states, friction=False)["force"]
    needed, given = power_terms(robot, states, found)
    power = force * found["actuator_velocity"]
    size = np.abs(power).sum(1) + np.abs(given) + np.abs(needed)
    assert (np.abs(power.sum(1) + given - needed) / size.max()).max() < BALANCE


@pytest.mark.parametrize("name", ["stewart-3-3", "hexaslide", "hexa-oblique"])
def test_general_legs_agree_with_closed_forms(name):
    robot, states = robot_of(name), states_of(name, 50, 2)
    special, general = solve(robot, states), solve(robot, states, closed_form=False)
    largest = np.abs(special["reaction_force"]).max()
    for key in ("force", "reaction_force", "reaction_moment", "friction_force", "friction_moment"):
        scale = largest * (robot.characteristic_length if "moment" in key else 1.0)
        assert np.abs(special[key] - general[key]).max() < TRUTH * scale, key


@pytest.mark.parametrize("name", ALL)
def test_reactions_have_no_part_along_free_directions(name):
    robot, states = robot_of(name), states_of(name)
    found = free_bodies.kinematics(robot, states)
    outputs = solve(robot, states)
    scale = np.abs(outputs["reaction_force"]).max()
    for k in range(4):
        at = joint = 0
        for leg in robot.legs:
            poses = link_poses(leg, found["joint_position"][k, at : at + len(leg.moving)])
            for (R, _), link in zip(poses, leg.links, strict=True):
                if link.kind != "fixed":
                    kind = "moment" if link.kind == "R" else "force"
                    along = outputs[f"reaction_{kind}"][k, joint] @ R[:, 2]
                    assert abs(along) < TRUTH * scale * (robot.characteristic_length if kind == "moment" else 1.0)
                joint += 1
            if leg.closing.type == "spherical":
                assert np.abs(outputs["reaction_moment"][k, joint]).max() < TRUTH * scale * robot.characteristic_length
            joint += 1
            at += len(leg.moving)


@pytest.mark.parametrize("name", ["stewart-3-3", "delta", "hexa"])
def test_external_wrench_by_the_jacobian(name):
    """Virtual work of the wrench alone: J^T force = -wrench on what the robot can follow."""
    robot, states = robot_of(name), states_of(name)
    unloaded = states | {"wrench": states["wrench"] * 0.0}
    change = solve(robot, states, friction=False)["force"] - solve(robot, unloaded, friction=False)["force"]
    bound = kernel(robot, "jacobian")
    home = np.tile(np.concatenate([leg.home for leg in robot.legs]), (len(change), 1))
    J = bound.batch({i.name: (states | {"guess": home})[i.name] for i in bound.signature.inputs}).outputs["jacobian"]
    twist = np.hstack([states["velocity"], states["angular_velocity"]])
    works = (change * np.einsum("nij,nj->ni", J, twist)).sum(1)
    assert np.abs(works + (states["wrench"] * twist).sum(1)).max() < TRUTH * np.abs(works).max()


def test_neglected_spin_is_small_on_the_hexaslide_and_not_elsewhere():
    def difference(name, states):
        exact, paper = (solve(robot_of(name), states, friction=False, spin=spin)["force"] for spin in ("exact", "neglected"))
        return np.abs(exact - paper).max()

    assert 1e-9 < difference("hexaslide", motion_of(read("hexaslide_circle40rpm"))) < NEGLECTED
    assert difference("stewart-3-3", states_of("stewart-3-3")) > 1e-3


def test_vertical_translation_loads_all_legs_alike():
    for name in ("stewart-3-3", "hexapod"):
        force = solve(robot_of(name), motion_of(read(f"{name}_vertical_z")), friction=False)["force"]
        assert np.ptp(force, axis=1).max() < REFERENCE * np.abs(force).max()


def test_link_inertia_grows_with_the_square_of_the_speed():
    """Kim section 4.2: from 20 to 60 rpm the force due to link inertia grows by 9."""
    table = read("hexaslide_circle40rpm")
    parts = []
    for factor in (0.5, 1.5):
        motion = motion_of(table)
        motion["velocity"] *= factor
        motion["acceleration"] *= factor**2
        contributions = solve(robot_of("hexaslide"), motion, friction=False, contributions="frozen")["force_contribution"]
        parts.append(contributions[:, CONTRIBUTION_NAMES.index("leg_inertia")])
    assert np.abs(parts[1] - 9.0 * parts[0]).max() < NINEFOLD * np.abs(parts[1]).max()


def status_words(robot, states, **options):
    bound = bound_kernel(robot, **options)
    home = np.tile(np.concatenate([leg.home for leg in robot.legs]), (len(states["position"]), 1))
    batch = bound.batch({i.name: (states | {"guess": home})[i.name] for i in bound.signature.inputs})
    return [bound.signature.statuses[int(code)].message if code > 0 else str(code) for code in batch.status]


def test_poses_that_cannot_be_computed_are_named():
    far = {name: values[:1].copy() for name, values in states_of("hexapod").items()}
    far["position"] += [5.0, 0.0, 0.0]
    assert "cannot reach" in status_words(robot_of("hexapod"), far)[0]
    rotated = {name: values[:1] * 0.0 for name, values in states_of("stewart-3-3").items()}
    rotated["position"] = np.array([[0.0, 0.0, 4.0]])
    rotated["rotation"] = np.array([[[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]])  # Fichter's singularity
    for closed_form in (True, False):
        words = status_words(robot_of("stewart-3-3"), rotated, closed_form=closed_form)
        assert words == ["singular pose: the legs cannot hold the platform in every direction"]


def test_robots_that_it_does_not_cover_are_refused():
    with pytest.raises(InputError, match="spin='neglected' is a simplification of six U-P-S"):
        newton_euler(robot_of("delta"), spin="neglected")
    with pytest.raises(InputError, match="spin must be 'exact' or 'neglected', got 'none'"):
        newton_euler(robot_of("hexapod"), spin="none")
    delta = robot_of("delta")
    idle = tuple(replace(link, actuated=False) for link in delta.legs[0].links)
    with pytest.raises(InputError, match="has 2 actuators for 3 DOF"):
        newton_euler(replace(delta, legs=(replace(delta.legs[0], links=idle), *delta.legs[1:])))


@pytest.mark.parametrize("name", CATALOGUE)
def test_operation_counts(name):
    program = newton_euler(robot_of(name), friction=False)
    zeros = {p.name for p in program.signature.parameters} & {*robot_of(name).zeros}
    assert compile_kernel(program, zeros=zeros, backend="numpy").operations.total <= OPERATIONS[name]


# -- mutants ------------------------------------------------------------------------------------------
FLIPS = {
    # file, text, replacement, robot on which it shows ("general": general legs; "friction": with it)
    "Coriolis force of a body": ("wrench", "+ cross(w, cross(w, h))", "- cross(w, cross(w, h))", "hexaslide"),
    "Euler force of a body": ("wrench", "a * mass + cross(alpha, h)", "a * mass - cross(alpha, h)", "hexaslide"),
    "weight": ("wrench", "(frame.a - gravity)", "(frame.a + gravity)", "hexaslide"),
    "gyroscopic moment": ("wrench", "+ cross(w, _tensor(body, w))", "- cross(w, _tensor(body, w))", "stewart-3-3"),
    "moment of the first moment": ("wrench", "moment = cross(h, a)", "moment = -cross(h, a)", "hexaslide"),
    "arm of a wrench": ("wrench", "self.moment + cross(arm, self.force)", "self.moment - cross(arm, self.force)", "hexaslide"),
    "rate of the first universal axis": (
        "universal_motion", "-axes.inverse / axes.sine, axes.inverse",
        "axes.inverse / axes.sine, axes.inverse", "hexaslide",
    ),
    "turn of the second axis": ("universal_motion", "alpha_f + change1 + change2", "alpha_f + change1 - change2", "stewart-3-3"),
    "turn of the first axis": ("universal_motion", "alpha_c = alpha_f + change1", "alpha_c = alpha_f - change1", "hexa-oblique"),
    "angular acceleration of the crank": ("universal_motion", "alpha_0 = alpha_f", "alpha_0 = -alpha_f", "hexa-oblique"),
    "spin of the crank": ("universal_motion", "u = v - cross(w_f, arm)", "u = v + cross(w_f, arm)", "hexa"),
    "Coriolis term of the slide": ("universal_motion", "n * (2 * slide)", "n * (-2 * slide)", "stewart-3-3"),
    "centripetal term of the rail": (
        "universal_motion", "dot(d, S.a) + dot(relative, relative)",
        "dot(d, S.a) - dot(relative, relative)", "hexaslide",
    ),
    "centripetal term of the crank": ("universal_motion", "dot(d, S.a - inward)", "dot(d, S.a + inward)", "hexa"),
    "force across the leg, x": ("universal_leg_force", "(f_y - dot(m.y, M2))", "(f_y + dot(m.y, M2))", "hexaslide"),
    "force across the leg, y": ("universal_leg_force", "(dot(m.a, M1) - f_a)", "(dot(m.a, M1) + f_a)", "hexaslide friction"),
    "cross inertia": (
        "universal_leg_force", "second, second + on_cross.moment",
        "second, second - on_cross.moment", "stewart-3-3",
    ),
    "legs on the platform": ("mechanism", "missing = missing - leg", "missing = missing + leg", "hexaslide"),
    "rotor": ("leg", "else -values.scalar", "else values.scalar", "gough-stewart"),
    "rotor in the reaction": ("reactions", "driven = -values", "driven = values", "gough-stewart"),
    "friction in the reaction": ("reactions", "rest = whole - own", "rest = whole + own", "hexaslide friction"),
    "friction of the actuator": ("friction_coupling", "f - friction.axial", "f + friction.axial", "hexaslide friction"),
    "chain: Coriolis term of a slide": ("chain_motion", "coriolis * 2", "coriolis * -2", "tricept"),
    "chain: turn of a revolute axis": ("chain_motion", "qdd[i] + coriolis, w", "qdd[i] - coriolis, w", "delta"),
    "chain: turn of the closing axes": (
        "chain_motion", "alpha + cross(w, angular) * rate",
        "alpha - cross(w, angular) * rate", "stewart-upru",
    ),
    "chain: Coriolis term of a closing slide": (
        "chain_motion", "cross(w, linear) * (2 * rate)",
        "cross(w, linear) * (-2 * rate)", "planar-3-rrp",
    ),
    "chain: bodies along the joints": ("chain_leg", "loads.axial[i] - dot", "loads.axial[i] + dot", "delta"),
    "chain: actuators on the platform": ("platform_system", "rest = rest - a * tau", "rest = rest + a * tau", "delta"),
    "viscous friction": ("joint_friction", 'rate * (-total["rate"])', 'rate * total["rate"]', "hexaslide friction"),
    "Coulomb friction": ("joint_friction", '(-total["direction"])', 'total["direction"]', "hexaslide friction"),
    "normal force": (
        "sliding", "ca.fabs(along_u) + ca.fabs(along_v)",
        "ca.fabs(along_u) - ca.fabs(along_v)", "hexaslide friction",
    ),
}  # fmt: skip
"""Single-term sign flips, each of which must change results on three random states."""

ORIGINALS = (package, friction_package)


def program_of(flip, robot, **options):
    """The program, built from a copy of the packages in which one text is replaced (None: nothing)."""
    with mutated(flip, *ORIGINALS) as copy:
        return copy.newton_euler(robot, **options)


def evaluate(robot, program, states):
    """Results of a program; without iterations by CasADi itself, which is quick to set up."""
    if not program._steps:
        return evaluate_straight(robot, program, states)
    bound = RobotKernel(robot, plain_kernel(program, robot.zeros))
    batch, _ = solve_from_starts(bound, {i.name: states[i.name] for i in bound.signature.inputs if i.name != "guess"})
    return batch.outputs


def evaluate_straight(robot, program, states):
    function = ca.Function("mutant", [program.input_symbols, program.parameter_symbols], [program.results])
    states = {**states, "guess": np.tile(np.concatenate([leg.home for leg in robot.legs]), (len(states["position"]), 1))}
    given = np.hstack([states[i.name].reshape(len(states["position"]), -1) for i in program.signature.inputs])
    parameters = [robot.values[p.name] for p in program.signature.parameters]
    columns = np.array(function.map(len(given))(given.T, np.tile(parameters, (len(given), 1)).T)).T
    outputs, at = {}, 0
    for output in program.signature.outputs:
        size = int(np.prod(output.shape))
        outputs[output.name] = columns[:, at : at + size].reshape(-1, *output.shape)
        at += size
    return outputs


@cache
def original_of(name, options):
    return evaluate(robot_of(name), program_of(None, robot_of(name), **dict(options)), states_of(name, 3, 1))


@pytest.mark.parametrize("what", one_per_module(FLIPS, lambda what: FLIPS[what][0]))
def test_a_flipped_sign_breaks_results(what):
    file, text, replacement, where = FLIPS[what]
    name, _, word = where.partition(" ")
    options = (("closed_form", word != "general"), ("friction", word == "friction"))
    expected = original_of(name, options)
    program = program_of((file, text, replacement), robot_of(name), **dict(options))
    mutant = evaluate(robot_of(name), program, states_of(name, 3, 1))
    differences = [
        np.abs(mutant[key] - expected[key]).max() / max(np.abs(expected[key]).max(), 1e-3)
        if np.isfinite(mutant[key]).all()
        else np.inf
        for key in expected
    ]
    assert max(differences) > BROKEN


@pytest.mark.parametrize("friction", [False, True])
def test_the_copy_without_a_flip_is_the_original(friction):
    ours = solve(robot_of("hexaslide"), states_of("hexaslide", 3, 1), friction=friction)
    for key, values in original_of("hexaslide", (("closed_form", True), ("friction", friction))).items():
        assert np.abs(values - ours[key]).max() < COPY * max(np.abs(ours[key]).max(), 1.0)
