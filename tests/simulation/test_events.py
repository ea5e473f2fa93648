"""What can happen in a simulation: events, ends of strokes, singular poses; everything before them is kept."""

import numpy as np
import pytest
from pd_simulations import PD_CONTROL, at_home, pd_motion, robot_named

import flexapod as fp

STEP = 2e-3
"""[s] Of a run, and of its output."""
SAME_END = 1e-7
"""[s] Steps ten times finer, order four."""
SETTLED = 1e-12
"""[m] 3 s after a change of mass, with PD control."""
MET = 1e-10
"""[m] A root that is looked for between two steps."""
NOTED = 1e-12
"""[s] The same number, through a sum of steps."""
OUTPUT = 0.021
"""[s] An output step, and a bit."""


def test_free_fall_leaves_a_stroke_at_the_right_time() -> None:
    """Under constant small forces the platform sinks until the first leg is as short as its stroke allows."""
    robot = robot_named("bench-6ups")
    result = fp.simulate(robot, at_home(robot), force=np.full(6, 150.0), duration=5.0, step=STEP, output_step=STEP)
    assert result.attrs["stopped"] == "leg A leaves its stroke"
    at = result.attrs["stopped_at"]
    low = 3.5
    assert np.all(result.actuator_position.values > low)
    assert 0.0 <= at - float(result.time[-1]) <= 2 * STEP
    fine = fp.simulate(robot, at_home(robot), force=np.full(6, 150.0), duration=5.0, step=2e-4, output_step=2e-4)
    assert abs(fine.attrs["stopped_at"] - at) < SAME_END
    # what was computed before is that of a simulation that is not watched
    free = fp.simulate(
        robot, at_home(robot), force=np.full(6, 150.0), duration=float(result.time[-1]), step=2e-3, output_step=2e-3, watch=()
    )
    assert np.array_equal(free.position.values[:-1], result.position.values[: len(free.time) - 1])


def test_unreachable_and_singular_poses_end_a_run() -> None:
    robot = robot_named("hexapod")
    push = np.array([0.0, 0.0, -400.0, 0.0, 0.0, 0.0])
    hold = fp.inverse_dynamics(robot, at_home(robot), friction=False).force.values
    result = fp.simulate(robot, at_home(robot), force=hold, wrench=push, duration=5.0, step=5e-4, output_step=5e-3, watch=())
    assert "leg" in result.attrs["stopped"]
    assert 0.0 < result.attrs["stopped_at"] < 5.0
    assert np.all(np.isfinite(result.position))
    assert np.all(np.isfinite(result.force))
    watched = fp.simulate(robot, at_home(robot), force=hold, wrench=push, duration=5.0, step=5e-4, output_step=5e-3)
    assert watched.attrs["stopped_at"] <= result.attrs["stopped_at"]


def test_a_payload_at_a_time() -> None:
    """Before the event nothing differs; long after it the legs sag as those of the heavier robot do."""
    robot, motion = robot_named("bench-6ups"), pd_motion()
    rest = fp.Motion(**{k: getattr(motion, k)[[0, 0]] for k in FIELDS}, time=[0.0, 4.0])
    event = fp.Event(time=1.0005, parameters={"platform.mass": 80.0})
    options = {"controller": fp.PD(kp=1e5, kd=4e3), "step": 2e-3, "output_step": 0.02}
    result = fp.simulate(robot, rest, events=[event], **options)
    plain = fp.simulate(robot, rest, **options)
    heavy = fp.simulate(robot.with_parameters({"platform.mass": 80.0}), rest, **options)
    before = result.time.values < 1.0
    assert np.array_equal(result.position.values[before], plain.position.values[: np.sum(before)])
    assert 1.0005 in result.time.values
    assert np.allclose(result.position.values[-1], heavy.position.values[-1], rtol=0, atol=SETTLED)
    assert result.attrs["events"] == ["1.0005 s: platform.mass = 80.0"]
    # weight counts from the event on: the potential energy jumps there
    assert float(result.potential_energy[-1]) > 1.2 * float(plain.potential_energy[-1])


FIELDS = ("position", "rotation", "velocity", "angular_velocity", "acceleration", "angular_acceleration")


def test_an_actuator_fails() -> None:
    robot, motion = robot_named("bench-6ups"), pd_motion()
    result = fp.simulate(
        robot, motion, controller=PD_CONTROL, events=[fp.Event(time=0.5, fails="C")], duration=0.6, step=1e-3, output_step=1e-2,
    )  # fmt: skip
    after = result.time.values >= 0.5
    assert not np.any(result.force.sel(actuator="C").values[after])
    assert np.all(result.force.sel(actuator="C").values[1:][~after[1:]] != 0.0)
    with pytest.raises(fp.InputError, match="has no actuator 'Z'"):
        fp.simulate(robot, motion, events=[fp.Event(time=0.5, fails="Z")])


@pytest.mark.parametrize("method", ["rk4", "dopri"])
def test_a_condition_is_met_between_steps(method: str) -> None:
    """A fall stops where the platform has sunk by 10 mm, to far below a step."""
    robot = robot_named("bench-6ups")
    height = robot.home.position[2] - 0.01
    stop = fp.Event(when=lambda s: height - s["position"][:, 2], stop=True, name="low")
    result = fp.simulate(
        robot, at_home(robot), force=np.full(6, 150.0), events=[stop], duration=2.0, step=1e-2, output_step=1e-2, method=method
    )
    assert result.attrs["stopped"] == "event: low"
    assert abs(float(result.position[-1, 2]) - height) < MET
    assert float(result.time[-1]) == pytest.approx(result.attrs["stopped_at"], abs=NOTED)


def test_events_say_what_is_missing() -> None:
    with pytest.raises(fp.InputError, match="either a time or a condition"):
        fp.Event(stop=True)
    with pytest.raises(fp.InputError, match="has no effect"):
        fp.Event(time=1.0)


def test_a_run_stops_where_the_actuators_lose_control() -> None:
    """On soft springs gough-stewart tips over: the determinant of its Jacobian changes sign where the simulation stops."""
    robot = robot_named("gough-stewart")
    hold = fp.inverse_dynamics(robot, at_home(robot), friction=False).force.values
    q = fp.inverse_kinematics(robot, at_home(robot), joints=False).actuator_position.values
    stiffness = 10.0 * np.max(np.abs(hold))
    soft = fp.Springs(stiffness=stiffness, free=q + hold / stiffness + 0.01 * np.cos(np.arange(6)))
    options = {"controller": soft, "duration": 10.0, "output_step": 0.02, "method": "dopri", "friction": False}
    result = fp.simulate(robot, at_home(robot), **options)
    assert "lose control" in result.attrs["stopped"]
    at = result.attrs["stopped_at"]
    free = fp.simulate(robot, at_home(robot), **{**options, "duration": at + 0.1, "watch": ()})
    J = fp.kernel(robot, "jacobian").batch({k: np.ascontiguousarray(free[k].values) for k in ("position", "rotation")})
    signs = np.sign(np.linalg.det(J.outputs["jacobian"]))
    crossing = float(free.time[np.flatnonzero(signs != signs[0])[0]])
    assert abs(crossing - at) < OUTPUT
    assert np.all(signs[: len(result.time)] == signs[0])
