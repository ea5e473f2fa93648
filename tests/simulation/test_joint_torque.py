"""Computed torque at the actuators with accelerometers: what it damps, by the linear model and by simulation."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg

import flexapod as fp
from flexapod.simulation.system.joint_torque import check_held
from flexapod.simulation.system.signals import deformation_coupling

ASKED = 0.1
FIRST_ORDER = 0.15
"""Damping found of that asked for, of it: the gain is of first order in it, the filter and the position loop take some."""
SOLVE = 1e-12
"""A linear solve of two unknowns."""
STABLE = 1e-9
"""Of the largest eigenvalue: rounding of one that is zero."""
NOTHING = 1e-15
"""Of couplings of the size of 1: entries that vanish."""


def at_home(robot: fp.Robot) -> fp.ActuatorMotion:
    q = np.concatenate([leg.home for leg in robot.legs])[list(robot.driven)][None]
    return fp.ActuatorMotion(time=[0.0], position=q, velocity=0 * q, acceleration=0 * q)


def linear_model(robot: fp.Robot) -> tuple[np.ndarray, np.ndarray, list[int], list[int]]:
    """Mass matrix and stiffness of DualEMPS about home (no gravity), places of actuators and deformations."""
    M = fp.mass_matrix(robot, at_home(robot), coordinates="actuator").squeeze()
    names = [str(n) for n in M.coordinate.values]
    own, soft = ([names.index(n) for n in group] for group in (robot.actuators, robot.elastic_names))
    K = np.zeros(M.shape)
    bodies = {beam.name.split(".")[0]: beam.body.K_ee for leg in robot.beams.values() for beam in leg}
    for name, block in bodies.items():
        at = [k for k, n in enumerate(names) if n.startswith(f"{name}.")]
        K[np.ix_(at, at)] = block
    return M.values, K, own, soft


def closed_loop(robot: fp.Robot, omega: float, ka: float, corner: float) -> np.ndarray:
    """Eigenvalues of u'' = M^-1 (B Gamma - K u), Gamma = M_aa (-kp q - kd q' + ka w), w' = M_aa^-1 M_ae e'' - 2 pi f w."""
    M, K, a, e = linear_model(robot)
    n, m = len(M), len(a)
    M_aa, H = M[np.ix_(a, a)], np.linalg.solve(M[np.ix_(a, a)], M[np.ix_(a, e)])
    A = np.zeros((2 * n + m, 2 * n + m))
    A[:n, n : 2 * n] = np.eye(n)
    force = np.zeros((n, 2 * n + m))
    force[:, :n] = -K
    for k, i in enumerate(a):
        force[a, i] -= omega**2 * M_aa[:, k]
        force[a, n + i] -= 1.4 * omega * M_aa[:, k]
        force[a, 2 * n + k] += ka * M_aa[:, k]
    A[n : 2 * n] = np.linalg.solve(M, force)
    A[2 * n :] = H @ A[n : 2 * n][e]
    A[2 * n :, 2 * n :] -= 2 * np.pi * corner * np.eye(m)
    return np.asarray(scipy.linalg.eigvals(A))


def damping_near(values: np.ndarray, omega: float) -> float:
    """Damping ratio of the eigenvalue nearest to i omega."""
    s = values[np.argmin(np.abs(values - 1j * omega))]
    return float(-s.real / abs(s))


def test_gain_gives_the_damping_asked_for() -> None:
    """First mode of DualEMPS, actuators much slower than it; no mode is made worse, and the sign matters."""
    robot = fp.load("dualemps")
    modes = fp.natural_frequencies(robot, at_home(robot)).squeeze()
    omega = 2 * np.pi * float(modes.frequency[0])
    ka = fp.damping_gain(robot, at_home(robot), ASKED)
    found = closed_loop(robot, 0.05 * omega, ka, 0.1)
    assert damping_near(found, omega) == pytest.approx(ASKED, rel=FIRST_ORDER)
    assert found.real.max() < STABLE * np.abs(found).max()
    assert closed_loop(robot, 0.05 * omega, -ka, 0.1).real.max() > 0.05 * omega * ASKED
    assert fp.damping_gain(robot, at_home(robot), 2 * ASKED) == pytest.approx(2 * ka, rel=SOLVE)


def test_what_accelerometers_say() -> None:
    """M_aa^-1 M_ae along a motion."""
    robot = fp.load("dualemps")
    M, _, own, soft = linear_model(robot)
    found = deformation_coupling(robot, at_home(robot))(np.zeros(1)).reshape(2, -1)
    assert found == pytest.approx(np.linalg.solve(M[np.ix_(own, own)], M[np.ix_(own, soft)]), rel=SOLVE, abs=NOTHING)


def test_bad_input() -> None:
    with pytest.raises(fp.InputError, match="corner: expected a frequency above 0 Hz, got 0"):
        fp.JointTorque(kp=1.0, kd=1.0, corner=0)
    with pytest.raises(fp.InputError, match="ka: accelerometers are filtered continuously; leave out `rate`, or `ka`"):
        fp.JointTorque(kp=1.0, kd=1.0, ka=1.0, rate=1000.0)
    rigid = fp.load("five-bar")
    q = at_home(rigid)
    with pytest.raises(fp.InputError, match="ka: five-bar is rigid"):
        fp.simulate(rigid, q, controller=fp.JointTorque(kp=1.0, kd=1.0, ka=1.0), duration=0.1)
    with pytest.raises(fp.InputError, match="damping_gain: five-bar is rigid"):
        fp.damping_gain(rigid, q)
    robot = fp.load("dualemps")
    with pytest.raises(fp.InputError, match="mode: dualemps has the modes 1 to 9 at this pose, got 99"):
        fp.damping_gain(robot, at_home(robot), mode=99)
    with pytest.raises(fp.InputError, match="damping: expected a fraction of critical damping"):
        fp.damping_gain(robot, at_home(robot), 1.5)


LATE = 0.7
"""Reduction in the last third of 0.6 s: the first mode is gone, those that are damped less are not (found 0.83)."""


@pytest.mark.full
def test_accelerometers_damp_dualemps() -> None:
    """Bang-bang under computed torque with the deflection fed forward: less is left with accelerometers."""
    from flexapod.views.residual_vibration import controlled_residuals

    found = controlled_residuals(fp.load("dualemps"))
    assert float(found.late_reduction[1]) > LATE, found.late_reduction.values
    assert float(found.level_reduction[1]) > 0.2, found.level_reduction.values


@pytest.mark.full
def test_what_no_gains_hold_is_refused() -> None:
    """The soft plate under its weight is unstable on locked actuators; without weight it is not."""
    robot = fp.load("gough-stewart-flexible")
    home = robot.home.position
    move = fp.motions.line(start=home, end=home + np.array([0.0, 0.0, 0.01]), duration=1.0)
    with pytest.raises(fp.InputError, match=r"is unstable on locked actuators .* grows by 2\.56 1/s.*whatever the gains"):
        fp.simulate(robot, move, controller=fp.JointTorque(kp=100.0, kd=14.0), duration=0.1)
    check_held(robot.with_parameters({"gravity": [0.0, 0.0, 0.0]}), move)


FED = 5.0
"""Error of the path without the deflection fed forward, of that with it: found 7 on the way, 120 at the end."""


def thick_plate() -> fp.Robot:
    """The paper's plate made five times thicker, which is stable on locked actuators; four modes, lightly damped."""
    thick = {"platform.flexible.thickness": 0.08, "platform.flexible.damping": 0.01}
    whole = fp.load("gough-stewart-flexible").with_parameters(thick)
    assert whole.flexible_platform is not None
    return whole.with_flexible_body("platform", whole.flexible_platform.truncated((0, 1, 2, 3)))


@pytest.mark.full
def test_a_flexible_platform_under_computed_torque() -> None:
    """What the deflection fed forward gains by itself: the path with the robot's own model and with a rigid one."""
    from flexapod.views.residual_vibration import standard_move

    robot = thick_plate()
    plate = robot.platform
    inertia = dict(
        zip(("platform.inertia.xx", "platform.inertia.yy", "platform.inertia.zz"), np.diag(plate.inertia), strict=True)
    )
    rigid = fp.load("gough-stewart").with_parameters({"platform.mass": plate.mass, **inertia})
    first = float(
        fp.natural_frequencies(robot, fp.State(position=robot.home.position, rotation=robot.home.rotation)).frequency[0]
    )
    move = standard_move(robot)
    followed = fp.platform_motion(robot, move)
    gains = {"kp": (2 * np.pi * first) ** 2, "kd": 2.8 * np.pi * first}
    way, end = [], []
    for model in (None, rigid):
        result = fp.simulate(robot, followed, drive="force", controller=fp.JointTorque(**gains, model=model), friction=False,
                          duration=1.5, step=1e-4, output_step=1e-2, method="rk4")  # fmt: skip
        assert not result.attrs.get("stopped")
        wanted = np.array([np.interp(result.time.values, followed.time, followed.position[:, k]) for k in range(3)]).T
        error = np.linalg.norm(result.position.values - wanted, axis=1)
        way.append(error[result.time.values <= followed.time[-1]].max())
        end.append(error[-1])
    assert way[1] > FED * way[0], way
    assert end[1] > FED * end[0], end
