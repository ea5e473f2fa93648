"""Verbs on DualEMPS: reference states, matrices, frequencies, statics, energy; springs at joints; other names, another world."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg
from leg_robots import (
    REFERENCE,
    WITH_FRICTION,
    arranged,
    home_actuators,
    in_another_world,
    moment,
    relabelled,
    robot,
    share,
    whole,
)

import flexapod as fp
from flexapod.robot.geometry import rotation_from_vector

STATES = 1e-8
"""As the reference suggests; found 3e-14."""
PRINTED = 4e-5
"""The reference prints 14.207 Hz to 0.0005 Hz."""
EIGHT = 1.5e-4
"""Eight elements against 32: mode 6 has half a wave on one element and a half; found 1.3e-4, the others below 5e-5."""
THIRD_DECIMAL = 6e-4
"""The 32-element values are printed to 0.0005 Hz."""
SYMMETRIC = 1e-12
"""Of the largest entry of K, which is axial; found 5e-16."""
DIFFERENCES = 1e-9
"""Of a frequency, K from central differences of forces over 2e-5 m, rad; found 3e-11."""
LINEAR = 1e-5
"""What a load of 2 mN leaves of the second order; found 2e-6, ten times as much at 20 mN."""
BALANCE = 2e-8
"""Power, of the sum of its parts, by central differences of the energy over 2e-6 s; found 3e-9."""
SAME = 1e-9
"""Frequencies of the same robot written otherwise."""
EXACT = 1e-9
"""Closed forms of one mass on one spring."""
ROUNDING = 1e-14
"""Relative, or of shapes, rates and rotations of size 1: a few products."""
SLOPE = 1e-7
"""Of the largest gravity force: central differences of the energy over 2e-6 rad; found 9e-11."""
FREQUENCIES = REFERENCE["frequencies_hz_locked_actuators_q11_q21_0"]


def deformed(case: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """q, q', e, e' of a reference state."""
    x, xd = np.array(REFERENCE["states"][case]["x"]), np.array(REFERENCE["states"][case]["xdot"])
    return x[:2], xd[:2], arranged(x[2:]), arranged(xd[2:])


@pytest.mark.parametrize("case", range(len(REFERENCE["states"])))
@pytest.mark.parametrize("friction", [False, True])
def test_reference_states(case: int, friction: bool) -> None:
    """Forces, elastic accelerations, accelerations under other forces, acceleration of the tip."""
    r, (q, qd, e, ed) = robot("dualemps"), deformed(case)
    expected = WITH_FRICTION["states"][case] if friction else REFERENCE["states"][case]["nofriction"]
    motion = moment(q, qd, REFERENCE["states"][case]["qa_ddot"])
    drive = fp.inverse_dynamics(r, motion, elastic=e, elastic_velocity=ed, friction=friction)
    assert share(drive.force.values[0], expected["tau"]) < STATES
    assert share(drive.elastic_acceleration.values[0], arranged(expected["qe_ddot"])) < STATES
    np.testing.assert_allclose(drive.power.values, drive.force.values * motion.velocity, rtol=ROUNDING)
    state = fp.State.from_actuators(r, q, qd, elastic=e, elastic_velocity=ed)
    moved = fp.forward_dynamics(r, state, expected["forward_tau"], friction=friction)
    assert share(moved.actuator_acceleration.values, expected["forward_qa_ddot"]) < STATES
    assert share(moved.elastic_acceleration.values, arranged(expected["forward_qe_ddot"])) < STATES
    tip = fp.point_motion(
        r, motion, "1.17.tip", elastic=e, elastic_velocity=ed, elastic_acceleration=arranged(expected["qe_ddot"])
    )
    assert share(tip.acceleration.values[0, [0, 2]], expected["tip_acc_frame17_global"]) < STATES
    assert np.abs(tip.acceleration.values[0, 1]) < STATES
    mass = fp.mass_matrix(r, state, coordinates="independent").values
    assert share(mass, whole(REFERENCE["states"][case]["mass_matrix"])) < STATES


def test_matrices_at_rest() -> None:
    """The mass matrix as it is; the stiffness matrix from the accelerations that unit deflections cause."""
    r = robot("dualemps")
    found = stiffness(np.zeros(9), steps=1e-3)
    assert share(found, whole(REFERENCE["stiffness_matrix_q0"])[2:, 2:]) < STATES
    state = fp.State.from_actuators(r, [0, 0], elastic="zero")
    mass = fp.mass_matrix(r, state, coordinates="independent")
    assert mass.coordinate.values.tolist() == list(r.independent)
    assert share(mass.values, whole(REFERENCE["mass_matrix_q0"])) < STATES


def static_forces(e: np.ndarray, wrench: np.ndarray | None = None) -> np.ndarray:
    """Elastic forces (n, 9) that hold deflections e (n, 9) with locked actuators, from accelerations at rest."""
    r, still = robot("dualemps"), moment(np.zeros((len(e), 2)))
    load = None if wrench is None else np.tile(wrench, (len(e), 1))
    edd = fp.inverse_dynamics(r, still, elastic=e, friction=False, wrench=load).elastic_acceleration.values
    states = fp.State.from_actuators(r, still.position, elastic=e)
    M = fp.mass_matrix(r, states, coordinates="independent").values[:, 2:, 2:]
    return np.asarray(-np.einsum("nij,nj->ni", M, edd))


def stiffness(e: np.ndarray, steps: float, wrench: np.ndarray | None = None) -> np.ndarray:
    """Their derivative (9, 9) by central differences."""
    up, down = static_forces(e + steps * np.eye(9), wrench), static_forces(e - steps * np.eye(9), wrench)
    return (up - down).T / (2 * steps)


def test_frequencies_of_one_element() -> None:
    r = robot("dualemps")
    at_rest = fp.State.from_actuators(r, [0, 0])
    for prestress in (True, False):
        modes = fp.natural_frequencies(r, at_rest, prestress=prestress)
        found = modes.frequency.values[:6]
        assert np.abs(found / FREQUENCIES["one_element_as_printed"] - 1).max() < PRINTED
        assert modes.coordinate.values.tolist() == list(r.independent)
        locked = modes["shape"].sel(coordinate=["1", "2"]).values
        assert np.abs(locked).max() < ROUNDING, "locked actuators do not move"
    grid = fp.natural_frequencies(r, moment([[0, 0], [0.1, -0.1], [-0.05, 0.2]])).frequency.values
    assert np.ptp(grid[:, 0]) < 0.01 * grid[0, 0], "the paper: nearly constant in the workspace"
    free = fp.natural_frequencies(r, at_rest, actuators="free").frequency.values
    assert np.all(free[:2] == 0.0), "two sliders that nothing holds"
    assert free[2] > 14.0


def test_frequencies_converge(monkeypatch: pytest.MonkeyPatch) -> None:
    """Eight elements agree with 32; what is left falls with the fourth power of the length of a cubic element."""
    monkeypatch.setenv("FLEXAPOD_BACKEND", "numpy")  # one sample each: interpreting is shorter than compiling
    exact, found = np.array(FREQUENCIES["converged_32_elements"]), {}
    for count, name in ((2, "dualemps-2"), (8, "dualemps-8")):
        r = robot(name)
        still = fp.State.from_actuators(r, [0, 0], elastic="zero")
        found[count] = fp.natural_frequencies(r, still, prestress=False).frequency.values[:6]
    assert np.abs(found[8] / exact - 1).max() < EIGHT
    assert np.all(found[2] > found[8]), "finite elements are stiffer than the beam"
    limit = found[8] - (found[2] - found[8]) / (4**4 - 1)
    assert np.abs(limit - exact)[:4].max() < THIRD_DECIMAL < np.abs(found[8] - exact)[:4].max()


def test_prestress_is_the_derivative_of_the_forces() -> None:
    """Frequencies under a load against K from differences of forces at the deflected equilibrium."""
    r, load = robot("dualemps"), np.array([8.0, 0, -60, 0, 2, 0])
    held = fp.static_deflection(r, moment([0, 0]), wrench=load)
    e = held.elastic.values[0]
    assert np.abs(static_forces(e[None], load)).max() < STATES * 60
    K = stiffness(e, 1e-5, load)
    assert share(K, K.T) < SYMMETRIC, "conservative"
    M = fp.mass_matrix(r, fp.State.from_actuators(r, [0, 0], elastic=e), coordinates="independent").values[2:, 2:]
    expected = np.sqrt(scipy.linalg.eigvalsh(K, M)) / (2 * np.pi)
    loaded = fp.natural_frequencies(r, moment([0, 0]), wrench=load)
    np.testing.assert_allclose(loaded.frequency.values[0], expected, rtol=DIFFERENCES)
    plain = fp.natural_frequencies(r, moment([0, 0])).frequency.values[0]
    assert np.abs(plain[:6] / expected[:6] - 1).max() > 1e-2, "the load matters: the test can fail"


def test_small_static_deflection_is_linear() -> None:
    """e = K^-1 J^T w, and the actuators feel what the platform's motion with them says."""
    r = robot("dualemps")
    load, h = 1e-3 * np.array([1, 0, -2, 0, 0.5, 0]), 1e-5
    J_e = np.stack([_twist(np.zeros(2), np.zeros(2), k) for k in np.eye(9)], axis=1)
    J_q = np.stack([_twist(h * k, -h * k, np.zeros(9)) / (2 * h) for k in np.eye(2)], axis=1)
    found = fp.static_deflection(r, moment([0, 0]), wrench=load)
    K = whole(REFERENCE["stiffness_matrix_q0"])[2:, 2:]
    expected = np.linalg.solve(K, J_e.T @ load)
    assert share(found.elastic.values[0], expected) < LINEAR
    assert share(found.force.values[0], -J_q.T @ load) < LINEAR
    assert found.residual.values[0] < STATES * 2e-3
    np.testing.assert_allclose(found.elastic_energy.values[0], expected @ K @ expected / 2, rtol=LINEAR)


def _twist(q: np.ndarray, other: np.ndarray, e: np.ndarray) -> np.ndarray:
    """Displacement and turn of the platform from `other` to q, or by rates e of the elastic coordinates at home."""
    r = robot("dualemps")
    if np.any(e):
        state = fp.State.from_actuators(r, [0, 0], elastic=np.zeros(9), elastic_velocity=e)
        return np.concatenate([state.velocity, state.angular_velocity])
    a, b = (fp.State.from_actuators(r, x, elastic="zero") for x in (q, other))
    rotation = a.rotation @ b.rotation.T
    axis = np.array([rotation[2, 1] - rotation[1, 2], rotation[0, 2] - rotation[2, 0], rotation[1, 0] - rotation[0, 1]]) / 2
    return np.concatenate([a.position - b.position, axis])


@pytest.mark.parametrize("name", ["dualemps", "planar-3-rrr"])
def test_power_of_the_forces_is_the_rate_of_the_energy(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """d/dt (kinetic + potential) = force . rate, at random states, gravity and elastic energy included."""
    if name != "dualemps":
        monkeypatch.setenv("FLEXAPOD_BACKEND", "numpy")
    r, random = robot(name), np.random.default_rng(8)
    n, N, h = len(r.actuators), len(r.elastic_names), 1e-6
    sizes = np.array([1e-6 if x.endswith(".u") else 1e-3 for x in r.elastic_names])
    q, qd = home_actuators(r) + random.uniform(-0.05, 0.05, (3, n)), random.uniform(-0.5, 0.5, (3, n))
    e, ed = random.uniform(-1, 1, (3, N)) * sizes, random.uniform(-20, 20, (3, N)) * sizes
    force = random.uniform(-20, 20, (3, n))
    state = fp.State.from_actuators(r, q, qd, elastic=e, elastic_velocity=ed)
    found = fp.forward_dynamics(r, state, force, friction=False)
    qdd, edd = found.actuator_acceleration.values, found.elastic_acceleration.values
    totals = []
    for t in (-h, h):
        moved = fp.State.from_actuators(r, q + t * qd, qd + t * qdd, elastic=e + t * ed, elastic_velocity=ed + t * edd)
        parts = fp.energy(r, moved)
        totals.append((parts.kinetic + parts.potential).values)
    power = force * qd
    gained = (totals[1] - totals[0]) / (2 * h)
    assert np.all(np.abs(gained - power.sum(axis=1)) < BALANCE * np.abs(power).sum(axis=1))


def test_gravity_and_velocity_forces_add_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """At given accelerations: force = M u'' + gravity + velocity terms + stiffness, through four verbs of the 3-RRR."""
    monkeypatch.setenv("FLEXAPOD_BACKEND", "numpy")
    r, random = robot("planar-3-rrr"), np.random.default_rng(3)
    q, qd, qdd = home_actuators(r) + 0.05, random.uniform(-1, 1, 3), random.uniform(-5, 5, 3)
    ed = random.uniform(-0.01, 0.01, len(r.elastic_names))
    e = 0 * ed
    state = fp.State.from_actuators(r, q, qd, elastic=e, elastic_velocity=ed)
    drive = fp.inverse_dynamics(r, moment(q, qd, qdd), elastic=e, elastic_velocity=ed, friction=False)
    u2 = np.concatenate([qdd, drive.elastic_acceleration.values[0]])
    M, g, c = (verb(r, state, coordinates="independent").values for verb in (fp.mass_matrix, fp.gravity_force, fp.coriolis_force))
    left = M @ u2 + g + c - np.append(drive.force.values[0], np.zeros(len(e)))
    assert np.abs(left).max() < STATES * np.abs(M @ u2).max()
    assert np.abs(g).max() > 1.0, "gravity is there"
    assert np.abs(c).max() > 0.01, "velocity terms are there"
    h = 1e-6
    both = [fp.State.from_actuators(r, q + s * h * np.eye(3)[0], elastic=e) for s in (1, -1)]
    slope = -np.diff([fp.energy(r, s).potential.item() for s in both])[0] / (2 * h)
    assert abs(slope - g[0]) < SLOPE * np.abs(g).max(), "gravity force is the slope of the potential"


def test_mass_on_a_spring_drive() -> None:
    """sqrt(k/m), the damping of one freedom, m g / k, and both degrees of freedom where the motor is free."""
    r = robot("spring-drive")
    assert r.elastic_names == ("rail.s",)
    k, d, m, motor = 5000.0, 30.0, 3.0, 2.0
    locked = fp.natural_frequencies(r, fp.State.from_actuators(r, [0.0]))
    np.testing.assert_allclose(locked.frequency.values, np.sqrt(k / m) / (2 * np.pi), rtol=EXACT)
    np.testing.assert_allclose(locked.damping.values, d / (2 * np.sqrt(k * m)), rtol=EXACT)
    free = fp.natural_frequencies(r, fp.State.from_actuators(r, [0.0]), actuators="free")
    np.testing.assert_allclose(free.frequency.values[1], np.sqrt(k * (1 / m + 1 / motor)) / (2 * np.pi), rtol=EXACT)
    held = fp.static_deflection(r, moment([0.1]))
    np.testing.assert_allclose(held.elastic.values[0], -m * 9.81 / k, rtol=EXACT)
    np.testing.assert_allclose(held.force.values[0], m * 9.81, rtol=EXACT)
    state = fp.State.from_actuators(r, [0.1], [0.4], elastic=[0.002], elastic_velocity=[0.3])
    found = fp.forward_dynamics(r, state, [50.0])
    spring = k * 0.002 + d * 0.3
    qdd = (50.0 + spring) / motor
    np.testing.assert_allclose(found.actuator_acceleration.values, qdd, rtol=EXACT)
    np.testing.assert_allclose(found.elastic_acceleration.values, -9.81 - spring / m - qdd, rtol=EXACT)


def test_names_and_world_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    """Frequencies under a load: other names and order of legs, and everything turned and moved in the plane."""
    r, load = robot("dualemps"), np.array([10.0, 0, -30, 0, 2, 0])
    expected = fp.natural_frequencies(r, moment([0.1, -0.05]), wrench=load).frequency.values
    monkeypatch.setenv("FLEXAPOD_BACKEND", "numpy")
    Q, shift = rotation_from_vector(np.array([0.0, 0.7, 0.0])), np.array([0.3, 0, -0.2])
    other = in_another_world(relabelled(r), shift, Q)
    assert other.actuators == ("leg-2", "leg-1")
    elsewhere = np.concatenate([Q @ load[:3], Q @ load[3:]])
    found = fp.natural_frequencies(other, moment([-0.05, 0.1]), wrench=elsewhere).frequency.values
    np.testing.assert_allclose(found, expected, rtol=SAME)


def test_a_kinked_reference_is_noticed() -> None:
    """A millionth of the mass of one link moves forces by more than the tolerance."""
    q, qd, e, ed = deformed(1)
    heavy = robot("dualemps").with_parameters({"legs.1.17.inertial.M": 0.177 * (1 + 1e-6)})
    motion = moment(q, qd, REFERENCE["states"][1]["qa_ddot"])
    found = fp.inverse_dynamics(heavy, motion, elastic=e, elastic_velocity=ed, friction=False)
    assert share(found.force.values[0], REFERENCE["states"][1]["nofriction"]["tau"]) > STATES


def test_columns_of_the_last_element() -> None:
    """Rates of the last element of leg 1 turn and move what follows as Eq. (34) has it, and Eq. (35) inverts that."""
    r, (q, _, e, _) = robot("dualemps"), deformed(1)
    units = [np.where(np.array(r.elastic_names) == f"16.{k}", 1.0, 0.0) for k in ("u", "v", "theta")]
    still = moment(np.tile(q, (3, 1)))
    far = fp.point_motion(r, still, "1.17.accelerometer", elastic=np.tile(e, (3, 1)), elastic_velocity=np.array(units))
    tip = fp.point_motion(r, still, "1.17.tip", elastic=np.tile(e, (3, 1)))
    root = fp.point_motion(r, still, "1.16", elastic=np.tile(e, (3, 1)))
    p = (far.position - tip.position).values[0]
    R = root.rotation.values[0]
    block = np.zeros((6, 6))
    block[:3, :3] = block[3:, 3:] = R
    found = np.concatenate([far.velocity.values, far.angular_velocity.values], axis=1).T
    hat = np.array([[0, -p[2], p[1]], [p[2], 0, -p[0]], [-p[1], p[0], 0]])
    block[:3, 3:] = -hat @ R
    assert np.abs(found - block[:, [0, 1, 5]]).max() < ROUNDING
    inverse = np.block([[R.T, R.T @ hat], [np.zeros((3, 3)), R.T]])
    assert np.abs(inverse @ block - np.eye(6)).max() < ROUNDING
