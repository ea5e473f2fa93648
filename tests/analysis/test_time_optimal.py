"""The fastest timing of a path: against toppra, against closed forms, and against its limits on finer grids."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp, trapezoid
from scipy.interpolate import CubicSpline
from space_robots import edited_bench

import flexapod as fp
from flexapod.analysis.timing.path_terms import FINER, PathDynamics
from flexapod.analysis.timing.timing_limits import timing_limits
from flexapod.analysis.timing.timing_passes import fastest
from flexapod.motions.motion import Motion, with_formula
from flexapod.motions.rotations import rotvec_rotation

TEN_TIMES_FINER = 1e-9
"""Excess over the force limit where it was kept exactly: rounding of the kernels."""

FORTY_TIMES_FINER = 1e-5
"""The same between those points: fourth order of a step of 1/20000 of the path."""

ALL_OF_IT = 3e-3
"""Of the limit: what 40 intervals leave of it with friction taken at their middles; found 1e-3, and 0.1 with the loss at rest."""

SLOWER_THAN_TOPPRA = 1e-3
"""What the slowing costs on the same grid."""

SAME_OPTIMUM = 1e-5
"""Durations of the two programs before the slowing: toppra's own tolerance of 1e-6 in each step."""

S_CURVE = 0.02
"""The window is the best of trials that are 7 % apart, and the acceleration limit is a step of the grid."""

LITTLE_INERTIA = 0.06
"""What forces of inertia, the start and the end add to a duration at 40 W and less: 5 % at most."""

FORCE = 600.0
SWITCH = 1e-3
"""Of the duration: the switch falls inside an interval of the grid; found 8e-6."""
JERK = 1e-3
"""Of the limit, by differences of accelerations on a grid of 20000 points."""
STOPPED = 1e-9
"""Velocity [m/s] at the ends."""


def lissajous(tight: bool = False) -> Motion:
    """A closed curve with rotations about all axes, or a curve with a tight corner; the parameter goes from 0 to 1."""

    def formula(s):
        zero = np.zeros_like(s)
        if tight:
            k = 25.0
            t = np.tanh(k * (s - 0.5))
            p = np.column_stack([0.8 * (s - 0.5), 0.8 * np.log(np.cosh(k * (s - 0.5))) / k - 0.2, zero])
            v = np.column_stack([0.8 + zero, 0.8 * t, zero])
            a = np.column_stack([zero, 0.8 * k * (1 - t * t), zero])
        else:
            w, size, phase = 2 * np.pi * np.array([1.0, 2.0, 1.0]), np.array([0.5, 0.3, 0.25]), np.array([0.0, 0.4, 1.1])
            angle = np.outer(s, w) + phase
            p, v, a = size * np.sin(angle), size * w * np.cos(angle), -size * w**2 * np.sin(angle)
        p = p + np.array([0.0, 0.0, 4.330127018922192])
        rotation, axis = 0.15 * np.sin(2 * np.pi * s), np.array([0.6, 0.0, 0.8])
        rate, second = 0.3 * np.pi * np.cos(2 * np.pi * s), -0.6 * np.pi**2 * np.sin(2 * np.pi * s)
        R = rotvec_rotation(np.outer(rotation, axis))
        return Motion(
            time=s, position=p, rotation=R, velocity=v, angular_velocity=np.outer(rate, axis),
            acceleration=a, angular_acceleration=np.outer(second, axis),
        )  # fmt: skip

    return with_formula(formula(np.linspace(0, 1, 101)), formula)


def forces_between(robot, found, finer, friction=True):
    """Forces at `finer` equal parts of every interval of the path, ends included from inside."""
    table = found.table
    share = np.linspace(0.0, 1.0, finer + 1)
    share[0], share[-1] = 1e-9, 1 - 1e-9
    x = table["speed"].values ** 2
    inside = x[:-1, None] * (1 - share) + x[1:, None] * share
    way = np.diff(table["path"].values)[:, None] * share
    times = table["time"].values[:-1, None] + 2 * way / (np.sqrt(x[:-1, None]) + np.sqrt(inside))
    times = times.ravel()
    return fp.inverse_dynamics(robot, found.motion.formula(times), friction=friction)["force"].values


@pytest.mark.parametrize("tight", [False, True])
def test_forces_keep_their_limit_between_the_nodes(tight):
    robot = fp.load("bench-6ups")
    found = fp.time_optimal(robot, lissajous(tight), {"force": FORCE})
    assert np.abs(forces_between(robot, found, 10)).max() <= FORCE * (1 + TEN_TIMES_FINER)
    assert np.abs(forces_between(robot, found, 40)).max() <= FORCE * (1 + FORTY_TIMES_FINER)


@pytest.mark.parametrize("tight", [False, True])
def test_toppra_finds_the_same_optimum(tight):
    toppra = pytest.importorskip("toppra")
    toppra.setup_logging("ERROR")
    robot = fp.load("bench-6ups")
    dynamics = PathDynamics(robot, lissajous(tight), True, None)
    terms = dynamics.terms(np.linspace(0, 1, 500 * FINER + 1))
    ours = fastest(dynamics, terms, timing_limits(robot, {"force": FORCE}))
    grid = terms.s[::FINER]
    kind = toppra.constraint.DiscretizationType.Interpolation

    class Forces(toppra.constraint.LinearConstraint):
        def __init__(self):
            super().__init__()
            self.identical, self.dof = True, 6
            self.set_discretization_type(kind)

        def compute_constraint_params(self, path, gridpoints):
            a, b, c = (values[::FINER] for values in (terms.a, terms.b, terms.c))
            both, size = np.vstack([np.eye(6), -np.eye(6)]), np.full(12, FORCE)
            convert = toppra.constraint.linear_constraint.canlinear_colloc_to_interpolate
            return convert(a, b, c, both, size, None, None, gridpoints, identical=True)

    path = toppra.SplineInterpolator(grid, np.zeros((len(grid), 6)))
    _, speed, _ = toppra.algorithm.TOPPRA([Forces()], path, gridpoints=grid, solver_wrapper="seidel").compute_parameterization(
        0, 0
    )
    theirs = np.sum(2 * np.diff(grid) / (speed[1:] + speed[:-1]))
    assert abs(ours.time[-1] * ours.slowing / theirs - 1) < SAME_OPTIMUM  # before the slowing
    assert ours.time[-1] <= theirs * (1 + SLOWER_THAN_TOPPRA)


def test_a_short_line_is_full_force_forth_and_back():
    """Phase plane integrated by itself: x' = 2 u_max from the start, 2 u_min from the end, and where they meet."""
    robot = fp.load("tripteron")
    start = robot.home.position
    path = fp.motions.line(start=start, end=start + np.array([0.05, 0, 0]), duration=1.0, law="constant-speed")
    limit = 3 * np.abs(fp.inverse_dynamics(robot, path, friction=False)["force"].values).max() + 100.0
    found = fp.time_optimal(robot, path, {"force": limit}, friction=False, intervals=800)
    terms = PathDynamics(robot, path, False, None).terms(np.linspace(0, 1, 101))
    a, b, c = (CubicSpline(terms.s, values) for values in (terms.a, terms.b, terms.c))

    def extreme(s, x, sign):
        ends = [(side * limit - b(s) * x - c(s)) / a(s) for side in (-1, 1)]
        return np.maximum(*ends).min() if sign > 0 else np.minimum(*ends).max()

    options = {"rtol": 1e-9, "atol": 1e-12, "dense_output": True}
    forth = solve_ivp(lambda s, x: [2 * extreme(s, x[0], 1)], (0, 1), [0.0], **options).sol
    back = solve_ivp(lambda s, x: [2 * extreme(s, x[0], -1)], (1, 0), [0.0], **options).sol
    z = np.linspace(0, 1, 200_001) ** 2 * (3 - 2 * np.linspace(0, 1, 200_001))  # dense at both ends, where 1/sqrt(x) is singular
    root = np.sqrt(np.maximum(np.minimum(forth(z)[0], back(z)[0]), 0.0))
    duration = np.sum(2 * np.diff(z) / (root[1:] + root[:-1]))
    assert np.isclose(found.duration, duration, rtol=SWITCH, atol=0)


def test_speed_and_power_keep_their_limits_and_are_reached():
    robot = fp.load("bench-6ups")
    limits = {"force": FORCE, "speed": 0.8, "power": 250.0}
    found = fp.time_optimal(robot, lissajous(), limits)
    t = np.unique(np.concatenate([found.motion.time, np.linspace(0, found.duration, 5000)]))
    drive = fp.inverse_dynamics(robot, found.motion.formula(t))
    rates = fp.inverse_kinematics(robot, found.motion.formula(t), joints=False)["actuator_velocity"].values
    assert np.abs(drive["force"].values).max() <= FORCE * (1 + FORTY_TIMES_FINER)
    assert np.abs(rates).max() <= 0.8 * (1 + FORTY_TIMES_FINER)
    assert np.abs(drive["power"].values).max() <= 250.0 * (1 + FORTY_TIMES_FINER)
    assert np.abs(drive["power"].values).max() > 0.98 * 250.0
    words = set(found.table["limit"].values)
    assert any(w.startswith("power") for w in words)
    assert any(w.startswith("force") for w in words)


@pytest.mark.parametrize("power", [5.0, 20.0, 40.0])
@pytest.mark.parametrize("straight", [True, False])
def test_little_power_lifts_the_load_slowly(power, straight):
    """Where inertia hardly counts, the duration is the integral of the power that static forces need over the limit."""
    robot = fp.load("bench-6ups")
    line = fp.motions.line(start=[0, 0, 4.33], end=[0.6, 0.3, 4.6], duration=1.0, law="constant-speed")
    path = line if straight else lissajous()
    terms = PathDynamics(robot, path, True, None).terms(np.linspace(0, 1, 5001))
    slow = trapezoid(np.abs((terms.c + terms.k) * terms.dq).max(axis=1), terms.s) / power
    found = fp.time_optimal(robot, path, {"power": power})
    assert slow < found.duration < slow * (1 + LITTLE_INERTIA)
    drive = fp.inverse_dynamics(robot, found.motion.formula(np.linspace(0, found.duration, 5001)))
    assert np.abs(drive["power"].values).max() <= power * (1 + FORTY_TIMES_FINER)


@pytest.mark.parametrize("friction", ["{viscous: 150}", "{viscous: 100, coulomb: 40}"])
def test_friction_is_kept_within_the_limit(friction):
    robot = edited_bench(friction)
    found = fp.time_optimal(robot, lissajous(), {"force": FORCE})
    without = fp.time_optimal(robot, lissajous(), {"force": FORCE}, friction=False)
    force = forces_between(robot, found, 10)
    assert np.abs(force).max() <= FORCE * (1 + TEN_TIMES_FINER)
    assert np.abs(forces_between(robot, found, 40)).max() <= FORCE * (1 + FORTY_TIMES_FINER)
    assert np.abs(force).max() > 0.999 * FORCE
    assert found.duration > without.duration


def test_friction_by_load_does_not_slow_the_whole_path_for_its_loss_at_rest():
    """At rest friction has no direction; the limit holds from inside, as with friction that does not depend on the load."""
    robot = fp.load("hexaslide")
    start = np.asarray(robot.home.position)
    path = fp.motions.line(start=start, end=start + np.array([0.03, 0.02, 0.01]), duration=1.0, law="constant-speed")
    limit = 2.0 * np.abs(fp.inverse_dynamics(robot, path).force.values).max()
    found = fp.time_optimal(robot, path, {"force": limit}, intervals=40)
    size = np.abs(forces_between(robot, found, 10)).max(axis=1)
    assert size.max() <= limit * (1 + TEN_TIMES_FINER)
    assert np.median(size) > limit * (1 - ALL_OF_IT)
    inside = found.table.isel(node=slice(1, -1))
    at_nodes = fp.inverse_dynamics(robot, found.motion).force.values[1:-1]
    np.testing.assert_allclose(inside.force.values, at_nodes, rtol=0, atol=TEN_TIMES_FINER * limit)


def test_jerk_keeps_its_limit():
    robot = fp.load("bench-6ups")
    limits = {"force": FORCE, "jerk": 40.0}
    found = fp.time_optimal(robot, lissajous(), limits)
    t = np.linspace(0, found.duration, 20001)
    second = fp.inverse_kinematics(robot, found.motion.formula(t), joints=False)["actuator_acceleration"].values
    jerk = np.abs(np.diff(second, axis=0) / np.diff(t)[:, None]).max()
    assert 0.9 * 40.0 < jerk <= 40.0 * (1 + JERK)
    assert np.abs(fp.inverse_dynamics(robot, found.motion.formula(t))["force"].values).max() <= FORCE * (1 + FORTY_TIMES_FINER)
    assert found.duration > fp.time_optimal(robot, lissajous(), {"force": FORCE}).duration
    end = found.motion.formula(np.array([0.0, found.duration]))
    assert np.allclose(end.velocity, 0.0, rtol=0, atol=STOPPED)


@pytest.mark.parametrize("jerk", [4.0, 40.0, 4000.0])
def test_speed_and_jerk_of_one_slide_are_the_textbook_s_curve(jerk):
    """Rest to rest over d within speed V and jerk J: d / V + 2 sqrt(V / J), where V is reached."""
    robot, d, V = fp.load("tripteron"), 0.2, 0.15
    start = robot.home.position
    path = fp.motions.line(start=start, end=start + np.array([d, 0, 0]), duration=1.0, law="constant-speed")
    found = fp.time_optimal(robot, path, {"speed": V, "jerk": jerk}, friction=False)
    best = d / V + 2 * np.sqrt(V / jerk)
    assert best * (1 - FORTY_TIMES_FINER) < found.duration < best * (1 + S_CURVE)


def test_a_far_jerk_limit_costs_little_on_a_curve():
    """The limit of one actuator takes over from another's: the speed of the path has corners, which a window must not miss."""
    robot = fp.load("bench-6ups")
    fast = fp.time_optimal(robot, lissajous(), {"speed": 0.5}).duration
    assert fp.time_optimal(robot, lissajous(), {"speed": 0.5, "jerk": 1000.0}).duration < 1.01 * fast


@pytest.mark.parametrize("limits", [{"speed": 0.5}, {"power": 100.0}, {"speed": 0.5, "jerk": 10.0}])
def test_no_force_limit_is_as_good_as_a_far_one(limits):
    robot = fp.load("bench-6ups")
    path = fp.motions.line(start=[0, 0, 4.33], end=[0.6, 0.3, 4.6], duration=1.0, law="constant-speed")
    found = fp.time_optimal(robot, path, limits)
    assert np.isclose(found.duration, fp.time_optimal(robot, path, limits | {"force": 1e9}).duration, rtol=SAME_OPTIMUM, atol=0)
    drive = fp.inverse_dynamics(robot, found.motion)
    assert np.abs(found.table["rate"].values).max() <= limits.get("speed", np.inf) * (1 + FORTY_TIMES_FINER)
    assert np.abs(drive["power"].values).max() <= limits.get("power", np.inf) * (1 + FORTY_TIMES_FINER)


def test_what_cannot_be_timed_is_refused_with_the_reason():
    robot = fp.load("bench-6ups")
    with pytest.raises(fp.InputError, match="no limit of force, speed or power"):
        fp.time_optimal(robot, lissajous())
    with pytest.raises(fp.InputError, match="holding the robot there needs forces up to"):
        fp.time_optimal(robot, lissajous(), {"force": 150.0})
    stops = fp.motions.line(start=[0, 0, 4.3], end=[0.2, 0, 4.3], duration=1.0)
    with pytest.raises(fp.InputError, match="is at rest at parameter 0"):
        fp.time_optimal(robot, stops, {"force": FORCE})
    with pytest.raises(fp.InputError, match="expected force, speed, power, jerk, got 'torque'"):
        fp.time_optimal(robot, lissajous(), {"torque": 1.0})


def test_inner_loops_are_not_called_flexible():
    robot = fp.load("orthoglide")
    with pytest.raises(
        fp.InputError, match="not for the inner loops of orthoglide; time a version of the robot without the inner loops"
    ):
        fp.time_optimal(robot, fp.motions.line(start=robot.home.position, end=robot.home.position + 0.01, duration=1.0))
