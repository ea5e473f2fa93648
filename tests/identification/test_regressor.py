"""Regressors against inverse dynamics, and column by column against differences of another formulation."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from measured import DATA, RIGID, series

import flexapod as fp
from flexapod.analysis.model.kernels import kernel
from flexapod.analysis.model.rigid_dynamics import INVERSE
from flexapod.analysis.verbs.sampling import random_states
from flexapod.equations.regressor import inertial_columns
from flexapod.identification.linear_model import inertial_kernel, linear_model, model_inputs
from flexapod.views.chosen_motion import small_motion
from support.kinds import document_of, robot_of

ROUNDING = 1e-12
"""Regressor and inverse dynamics are sums of some thousand products; errors over the largest force of all samples."""
DIFFERENCES = 1e-10
"""Differences over a step as large as the parameter: exact for a linear law up to rounding of forces that are 1e3 times
larger."""
FILE_STEP = 1e-8
"""Differences of forces up to 1e5 times larger than the change, to rounding."""
STATES = 40
CLOSED = 1e-9
"""Of the largest force: loops are closed by Newton's method in both."""
EXACT = 1e-6
"""Of the largest parameter: normal equations, without noise."""


def states_of(robot: fp.Robot) -> fp.Motion:
    return fp.Motion(time=np.arange(float(STATES)), **random_states(robot, STATES, seed=4))


QUICK = ("five-bar", "hexapod")
"""Robots of the quick run: a general planar one, and one with closed-form legs; the others compile for seconds each."""


def robots(names: tuple[str, ...]) -> list[object]:
    return [name if name in QUICK else pytest.param(name, marks=pytest.mark.full) for name in names]


@pytest.mark.parametrize("name", robots(RIGID))
def test_product_is_inverse_dynamics(name: str) -> None:
    robot = fp.load(name)
    motion = states_of(robot)
    force = fp.inverse_dynamics(robot, motion).force.values
    for legs in ("each", "alike"):  # in the catalogue all legs of a robot are alike
        found = fp.regressor(robot, motion, legs=legs)
        error = np.abs(found.regressor.values @ found.value.values - force).max() / np.abs(force).max()
        assert error < ROUNDING, f"{name}, legs {legs}: {error:.2e}"


@pytest.mark.parametrize("name", [n if n == "five-bar" else pytest.param(n, marks=pytest.mark.full) for n in RIGID])
def test_columns_are_differences_of_another_formulation(name: str) -> None:
    """Every inertial parameter is changed in the kernel of virtual work (Newton-Euler where that does not apply)."""
    robot = fp.load(name)
    inputs, reasons = model_inputs(robot, random_states(robot, 8, seed=2))
    model = linear_model(robot, friction=False)
    Y = model.rows(inputs, None, reasons)
    other = "newton_euler" if name == "planar-4-prr" else "virtual_work"
    bound = kernel(robot, INVERSE[other], **({"friction": False} if other == "newton_euler" else {}))
    bound = type(bound)(robot, bound.compiled)
    given = {i.name: inputs[i.name] for i in bound.signature.inputs}
    places = {p.name: k for k, p in enumerate(bound.signature.parameters)}
    start = bound.batch(given).outputs["force"]
    zeros = bound.compiled.zeros
    scale = np.abs(Y).max(axis=(0, 1))
    checked = 0
    for k, column in enumerate(model.columns):
        rotated = column.body and not np.allclose(axes(robot, column.body), np.eye(3), rtol=0, atol=ROUNDING)
        if column.value not in places or column.value in zeros or rotated:
            continue
        step = bound.parameters.copy()
        step[places[column.value]] += 1.0
        difference = bound.batch(given, step).outputs["force"] - start
        error = np.abs(difference - Y[:, :, k]).max() / max(scale[k], np.abs(start).max() * 1e-3)
        assert error < DIFFERENCES, f"{column.name}: {error:.2e}"
        checked += 1
    assert checked >= 3, f"only {checked} of {len(model.columns)} columns were compared"


@pytest.mark.parametrize("name", robots(RIGID))
def test_link_axes_agree_with_virtual_power(name: str) -> None:
    """Two derivations of all columns: joint forces in link axes, and virtual power in world axes."""
    robot = fp.load(name)
    inputs, reasons = model_inputs(robot, random_states(robot, 20, seed=6))
    every = tuple(range(len(inertial_columns(robot))))
    found = []
    for bound in (inertial_kernel(robot, every), kernel(robot, "inertia_regressor")):
        batch = bound.batch({i.name: inputs[i.name] for i in bound.signature.inputs})
        assert np.all(batch.status == 0)
        found.append(batch.outputs["regressor"])
    assert np.all(reasons == "")
    size = np.abs(found[0]).max(axis=(0, 1))
    error = np.abs(found[0] - found[1]).max(axis=(0, 1)) / np.maximum(size, 1e-3 * size.max())
    assert error.max() < DIFFERENCES, f"{error.max():.2e}"


def axes(robot: fp.Robot, body: str) -> np.ndarray:
    return np.array([[robot.values[f"{body}.axes.{i}{j}"] for j in "xyz"] for i in "xyz"])


FILE_PARAMETERS = [
    ("hexapod", "platform.mass", "platform.mass"),  # com at the origin: the tensor about it does not change
    ("hexapod", "legs.A.slider.mass", "legs.A.slider.mass"),
    pytest.param("hexaslide", "legs.3.rail.friction.viscous", "legs.3.rail.friction.viscous", marks=pytest.mark.full),
    pytest.param("gough-stewart", "legs.1.3.IA", "legs.1.q3.inertia", marks=pytest.mark.full),
    pytest.param("gough-stewart", "legs.1.2.inertial.XY", "legs.1.2.inertia.xy", marks=pytest.mark.full),
]


@pytest.mark.parametrize(("name", "path", "column"), FILE_PARAMETERS)
def test_columns_are_differences_of_file_parameters(name: str, path: str, column: str) -> None:
    robot = fp.load(name)
    motion = states_of(robot)
    at = robot.parameter(path)
    assert isinstance(at, float)
    step = 0.1 * max(abs(at), 0.1)
    up = robot.with_parameters({path: at + step})
    difference = (fp.inverse_dynamics(up, motion).force - fp.inverse_dynamics(robot, motion).force).values / step
    Y = fp.regressor(robot, motion).regressor.sel(parameter=column).values
    error = np.abs(difference - Y).max() / np.abs(Y).max()
    assert error < FILE_STEP, f"{path}: {error:.2e}"


@pytest.mark.full
def test_friction_at_given_loads_is_linear() -> None:
    """Friction of passive joints changes the loads of all joints; that of a driven rail is taken by its motor alone."""
    robot = fp.load("hexaslide")
    motion = states_of(robot)
    one = fp.regressor(robot, motion)
    rough = robot.with_parameters({"legs.hip.friction.reaction": 0.03})
    two = fp.regressor(rough, motion)
    assert np.abs(two["load"].values - one["load"].values).max() > 1e-3, "loads follow the friction"
    held = fp.regressor(rough, motion, loads=one["load"])
    np.testing.assert_array_equal(held.regressor.values, one.regressor.values)


def test_springs_and_dampers_of_passive_joints(tmp_path: Path) -> None:
    """A joint with a spring makes inverse dynamics go through the equations of flexible legs: another derivation."""
    text = fp.catalogue()["five-bar"].read_text(encoding="utf-8")
    path = tmp_path / "sprung.yaml"
    path.write_text(with_springs(text), encoding="utf-8")
    robot = fp.load(path)
    motion = series(robot, 1.0, 40.0, size=0.03, seed=1)
    found = fp.regressor(robot, motion)
    force = fp.inverse_dynamics(robot, motion).force.values
    assert any(name.endswith("stiffness") for name in found.parameter.values)
    error = np.abs(found.regressor.values @ found.value.values - force).max() / np.abs(force).max()
    assert error < CLOSED, f"{error:.2e}"


def with_springs(text: str) -> str:
    lines = []
    for line in text.splitlines():
        if "elbow" in line and "type: revolute" in line:
            line = line.rstrip().rstrip("}").rstrip() + ", stiffness: 3.0, damping: 0.2}"
        lines.append(line)
    return "\n".join(lines)


def test_loops_through_several_legs(tmp_path: Path) -> None:
    """Two four-bars are a pendulum: tau = 3 theta'' - 3.5 g sin(theta), of which each column has its part."""
    text = (DATA.parent.parent / "data" / "mechanisms" / "four-bars.yaml").read_text(encoding="utf-8")
    box = "sampling: {position: [0.5, 0, 0], velocity: 1, acceleration: 3}\n"
    (tmp_path / "four-bars.yaml").write_text(box + text, encoding="utf-8")
    robot = fp.load(tmp_path / "four-bars.yaml")
    random = np.random.default_rng(3)
    q, v, a = (scale * random.uniform(-1, 1, (STATES, 1)) for scale in (0.5, 2.0, 5.0))
    motion = fp.ActuatorMotion(time=np.arange(float(STATES)), position=q, velocity=v, acceleration=a)
    found = fp.regressor(robot, motion)
    np.testing.assert_allclose(
        found.regressor.values @ found.value.values, 3 * a - 3.5 * 9.81 * np.sin(q), rtol=0, atol=100 * ROUNDING
    )
    Y = found.regressor.isel(actuator=0)
    height = Y.sel(parameter="legs.2.bar.first_moment.y").values  # on the bar, from its foot
    np.testing.assert_allclose(height, -9.81 * np.sin(q[:, 0]), rtol=0, atol=100 * ROUNDING)
    np.testing.assert_allclose(Y.sel(parameter="legs.1.bar.inertia.zz").values, a[:, 0], rtol=0, atol=100 * ROUNDING)
    np.testing.assert_allclose(
        Y.sel(parameter="legs.0.top.mass").values, a[:, 0] - 9.81 * np.sin(q[:, 0]), rtol=0, atol=100 * ROUNDING
    )
    assert len(fp.base_parameters(robot).kept) == 3  # moment of inertia, and first moments along and across the bars


@pytest.mark.full
@pytest.mark.parametrize("name", ["h4", "par4"])
def test_loops_of_articulated_platforms(name: str) -> None:
    robot = fp.load(name)
    motion = states_of(robot)
    found = fp.regressor(robot, motion)
    force = fp.inverse_dynamics(robot, motion).force.values
    assert np.abs(found.regressor.values @ found.value.values - force).max() < 10 * ROUNDING * np.abs(force).max()
    heavy = robot.with_parameters({"platform.mass": robot.parameter("platform.mass") + 1.0})
    change = fp.inverse_dynamics(heavy, motion).force.values - force
    first = fp.regressor(heavy, motion)
    moved = first.regressor.values @ (first.value.values - found.value.values)
    assert np.abs(moved - change).max() < FILE_STEP * np.abs(change).max()
    base = fp.base_parameters(robot)
    assert base.gap[0] > 1e3 * base.gap[1]


BALANCER = "{from: base, at: [0.1, 0.5, 0], to: platform, stiffness: 60, length: 0.2, damping: 2, preload: 4}"


def test_forces_without_columns_are_known(tmp_path: Path) -> None:
    """A spring between base and platform: its force is beside the columns, and `identify` subtracts it."""
    text = fp.catalogue()["five-bar"].read_text(encoding="utf-8")
    (tmp_path / "five-bar.yaml").write_text(f"{text}\nforces: {{balancer: {BALANCER}}}\n", encoding="utf-8")
    robot = fp.load(tmp_path / "five-bar.yaml")
    motion = series(robot, 4.0, 100.0, size=0.05, seed=2)
    platform = fp.platform_motion(robot, motion)
    force, found = fp.inverse_dynamics(robot, platform).force.values, fp.regressor(robot, platform)
    known = found.known_force.values
    assert np.abs(known).max() > 0.1 * np.abs(force).max()
    assert np.abs(found.regressor.values @ found.value.values + known - force).max() < 10 * ROUNDING * np.abs(force).max()
    wrong = robot.with_parameters({"legs.left.tool.mass": 0.3})
    data = fp.Measurement(time=motion.time, position=motion.position, force=force, motion=platform)
    estimate, true = fp.identify(wrong, data).estimate, fp.base_parameters(robot).values
    assert np.abs(estimate - true).max() < EXACT * np.abs(true).max()


def test_known_forces_of_legs_in_closed_form_hold_no_inertia(monkeypatch: pytest.MonkeyPatch) -> None:
    """A strut on six legs whose bodies have the numbers of a closed form and those of the general model."""
    monkeypatch.setenv("FLEXAPOD_BACKEND", "numpy")
    document = document_of("bench-6ups")
    strut = {"from": "base", "at": [0.1, 0.5, 0], "to": "platform", "stiffness": 60.0, "length": 0.2, "damping": 20.0}
    document["forces"] = {"strut": strut}
    robot = robot_of(document)
    states = states_of(robot)
    force, found = fp.inverse_dynamics(robot, states).force.values, fp.regressor(robot, states)
    left = found.regressor.values @ found.value.values + found.known_force.values - force
    assert np.abs(left).max() < 10 * ROUNDING * np.abs(force).max()
    document["legs"]["template"]["joints"]["ball"]["friction"] = {"reaction": 0.01}
    with pytest.raises(fp.InputError, match="depends on the loads of its joints, which are no columns with force elements"):
        fp.regressor(robot_of(document), states)


def test_what_it_refuses() -> None:
    with pytest.raises(fp.InputError, match="deflections that no actuator measures; name file parameters"):
        fp.base_parameters(fp.load("dualemps"))
    with pytest.raises(fp.InputError, match="exciting motion: andrews has force elements, preloads, bump stops, or dampers"):
        fp.exciting_motion(fp.load(DATA.parent.parent / "data" / "mechanisms" / "andrews.yaml"))
    robot = fp.load("hexapod")
    with pytest.raises(fp.InputError, match="has no friction here"):
        fp.regressor(robot, states_of(robot), loads=np.ones((STATES, 3)))
    with pytest.raises(fp.InputError, match="legs: expected 'each' or 'alike'"):
        fp.regressor(robot, states_of(robot), legs="both")  # type: ignore[arg-type]


def test_one_axis() -> None:
    robot = fp.load(DATA / "emps.yaml")
    motion = series(robot, 1.0, 50.0, size=0.02, seed=0)
    found = fp.regressor(robot, motion)
    force = 95.1089 * motion.acceleration + 203.5034 * motion.velocity + 20.3935 * np.sign(motion.velocity)
    np.testing.assert_allclose(found.regressor.values @ found.value.values, force, rtol=ROUNDING, atol=100 * ROUNDING)


@pytest.mark.parametrize(
    "words", ["inertia: 0.05, ", "stiffness: 2, rest: 0.3, preload: 0.4, ", "limits: {stroke: [-1e-3, 1e-3], stop: 50}, "]
)
@pytest.mark.parametrize("name", ["planar-3-rrr", "five-bar"])
def test_what_acts_at_passive_joints_is_in_the_model(name: str, words: str, tmp_path: Path) -> None:
    """Rotors behind gears, preloads and bump stops of joints that nothing drives: columns or known forces, none left out."""
    plain = fp.load(name)
    text = plain.description.path.read_text(encoding="utf-8")
    assert "elbow: {type: revolute, " in text
    (tmp_path / "robot.yaml").write_text(text.replace("elbow: {type: revolute, ", f"elbow: {{type: revolute, {words}"))
    robot, motion = fp.load(tmp_path / "robot.yaml"), small_motion(plain)
    force = fp.inverse_dynamics(robot, motion).force.values
    assert np.abs(force - fp.inverse_dynamics(plain, motion).force.values).max() > 1e-3 * np.abs(force).max()
    found = fp.regressor(robot, motion)
    known = found.known_force.values if "known_force" in found else 0.0
    assert np.abs(found.regressor.values @ found["value"].values + known - force).max() <= 10 * ROUNDING * np.abs(force).max()
