"""Orders of accuracy, measured; adaptive runs against CVODE."""

import numpy as np
import pytest
from pd_simulations import at_home, pd_simulation, robot_named, springs_near_home

import flexapod as fp

ORDER = 0.25
"""Allowed distance of a measured order from the method's: the next term of the error is not yet negligible."""
ADAPTIVE = 1e-10
"""[m, rad]: relative tolerances of 1e-10 times a few metres."""
FIXED = 1e-9
"""[m] RK4 at 1 ms."""
FORCE = 1e-4
"""[N] kp = 1e5 N/m times 1e-10 m, and kd."""
PEERS = 2e-7
"""[m] at a step of 5 ms."""
SAME = 1e-12
"""[m] Two formulations of the same equations, over the same steps."""
ORDER_FIVE = 0.35
"""The same of a method of order five."""


def swing(name: str, **options: object) -> object:
    """A swing on springs with a turn in it, from a start with speed."""
    robot = robot_named(name)
    start = at_home(robot)
    if robot.mobility.platform == 6:
        start = fp.State(
            position=start.position, rotation=start.rotation, velocity=[0.05, -0.02, 0.03], angular_velocity=[0.4, -0.3, 0.5]
        )
    springs = springs_near_home(robot)
    return fp.simulate(robot, start, controller=springs, duration=0.4, friction=False, watch=(), **options)


def difference(a: object, b: object) -> float:
    names = ("position", "rotation", "velocity", "angular_velocity", "supplied_work", "actuator_travel")
    return max(float(np.max(np.abs(a[k].values[-1] - b[k].values[-1]))) for k in names)


@pytest.mark.parametrize("name", ["stewart-3-3", "delta"])
def test_rk4_is_of_order_4(name: str) -> None:
    step = 0.005 if name == "stewart-3-3" else 0.0025
    runs = [swing(name, step=step / 2**k, output_step=0.4) for k in range(4)]
    errors = [difference(runs[k], runs[k + 1]) for k in range(3)]
    orders = np.log2(np.array(errors[:-1]) / np.array(errors[1:]))
    assert abs(orders[-1] - 4.0) < ORDER, (errors, orders)


def test_dormand_prince_is_of_order_5() -> None:
    """With a tolerance that never binds, a row of length h is one step of length h."""
    runs = [swing("stewart-3-3", method="dopri", rtol=1e6, atol=1e6, step=h, output_step=h) for h in (0.02, 0.01, 0.005, 0.0025)]
    assert [int(result.steps.values[-1]) for result in runs] == [20, 40, 80, 160]
    errors = [difference(runs[k], runs[k + 1]) for k in range(3)]
    orders = np.log2(np.array(errors[:-1]) / np.array(errors[1:]))
    assert abs(orders[-1] - 5.0) < ORDER_FIVE, (errors, orders)


def test_adaptive_runs_agree_with_cvode() -> None:
    reference = pd_simulation(method="cvode", rtol=1e-12, atol=1e-14, duration=1.0)
    found = pd_simulation(method="dopri", rtol=1e-10, atol=1e-12, duration=1.0)
    fixed = pd_simulation(step=1e-3, duration=1.0)
    assert float(np.max(np.abs(found.position - reference.position))) < ADAPTIVE
    assert float(np.max(np.abs(found.rotation - reference.rotation))) < ADAPTIVE
    assert float(np.max(np.abs(fixed.position - reference.position))) < FIXED
    assert float(np.max(np.abs(found.force - reference.force))) < FORCE


def test_pd_run_of_the_peers_is_accurate() -> None:
    """2e-7 m at a step of 5 ms, as the peers' RK4 reach at theirs."""
    reference = pd_simulation(method="dopri", rtol=1e-12, atol=1e-14)
    result = pd_simulation(step=5e-3)
    assert float(np.max(np.abs(result.position - reference.position))) < PEERS
    assert result.attrs["equations"] == "minimal"
    general = pd_simulation(step=5e-3, wrench=np.zeros(6))
    assert general.attrs["equations"] == "links"
    assert float(np.max(np.abs(result.position - general.position))) < SAME


def test_dense_output_is_of_order_6() -> None:
    """Between samples the interpolation errs far less than its step to the sixth power suggests for the simulation."""
    times = np.linspace(0.2, 0.39, 77)
    exact = swing("stewart-3-3", method="dopri", rtol=1e-13, atol=1e-15, output_step=0.0025)
    truth = fp.motion_at(exact, times)
    gaps = []
    for step in (0.04, 0.02, 0.01):
        result = swing("stewart-3-3", method="dopri", rtol=1e-13, atol=1e-15, output_step=step)
        found = fp.motion_at(result, times)
        gaps.append(float(np.max(np.abs(found.position - truth.position))))
    assert np.log2(gaps[1] / gaps[2]) > 5.0, gaps
