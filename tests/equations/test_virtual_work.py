"""Virtual work: the papers' reference forces and statements, body-by-body truth in NumPy, power balance, mutants.

Truth for every robot: motions of all bodies from the inverse kinematics (another recursion, world axes, centre-free NumPy
inertia wrenches), virtual body velocities from the same kernel run with unit twists; force = least squares of the works.
"""

import csv
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import flexapod
from flexapod.analysis.model.kernels import RobotKernel, kernel
from flexapod.analysis.verbs.inverse_kinematics import platform_inputs, solve_from_starts
from flexapod.analysis.verbs.sampling import random_states
from flexapod.equations import virtual_work as package
from flexapod.equations.virtual_work import virtual_work
from flexapod.errors import InputError
from flexapod.motions.papers import sinatra_motion, staicu_motion
from support.mutants import mutated, one_per_module
from support.plain import plain_kernel

DATA = Path(__file__).parents[1] / "data"
CATALOGUE = [
    "stewart-3-3", "gough-stewart", "hexapod", "hexaslide", "hexa", "delta", "five-bar", "tripteron", "planar-4-prr",
]  # fmt: skip
OWN = ["tricept", "planar-3-rrp", "spatial-3-rrc", "stewart-upru"]
"""Robots made for these tests: see their first lines."""

REFERENCES = [
    "stewart-3-3_vertical_z", "stewart-3-3_rotation_z", "hexapod_vertical_z", "hexapod_rotation_z", "hexaslide_circle40rpm",
]  # fmt: skip

REFERENCE = 1e-13
"""Relative to the largest entry: both sides carry about 1e-15 (measured 1.3e-15); a wrong reading of a paper shows above 1e-3."""

TRUTH = 1e-11
"""Relative to the largest force: rounding times the condition of the sampled poses (at most 200); measured below 1e-13."""

BALANCE = 1e-12
"""Relative to the sum of absolute works; measured below 2e-14."""

BROKEN = 1e-6
"""A mutant differs from the truth by more than this; rounding stays five orders below."""
RATE = 1e-8
"""Of the largest power: fourth-order differences over 1e-4 s."""

OPERATIONS = {"stewart-3-3": 2332, "gough-stewart": 2418, "hexapod": 2636, "hexaslide": 2629, "hexa": 3429}
"""Most operations per sample with the zero pattern of the robot: as measured when the formulation was written."""


@cache
def robot_of(name):
    return flexapod.load(DATA / "virtual_work" / f"{name}.yaml" if name in OWN else name)


def bound_kernel(robot, program, specialised=True):
    return RobotKernel(robot, plain_kernel(program, robot.zeros if specialised else ()))


@cache
def bound(name, virtual_motions="transposed"):
    robot = robot_of(name)
    if virtual_motions == "explicit":
        return bound_kernel(robot, virtual_work(robot, virtual_motions))
    return kernel(robot, "virtual_work")


def solve(name, states, wrench=None, virtual_motions="transposed"):
    wrench = np.zeros((len(states["position"]), 6)) if wrench is None else wrench
    batch, _ = solve_from_starts(bound(name, virtual_motions), {**states, "wrench": wrench})
    assert not batch.status.any()
    return batch.outputs


@cache
def sampled(name, samples=60, seed=11):
    """Random states, wrenches, bodies in motion, and a basis of virtual motions: all NumPy needs."""
    robot = robot_of(name)
    states = random_states(robot, samples, seed=seed)
    wrench = np.random.default_rng(seed).normal(size=(samples, 6)) * 20
    return states, wrench, kinematics(robot, states), virtual_basis(robot, states)


def kinematics(robot, states):
    bodies, _ = solve_from_starts(kernel(robot, "inverse_kinematics", detail="bodies"), states)
    assert not bodies.status.any()
    if not rotors(robot).any():
        none = np.zeros((len(bodies.status), len(robot.coordinates)))
        return {**bodies.outputs, "joint_velocity": none, "joint_acceleration": none}
    joints, _ = solve_from_starts(kernel(robot, "inverse_kinematics", detail="joints"), states)
    return {**bodies.outputs, **joints.outputs}


def rotors(robot):
    return np.array([leg.links[i].inertia for leg in robot.legs for i in leg.moving])


def virtual_basis(robot, states):
    """(n, 6, k) orthonormal platform twists that the legs allow."""
    samples = len(states["position"])
    found, _ = solve_from_starts(kernel(robot, "jacobian"), {k: states[k] for k in ("position", "rotation")})
    if "constraint_jacobian" not in found.outputs:
        return np.tile(np.eye(6), (samples, 1, 1))
    _, _, vt = np.linalg.svd(found.outputs["constraint_jacobian"])
    return np.swapaxes(vt[:, len(robot.plan.constraints) :], 1, 2)


def inertia_wrenches(robot, motion):
    """Force and moment (n, bodies, 3) at the body origins that all bodies need, weight included."""
    forces, moments = [], []
    for i, body in enumerate(robot.bodies_by_name.values()):
        R = motion["body_rotation"][:, i] @ body.body_axes.T
        s, J = R @ body.first_moment, R @ body.inertia @ np.swapaxes(R, 1, 2)
        a, w, alpha = (motion[f"body_{key}"][:, i] for key in ("acceleration", "angular_velocity", "angular_acceleration"))
        a = a - robot.gravity
        forces.append(body.mass * a + np.cross(alpha, s) + np.cross(w, np.cross(w, s)))
        moments.append(np.cross(s, a) + times(J, alpha) + np.cross(w, times(J, w)))
    return np.stack(forces, 1), np.stack(moments, 1)


def times(matrix, vector):
    return np.einsum("nij,nj->ni", matrix, vector)


def required_work(robot, motion, virtual):
    """Work of all bodies and rotors in a virtual motion, and the sum of its absolute terms."""
    force, moment = inertia_wrenches(robot, motion)
    terms = np.concatenate([
        (force * virtual["body_velocity"]).sum(2),
        (moment * virtual["body_angular_velocity"]).sum(2),
        rotors(robot) * motion["joint_acceleration"] * virtual["joint_velocity"],
    ], axis=1)  # fmt: skip
    return terms.sum(1), np.abs(terms).sum(1)


def true_forces(robot, states, wrench, motion, basis):
    """Forces of minimum norm whose work in every virtual motion is that of the bodies, less the external wrench."""
    none = np.zeros_like(states["velocity"])
    works, rates = [], []
    for k in range(basis.shape[2]):
        V = basis[:, :, k]
        moved = {**states, "velocity": V[:, :3], "angular_velocity": V[:, 3:], "acceleration": none, "angular_acceleration": none}
        virtual = kinematics(robot, {key: np.ascontiguousarray(value) for key, value in moved.items()})
        works.append(required_work(robot, motion, virtual)[0] - (wrench * V).sum(1))
        rates.append(virtual["actuator_velocity"])
    return times(np.linalg.pinv(np.stack(rates, 1)), np.stack(works, 1))


def largest_error(found, expected):
    return np.abs(found - expected).max() / np.abs(expected).max()


# --- reference values ------------------------------------------------------------------------------------------------


@cache
def reference(name):
    with (DATA / "reference" / f"{name}.csv").open(encoding="utf-8") as file:
        head, *rows = list(csv.reader(file))
    table = dict(zip(head, np.array(rows, dtype=float).T, strict=True))
    short = {"position": "p", "velocity": "v", "angular_velocity": "w", "acceleration": "a", "angular_acceleration": "alpha"}
    states = {full: np.stack([table[f"{letters}_{axis}"] for axis in "xyz"], axis=1) for full, letters in short.items()}
    states["rotation"] = np.stack([table[f"R_{i}{j}"] for i in "123" for j in "123"], axis=1).reshape(-1, 3, 3)
    return table, states


@pytest.mark.parametrize("virtual_motions", ["transposed", "explicit"])
@pytest.mark.parametrize("name", REFERENCES)
def test_reference_forces_and_powers(name, virtual_motions):
    robot, (table, states) = name.split("_")[0], reference(name)
    found = solve(robot, states, virtual_motions=virtual_motions)
    for key, column in (("force", "f"), ("power", "P")):
        expected = np.stack([table[f"{column}_{leg.name}"] for leg in robot_of(robot).legs], axis=1)
        assert largest_error(found[key], expected) < REFERENCE


# --- every robot -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*CATALOGUE, *OWN])
def test_forces_are_the_work_of_all_bodies(name):
    states, wrench, motion, basis = sampled(name)
    expected = true_forces(robot_of(name), states, wrench, motion, basis)
    assert largest_error(solve(name, states, wrench)["force"], expected) < TRUTH


@pytest.mark.parametrize("name", [*CATALOGUE, *OWN])
def test_power_balance(name):
    """Actuator and wrench power is the rate of kinetic and potential energy (the bodies' work in the motion itself)."""
    states, wrench, motion, _ = sampled(name)
    found = solve(name, states, wrench)
    rate, size = required_work(robot_of(name), motion, motion)
    external = (wrench[:, :3] * states["velocity"]).sum(1) + (wrench[:, 3:] * states["angular_velocity"]).sum(1)
    power = found["force"] * motion["actuator_velocity"]
    assert largest_error(found["power"], power) < TRUTH
    size = size + np.abs(power).sum(1) + np.abs(external)
    assert np.all(np.abs(power.sum(1) + external - rate) < BALANCE * size.max())


@pytest.mark.parametrize("name", ["stewart-3-3", "gough-stewart", "hexapod", "hexa"])
def test_power_is_the_rate_of_energy(name):
    """The same with energies differentiated by finite differences along a smooth motion in all six degrees of freedom."""
    robot, step = robot_of(name), 1e-4
    states, _, _, _ = sampled(name, 8, 3)
    states = {key: value.copy() for key, value in states.items()}
    power = solve(name, states)["power"].sum(1)
    energies = [energy(robot, kinematics(robot, at_time(states, k * step))) for k in (-2, -1, 1, 2)]
    rate = (energies[0] - 8 * energies[1] + 8 * energies[2] - energies[3]) / (12 * step)
    size = np.abs(energies[0]).max() / step * 1e-15 * 20  # rounding of energies in the difference quotient
    assert np.all(np.abs(power - rate) < size + RATE * np.abs(power).max())


def at_time(states, t):
    """Constant acceleration of the origin; constant angular acceleration integrated to second order (exact in the rates)."""
    rotation = states["angular_velocity"] * t + states["angular_acceleration"] * (t * t / 2)
    # third-order term of the rotation vector of w + alpha t: t^3/12 w x alpha (Magnus)
    rotation = rotation + np.cross(states["angular_acceleration"], states["angular_velocity"]) * (t**3 / 12)
    angle = np.linalg.norm(rotation, axis=1)[:, None, None]
    K = np.cross(np.eye(3)[None], rotation[:, None, :]) * -1
    K = np.swapaxes(K, 1, 2)
    safe = np.where(angle > 0, angle, 1.0)
    R = np.eye(3) + np.sin(angle) / safe * K + (1 - np.cos(angle)) / safe**2 * (K @ K)
    return {
        **states,
        "position": states["position"] + states["velocity"] * t + states["acceleration"] * (t * t / 2),
        "rotation": R @ states["rotation"],
        "velocity": states["velocity"] + states["acceleration"] * t,
        "angular_velocity": states["angular_velocity"] + states["angular_acceleration"] * t,
    }


def energy(robot, motion):
    """Kinetic and potential energy of bodies and rotors."""
    total = 0.5 * (rotors(robot) * motion["joint_velocity"] ** 2).sum(1)
    for i, body in enumerate(robot.bodies_by_name.values()):
        R = motion["body_rotation"][:, i] @ body.body_axes.T
        s, J = R @ body.first_moment, R @ body.inertia @ np.swapaxes(R, 1, 2)
        p, v, w = (motion[f"body_{key}"][:, i] for key in ("position", "velocity", "angular_velocity"))
        total = total + 0.5 * body.mass * (v * v).sum(1) + (v * np.cross(w, s)).sum(1) + 0.5 * (w * times(J, w)).sum(1)
        total = total - (body.mass * p + s) @ robot.gravity
    return total


@pytest.mark.parametrize("name", [n for n in [*CATALOGUE, *OWN] if n != "planar-4-prr"])
def test_one_transposed_solve_is_the_sum_over_virtual_motions(name):
    states, wrench, _, _ = sampled(name)
    explicit = solve(name, states, wrench, "explicit")["force"]
    assert largest_error(solve(name, states, wrench)["force"], explicit) < TRUTH


def test_redundant_forces_have_minimum_norm():
    """Forces of planar-4-prr have no part that does no work: they are orthogonal to the null space of the actuator rates."""
    states, wrench, _, basis = sampled("planar-4-prr")
    force = solve("planar-4-prr", states, wrench)["force"]
    found, _ = solve_from_starts(kernel(robot_of("planar-4-prr"), "jacobian"), {k: states[k] for k in ("position", "rotation")})
    _, _, vt = np.linalg.svd(np.swapaxes(found.outputs["jacobian"] @ basis, 1, 2))
    idle = vt[:, 3]
    assert np.abs((force * idle).sum(1)).max() < TRUTH * np.abs(force).max()
    assert np.abs(force).max() > 1.0


@pytest.mark.parametrize("name", ["gough-stewart", "hexapod", "delta"])
def test_zero_pattern_changes_no_force(name):
    robot = robot_of(name)
    states, wrench, _, _ = sampled(name)
    general = bound_kernel(robot, virtual_work(robot), specialised=False)
    batch, _ = solve_from_starts(general, {**states, "wrench": wrench})
    assert largest_error(solve(name, states, wrench)["force"], batch.outputs["force"]) < TRUTH


@pytest.mark.parametrize("name", OPERATIONS)
def test_operation_count(name):
    assert bound(name).operations.total <= OPERATIONS[name]


# --- statements of the papers ----------------------------------------------------------------------------------------


def paper(name, motion):
    return solve(name, platform_inputs(motion))


def test_stewart_vertical_forces_are_equal_and_grow_downwards():
    """Staicu section 4: all input forces are equal; nearer to the base the legs lie flatter and the forces are larger."""
    found = paper("stewart-3-3", staicu_motion("vertical-z"))
    assert np.abs(found["force"] - found["force"][:, :1]).max() < REFERENCE * np.abs(found["force"]).max()
    assert np.abs(found["power"] - found["power"][:, :1]).max() < REFERENCE * np.abs(found["power"]).max()
    assert np.all(np.diff(found["force"][:31, 0]) > 0)  # down to the lowest point at t = 1.5 s


def test_stewart_rotation_mirrors():
    """The paper's "anti-symmetrical" forces: A, C, E alike, B, D, F alike, and f_A(+alpha) = f_B(-alpha)."""
    forward = platform_inputs(staicu_motion("rotation-z"))
    backward = {
        **forward,
        "rotation": np.ascontiguousarray(np.swapaxes(forward["rotation"], 1, 2)),
        "angular_velocity": -forward["angular_velocity"],
        "angular_acceleration": -forward["angular_acceleration"],
    }
    plus, minus = solve("stewart-3-3", forward)["force"], solve("stewart-3-3", backward)["force"]
    size = REFERENCE * np.abs(plus).max()
    assert np.abs(plus[:, 0::2] - plus[:, :1]).max() < size
    assert np.abs(plus[:, 1::2] - plus[:, 1:2]).max() < size
    assert np.abs(plus[:, 0] - minus[:, 1]).max() < size
    assert np.abs(plus[:, 0] - plus[:, 1]).max() > 100.0  # not the same thing


def test_hexapod_vertical_forces_and_powers_are_equal():
    """Sinatra section 4, example 1: equal forces and powers; forces grow towards the base, powers are absorbed."""
    found = paper("hexapod", sinatra_motion("vertical-z"))
    for key in ("force", "power"):
        assert np.abs(found[key] - found[key][:, :1]).max() < REFERENCE * np.abs(found[key]).max()
    assert np.all(found["force"] < 0)  # rails point inwards and down: the drives pull back
    assert np.all(np.diff(np.abs(found["force"][:, 0])) > 0)
    assert np.all(found["power"][1:-1] > 0)


def test_hexapod_rotation_drives_only_b_d_f():
    """Sinatra section 4, example 3: only B, D, F work actively, with growing forces and positive powers."""
    found = paper("hexapod", sinatra_motion("rotation-z"))
    assert np.all(found["power"][1:-1, 1::2] > 0)
    assert np.all(found["power"][1:-1, 0::2] < 0)
    assert np.all(np.diff(np.abs(found["force"][:, 1::2]), axis=0) > 0)
    assert np.all(np.diff(np.abs(found["force"][:, 0::2]), axis=0) < 0)


@pytest.mark.parametrize(("name", "motion"), [("stewart-3-3", staicu_motion), ("hexapod", sinatra_motion)])
def test_horizontal_translation(name, motion):
    """Second example of both papers: legs mirrored at the xz plane share their force; truth from all bodies."""
    states = {key: np.ascontiguousarray(value[::6]) for key, value in platform_inputs(motion("horizontal-x")).items()}
    force = solve(name, states)["force"]
    assert np.abs(force[:, :3] - force[:, 5:2:-1]).max() < REFERENCE * np.abs(force).max()
    robot = robot_of(name)
    none = np.zeros((len(force), 6))
    expected = true_forces(robot, states, none, kinematics(robot, states), virtual_basis(robot, states))
    assert largest_error(force, expected) < TRUTH


# --- limits ----------------------------------------------------------------------------------------------------------


def message_of(name, **changes):
    """Status text of one sample at home with inputs changed."""
    robot = robot_of(name)
    home = {"position": robot.home.position, "rotation": robot.home.rotation, "wrench": np.zeros(6)}
    inputs = {key: np.zeros((1, 3)) for key in ("velocity", "angular_velocity", "acceleration", "angular_acceleration")}
    inputs |= {key: np.array(value, dtype=float)[None] for key, value in (home | changes).items()}
    batch, _ = solve_from_starts(bound(name), inputs)
    assert np.all(np.isnan(batch.outputs["force"])) == (batch.status[0] != 0)
    return bound(name).signature.status(int(batch.status[0])).text if batch.status[0] else ""


def test_singular_and_unreachable_poses_are_named():
    quarter = [[0, -1, 0], [1, 0, 0], [0, 0, 1]]
    assert "type 2" in message_of("stewart-3-3", rotation=quarter)
    assert "too far from the rail" in message_of("hexapod", position=[0, 0, 3])
    assert "too far from the crank" in message_of("hexa", position=[0, 0, -9])
    assert "cannot reach" in message_of("delta", position=[0, 0, -9])
    assert message_of("stewart-3-3") == ""


def test_wrong_requests_are_refused():
    with pytest.raises(InputError, match="expected 'transposed' or 'explicit', got 'all'"):
        virtual_work(robot_of("hexapod"), "all")
    with pytest.raises(InputError, match="planar-4-prr: 4 actuators for 3 degrees of freedom, so none moves alone"):
        virtual_work(robot_of("planar-4-prr"), "explicit")


def test_flexible_robots_are_refused():
    with pytest.raises(InputError, match="gough-stewart-flexible has flexible bodies; virtual_work treats rigid ones"):
        virtual_work(flexapod.load("gough-stewart-flexible"))


def test_too_few_actuators_are_refused(tmp_path):
    text = (DATA / "virtual_work" / "tricept.yaml").read_text(encoding="utf-8").replace("actuated: true", "actuated: false", 1)
    (tmp_path / "weak.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match="tricept: 2 actuators cannot hold 3 DOF of the platform"):
        virtual_work(flexapod.load(tmp_path / "weak.yaml"))


# --- mutants: one sign or term changed, each must be seen ------------------------------------------------------------

MUTANTS = [
    ("recursion", "rotating = cross(omega, step.u) * rate", "rotating = cross(step.u, omega) * rate", "stewart-3-3"),
    ("recursion", "+ rotating * 2", "+ rotating", "stewart-3-3"),
    ("recursion", "step.u * second + rotating\n", "step.u * second\n", "stewart-3-3"),
    ("recursion", "omega = omega + step.u * rate", "omega = omega - step.u * rate", "stewart-3-3"),
    ("recursion", "xy - ez", "xy + ez", "stewart-3-3"),
    ("recursion", "ca.horzcat(xz - ey, yz + ex, -(xx + yy))", "ca.horzcat(xz - ey, yz + ex, xx + yy)", "stewart-3-3"),
    ("recursion", "motion.gamma * body.mass + apply", "motion.gamma * body.mass - apply", "stewart-3-3"),
    ("recursion", "cross(s, motion.gamma)", "cross(motion.gamma, s)", "hexapod"),
    ("recursion", "motion.epsilon) + spin", "motion.epsilon)", "stewart-3-3"),
    ("recursion", "+ M + cross(step.r, F)", "+ M", "stewart-3-3"),
    ("recursion", "own + step.rotor * accelerations[step.coordinate]", "own", "gough-stewart"),
    ("recursion", "rho = step.r + step.a.T @ rho", "rho = step.a.T @ rho - step.r", "hexa"),
    ("universal_chain", "ca.horzcat(sigma, 0, -mu)", "ca.horzcat(sigma, 0, mu)", "stewart-3-3"),
    ("universal_connectivity", "v[1] - self.c[1] * q", "v[1] + self.c[1] * q", "hexapod"),
    ("universal_connectivity", "works[actuator] - dot", "works[actuator] + dot", "hexapod"),
    ("universal_connectivity", "platform.acceleration(r) - still", "platform.acceleration(r)", "hexapod"),
    ("universal_connectivity", "works[self.second] * self.across2", "-works[self.second] * self.across2", "stewart-3-3"),
    ("leg_work", "self.v + cross(self.w, r)", "self.v - cross(self.w, r)", "stewart-3-3"),
    ("leg_work", "a=motion.a - gravity", "a=motion.a", "stewart-3-3"),
    ("leg_work", "cross(arm, force)", "cross(force, arm)", "hexapod"),
    ("virtual_motions", "own + scales * factor.solve(right)", "own - scales * factor.solve(right)", "hexapod"),
    ("virtual_motions", "factor.solve(-G", "factor.solve(G", "tricept"),
    ("virtual_motions", "right + ca.mtimes", "right - ca.mtimes", "planar-4-prr"),
    ("inverse_dynamics", "- external", "+ external", "stewart-3-3"),
    ("general_connectivity", "(cross(r, row.linear) + row.angular)", "(cross(r, row.linear) - row.angular)", "stewart-upru"),
    ("general_connectivity", "- dot(link.omega - platform.w", "+ dot(link.omega - platform.w", "stewart-upru"),
    ("general_connectivity", "- platform.velocity(r)) * 2", "- platform.velocity(r))", "planar-3-rrp"),
    ("general_connectivity", "platform.acceleration(r) - acceleration", "platform.acceleration(r) + acceleration", "delta"),
]


@cache
def few_samples(name):
    states, wrench, motion, basis = sampled(name, 6, 4)
    return states, wrench, true_forces(robot_of(name), states, wrench, motion, basis)


def mutant_error(module, old, new, name):
    """Error of the formulation with one text replaced."""
    states, wrench, expected = few_samples(name)
    with mutated((module, old, new), package) as copy:
        run = bound_kernel(robot_of(name), copy.virtual_work(robot_of(name)))
    batch, _ = solve_from_starts(run, {**states, "wrench": wrench})
    return largest_error(np.nan_to_num(batch.outputs["force"]), expected)


@pytest.mark.parametrize("name", sorted({mutant[3] for mutant in MUTANTS}))
def test_a_copy_without_mutation_is_right(name):
    assert mutant_error("recursion", "def outward(", "def outward(", name) < TRUTH


@pytest.mark.parametrize(
    ("module", "old", "new", "name"), one_per_module(MUTANTS), ids=lambda value: value if isinstance(value, str) else None
)
def test_mutants_are_seen(module, old, new, name):
    assert mutant_error(module, old, new, name) > BROKEN
