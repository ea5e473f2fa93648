"""A hexapod on a floating body: rates of its telescopic legs against MuJoCo, against all coordinates, and as an FMU."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import casadi as ca
import mujoco
import numpy as np
import pytest
from fmu_tools import Importer
from mujoco_tools import Engine
from tests.support.plain import plain_kernel

import flexapod as fp
from flexapod.kernels.errors import KernelStatusError
from flexapod.kernels.tape.tape import make_tape
from flexapod.robot.floating_plan import FloatingPlan, floating_plan
from flexapod.simulation.stepper import home_start, step_setup
from flexapod.simulation.system import floating_rates, leg_rates
from flexapod.simulation.system.independent import IndependentLayout
from flexapod.simulation.system.leg_terms import carried_places

SAME = 1e-10
"""Of the largest rate: systems of twelve unknowns and condition 1e3, loops closed to 1e-11."""
ENGINE = 1e-9
"""Of the largest acceleration: MuJoCo's numbers go through a file of 12 digits and a system of 60 unknowns."""
NOTICED = 1e-6
"""Of the largest rate: an axial inertia that is left out changes far more than `SAME` allows."""
STEPS = 1e-12
"""Of the largest velocity after ten steps: the same steps in another order of sums."""
CUBIC = (7.0, 9.0)
"""Ratio of third-order errors of a step and of its half, about 8."""
NAME = "hexapod-floating"
TEXT = (Path(fp.__file__).parent / "robots" / f"{NAME}.yaml").read_text(encoding="utf-8")
CHANGES = {
    "gravity: [0, 0, 0]": "gravity: [1, 2, -9]",
    "[0.005, 0.005, 0.0002]": "[0.005, 0.005, 0.009]",
    "hull: {mass: 12,": "hull: {mass: 12, com: [0.02, -0.01, 0.03],",
    "platform: {mass: 4,": "platform: {mass: 4, com: [0.01, 0.03, -0.02],",
    "actuated: true,": "actuated: true, inertia: 0.7,",
}
"""Parts of the robot file that are replaced: weight, thick legs, centres of mass beside the origins, drives with inertia."""

def robot_with(folder: Path, changed: bool) -> fp.Robot:
    text = TEXT
    for old, new in CHANGES.items() if changed else ():
        assert old in text
        text = text.replace(old, new)
    (folder / "floating.yaml").write_text(text, encoding="utf-8")
    return fp.load(folder / "floating.yaml")


class Rates:
    """The program of a robot, interpreted, from its start at home."""

    def __init__(self, robot: fp.Robot, general: bool = False) -> None:
        setup = step_setup(robot, home_start(robot), step=1e-4, method="rk4", wrench=True, friction=True, watch=())
        layout, plan = setup.layout, floating_plan(robot)
        assert isinstance(layout, IndependentLayout)
        assert isinstance(plan, FloatingPlan)
        self.robot, self.layout, self.values = robot, layout, setup.values
        self.state, y = (np.array([float(setup.start[k]) for k in places]) for places in carried_places(layout))
        if general:
            self.program, self.memory = leg_rates.leg_rates(layout), leg_rates.memory_start(robot, list(y))
        else:
            self.program = floating_rates.floating_rates(layout, plan)
            self.memory = floating_rates.memory_start(robot, plan, list(y))
        self.kernel = plain_kernel(self.program)

    def __call__(self, x: Any, signals: Any, **changed: float) -> dict[str, Any]:
        values = {**self.values, **changed}
        parameters = np.array([values[p.name] for p in self.kernel.signature.parameters])
        return self.kernel(state=x, memory=np.array(self.memory), signals=signals, parameters=parameters)


@pytest.fixture(scope="module")
def rates(tmp_path_factory: pytest.TempPathFactory) -> Rates:
    return Rates(robot_with(tmp_path_factory.mktemp("changed"), True))


def random_state(rates: Rates, seed: int) -> tuple[Any, Any]:
    random = np.random.default_rng(seed)
    x = rates.state + np.r_[0.02 * random.normal(size=6), 0.3 * random.normal(size=6), random.normal(size=12)]
    return x, 10.0 * random.normal(size=rates.layout.width)


def test_accelerations_of_a_moving_base_are_those_of_mujoco(rates: Rates, tmp_path: Path) -> None:
    """Terms of the engine with hard loops, at home, with the base and the platform moving."""
    robot, engine = rates.robot, Engine(fp.export_mjcf(rates.robot, tmp_path / "robot.xml").read_text())
    m, d = engine.model, engine.data
    mujoco.mj_resetDataKeyframe(m, d, 0)
    mujoco.mj_forward(m, d)
    dof = {m.joint(j).name: int(m.jnt_dofadr[j]) for j in range(m.njnt)}
    places = [dof[f"{name}.slide" if name in robot.actuators else name] for name in robot.independent]
    random, J = np.random.default_rng(3), d.efc_J.reshape(-1, m.nv)[: d.ne].copy()
    force, velocity = 10.0 * random.normal(size=6), random.normal(size=12)
    others = [k for k in range(m.nv) if k not in places]
    d.qvel[places] = velocity
    d.qvel[others] = -np.linalg.lstsq(J[:, others], J @ d.qvel, rcond=None)[0]
    found = rates(np.r_[rates.state[:12], velocity], np.r_[force, np.zeros(6)])
    twist = found["result"][24:30]
    assert np.abs(twist - d.qvel[dof["platform"] : dof["platform"] + 6]).max() <= ENGINE * np.abs(twist).max()
    mujoco.mj_forward(m, d)
    M, bias, J, S = engine.parts()
    system = np.block([[M, -J.T], [J, np.zeros((len(J), len(J)))]])
    wanted = np.linalg.solve(system, np.concatenate([S @ force - bias, d.efc_aref[: d.ne]]))[places]
    assert np.abs(found["derivative"][12:] - wanted).max() <= ENGINE * np.abs(wanted).max()


@pytest.mark.full
@pytest.mark.parametrize("changed", [False, True])
def test_rates_of_all_coordinates(changed: bool, tmp_path: Path) -> None:
    """Sixty coordinates and their loops, at random states away from home, under forces and a load on the platform."""
    robot = robot_with(tmp_path, changed)
    short, general = Rates(robot), Rates(robot, general=True)
    for seed in range(3):
        x, signals = random_state(short, seed)
        found, wanted = short(x, signals), general(x, signals)
        for name in ("derivative", "result"):
            assert np.abs(found[name] - wanted[name]).max() <= SAME * np.abs(wanted[name]).max(), name


@pytest.mark.full
def test_steps_of_an_fmu_are_those_of_simulate(tmp_path: Path) -> None:
    """Runge-Kutta 4 in the slides and the six coordinates of the base, which are the independent ones."""
    robot = fp.load(NAME)
    assert robot.independent == (*robot.actuators, *(f"A.float.{k}" for k in range(1, 7)))
    start, force = home_start(robot), np.array([0.5, -1.0, 0.3, 2.0, -0.7, 1.0])
    path = fp.export_fmu(robot, tmp_path / "robot.fmu", start=start, method="rk4", step=1e-3, version="2.0")
    result = fp.simulate(robot, start, drive="force", force=force, duration=0.01, step=1e-3, output_step=1e-3, method="rk4")
    at = Importer(path, "cs")
    at.set([f"force.{a}" for a in robot.actuators], force)
    for k in range(10):
        at.fmu.doStep(k * 1e-3, 1e-3)
    for quantity in ("position", "velocity", "angular_velocity"):
        ours, found = result[quantity].values, at.get([f"{quantity}.{k}" for k in "xyz"])
        assert np.abs(found - ours[-1]).max() <= STEPS * max(1e-3, np.abs(ours).max())
    assert np.abs(result.velocity.values[-1]).max() > 1e-3
    at.close()


def test_the_spin_of_legs_counts(rates: Rates) -> None:
    x, signals = random_state(rates, 1)
    thin = {name: 0.0 for name in rates.values if name.endswith((".hip.2.body.inertia.xx", ".slide.body.inertia.zz"))}
    assert len(thin) == 12
    whole, light = rates(x, signals)["derivative"], rates(x, signals, **thin)["derivative"]
    assert np.abs(whole - light).max() > NOTICED * np.abs(whole).max()


def test_a_leg_that_loses_its_symmetry_is_refused(rates: Rates) -> None:
    x, signals = random_state(rates, 1)
    with pytest.raises(KernelStatusError, match="of leg B is not symmetric about the line of its joints any more"):
        rates(x, signals, **{"legs.B.slide.body.inertia.xx": 0.02})


def test_poses_are_predicted_from_the_last_call(rates: Rates) -> None:
    """To second order in a step: half of it leaves an eighth."""
    x, signals = random_state(rates, 2)
    before, left = rates(x, signals), []
    memory, q = ca.SX.sym("memory", len(before["closed"])), ca.SX.sym("q", 6)
    predicted = ca.Function("predicted", [memory, q], [floating_rates._predicted(memory, q)])
    for h in (2e-3, 1e-3):
        y = np.r_[x[:6] + h * x[12:18] + h**2 / 2 * before["derivative"][12:18], x[6:]]
        pose = rates(y, signals)["closed"][:12]
        left.append(np.abs(predicted(ca.DM(before["closed"]), ca.DM(y[:6])).full().ravel() - pose).max())
    assert left[1] > 0.0
    assert CUBIC[0] < left[0] / left[1] < CUBIC[1]


REASONS = {
    "gough-stewart": "it has no six legs on one floating body",
    "hexaslide": "joints of leg 1 are coupled, sprung or have friction",
}


@pytest.mark.parametrize("name", REASONS)
def test_other_robots_have_their_reason(name: str) -> None:
    assert floating_plan(fp.load(name)) == REASONS[name]


def test_legs_that_are_not_symmetric_have_coordinates(tmp_path: Path) -> None:
    path = tmp_path / "flat.yaml"
    path.write_text(TEXT.replace("[0.002, 0.002, 0.00005]", "[0.002, 0.00198, 0.00005]"), encoding="utf-8")
    assert floating_plan(fp.load(path)) == "leg A is not symmetric about the line of its joints"


def test_operations_of_a_pass(rates: Rates) -> None:
    """A seventh of the 44 800 that all coordinates take."""
    assert make_tape(rates.program).operations.total <= 6300
