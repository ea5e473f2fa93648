"""Robots of rods: which they are, and rates that agree with those of all coordinates."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.support.plain import plain_kernel

import flexapod as fp
from flexapod.kernels.errors import KernelStatusError
from flexapod.kernels.tape.tape import make_tape
from flexapod.robot.rod_plan import rod_plan
from flexapod.robot.rods import RodPlan
from flexapod.simulation.stepper import step_setup
from flexapod.simulation.system import leg_rates, rod_rates
from flexapod.simulation.system.independent import IndependentLayout
from flexapod.simulation.system.leg_terms import carried_places

SAME = 1e-10
"""Of the largest rate: both close the loops to steps of 1e-11 and solve systems of condition 1e2."""
NOTICED = 1e-6
"""Of the largest rate: a spin that is left out changes ten thousand times more than what `SAME` allows."""
ROBOTS = {"delta-parallelograms": (4, 6), "h4": (7, 8), "par4": (8, 8)}
"""Nodes and rods."""
CATALOGUE = Path(fp.__file__).parent / "robots"


class Both:
    """The two programs of a robot's rates, interpreted, from its start at home."""

    def __init__(self, robot: fp.Robot) -> None:
        home = fp.State(position=robot.home.position, rotation=robot.home.rotation, velocity=(0.0, 0.0, 0.0))
        setup = step_setup(robot, home, step=1e-4, method="rk4", wrench=True, friction=True, watch=())
        layout = setup.layout
        assert isinstance(layout, IndependentLayout)
        plan = rod_plan(robot)
        assert isinstance(plan, RodPlan)
        self.layout, self.plan, self.values = layout, plan, setup.values
        self.state, y = ([float(setup.start[k]) for k in places] for places in carried_places(layout))
        self.programs = leg_rates.leg_rates(layout), rod_rates.rod_rates(layout, plan)
        self.kernels = [plain_kernel(program) for program in self.programs]
        self.memories = leg_rates.memory_start(robot, y), rod_rates.memory_start(robot, plan, y)

    def __call__(self, x: Any, signals: Any, **changed: float) -> list[dict[str, Any]]:
        found = []
        for kernel, memory in zip(self.kernels, self.memories, strict=True):
            values = {**self.values, **changed}
            parameters = np.array([values[p.name] for p in kernel.signature.parameters])
            found.append(kernel(state=x, memory=np.array(memory), signals=signals, parameters=parameters))
        return found


@pytest.fixture(scope="module")
def delta() -> Both:
    return Both(fp.load("delta-parallelograms"))


def random_states(both: Both, count: int) -> list[tuple[Any, Any]]:
    random, n = np.random.default_rng(5), len(both.plan.states)
    moved = [np.r_[0.05 * random.normal(size=n), 3.0 * random.normal(size=n)] for _ in range(count)]
    return [(np.array(both.state) + step, 20.0 * random.normal(size=both.layout.width)) for step in moved]


def assert_agree(both: Both, count: int = 3) -> None:
    for x, signals in random_states(both, count):
        general, rods = both(x, signals)
        for name in ("derivative", "result"):
            assert np.abs(general[name] - rods[name]).max() <= SAME * np.abs(general[name]).max(), name


@pytest.mark.parametrize("name", ROBOTS)
def test_robots_of_rods_have_the_rates_of_all_coordinates(name: str) -> None:
    """Actuator forces and a load at random states away from home; neither formulation shares more than frames of the file."""
    both = Both(fp.load(name))
    assert (len(both.plan.nodes), len(both.plan.rods)) == ROBOTS[name]
    assert_agree(both)


@pytest.mark.parametrize("axis", ["[0, 1, 0]", "[0.4, 1, 0.2]"])
def test_thick_rods_turn_about_their_line_as_their_joint_makes_them(axis: str, tmp_path: Path) -> None:
    """Axial inertia as large as the transverse one; a first axis beside the drive's turns with the arm."""
    text = (CATALOGUE / "delta-parallelograms.yaml").read_text(encoding="utf-8")
    text = text.replace("[0.004, 0.004, 0.00001]", "[0.004, 0.004, 0.005]").replace("axis1: [0, 1, 0]", f"axis1: {axis}")
    path = tmp_path / "thick.yaml"
    path.write_text(text, encoding="utf-8")
    both = Both(fp.load(path))
    assert_agree(both)
    x, signals = random_states(both, 1)[0]
    thin = {name: 0.0 for name in both.values if ".elbow" in name and name.endswith(".body.inertia.xx")}
    (_, light), (_, thick) = both(x, signals, **thin), both(x, signals)
    assert np.abs(thick["derivative"] - light["derivative"]).max() > NOTICED * np.abs(thick["derivative"]).max()


def test_bodies_that_hang_on_balls_or_float_take_the_hinges_that_hold_them() -> None:
    h4, par4 = (rod_plan(fp.load(name)) for name in ("h4", "par4"))
    assert isinstance(h4, RodPlan)
    assert isinstance(par4, RodPlan)
    assert [node.parent for node in h4.nodes[5:]] == [0, 0]
    assert all(node.hinge is not None for node in h4.nodes[5:])
    assert [closing.joint for _, closing, _, _ in par4.cuts] == ["pin2"]  # both halves hang on the platform


REASONS = {
    "orthoglide": "it has no rods between a universal joint and a ball",
    "hexaslide": "joints of leg 1 are coupled, sprung or have friction",
    "dualemps": "it has flexible bodies or force elements",
    "five-bar": "its platform is a link of a leg",
    "hexapod-floating": "a body hangs on rods alone",
}


@pytest.mark.parametrize("name", REASONS)
def test_other_robots_have_their_reason(name: str) -> None:
    assert rod_plan(fp.load(name)) == REASONS[name]


def test_a_rod_that_is_not_symmetric_is_none(tmp_path: Path) -> None:
    text = (CATALOGUE / "h4.yaml").read_text(encoding="utf-8").replace("[0.0033, 0.0033, 0.00001]", "[0.0033, 0.003295, 0.00001]")
    path = tmp_path / "flat.yaml"
    path.write_text(text, encoding="utf-8")
    assert rod_plan(fp.load(path)) == "it has no rods between a universal joint and a ball"


def test_a_rod_that_loses_its_symmetry_is_refused_when_it_is_evaluated(delta: Both) -> None:
    both = delta
    x, signals = random_states(both, 1)[0]
    with pytest.raises(KernelStatusError, match="a rod of leg 1 is not symmetric about the line of its joints any more"):
        both(x, signals, **{"legs.1.elbow.2.body.inertia.yy": 0.02})


def test_operations_of_a_pass(delta: Both) -> None:
    """Less than seven tenths of those of all coordinates, and hardly a sine."""
    general, rods = (make_tape(program).operations for program in delta.programs)
    assert rods.total <= 0.7 * general.total
    assert rods.function <= 10 < general.function
