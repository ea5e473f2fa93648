"""Natural frequencies of flexible robots: two independent linearisations, limits, instability, grids, messages."""

import numpy as np
import pytest
import scipy.linalg

import flexapod as fp
from flexapod.motions.rotations import rotvec_rotation
from support.flexible_robots import at_home, plate_robot, reference_robot, rigid, stiffened

EIGEN = 1e-9
"""Of the largest omega^2: two eigenvalue solvers on matrices with condition 1e4."""
DIFFERENCES = 1e-7
"""Of the largest omega^2: fourth-order differences of accelerations."""
EACH = 1e-9
"""Of each frequency; the lowest omega^2 is 1e-4 of the largest; found 4e-12."""
POTENTIAL = 1e-12
"""Antisymmetric part of a stiffness that has a potential, of its largest entry."""
DAMPED = 1e-3
"""Growth against the frequency without damping, little of which acts on this mode; found 5e-6."""
CURVATURE = 2e-2
"""Second differences of the energy over 0.02: what is left of the fourth order; found 2e-4."""
TENFOLD = 0.1
"""Of the ratio of two errors: the next order in one over the stiffness; found 0.05."""
RIGID = 1e-4
"""Of a platform that is a million times stiffer, integrated on its mesh; found 4e-5."""
CANCELS = 1e-6
"""omega^2 [1/s^2] of modes near instability, where terms of 1e6 cancel."""


def test_without_prestress_it_is_m_and_k() -> None:
    """Locked actuators, M from the verb, K of the plate, the null space and the solver of SciPy."""
    robot = plate_robot()
    body = robot.flexible_platform
    assert body is not None
    state = at_home(robot, elastic=np.zeros(10))
    found = fp.natural_frequencies(robot, state, prestress=False)
    M = fp.mass_matrix(robot, state).values
    K = scipy.linalg.block_diag(np.zeros((6, 6)), body.K_ee)
    rates = []  # actuator rates per unit rate of each coordinate, by the kinematics
    for unit in np.eye(16):
        moving = fp.State(
            position=robot.home.position, rotation=robot.home.rotation, velocity=unit[:3], angular_velocity=unit[3:6],
            elastic=np.zeros(10), elastic_velocity=unit[6:],
        )  # fmt: skip
        rates.append(fp.inverse_kinematics(robot, moving, joints=False).actuator_velocity.values)
    Z = scipy.linalg.null_space(np.array(rates).T)
    expected = scipy.linalg.eigh(Z.T @ K @ Z, Z.T @ M @ Z)[0]
    assert found.sizes["mode"] == 10
    assert np.abs(found.omega_squared.values - expected).max() < EIGEN * expected.max()
    np.testing.assert_allclose(found.frequency, np.sqrt(expected) / (2 * np.pi), rtol=EACH)
    assert bool(found.stable.all())


@pytest.mark.parametrize("load", [None, [50.0, -30.0, -200.0, 0, 0, 0]], ids=["gravity", "load"])
def test_prestress_by_differences_of_the_direct_model(load: list[float] | None) -> None:
    """Free actuators, forces held: x'' of `forward_dynamics`, differenced about the equilibrium, against the exact derivative."""
    robot = reference_robot("plate")
    state = at_home(robot)
    found = fp.natural_frequencies(robot, state, actuators="free", wrench=load)
    e0, force = found.elastic.values, found.force.values
    R = robot.home.rotation
    h = 1e-4
    steps = np.concatenate([k * h * np.eye(16) for k in (2, 1, -1, -2)])
    moved = fp.State(
        position=robot.home.position + steps[:, :3], rotation=np.array([rotvec_rotation(d) @ R for d in steps[:, 3:6]]),
        elastic=e0 + steps[:, 6:],
    )  # fmt: skip
    x = fp.forward_dynamics(robot, moved, force, wrench=load)
    second = np.concatenate([x.acceleration, x.angular_acceleration, x.elastic_acceleration], axis=1).reshape(4, 16, 16)
    A = ((8 * (second[1] - second[2]) - (second[0] - second[3])) / (12 * h)).T
    expected = np.sort(np.linalg.eigvals(-A).real)
    assert np.abs(found.omega_squared.values - expected).max() < DIFFERENCES * expected.max()
    assert float(found.asymmetry) < POTENTIAL


def test_negative_omega_squared_is_an_instability() -> None:
    """The platform on free actuators with held forces tips over: reported by sign, never as NaN or 0."""
    robot = plate_robot()
    found = fp.natural_frequencies(robot, at_home(robot), actuators="free")
    falling = ~found.stable.values
    assert falling.any()
    assert np.all(found.omega_squared.values[falling] < 0)
    assert np.all(found.frequency.values[falling] < 0)
    assert np.all(np.isfinite(found.frequency))
    growth = found.eigenvalue.values.real.max()
    assert growth == pytest.approx(-2 * np.pi * found.frequency.values.min(), rel=DAMPED)
    bare = fp.natural_frequencies(robot, at_home(robot), actuators="free", prestress=False)
    np.testing.assert_array_equal(bare.frequency.values[:6], np.zeros(6))  # six free motions, neither NaN nor unstable
    assert bool(bare.stable.all())


def test_locked_at_home_is_unstable_by_energy() -> None:
    """The lowest mode of the locked robot falls: the potential energy along the exact constraint decreases."""
    robot = plate_robot()
    found = fp.natural_frequencies(robot, at_home(robot))
    assert not bool(found.stable[0])
    assert bool(found.stable[1:].all())
    start = fp.inverse_kinematics(robot, at_home(robot), joints=False).actuator_position.values
    shape, e0 = found.shape.values[:, 0], found.elastic.values

    def energy_at(size: float) -> float:
        """Energy at a displacement along the mode, brought back onto the constraint by Newton in mass-weighted directions."""
        x, other = size * shape, found.shape.values
        B = None
        for _ in range(20):
            at = fp.State(
                position=robot.home.position + x[:3], rotation=rotvec_rotation(x[3:6]) @ robot.home.rotation, elastic=e0 + x[6:]
            )
            error = fp.inverse_kinematics(robot, at, joints=False).actuator_position.values - start
            if B is None:
                B = _rows(robot, at)
            x = x - np.linalg.pinv(B) @ error
        assert other is not None
        return float(fp.energy(robot, at).potential)

    h = 2e-2
    curvature = (energy_at(h) - 2 * energy_at(0.0) + energy_at(-h)) / h**2
    assert curvature == pytest.approx(float(found.omega_squared[0]), rel=CURVATURE)


def _rows(robot: fp.Robot, state: fp.State) -> np.ndarray:
    rows = []
    for unit in np.eye(16):
        moving = fp.State(
            position=state.position, rotation=state.rotation, velocity=unit[:3], angular_velocity=unit[3:6],
            elastic=state.elastic, elastic_velocity=unit[6:],
        )  # fmt: skip
        rows.append(fp.inverse_kinematics(robot, moving, joints=False).actuator_velocity.values)
    return np.array(rows).T


def test_stiff_actuators_become_locked() -> None:
    robot = plate_robot()
    locked = fp.natural_frequencies(robot, at_home(robot)).omega_squared.values
    errors = []
    for k in (1e9, 1e10, 1e11):
        sprung = fp.natural_frequencies(robot, at_home(robot), actuators=np.full(6, k)).omega_squared.values[:10]
        errors.append(np.abs(sprung - locked).max() / np.abs(locked).max())
    assert errors[0] / errors[1] == pytest.approx(10.0, rel=TENFOLD)
    assert errors[1] / errors[2] == pytest.approx(10.0, rel=TENFOLD)


def test_stiff_platform_becomes_the_rigid_robot() -> None:
    """On springs, with prestress: the six lowest modes of a very stiff platform are those of the rigid robot."""
    springs = np.full(6, 1e7)
    flexible = fp.natural_frequencies(stiffened(plate_robot(), 1e6), at_home(rigid()), actuators=springs)
    expected = fp.natural_frequencies(rigid(), at_home(rigid()), actuators=springs)
    np.testing.assert_allclose(flexible.frequency.values[:6], expected.frequency.values, rtol=RIGID)
    bare = fp.natural_frequencies(rigid(), at_home(rigid()), actuators=springs, prestress=False)
    assert np.abs(bare.frequency - expected.frequency).max() > 1e-3, "prestress matters"


def test_over_a_grid_of_poses() -> None:
    robot = plate_robot()
    poses = robot.home.position + np.random.default_rng(2).uniform(-0.1, 0.1, (40, 3))
    together = fp.natural_frequencies(robot, fp.State(position=poses))
    assert together.frequency.shape == (40, 10)
    alone = fp.natural_frequencies(robot, fp.State(position=poses[17]))
    np.testing.assert_allclose(alone.omega_squared, together.omega_squared[17], rtol=EIGEN, atol=CANCELS)
    broken = fp.State(position=np.concatenate([poses[:2], [[np.nan, 0, 0]]]))
    masked = fp.natural_frequencies(robot, broken, on_error="mask")
    assert masked.valid.values.tolist() == [True, True, False]


def test_messages() -> None:
    robot = plate_robot()
    with pytest.raises(fp.InputError, match="gough-stewart is rigid, and with actuators 'locked' nothing in it is elastic"):
        fp.natural_frequencies(rigid(), at_home(rigid()))
    with pytest.raises(fp.InputError, match="actuators: expected 'locked', 'free' or the stiffness of 6 actuators, got 'fixed'"):
        fp.natural_frequencies(robot, at_home(robot), actuators="fixed")
    with pytest.raises(fp.InputError, match=r"actuators: expected shape \(6,\), got \(5,\)"):
        fp.natural_frequencies(robot, at_home(robot), actuators=np.ones(5))
    with pytest.raises(fp.InputError, match="stiffness must be finite and not negative"):
        fp.natural_frequencies(robot, at_home(robot), actuators=-np.ones(6))
    with pytest.raises(fp.InputError, match="prestress: expected True or False, got 'yes'"):
        fp.natural_frequencies(robot, at_home(robot), prestress="yes")  # type: ignore[arg-type]
