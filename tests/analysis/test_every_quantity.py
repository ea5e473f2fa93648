"""Every kernel of every robot of the catalogue: its program asks for the robot's own numbers, or the robot is refused."""

from __future__ import annotations

import numpy as np
import pytest

import flexapod as fp
from flexapod.analysis.model.closed_legs import home as closed_home
from flexapod.analysis.model.kernels import PROGRAMS, parameter_values, program_family

ROUNDING = 1e-12
"""Of the largest acceleration, in equations of condition 1e2 (found 2e-15)."""
LARGE = ("dualemps-8",)
"""Its programs are those of `dualemps` with eight elements per link, and take minutes to derive."""
SAMPLE = ("3-ups-s", "five-bar")
"""A robot with a leg that has no link, and a planar one."""
OPTIONS = {"value_derivatives": {"values": ("platform.mass",)}}
"""Options without which a quantity has no program."""


@pytest.mark.parametrize(
    "name", [n if n in SAMPLE else pytest.param(n, marks=pytest.mark.full) for n in sorted(fp.catalogue()) if n not in LARGE]
)
def test_every_quantity_is_derived_or_refused(name: str) -> None:
    """Errors of a library, a missing number or an assertion before; nothing is compiled here."""
    robot, derived, refused = fp.load(name), 0, {}
    for quantity in ["inverse_dynamics", "forward_dynamics", *PROGRAMS]:
        try:
            family = program_family(robot, quantity, OPTIONS.get(quantity, {}))
            parameter_values(robot, family._make_program().signature)
            derived += 1
        except fp.FlexapodError as error:
            refused[quantity] = str(error)
    assert not {quantity: text for quantity, text in refused.items() if name not in text and quantity not in text}
    assert derived > 10


@pytest.mark.parametrize("quantity", ["virtual_power", "motion_derivatives", "inertia_regressor", "friction_force"])
def test_equations_of_rigid_bodies_are_not_those_of_beams(quantity: str) -> None:
    """`kernel` and `export_c` gave the rigid robot's numbers in silence."""
    with pytest.raises(fp.InputError, match=f"{quantity}: is derived for rigid legs, and dualemps has flexible legs"):
        fp.kernel(fp.load("dualemps"), quantity)


@pytest.mark.parametrize(("name", "words"), [("3-prs", "use pave or check_pose"), ("hexapod", "not a parameter of hexapod")])
def test_limits_of_a_paving_belong_to_it(name: str, words: str) -> None:
    with pytest.raises(fp.InputError, match=f"pose_limits: .*{words}"):
        fp.kernel(fp.load(name), "pose_limits")


def test_base_parameters_of_a_leg_without_links() -> None:
    """A RuntimeError of CasADi before: the ball joint of `3-ups-s` between base and platform is a leg without a link."""
    robot = fp.load("3-ups-s")
    assert fp.base_parameters(robot).model.robot is robot


def test_legs_that_begin_on_a_body_without_mass_of_their_own() -> None:
    """The kernel eliminated leg by leg and divided by what rounding left of the seats' inertia: 1e-6 of the accelerations."""
    robot, force = fp.load("hexapod-floating"), np.linspace(1.0, 6.0, 6)
    bound = fp.kernel(robot, "forward_dynamics", friction=False)
    given = closed_home(robot, 1).inputs() | {"force": force[None]}
    found = bound.batch({i.name: given[i.name] for i in bound.signature.inputs}).outputs["actuator_acceleration"][0]
    wanted = fp.forward_dynamics(robot, fp.State(position=robot.home.position), force).actuator_acceleration.values
    assert np.abs(found - wanted).max() <= ROUNDING * np.abs(wanted).max()
