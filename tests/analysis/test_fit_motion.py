"""Speed, force and power limits along a motion, and slowing a motion down until it keeps them."""

import numpy as np
import pytest

import flexapod as fp
from flexapod.motions import one_minus_cos, slowed

FACTOR = 1e-3
"""Tolerance of the factor that `fit_motion` promises."""
FORMULATIONS = 1e-12
"""Relative: forces by two formulations, margins as their difference, times of one grid."""
AT_THE_LIMIT = 1e-9
"""Relative: rounding of a speed that is slowed to its limit."""
STROKES = 1e-3
"""Speeds by differences of the strokes are good to about 1e-4."""


def up_and_down(robot, height=0.3, period=2.0):
    """Cosine motion along z and back, from home."""
    return one_minus_cos([*robot.home.position, 0, 0, 0], [0, 0, height / 2, 0, 0, 0], 2 * np.pi / period, period)


def limited(robot, **limits):
    return robot.with_parameters({f"legs.slide.limits.{name}": value for name, value in limits.items()})


@pytest.fixture(scope="module")
def stewart():
    return fp.load("stewart-3-3")


def by_virtual_work(robot, motion):
    """Forces by another formulation than the check uses, rates by differences of the strokes."""
    force = fp.inverse_dynamics(robot, motion, formulation="virtual_work").force.values
    q = fp.inverse_kinematics(robot, motion, joints=False).actuator_position.values
    return force, np.gradient(q, motion.time, axis=0, edge_order=2)


def test_force_limit_names_actuator_first_time_and_value(stewart):
    motion = up_and_down(stewart)
    force, _ = by_virtual_work(stewart, motion)
    size = np.abs(force[:, 0])
    limit = float((size.min() + size.max()) / 2)
    check = fp.check_motion(limited(stewart, force=limit), motion)
    found = {v.name: v for v in check.violations}
    assert {v.kind for v in check.violations} == {"force"}
    bad = np.flatnonzero(size > limit)
    a = found["A"]
    assert (a.unit, a.limit, a.first, a.count) == ("N", limit, bad[0], len(bad))
    assert a.first_time == motion.time[bad[0]]
    assert a.first_value == pytest.approx(size[bad[0]], rel=FORMULATIONS)
    assert a.value == pytest.approx(size.max(), rel=FORMULATIONS)
    assert a.sample == size.argmax()
    assert a.text == (
        f"actuator A needs too much force: {size.max():.6g} N, limit {limit:.6g} N, by {size.max() - limit:.3g} N; first at "
        f"t = {motion.time[bad[0]]:g} s, worst at t = {motion.time[size.argmax()]:g} s, {len(bad)} of {len(motion)} samples"
    )
    assert float(check.margins["force_margin"].sel(actuator="A").min()) == pytest.approx(limit - size.max(), rel=FORMULATIONS)
    assert np.isinf(check.margins["power_margin"].values).all()


def test_power_and_speed_limits(stewart):
    motion = up_and_down(stewart)
    force, rate = by_virtual_work(stewart, motion)
    power, speed = np.abs(force * rate)[:, 2], np.abs(rate[:, 2])
    check = fp.check_motion(limited(stewart, power=0.6 * power.max(), speed=0.7 * speed.max()), motion)
    found = {v.kind: v for v in check.violations if v.name == "C"}
    assert set(found) == {"power", "speed"}
    for kind, size, limit, unit in (("power", power, 0.6, "W"), ("speed", speed, 0.7, "m/s")):
        # differences of the strokes are good to about 1e-4: the first sample is exact to one
        assert abs(found[kind].first - np.flatnonzero(size > limit * size.max())[0]) <= 1
        assert found[kind].first_time == motion.time[found[kind].first]
        assert found[kind].value == pytest.approx(size.max(), rel=STROKES)
        assert found[kind].unit == unit
    # braking counts: the actuators give power one way and take it the other way
    given = fp.inverse_dynamics(stewart, motion).power.values
    assert given.min() < -0.6 * np.abs(given).max()


def test_load_and_friction_count():
    robot = fp.load("hexaslide")
    motion = up_and_down(robot, 0.05)
    dry = np.abs(fp.inverse_dynamics(robot, motion, friction=False).force.values).max()
    tight = robot.with_parameters({"legs.rail.limits.force": 1.001 * dry})
    assert fp.check_motion(tight, motion, friction=False)
    assert {v.kind for v in fp.check_motion(tight, motion).violations} == {"force"}
    load = [0, 0, -1000.0, 0, 0, 0]
    loaded = np.abs(fp.inverse_dynamics(robot, motion, friction=False, wrench=load).force.values).max()
    found = fp.check_motion(tight, motion, friction=False, wrench=load).violations
    assert max(v.value for v in found) == pytest.approx(loaded, rel=FORMULATIONS)


def test_singular_poses_have_a_first_time(stewart):
    """Turning about z by 1 - cos reaches the known singularity at 90 degrees in the middle."""
    motion = one_minus_cos([0, 0, 4.0, 0, 0, 0], [0, 0, 0, 0, 0, np.pi / 4], 2 * np.pi, 1.0)
    found = next(v for v in fp.check_motion(stewart, motion).violations if v.name == "platform")
    assert (found.kind, found.count) == ("singular", 1)
    assert found.first_time == pytest.approx(0.5, abs=FORMULATIONS)
    assert "first at t = 0.5 s" in found.text


def test_speed_fits_by_the_closed_form(stewart):
    """Speeds fall by 1/k: the factor is the ratio of speed and limit."""
    motion = up_and_down(stewart)
    fastest = np.abs(fp.inverse_kinematics(stewart, motion).actuator_velocity.values).max()
    robot = limited(stewart, speed=fastest / 2.7)
    fitted, factor = fp.fit_motion(robot, motion)
    assert 2.7 * (1 - AT_THE_LIMIT) <= factor <= 2.7 * (1 + 2 * FACTOR)
    assert fp.check_motion(robot, fitted)
    assert not fp.check_motion(robot, slowed(motion, factor * (1 - 2 * FACTOR)))
    assert fitted.time[-1] == pytest.approx(factor * motion.time[-1], rel=FORMULATIONS)
    assert np.array_equal(fitted.position, motion.position)


def test_force_and_power_fit_by_the_closed_form(stewart):
    """Without viscous friction f = f0 + f2 / k^2 and P = (f0 + f2 / k^2) qd / k at every sample."""
    motion = up_and_down(stewart, period=0.6)
    held = fp.State(position=motion.position, rotation=motion.rotation)
    static = fp.inverse_dynamics(stewart, held).force.values
    whole = fp.inverse_dynamics(stewart, motion).force.values
    rate = fp.inverse_kinematics(stewart, motion).actuator_velocity.values
    factors = np.linspace(1, 10, 9001)
    forces = np.array([np.abs(static + (whole - static) / k**2).max() for k in factors])
    powers = np.array([np.abs((static + (whole - static) / k**2) * rate / k).max() for k in factors])
    for name, sizes in (("force", forces), ("power", powers)):
        limit = 0.5 * (sizes[0] + sizes[-1])
        wanted = factors[np.flatnonzero(sizes > limit)[-1]]
        assert wanted > 1.1
        fitted, factor = fp.fit_motion(limited(stewart, **{name: float(limit)}), motion)
        assert factor == pytest.approx(wanted, rel=2 * FACTOR)
        assert fp.check_motion(limited(stewart, **{name: float(limit)}), fitted)


def test_a_motion_that_fits_stays_as_it_is(stewart):
    motion = up_and_down(stewart)
    fitted, factor = fp.fit_motion(stewart, motion)
    assert fitted is motion
    assert factor == 1.0


def test_actuator_motions_stay_actuator_motions(stewart):
    platform = up_and_down(stewart)
    found = fp.inverse_kinematics(stewart, platform, joints=False)
    names = ("actuator_position", "actuator_velocity", "actuator_acceleration")
    q, qd, qdd = (found[name].values for name in names)
    motion = fp.ActuatorMotion(time=platform.time, position=q, velocity=qd, acceleration=qdd)
    fitted, factor = fp.fit_motion(limited(stewart, speed=np.abs(qd).max() / 1.5), motion)
    assert isinstance(fitted, fp.ActuatorMotion)
    assert factor == pytest.approx(1.5, rel=2 * FACTOR)
    assert np.abs(fitted.velocity).max() <= np.abs(qd).max() / 1.5 * (1 + AT_THE_LIMIT)


def test_what_no_slowing_helps(stewart):
    motion = up_and_down(stewart)
    weak = limited(stewart, force=50.0)
    with pytest.raises(
        fp.MotionNotFittedError, match=r"slowing down does not help, at 1e\+06 times the time actuator A needs too much force"
    ):
        fp.fit_motion(weak, motion)
    with pytest.raises(fp.MotionNotFittedError, match="poses themselves are invalid: actuator A is above its stroke"):
        fp.fit_motion(stewart, up_and_down(stewart, 3.5))
    robot = fp.load("hexapod")
    with pytest.raises(fp.MotionNotFittedError, match=r"poses themselves are invalid: leg \w cannot reach"):
        fp.fit_motion(robot, up_and_down(robot, 1.5))
    with pytest.raises(fp.InputError, match="tolerance: expected a number between 0 and 1, got 0"):
        fp.fit_motion(stewart, motion, tolerance=0)
    with pytest.raises(fp.InputError, match="tolerance: expected a number, got None"):
        fp.fit_motion(stewart, motion, tolerance=None)
