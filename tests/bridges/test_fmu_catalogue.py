"""FMUs of the whole catalogue: co-simulation equal to `simulate`, exact derivatives; flexible and constrained robots included."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fmpy.validation import validate_fmu
from fmu_tools import Importer

import flexapod as fp
from flexapod.analysis.verbs.sampling import random_leg_states, random_states
from flexapod.rotation_arrays import rotation_quaternion
from flexapod.simulation.stepper import home_start, step_setup
from flexapod.simulation.system.leg_terms import carried_places
from support.loaded_robots import moving, soft_tripod

SAME_STEPS = 1e-9
"""Rounding of twenty steps, the more the stiffer the robot."""
SAME_EQUATIONS = 1e-12
"""Another order of the same sums, of the largest rate."""
LARGE = {"dualemps-8": 1e-10, "gough-stewart-flexible-legs": 1e-11}
"""Of the largest rate, where mass matrices have 74 and 46 rows and condition numbers (diagonal scaled to 1) of 5e6 and 4e4: half
a unit in the last place of their entries alone changes the exact solution by 3e-11 and 7e-13, measured with 40 digits."""
SAME_FORCES = 1e-12
"""What the difference of two rates demands as forces, of the sum of absolute terms of M u'': roundings of elastic forces that
nearly cancel, measured 3e-14 on the two large robots and 1.2e-13 on `planar-3-rrr-flexible`."""
DIFFERENCES = 1e-5
"""Central differences with a step of 1e-6, across the steep friction law of some robots."""
QUICK = "five-bar"
"""The smallest one is also part of the short run."""
UNSTABLE = "gough-stewart-flexible-legs"
"""Its plate has no stable equilibrium with the actuators held at home: it starts undeformed."""


def undeformed(robot: fp.Robot) -> fp.State:
    q = np.concatenate([leg.home for leg in robot.legs])[list(robot.driven)]
    return fp.State.from_actuators(robot, q, elastic=np.zeros(len(robot.elastic_names)))


@pytest.mark.parametrize("name", [pytest.param(n, marks=[] if n == QUICK else pytest.mark.full) for n in fp.catalogue()])
def test_robot(name: str, tmp_path: Path) -> None:
    robot = fp.load(name)
    home = undeformed(robot) if name == UNSTABLE else home_start(robot)
    path = fp.export_fmu(robot, tmp_path / "robot.fmu", version="2.0", start=home)
    assert validate_fmu(str(path)) == []
    if robot.elastic_legs:
        force = np.linspace(0.5, 1.0, len(robot.actuators))
    else:
        force = fp.inverse_dynamics(robot, home, friction=False).force.values
        force = np.linspace(1.1, 1.4, len(force)) * force + 0.1 * np.arange(1.0, len(force) + 1)  # no symmetry, out of stiction
    result = fp.simulate(robot, home, drive="force", force=force, duration=0.02, step=1e-3, output_step=1e-3, watch=("stroke",))
    at = Importer(path, "cs")
    inputs = [f"force.{a}" for a in robot.actuators]
    at.set(inputs, force)
    for k in range(20):
        at.fmu.doStep(k * 1e-3, 1e-3)
    for quantity in ("position", "velocity", "angular_velocity"):
        ours = result[quantity].values
        found = at.get([f"{quantity}.{k}" for k in "xyz"])
        assert np.abs(found - ours[-1]).max() <= SAME_STEPS * max(1e-3, np.abs(ours).max())
    assert max(np.abs(result[name].values[-1]).max() for name in ("velocity", "angular_velocity")) > 1e-6  # it moved
    at.close()
    at = Importer(path, "me")
    at.continuous()
    _check_derivatives(at, inputs, force)
    _check_rates(robot, at, inputs)
    at.close()


@pytest.mark.parametrize(
    "name", ["delta-parallelograms", *(pytest.param(n, marks=pytest.mark.full) for n in ("orthoglide", "h4"))]
)
def test_explicit_steps_of_robots_with_loops(name: str, tmp_path: Path) -> None:
    """Runge-Kutta 4 in independent coordinates, loops closed at every stage, in C and in `simulate`; rates and derivatives."""
    robot = fp.load(name)
    home = home_start(robot)
    path = fp.export_fmu(robot, tmp_path / "robot.fmu", version="3.0", start=home, method="rk4")
    assert validate_fmu(str(path)) == []
    force = 1.1 * fp.inverse_dynamics(robot, home, friction=False).force.values[0] + 0.1
    result = fp.simulate(robot, home, drive="force", force=force, duration=0.01, step=1e-3, output_step=1e-3, method="rk4")
    at, inputs = Importer(path, "cs"), [f"force.{a}" for a in robot.actuators]
    at.set(inputs, force)
    for k in range(10):
        at.fmu.doStep(k * 1e-3, 1e-3)
    assert np.abs(result.velocity.values[-1]).max() > 1e-3
    for quantity in ("position", "velocity", "angular_velocity"):
        ours, found = result[quantity].values, at.get([f"{quantity}.{k}" for k in "xyz"])
        assert np.abs(found - ours[-1]).max() <= SAME_EQUATIONS * max(1e-3, np.abs(ours).max())
    at.close()
    at = Importer(path, "me")
    at.continuous()
    _check_derivatives(at, inputs, force)
    _check_rates(robot, at, inputs)
    at.close()


@pytest.mark.full
@pytest.mark.parametrize(("method", "step"), [("rk4", 1e-4), ("implicit", 1e-3)])
def test_friction_by_joint_loads(method: str, step: float, tmp_path: Path) -> None:
    """Its fixed point is part of the terms: steps of `simulate`, rates of forward dynamics, exact derivatives."""
    robot = soft_tripod(tmp_path)
    start, force, inputs = moving(robot, [0.2, -0.1, 0.05]), np.array([30.0, 20.0, 10.0]), [f"force.{a}" for a in robot.actuators]
    path = fp.export_fmu(robot, tmp_path / "robot.fmu", start=start, method=method, step=step, version="2.0")
    assert validate_fmu(str(path)) == []
    result = fp.simulate(robot, start, drive="force", force=force, duration=0.01, step=step, output_step=0.01, method=method)
    assert float(result.dissipated_energy[-1]) > 5e-3
    at = Importer(path, "cs")
    at.set(inputs, force)
    for k in range(10):
        at.fmu.doStep(k * 1e-3, 1e-3)
    found, ours = at.get([f"actuator_velocity.{a}" for a in robot.actuators]), result.actuator_velocity.values[-1]
    assert np.abs(found - ours).max() <= SAME_STEPS * np.abs(ours).max()
    at.close()
    at = Importer(path, "me")
    at.continuous()
    _check_derivatives(at, inputs, force)
    _check_rates(robot, at, inputs)
    at.close()


def _check_rates(robot: fp.Robot, at: Importer, inputs: list[str]) -> None:
    """Model exchange at random states: the rates of forward dynamics."""
    random = np.random.default_rng(7)
    for state, x in _leg_states(robot, 2) if robot.elastic_legs else _states(robot, 2, random):
        gamma = random.uniform(-10.0, 10.0, len(inputs))
        at.set_states(x)
        at.set(inputs, gamma)
        wanted = fp.forward_dynamics(robot, state, gamma)
        found = at.rates()
        if robot.elastic_legs:
            names = ("actuator_acceleration", "elastic_acceleration", "acceleration")
            values = np.concatenate([np.ravel(wanted[n].values) for n in names])
            known = dict(zip([*robot.actuators, *robot.elastic_names, "vx", "vy", "vz"], values, strict=True))
            chosen = [k for k, n in enumerate(robot.independent) if n in known]  # of a floating base only what others see of it
            found, rates = found[len(robot.independent) :][chosen], np.array([known[robot.independent[k]] for k in chosen])
        else:
            names = ("acceleration", "angular_acceleration", "elastic_acceleration")
            rates = np.concatenate([np.ravel(wanted[n].values) for n in names if n in wanted])
            found = np.concatenate([found[7:13], found[len(x) - _modes(robot) :]])
        assert len(found) >= min(len(inputs), robot.mobility.platform)
        assert np.abs(found - rates).max() <= LARGE.get(robot.name, SAME_EQUATIONS) * np.abs(rates).max()
        if robot.elastic_legs and len(chosen) == len(robot.independent):
            M = fp.mass_matrix(robot, state, coordinates="independent")
            assert M.coordinate.values.tolist() == list(robot.independent)
            M = M.values
            assert np.all(np.abs(M @ (found - rates)) <= SAME_FORCES * (np.abs(M) @ np.abs(rates)))


def _modes(robot: fp.Robot) -> int:
    return len(robot.elastic_names)


def _states(robot: fp.Robot, count: int, random: np.random.Generator) -> list[tuple[Any, np.ndarray]]:
    drawn, found = random_states(robot, count, seed=4), []
    for k in range(count):
        p, R, v, w = (drawn[name][k] for name in ("position", "rotation", "velocity", "angular_velocity"))
        e, ed = 1e-4 * random.normal(size=(2, _modes(robot)))
        elastic = {"elastic": e, "elastic_velocity": ed} if len(e) else {}
        state = fp.State(position=p, rotation=R, velocity=v, angular_velocity=w, **elastic)
        found.append((state, np.concatenate([p, rotation_quaternion(R), v, w, e, ed])))
    return found


def _leg_states(robot: fp.Robot, count: int) -> list[tuple[Any, np.ndarray]]:
    if len(robot.independent) > len(robot.actuators) + _modes(robot):
        return _floating_states(robot, count)
    drawn, found = random_leg_states(robot, count, seed=4), []
    pairs = (("modes", "joint_position"), ("modes_velocity", "joint_velocity"))
    both = [np.concatenate([drawn[m], drawn[j]], axis=1) for m, j in pairs]
    modes = drawn["modes"].shape[1]
    at = {name: k for k, name in enumerate(robot.elastic_names[:modes])}
    at |= {name: modes + robot.driven[k] for k, name in enumerate(robot.actuators)}
    at |= {name: modes + robot.elastic_indices[k] for k, name in enumerate(robot.elastic_names[modes:])}
    for k in range(count):
        e, ed = (values[k][[at[name] for name in robot.elastic_names]] for values in both)
        q, qd = (values[k][[at[name] for name in robot.actuators]] for values in both)
        state = fp.State.from_actuators(robot, q, qd, elastic=e, elastic_velocity=ed)
        found.append((state, np.concatenate([values[k][[at[name] for name in robot.independent]] for values in both])))
    return found


def _floating_states(robot: fp.Robot, count: int) -> list[tuple[Any, np.ndarray]]:
    """Platforms that move while the base is where the file has it, and what `simulate` makes of them."""
    found, random = [], np.random.default_rng(4)
    for _ in range(count):
        p, v, w = random.uniform(-1, 1, (3, 3)) * 0.05
        state = fp.State(position=robot.home.position + p, rotation=robot.home.rotation, velocity=v, angular_velocity=w)
        setup = step_setup(robot, state, step=1e-3, method="implicit", wrench=False, friction=True, watch=())
        found.append((state, setup.start[carried_places(setup.layout)[0]]))
    return found


def _check_derivatives(at: Importer, inputs: list[str], force: np.ndarray) -> None:
    """Directional derivatives against central differences."""
    random = np.random.default_rng(3)
    names, n = [s.name for s in at.states], len(at.states)
    x = at.get(names) + 1e-4 * random.normal(size=n)
    seed = random.normal(size=n + len(inputs))

    def rates(s: float) -> np.ndarray:
        at.set_states(x + s * seed[:n])
        at.set(inputs, force + s * seed[n:])
        return at.rates()

    differences = (rates(1e-6) - rates(-1e-6)) / 2e-6
    rates(0.0)
    exact = at.directional([v.valueReference for v in at.derivatives], [at.vr[k] for k in (*names, *inputs)], seed)
    assert np.abs(exact - differences).max() <= DIFFERENCES * np.abs(differences).max()
