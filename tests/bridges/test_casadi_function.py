"""`casadi_function` agrees with the kernels, its derivatives with differences, and IPOPT finds a motion within force limits."""

import warnings

import casadi as ca
import numpy as np
import pytest

import flexapod as fp
from flexapod.analysis.model.kernels import kernel_with_friction
from flexapod.analysis.verbs.export_c import golden_inputs
from flexapod.analysis.verbs.sampling import random_states
from support.kinds import changed, robot_of_kind

SAME = 1e-11
"""The same operations in CasADi's order, relative to the largest entry."""
ITERATED = 1e-4
"""Of the effect of friction, after six passes of an iteration that gains more than a digit in each."""
LINEAR = 1e-11
"""Of the largest change: forces are linear in a mass; found 3e-15."""
VANISHES = 1e-12
"""[N/kg^2]: its second derivative."""


@pytest.mark.parametrize(
    ("name", "quantity"),
    [("stewart-3-3", "forward_dynamics"), ("stewart-3-3", "inverse_dynamics"), ("five-bar", "inverse_kinematics")],
)
@pytest.mark.parametrize("parameters", ["input", "named", "numbers"])
def test_values_agree_with_the_kernel(name: str, quantity: str, parameters: str) -> None:
    robot = fp.load(name)
    function, bound = fp.casadi_function(robot, quantity, parameters=parameters), fp.kernel(robot, quantity)
    inputs = golden_inputs(bound, random_states(robot, 3, seed=1))
    wanted = bound.batch(inputs).outputs
    for k in range(3):
        given = {n: v[k] for n, v in inputs.items()} | ({"parameters": bound.parameters} if parameters == "input" else {})
        found = function(**given)
        assert float(found["status"]) == 0
        for output, values in wanted.items():
            assert np.abs(np.array(found[output]).ravel() - values[k].ravel()).max() <= SAME * max(1.0, np.abs(values[k]).max())


def test_derivatives_reach_the_parameters() -> None:
    robot = fp.load("stewart-3-3")
    f, bound = fp.casadi_function(robot, "inverse_dynamics"), fp.kernel(robot, "inverse_dynamics")
    inputs = {n: v[0] for n, v in golden_inputs(bound, random_states(robot, 1, seed=1)).items()}
    at = [p.name for p in bound.signature.parameters].index("platform.mass")
    p = ca.SX.sym("p", len(bound.parameters))
    force = f(**inputs, parameters=p)["force"]
    slope = ca.Function("slope", [p], [ca.jacobian(force, p)[:, at], ca.hessian(force[0], p)[0][at, at]])
    first, second = (np.array(x).ravel() for x in slope(bound.parameters))
    plus, minus = np.array(bound.parameters), np.array(bound.parameters)
    plus[at] += 1.0
    minus[at] -= 1.0
    change = (bound(parameters=plus, **inputs)["force"] - bound(parameters=minus, **inputs)["force"]) / 2
    assert np.abs(first - change).max() <= LINEAR * np.abs(change).max()
    assert abs(second[0]) <= VANISHES


@pytest.mark.parametrize("name", ["five-bar", "stewart-3-3"])
def test_derivatives_at_a_guess_that_is_the_solution(name: str) -> None:
    """The departure from the first step is a norm, which is zero there: its derivative is finite."""
    robot = fp.load(name)
    home = fp.State(position=robot.home.position, rotation=robot.home.rotation)
    f = fp.casadi_function(robot, "forward_kinematics", parameters="numbers")
    given = {
        "guess_position": robot.home.position, "guess_rotation": robot.home.rotation,
        "actuator_position": fp.inverse_kinematics(robot, home).actuator_position.values,
        **({"guess": np.concatenate([leg.home for leg in robot.legs])} if "guess" in f.name_in() else {}),
    }  # fmt: skip
    found = f(**given)
    assert float(found["departure"]) == 0.0
    slopes = f.jacobian()(**given, **{f"out_{output}": found[output] for output in f.name_out()})
    assert all(np.isfinite(np.array(ca.DM(slope))).all() for slope in slopes.values())


def test_named_parameters_replace_the_robots_own() -> None:
    robot, heavy = fp.load("stewart-3-3"), fp.load("stewart-3-3").with_parameters({"platform.mass": 612.5})
    f, bound = fp.casadi_function(robot, "inverse_dynamics", parameters="named"), fp.kernel(heavy, "inverse_dynamics")
    inputs = {n: v[0] for n, v in golden_inputs(bound, random_states(robot, 1, seed=1)).items()}
    found, wanted = np.array(f(**inputs, platform_mass=612.5)["force"]).ravel(), bound(**inputs)["force"]
    assert np.abs(found - wanted).max() <= SAME * np.abs(wanted).max()


def test_bad_options_are_refused() -> None:
    robot = fp.load("five-bar")
    with pytest.raises(fp.InputError, match="passes"):
        fp.casadi_function(robot, "inverse_kinematics", passes=0)
    with pytest.raises(fp.InputError, match="parameters"):
        fp.casadi_function(robot, "inverse_kinematics", parameters="none")  # type: ignore[arg-type]


def test_forward_dynamics_has_the_friction_of_the_file() -> None:
    robot, name = fp.load("hexaslide"), fp.casadi_function(fp.load("hexaslide"), "forward_dynamics", friction=False).name()
    assert name == "forward_dynamics"
    assert kernel_with_friction(robot, "forward_dynamics", {}).quantity == "forward_friction"
    assert kernel_with_friction(robot, "inverse_dynamics", {}).signature.name == "newton_euler"


@pytest.mark.full
def test_friction_in_forward_dynamics() -> None:
    robot, passes = fp.load("hexaslide"), 6
    function = fp.casadi_function(robot, "forward_dynamics", passes=passes, parameters="numbers")
    state = {n: v[0] for n, v in random_states(robot, 1, seed=1).items() if "acceleration" not in n}
    force = np.linspace(-50.0, 80.0, 6)
    wanted, without = (
        fp.forward_dynamics(robot, fp.State(**state), force, friction=f).acceleration.values for f in (True, False)
    )
    found = np.array(function(**state, force=force)["acceleration"]).ravel()
    assert np.abs(found - wanted).max() <= ITERATED * np.abs(wanted - without).max()


def test_friction_by_joint_loads_is_left_out_with_a_warning() -> None:
    """Of robots with springs, which are closed all together; without it nothing is to be said."""
    friction = {"reaction": 0.01, "viscous": 0.3, "speed": 0.01}
    robot = changed("five-bar", "five-bar-loaded", crank={"friction": friction}, elbow={"stiffness": 40.0})
    with pytest.warns(fp.FlexapodWarning, match="friction of five-bar-loaded by joint loads .* is left out"):
        fp.casadi_function(robot, "inverse_dynamics")
    with pytest.warns(fp.FlexapodWarning, match="left out, and the rest of the friction is in it"):
        fp.generate(robot, "inverse_dynamics", friction=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fp.casadi_function(robot, "inverse_dynamics", friction=False)
        fp.casadi_function(robot_of_kind("joint springs"), "inverse_dynamics")
