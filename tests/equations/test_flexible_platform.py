"""Equations of the flexible platform: reference values, a second formulation, power balance, the rigid limit, the tangent."""

from collections.abc import Callable

import numpy as np
import pytest

import flexapod as fp
from flexapod.analysis.verbs.sampling import random_states
from flexapod.equations.flexible_platform import assembly, dynamics, equilibrium, generalized_newton_euler
from flexapod.motions.rotations import rotvec_motion, rotvec_rotation
from support.flexible_robots import (
    curving_robot,
    off,
    plate_robot,
    random_flexible,
    reference_robot,
    reference_states,
    rigid,
    run,
    run_by_energy,
    stiffened,
)
from support.plain import compile_kernel

REFERENCE = 1e-11
"""Relative: the reference has 60 digits, forces pass a system with condition 1e3."""
REST = 1e-7
"""Elastic acceleration [1/s^2] at the reference's equilibrium, where terms of 1e3 cancel; its e has 16 digits."""
AGREE = 1e-10
"""Relative, over 1000 states: forces of states near the singularity of the inverse model lose five digits (measured 3e-11)."""
TERMS = 1e-13
"""Relative: mass matrix, bias and forward dynamics have no bad condition (measured 1e-14)."""
BALANCE = 1e-10
"""Of the sum of absolute powers: sixth-order differences with 1e-4 s leave 1e-12."""
TANGENT = 1e-9
"""Of the largest stiffness: fourth-order differences with 1e-4."""
PRINTED_MASS = 5e-5
"""[kg] of the exact hexagon with the papers' readings, written with four decimals."""
TABLE_2 = 3e-3
"""Relative: the paper's plate is another mesh; found 2.7e-3."""
SAME_VALUES = 1e-12
"""Relative, and absolute where they vanish: damping of a stiffness, inertia of a plate on its mesh; found 3e-15."""
SPIN = 1e-10
"""Angular acceleration [rad/s^2], of the largest acceleration [m/s^2]: forces times the arms of the joints; found 1e-12."""
ROUNDING = 1e-14
"""Of the largest entry: the same sums without some terms that vanish."""
HUNDREDFOLD = 0.05
"""Of the ratio of two errors: the next order in one over the stiffness; found 7e-3."""
SOLVED = 1e-12
"""Of the largest acceleration: solves of a system with condition 1e3; found 7e-15."""


def test_the_catalogue_robot() -> None:
    robot = plate_robot()
    body = robot.flexible_platform
    assert body is not None
    assert robot.elastic_names == tuple(f"platform.mode{k}" for k in range(1, 11))
    assert body.mass == pytest.approx(73.0709, abs=PRINTED_MASS)
    # D = 2 d sqrt(k), d = 0.4, below Eq. (34)
    np.testing.assert_allclose(np.diag(body.D_ee), 0.8 * np.sqrt(np.diag(body.K_ee)), rtol=SAME_VALUES)
    table_2 = [188.7473, 188.7475, 315.7169, 401.0187, 474.7468]
    np.testing.assert_allclose(body.angular_frequency[:5], table_2, rtol=TABLE_2)
    # the legs are those of the rigid robot, and the plate is its rigid platform up to the mesh's integration
    for name, value in rigid().values.items():
        assert robot.values[name] == pytest.approx(value, rel=SAME_VALUES, abs=SAME_VALUES), name
    start = fp.inverse_kinematics(robot, fp.State(position=robot.home.position), elastic="zero")
    table = [-1.671, 1.767, 1.025, -1.373, 1.764, 1.039, -2.016, 1.814, 1.142, -1.958, 1.859, 1.126, -1.656, 1.389, 1.0203]
    table += [-1.936, 1.345, 1.099]
    assert np.abs(start.joint_position.values - np.array(table)).max() < 1e-3  # Table 4, printed with three digits


@pytest.mark.parametrize("kind", ["plate", "generic"])
def test_reference_states(kind: str) -> None:
    robot = reference_robot(kind)
    N = len(robot.elastic_names)
    for name, given, entry in reference_states(kind):
        inputs = {key: value[None] for key, value in given.items()}
        inputs |= {"wrench": np.zeros((1, 6)), "elastic_load": np.zeros((1, N))}
        inputs["force"] = np.array(entry["inverse"]["Gamma"])[None]
        inverse = run(robot, "flexible_inverse_dynamics", inputs)
        assert off(inverse["force"][0], entry["inverse"]["Gamma"]) < REFERENCE, name
        assert off(inverse["joint_force"][0], entry["inverse"]["leg_force_on_platform_world"]) < REFERENCE, name
        forward = run(robot, "flexible_forward_dynamics", inputs)
        scale = max(1.0, np.abs(given["acceleration"]).max())
        assert np.abs(forward["acceleration"][0] - given["acceleration"]).max() < REFERENCE * scale, name
        assert np.abs(forward["angular_acceleration"][0] - given["angular_acceleration"]).max() < SPIN * scale, name
        edd = np.array(entry["inverse"]["qe_ddot"])
        for found in (inverse["elastic_acceleration"][0], forward["elastic_acceleration"][0]):
            assert np.abs(found - edd).max() < max(REFERENCE * np.abs(edd).max(), REST), name
        terms = run(robot, "flexible_mass_matrix", inputs)
        T = np.eye(6 + N)
        T[:3, :3] = given["rotation"]  # the reference has v in world and omega in platform axes
        assert off(T @ terms["mass_matrix"][0] @ T.T, entry["mass_matrix"]) < REFERENCE, name
        assert off(T @ terms["actuator_map"][0], entry["actuator_map_B"]) < REFERENCE, name
        assert off(T @ terms["bias"][0], entry["bias_incl_gravity_elastic_damping"]) < REFERENCE, name


ROBOTS = {"modes": lambda: reference_robot("generic"), "stiffened plate": curving_robot}


@pytest.mark.parametrize("kind", ROBOTS)
def test_two_formulations_agree(kind: str) -> None:
    """Closed form of the paper against the general virtual-power assembly, 1000 random states."""
    robot = ROBOTS[kind]()
    inputs = random_flexible(robot, 1000, seed=3)
    N = len(robot.elastic_names)
    closed, general = run(robot, "flexible_mass_matrix", inputs), run_by_energy(robot, "mass_matrix", inputs)
    T = np.tile(np.eye(6 + N), (1000, 1, 1))
    T[:, :3, :3] = T[:, 3:6, 3:6] = inputs["rotation"]
    assert off(T @ closed["mass_matrix"] @ np.swapaxes(T, 1, 2), general["mass_matrix"]) < TERMS
    assert off(np.einsum("nij,nj->ni", T, closed["bias"]), general["bias"]) < TERMS
    assert off(T @ closed["actuator_map"], general["actuator_map"]) < TERMS
    closed, general = run(robot, "flexible_inverse_dynamics", inputs), run_by_energy(robot, "inverse_dynamics", inputs)
    for key in ("force", "power", "elastic_acceleration"):
        assert off(closed[key], general[key]) < AGREE, key


def test_forward_inverts_inverse() -> None:
    robot = plate_robot()
    inputs = random_flexible(robot, 1000, seed=5)
    inverse = run(robot, "flexible_inverse_dynamics", inputs)
    forward = run(robot, "flexible_forward_dynamics", {**inputs, "force": inverse["force"]})
    size = np.abs(inverse["elastic_acceleration"]).max()
    for key in ("acceleration", "angular_acceleration"):
        assert np.abs(forward[key] - inputs[key]).max() < AGREE * size
    assert off(forward["elastic_acceleration"], inverse["elastic_acceleration"]) < AGREE


@pytest.mark.parametrize("make", [plate_robot, curving_robot])
def test_power_balance(make: Callable[[], fp.Robot]) -> None:
    """Actuators and loads supply what energies gain and damping takes: energies by their own verb, differenced over time."""
    robot = make()
    body = robot.flexible_platform
    assert body is not None
    given = random_flexible(robot, 20, seed=7)
    found = run(robot, "flexible_forward_dynamics", given)
    ids = ("acceleration", "angular_acceleration", "elastic_acceleration")
    a, alpha, edd = (found[key] for key in ids)
    h, gain = 2.5e-5 if robot.joint_curving else 1e-4, np.zeros(20)  # stretching has the fourth power of e
    for k, weight in ((1, 3 / 4), (2, -3 / 20), (3, 1 / 60)):
        for sign in (1.0, -1.0):
            t = sign * k * h
            angle = given["angular_velocity"] * t + alpha * t * t / 2
            rotation, w, _ = rotvec_motion(angle, given["angular_velocity"] + alpha * t, alpha)
            state = fp.State(
                position=given["position"] + given["velocity"] * t + a * t * t / 2,
                rotation=rotation @ given["rotation"],
                velocity=given["velocity"] + a * t,
                angular_velocity=w,
                elastic=given["elastic"] + given["elastic_velocity"] * t + edd * t * t / 2,
                elastic_velocity=given["elastic_velocity"] + edd * t,
            )
            energy = fp.energy(robot, state)
            gain += sign * weight / h * (energy.kinetic.values + energy.potential.values)
    keys = ("position", "rotation", "velocity", "angular_velocity", "elastic", "elastic_velocity")
    rates = fp.inverse_kinematics(robot, fp.State(**{k: given[k] for k in keys})).actuator_velocity.values
    lost = np.einsum("ni,ij,nj->n", given["elastic_velocity"], body.D_ee, given["elastic_velocity"])
    powers = [given["force"] * rates, given["elastic_load"] * given["elastic_velocity"]]
    powers += [given["wrench"] * np.concatenate([given["velocity"], given["angular_velocity"]], axis=1)]
    supplied = sum(p.sum(axis=1) for p in powers)
    absolute = sum(np.abs(p).sum(axis=1) for p in powers) + np.abs(gain) + lost
    assert np.abs((supplied - gain - lost) / absolute).max() < BALANCE


def test_inertia_terms_of_the_deformation_can_be_left_out() -> None:
    robot = plate_robot()
    inputs = random_flexible(robot, 50, seed=9)
    whole = run(robot, "flexible_mass_matrix", inputs)["mass_matrix"]
    first = run(robot, "flexible_mass_matrix", inputs, second_order=False)["mass_matrix"]
    assert 1e-6 < off(first, whole) < 1e-2, "they matter, a little"
    undeformed = {**inputs, "elastic": np.zeros_like(inputs["elastic"])}
    whole = run(robot, "flexible_mass_matrix", undeformed)["mass_matrix"]
    first = run(robot, "flexible_mass_matrix", undeformed, second_order=False)["mass_matrix"]
    assert off(first, whole) < ROUNDING


def test_limit_of_a_rigid_platform() -> None:
    """With quasi-static deflection the forces approach the rigid robot's with an error of 1/stiffness."""
    robot = plate_robot()
    keys = ("position", "rotation", "velocity", "angular_velocity", "acceleration", "angular_acceleration")
    states = random_flexible(robot, 30, seed=11)
    motion = fp.Motion(time=np.arange(30.0), **{key: states[key] for key in keys})
    expected = fp.inverse_dynamics(rigid(), motion).force.values
    errors = [off(fp.inverse_dynamics(stiffened(robot, k), motion).force.values, expected) for k in (1e2, 1e4, 1e6)]
    assert errors[0] < 0.05
    assert errors[0] / errors[1] == pytest.approx(100.0, rel=HUNDREDFOLD)
    assert errors[1] / errors[2] == pytest.approx(100.0, rel=HUNDREDFOLD)


@pytest.mark.parametrize("kind", ROBOTS)
def test_tangent_is_the_derivative_of_the_equilibrium(kind: str) -> None:
    """Against differences of bias, actuator map and loads from the other kernel."""
    robot = ROBOTS[kind]()
    N, random = len(robot.elastic_names), np.random.default_rng(13)
    given = {key: value[0] for key, value in random_flexible(robot, 1, seed=13).items()}
    load, r0 = random.normal(size=6) * 100, random.normal(size=3) * 0.3
    Phi, Phi_r = random.normal(size=(3, N)), random.normal(size=(3, N))
    p, R, e = given["position"], given["rotation"], given["elastic"]
    Q = random.normal(size=(3, N, N))
    Q = Q + np.swapaxes(Q, 1, 2) if robot.joint_curving else 0 * Q
    curving = {"point_curving": Q.reshape(3 * N, N)} if robot.joint_curving else {}

    def residual(dx: np.ndarray) -> np.ndarray:
        at, R_now, q = p + R @ dx[:3], R @ rotvec_rotation(dx[3:6]), e + dx[6:]
        still = {"velocity": np.zeros((1, 3)), "angular_velocity": np.zeros((1, 3)), "elastic_velocity": np.zeros((1, N))}
        found = run(robot, "flexible_mass_matrix", {"position": at[None], "rotation": R_now[None], "elastic": q[None], **still})
        f, m = R_now.T @ load[:3], R_now.T @ load[3:]
        frame = np.concatenate([R_now.T @ given["wrench"][:3], R_now.T @ given["wrench"][3:], np.zeros(N)])
        moved = r0 + Phi @ q + np.einsum("aij,i,j->a", Q, q, q) / 2
        point = np.concatenate([f, np.cross(moved, f) + m, (Phi + Q @ q).T @ f + Phi_r.T @ m])
        return found["bias"][0] - found["actuator_map"][0] @ given["force"] - frame - point

    found = fp.kernel(robot, "flexible_tangent")(
        position=p, rotation=R, elastic=e, force=given["force"], wrench=given["wrench"], point_wrench=load,
        point_position=r0, point_shape=Phi, point_rotation=Phi_r,
        **curving,
    )  # fmt: skip
    assert off(found["residual"], residual(np.zeros(6 + N))) < TERMS
    h, K = 1e-4, np.zeros((6 + N, 6 + N))
    for j, dx in enumerate(np.eye(6 + N) * h):
        K[:, j] = (8 * (residual(dx) - residual(-dx)) - (residual(2 * dx) - residual(-2 * dx))) / (12 * h)
    assert off(found["stiffness"], K) < TANGENT


def test_tangent_in_a_loop_over_many_modes(monkeypatch: pytest.MonkeyPatch) -> None:
    """The stiffness of the legs is written out for few modes and a loop over its columns for many."""
    robot = plate_robot()
    given = {key: value[:3] for key, value in random_flexible(robot, 3, seed=17).items()}
    random, N = np.random.default_rng(17), len(robot.elastic_names)
    shapes = {"point_wrench": (3, 6), "point_position": (3, 3), "point_shape": (3, 3, N), "point_rotation": (3, 3, N)}
    given |= {name: random.normal(size=shape) for name, shape in shapes.items()}
    found = []
    for most in (N, N - 1):
        monkeypatch.setattr(equilibrium, "UNROLLED", most)
        program = equilibrium.flexible_tangent(robot)
        assert len(program._steps) == (most < N)
        kernel = compile_kernel(program, backend="numpy")
        values = np.array([robot.values[p.name] for p in kernel.signature.parameters])
        found.append(kernel.batch({i.name: given[i.name] for i in kernel.signature.inputs}, values).outputs["stiffness"])
    assert off(found[1], found[0]) < TERMS


@pytest.mark.parametrize("quantity", ["flexible_forward_dynamics", "flexible_inverse_dynamics"])
@pytest.mark.parametrize("second_order", [True, False])
def test_dynamics_in_loops_over_many_modes(quantity: str, second_order: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sums over few modes are written out, those over many are loops; the numbers are the same."""
    robot = plate_robot()
    given = random_flexible(robot, 5, seed=19)
    given |= {"force": np.random.default_rng(19).normal(size=(5, 6)) * 100.0}
    N, found = len(robot.elastic_names), []
    for most in (N, N - 1):
        for module in (assembly, generalized_newton_euler):
            monkeypatch.setattr(module, "UNROLLED", most)
        program = getattr(dynamics, quantity)(robot, second_order=second_order)
        assert len(program._steps) == (4 if most < N else 0)
        kernel = compile_kernel(program, backend="numpy")
        values = np.array([robot.values[p.name] for p in kernel.signature.parameters])
        found.append(kernel.batch({i.name: given[i.name] for i in kernel.signature.inputs}, values).outputs)
    for name, expected in found[0].items():
        assert off(found[1][name], expected) < AGREE, name


def test_parameters_do_not_recompile() -> None:
    """A stiffer platform runs on the same kernel."""
    soft, stiff = plate_robot(), stiffened(plate_robot(), 2.0)
    assert soft.structure == stiff.structure
    assert fp.kernel(soft, "flexible_tangent").compiled is fp.kernel(stiff, "flexible_tangent").compiled


def test_leg_jacobian_of_the_paper() -> None:
    """Eqs. (1)-(6): the printed Jacobian of a leg takes its joint rates to the velocity of its tip, and back."""
    robot = plate_robot()
    states = random_flexible(robot, 10, seed=15)
    keys = ("position", "rotation", "velocity", "angular_velocity", "elastic", "elastic_velocity")
    state = fp.State(**{key: states[key] for key in keys})
    found = fp.inverse_kinematics(robot, state, bodies=True)
    q, qd = (found[name].values.reshape(10, 6, 3) for name in ("joint_position", "joint_velocity"))
    gamma = [0.0, 0.0, 0.4636476090008062, 0.9272952180016122, 1.837048375945822, 2.4227626539681686]  # readings of Table 4
    for i, leg in enumerate(robot.legs):
        R_0i = rotvec_rotation(np.array([0.0, 0.0, gamma[i]]))
        tip = found.body_velocity.sel(body=f"{leg.name}.3").values @ R_0i  # in the leg's base frame
        (s1, s2), (c1, c2), q3 = np.sin(q[:, i, :2]).T, np.cos(q[:, i, :2]).T, q[:, i, 2]
        zero = np.zeros(10)
        J = np.array([[-q3 * s1 * s2, q3 * c1 * c2, c1 * s2], [zero, q3 * s2, -c2], [-q3 * c1 * s2, -q3 * c2 * s1, -s1 * s2]])
        J_inverse = np.array(
            [[-s1 / (q3 * s2), zero, -c1 / (q3 * s2)], [c1 * c2 / q3, s2 / q3, -c2 * s1 / q3], [c1 * s2, -c2, -s1 * s2]]
        )
        assert off(np.einsum("ijn,nj->ni", J, qd[:, i]), tip) < TERMS
        assert off(np.einsum("ijn,nj->ni", J_inverse, tip), qd[:, i]) < TERMS
        assert off(np.einsum("jn,nj->n", J_inverse[2], tip), qd[:, i, 2]) < TERMS  # Eq. (5)


OPERATIONS = {"forward_dynamics": 4531, "inverse_dynamics": 5015, "mass_matrix": 5172}
"""Of `gough-stewart-flexible`, ten modes, counted by this test; legs in world axes and a solve by modes had 11 651, 13 684 and
11 013. A change that lowers them may lower these."""


@pytest.mark.parametrize("quantity", OPERATIONS)
def test_operations(quantity: str) -> None:
    """The counts are those written here, on every processor."""
    assert fp.kernel(plate_robot(), f"flexible_{quantity}").operations.total == OPERATIONS[quantity]


@pytest.mark.parametrize("architecture", ["hexaslide", "hexa"])
def test_platforms_on_other_legs(architecture: str) -> None:
    """P-U-S and R-U-S legs: the closed form against the general assembly."""
    robot = fp.load(architecture)
    joints = {leg.name: tuple(leg.closing.on_platform.position) for leg in robot.legs}
    size = 1.2 * max(np.linalg.norm(p[:2]) for p in joints.values())
    outline = fp.flexible.regular_outline(6, 1.2 * size)
    body = fp.flexible.plate(
        outline=outline, thickness=0.03 * size, young=7e10, poisson=0.3, density=2700.0, modes=6, interfaces=joints
    )
    flexible = robot.with_flexible_body("platform", body)
    assert not flexible.elastic_legs, "the closed form applies"
    inputs = random_flexible(flexible, 200, seed=19) | random_states(robot, 200, seed=19)
    inputs["elastic"], inputs["elastic_velocity"] = 1e-2 * inputs["elastic"], 1e-2 * inputs["elastic_velocity"]
    for name, keys in (
        ("inverse_dynamics", ("force", "power")),
        ("mass_matrix", ("actuator_map",)),
        ("forward_dynamics", ("acceleration",)),
    ):
        closed, general = run(flexible, f"flexible_{name}", inputs), run_by_energy(flexible, name, inputs)
        for key in keys:
            expected = general[key]
            if key == "actuator_map":  # the general one has world axes
                expected = np.concatenate(
                    [np.swapaxes(inputs["rotation"], 1, 2) @ expected[:, i : i + 3] for i in (0, 3)], axis=1
                )
            assert off(closed[key][:, : expected.shape[1]], expected) < AGREE, (name, key)


def test_elastic_blocks_agree() -> None:
    """Solving through the joints (catalogue robot, ten normal modes) against a dense solve of the mass matrix in NumPy."""
    robot = plate_robot()
    assert robot.flexible_shape[0].normal
    inputs = random_flexible(robot, 200, seed=17)
    terms, found = (run(robot, f"flexible_{name}", inputs) for name in ("mass_matrix", "forward_dynamics"))
    R = inputs["rotation"]
    load = [np.einsum("nji,nj->ni", R, inputs["wrench"][:, part]) for part in (slice(0, 3), slice(3, 6))]
    right = np.concatenate([*load, inputs["elastic_load"]], axis=1) - terms["bias"]
    right += np.einsum("nij,nj->ni", terms["actuator_map"], inputs["force"])
    x = np.linalg.solve(terms["mass_matrix"], right[..., None])[..., 0]
    assert off(np.einsum("nji,nj->ni", R, found["acceleration"]), x[:, :3]) < SOLVED
    assert off(np.einsum("nji,nj->ni", R, found["angular_acceleration"]), x[:, 3:6]) < SOLVED
    assert off(found["elastic_acceleration"], x[:, 6:]) < SOLVED
