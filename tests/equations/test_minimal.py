"""Minimal equations: forces and accelerations against references, virtual power, energy; accuracy, limits, counts."""

import csv
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from minimal_oracle import NAMES, States, power_balance, random_states, virtual_power_forces

from flexapod.equations import minimal
from flexapod.equations.minimal import applies, minimal_forward_dynamics, minimal_inverse_dynamics, plan
from flexapod.errors import InputError
from flexapod.kernels.kernel import Kernel
from flexapod.robot import load
from flexapod.robot.geometry import about
from flexapod.robot.robot import Robot
from support.mutants import mutated, one_per_module
from support.plain import compile_kernel, plain_kernel

DATA = Path(__file__).parent.parent / "data" / "reference"
ROBOTS = ("stewart-3-3", "bench-6ups", "hexapod", "hexaslide")
REFERENCE = {
    "stewart-3-3": ("stewart-3-3_vertical_z", "stewart-3-3_rotation_z"),
    "hexapod": ("hexapod_vertical_z", "hexapod_rotation_z"),
    "hexaslide": ("hexaslide_circle40rpm",),
}
ROUNDING = 1e-12
"""Share of the largest force; about 1e-15 was measured on the references, 2e-14 on random states (condition below 20)."""
PRINTED = 1e-6
"""Forces [N] printed with six decimals."""
PER_CONDITION = 10 * 2.2e-16
"""Difference between kernel and pivoted LAPACK per condition number; 2.6e-16 was measured."""
OPERATIONS = {
    ("stewart-3-3", "inverse"): (855, 1029),
    ("bench-6ups", "inverse"): (819, 993),
    ("hexapod", "inverse"): (984, 984),
    ("hexaslide", "inverse"): (1297, 1297),
    ("stewart-3-3", "forward"): (1207, 1524),
    ("bench-6ups", "forward"): (1149, 1466),
    ("hexapod", "forward"): (1430, 1430),
    ("hexaslide", "forward"): (1911, 1911),
}
"""Operations with the zero pattern of the file: joints that coincide read once, and not."""


def places(joint: str, height: float, **legs: tuple[float, float]) -> dict[str, object]:
    return {f"legs.{name}.{joint}": [*xy, height] for name, xy in legs.items()}


PLATFORM = {
    "platform.com": [0.03, -0.02, 0.05],
    "platform.inertia.xy": 0.01,
    "platform.inertia.xz": -0.006,
    "platform.inertia.yz": 0.009,
}
SMALL_PLATFORM = {
    "platform.com": [0.01, -0.02, 0.03],
    "platform.inertia.xy": 0.001,
    "platform.inertia.xz": -0.002,
    "platform.inertia.yz": 0.003,
    "platform.inertia.zz": 0.12,
}
UNEVEN = (
    [[1.2, 2.0, 0.3], [1.3, 2.1, -0.2], [-2.4, 0.3, 0.1], [-2.5, -0.1, 0.2], [1.1, -2.2, -0.1], [1.2, -2.1, 0.4]],
    [[2.4, 0.2, 0.1], [-1.1, 2.1, -0.3], [-1.3, 2.2, 0.2], [-1.2, -2.3, 0.4], [-1.3, -2.1, -0.1], [2.5, -0.2, -0.2]],
)
VARIANTS: dict[str, tuple[str, dict[str, object]]] = {
    "tilted gravity": ("stewart-3-3", {"gravity": [1.5, -2.0, -9.0]}),
    "skew platform": ("stewart-3-3", PLATFORM),
    "raised joints": (
        "stewart-3-3",
        places("ball.on", 0.3, A=(1.2, 2), B=(1.3, 2.1), C=(-2.4, 0.3), D=(-2.5, -0.1), E=(1.1, -2.2), F=(1.2, -2.1))
        | places("hip.at", -0.2, A=(2.4, 0.2), B=(-1.1, 2.1), C=(-1.3, 2.2), D=(-1.2, -2.3), E=(-1.3, -2.1), F=(2.5, -0.2)),
    ),
    "rotors and tips": ("stewart-3-3", {"legs.slide.inertia": 3.0, "legs.A.slide.inertia": 7.0, "legs.ball.at": [0, 0, 0.4]}),
    "hanging": ("stewart-3-3", {"home.position": [0.1, 0.2, -4.4], "legs.A.cylinder.mass": 20.0}),
    "turned axes": ("bench-6ups", {"legs.hip.axis1": [0.3, -0.7, 0], "legs.A.hip.axis1": [0, 1, 0]}),
    "inclined axes": (
        "stewart-3-3",
        places("hip.axis1", 0.3, A=(1, 0.1), B=(0.2, -1), C=(0.5, -0.6)) | places("hip.axis1", -0.8, D=(0.5, 0.6), E=(0.1, 0.9)),
    ),
    "inclined hexaslide": (
        "hexaslide",
        places("hip.axis1", 0.3, **{"1": (1, 0.1), "2": (0.2, 1), "3": (0.5, -0.6), "4": (-0.3, 0.4)})
        | {"legs.link.inertia.zz": 0.1},
    ),
    "uneven base": ("stewart-3-3", {"legs.B.hip.at": [-1.2, 2.1, 0.4], "legs.E.hip.at": [-1.3, -2.2, -0.3]}),
    "hardly uneven base": ("stewart-3-3", {"legs.B.hip.at": [-1.2499999999999996, 2.165063509461097, 1e-9]}),
    "uneven platform": ("stewart-3-3", {"legs.A.ball.on": [1.2, 2.1, 0.4], "legs.E.ball.on": [1.3, -2.2, -0.3]}),
    "nothing special": (
        "stewart-3-3",
        {f"legs.{n}.ball.on": xyz for n, xyz in zip("ABCDEF", UNEVEN[0], strict=True)}
        | {f"legs.{n}.hip.at": xyz for n, xyz in zip("ABCDEF", UNEVEN[1], strict=True)}
        | places("hip.axis1", 0.3, A=(1, 0.1), B=(0.2, -1), C=(0.5, -0.6), D=(-0.5, 0.6), E=(0.1, 0.9), F=(0.7, 0.7))
        | {"gravity": [1.5, -2.0, -9.0], "legs.slide.inertia": 3.0, "legs.A.slide.inertia": 7.0, "legs.ball.at": [0, 0, 0.4]}
        | PLATFORM,
    ),
    "skew hexapod": ("hexapod", SMALL_PLATFORM | {"gravity": [0.4, -0.9, 9.7], "legs.rail.inertia": 0.3}),
    "spinning hexapod": (
        "hexapod",
        {"legs.link.inertia.zz": 0.01, "legs.cross.inertia.diagonal": [0.02, 0.015, 0.015]}
        | {"legs.A.slider.mass": 0.4, "legs.slider.com": [0.1, 0, 0.2]},
    ),
    "raised hexaslide": ("hexaslide", places("ball.on", -0.05, **{"1": (-0.05, -0.15), "2": (-0.16, 0.03), "3": (-0.11, 0.12)})
        | places("ball.on", -0.05, **{"4": (0.11, 0.12), "5": (0.16, 0.03), "6": (0.05, -0.16)})),
}  # fmt: skip


ALL = (*ROBOTS, *VARIANTS)


@cache
def get(name: str) -> Robot:
    if name in VARIANTS:
        robot, changes = VARIANTS[name]
        return load(robot).with_parameters(changes)
    return load(name)


@cache
def kernel(name: str, what: str = "inverse", *, coincident: bool = True, zeros: bool = True) -> tuple[Kernel, np.ndarray]:
    robot = get(name)
    make = minimal_inverse_dynamics if what == "inverse" else minimal_forward_dynamics
    program = make(robot, plan(robot, coincident=coincident))
    names = [p.name for p in program.signature.parameters]
    known = [name for name in names if robot.values[name] == 0.0] if zeros else []
    made = compile_kernel(program, zeros=known) if name in ROBOTS else plain_kernel(program, known)
    return made, np.array([robot.values[name] for name in names])


def forces(name: str, states: States, *, coincident: bool = True, zeros: bool = True) -> np.ndarray:
    k, parameters = kernel(name, coincident=coincident, zeros=zeros)
    batch = k.batch(states, parameters)
    assert not batch.status.any()
    return batch.outputs["force"]


def reference(name: str) -> tuple[States, np.ndarray]:
    with (DATA / f"{name}.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))

    def columns(*names: str) -> np.ndarray:
        return np.array([[float(row[n]) for n in names] for row in rows])

    states = {
        name: columns(*[f"{key}_{i}" for i in "xyz"])
        for name, key in zip(NAMES, ("p", "", "v", "w", "a", "alpha"), strict=True)
        if key
    }
    states["rotation"] = columns(*[f"R_{i}{j}" for i in "123" for j in "123"]).reshape(-1, 3, 3)
    return states, columns(*[key for key in rows[0] if key.startswith("f_")])


def share(difference: np.ndarray, of: np.ndarray) -> float:
    return float(np.abs(difference).max() / np.abs(of).max())


@pytest.mark.parametrize("coincident", [True, False])
@pytest.mark.parametrize(("robot", "motion"), [(r, m) for r, motions in REFERENCE.items() for m in motions])
def test_reference_forces(robot: str, motion: str, coincident: bool) -> None:
    states, expected = reference(motion)
    assert share(forces(robot, states, coincident=coincident) - expected, expected) < ROUNDING


@pytest.mark.parametrize("name", ALL)
def test_virtual_power(name: str) -> None:
    robot = get(name)
    states = random_states(robot, 40, seed=1)
    expected, condition = virtual_power_forces(robot)(states)
    assert condition.max() < 100
    for coincident, zeros in ((True, True), (False, True), (False, False)):
        assert share(forces(name, states, coincident=coincident, zeros=zeros) - expected, expected) < ROUNDING


@pytest.mark.parametrize("name", ALL)
def test_power_balance(name: str) -> None:
    robot = get(name)
    states = random_states(robot, 40, seed=2)
    energy, rates, terms = power_balance(robot)(states)
    power = (forces(name, states) * rates).sum(axis=1)
    assert (np.abs(power - energy) / terms).max() < ROUNDING


@pytest.mark.parametrize("coincident", [True, False])
@pytest.mark.parametrize("name", ALL)
def test_forward_after_inverse_is_the_identity(name: str, coincident: bool) -> None:
    states = random_states(get(name), 500, seed=3)
    k, parameters = kernel(name, "forward", coincident=coincident)
    given = {key: states[key] for key in NAMES[:4]} | {"force": forces(name, states)}
    batch = k.batch(given, parameters)
    assert not batch.status.any()
    for key in NAMES[4:]:
        assert share(batch.outputs[key] - states[key], states[key]) < ROUNDING


def test_forward_dynamics_without_the_inverse() -> None:
    """Free fall of all masses is no solution of a closed mechanism, but energy is: its rate is the actuators' power."""
    for name in ("stewart-3-3", "hexaslide", "rotors and tips"):
        robot = get(name)
        states = random_states(robot, 40, seed=4)
        k, parameters = kernel(name, "forward")
        force = np.random.default_rng(5).uniform(-300, 300, (40, 6))
        batch = k.batch({key: states[key] for key in NAMES[:4]} | {"force": force}, parameters)
        energy, rates, terms = power_balance(robot)(states | batch.outputs)
        assert (np.abs((force * rates).sum(axis=1) - energy) / terms).max() < ROUNDING


def test_benchmark_robot_at_rest() -> None:
    """Printed by Pinocchio, MuJoCo, Drake and a NumPy model to 6 decimals."""
    robot = load("bench-6ups")
    states = {name: np.zeros((1, 3)) for name in NAMES}
    states |= {"position": robot.home.position[None], "rotation": np.eye(3)[None]}
    assert np.abs(forces(robot.name, states) - 205.548965).max() < PRINTED


def test_benchmark_robot_in_motion() -> None:
    """Combined lift and turn at t = 0.7 s; printed by the same four engines to 6 decimals."""
    rate, lift, rotation, t, z = 2 * np.pi / 3, 0.15, np.deg2rad(15.0), 0.7, np.array([0, 0, 1.0])
    s = (1 - np.cos(rate * t), rate * np.sin(rate * t), rate**2 * np.cos(rate * t))
    states = {
        "position": (2.5 * np.tan(np.pi / 3) - lift * s[0]) * z,
        "rotation": about(z, rotation * s[0]),
        "velocity": -lift * s[1] * z,
        "angular_velocity": rotation * s[1] * z,
        "acceleration": -lift * s[2] * z,
        "angular_acceleration": rotation * s[2] * z,
    }
    found = forces("bench-6ups", {name: value[None] for name, value in states.items()})[0]
    expected = [192.681184, 217.183998, 192.680621, 217.184586, 192.681352, 217.183836]
    assert np.abs(found - expected).max() < PRINTED


@pytest.mark.parametrize("name", ["stewart-3-3", "hardly uneven base"])
def test_accuracy_near_singular_poses(name: str) -> None:
    """The 3-3 platform is singular at a yaw of 90 degrees: errors grow with the condition number, like pivoted LU's.

    Block elimination with Cramer's rule solves the first robot, Gram-Schmidt the second.
    """
    robot = get(name)
    assert plan(robot).flat_base == (name == "stewart-3-3")
    rng = np.random.default_rng(6)
    states = random_states(robot, 400, seed=6)
    gaps = 10 ** rng.uniform(-4.5, 2, 400)
    states["rotation"] = np.array([about(np.array([0, 0, 1.0]), np.deg2rad(90 - gap)) for gap in gaps])
    expected, condition = virtual_power_forces(robot)(states)
    error = np.abs(forces(name, states) - expected).max(axis=1) / np.abs(expected).max(axis=1)
    assert condition.min() < 10
    assert condition.max() > 1e6
    assert (error / condition).max() < PER_CONDITION


@pytest.mark.parametrize(("name", "what"), list(OPERATIONS))
def test_operations(name: str, what: str) -> None:
    shared, separate = OPERATIONS[name, what]
    assert kernel(name, what)[0].operations.total <= shared
    assert kernel(name, what, coincident=False)[0].operations.total <= separate


def status(name: str, position: list[float], rotation: np.ndarray, what: str = "inverse") -> str:
    k, parameters = kernel(name, what)
    states = {i.name: np.zeros((1, *i.shape)) for i in k.signature.inputs}
    states |= {"position": np.array([position]), "rotation": rotation[None]}
    batch = k.batch(states, parameters)
    return k.signature.status(int(batch.status[0])).text if batch.status[0] else ""


X, Z = np.array([1.0, 0, 0]), np.array([0, 0, 1.0])


@pytest.mark.parametrize(
    ("name", "position", "rotation", "text"),
    [
        ("stewart-3-3", [0, 0, 4.33], about(Z, np.pi / 2), "singular pose: the legs cannot hold the platform"),
        ("stewart-3-3", [0, 0, 0], np.eye(3), "leg A lies level with its base joint, where these equations are singular"),
        ("stewart-3-3", [0, 0, -4.33], np.eye(3), "leg A lies level with its base joint, where these equations are singular"),
        ("hexapod", [0, 0, 2.0], np.eye(3), "leg A cannot reach: its platform joint is too far from the rail"),
        ("hexaslide", [0, 0, 0.93], about(X, np.pi / 2), "the platform is upright, where these equations are singular"),
    ],
)
def test_where_the_equations_end(name: str, position: list[float], rotation: np.ndarray, text: str) -> None:
    assert status(name, position, rotation) == text


def test_forward_dynamics_passes_singular_poses() -> None:
    """The mass matrix stays positive definite where the legs cannot hold the platform."""
    assert status("stewart-3-3", [0, 0, 4.33], about(Z, np.pi / 2), "forward") == ""


def test_leg_in_the_platform_plane() -> None:
    robot = load("hexaslide")
    k, parameters = kernel("hexaslide")
    angles = np.linspace(0, 1.2, 20001)
    n = len(angles)
    states = {i.name: np.zeros((n, *i.shape)) for i in k.signature.inputs}
    states["position"] += robot.home.position
    states["rotation"] = np.array([about(X, a) for a in angles])
    found = {k.signature.status(int(code)).text for code in np.unique(k.batch(states, parameters).status) if code}
    assert any(text.endswith("lies in the platform plane, where these equations are singular") for text in found)


@pytest.mark.parametrize(
    ("robot", "changes", "reason"),
    [
        (
            "hexapod",
            {"legs.A.ball.on": [0.17, 0.24, 0.01]},
            "its platform joints do not lie in one plane parallel to the platform's x and y axes",
        ),
        ("stewart-3-3", {"legs.C.piston.com": [0, 0.1, -1.5]}, "the centre of mass of a body of leg C is not on the leg's axis"),
        ("stewart-3-3", {"legs.D.cylinder.inertia.xx": 16.0}, "a body of leg D is not axisymmetric about the leg"),
        ("stewart-3-3", {"legs.E.cross.com": [0, 0.1, 0]}, "the centre of mass of the cross of leg E is not on its first axis"),
        ("gough-stewart", {}, "a body of leg 1 is not axisymmetric about the leg"),
    ],
)
def test_reasons_why_not(robot: str, changes: dict[str, object], reason: str) -> None:
    changed = load(robot).with_parameters(changes)
    found = applies(changed)
    assert found is not None
    assert reason in (found, *_all_reasons(changed))
    with pytest.raises(InputError, match="use another formulation"):
        plan(changed)


def _all_reasons(robot: Robot) -> list[str]:
    from flexapod.equations.minimal.conditions import reasons

    return list(reasons(robot))


def test_plans_are_keys() -> None:
    robot = load("stewart-3-3")
    heavier = robot.with_parameters({"platform.mass": 60.0})
    moved = robot.with_parameters({"legs.B.ball.on": [1.2, 2.2, 0]})
    assert plan(robot) == plan(heavier)
    assert hash(plan(robot)) == hash(plan(heavier))
    assert plan(robot) != plan(moved), "B no longer shares the joint of A"
    assert plan(robot, coincident=False) == plan(moved, coincident=False)


def test_one_kernel_for_many_values() -> None:
    """A kernel compiled for one robot answers for another with the same plan."""
    robot = load("stewart-3-3")
    changes = {"platform.mass": 80.0, "legs.A.piston.mass": 14.0, "legs.A.ball.on": [1.2, 2.1, 0], "legs.cross.inertia.xx": 0.15}
    other = robot.with_parameters(changes)
    assert plan(other, coincident=False) == plan(robot, coincident=False)
    k, _ = kernel("stewart-3-3", coincident=False, zeros=False)
    states = random_states(other, 30, seed=7)
    values = np.array([other.values[p.name] for p in k.signature.parameters])
    expected, _ = virtual_power_forces(other)(states)
    assert share(k.batch(states, values).outputs["force"] - expected, expected) < ROUNDING


MUTANTS = [
    ("extending_leg", "- i.rotor\n", "+ i.rotor\n", "rotors and tips"),
    ("extending_leg", "-(zeta + e)", "(zeta + e)", "stewart-3-3"),
    ("extending_leg", "lam2 * (vx * vx + vy * vy) - e * e", "lam2 * (vx * vx + vy * vy) + e * e", "stewart-3-3"),
    ("extending_leg", "slope * X - (i.first * gravity[0])", "slope * X + (i.first * gravity[0])", "tilted gravity"),
    ("extending_leg", "tip * (mass_p * tip - 2 * first_p)", "tip * (mass_p * tip - first_p)", "rotors and tips"),
    ("extending_leg", "- ri * (hx * X + hy * Y)", "+ ri * (hx * X + hy * Y)", "stewart-3-3"),
    ("extending_spin", "- 2 * (Z * (zeta + wu))", "- 2 * (Z * zeta)", "stewart-3-3"),
    ("extending_spin", "Q * w - (P * u) * kv", "Q * w", "stewart-3-3"),
    ("extending_spin", "along_g * gx + curl * vy", "along_g * gx - curl * vy", "inclined axes"),
    ("extending_spin", "C * motion.e - qB * rotating", "C * motion.e + qB * rotating", "inclined axes"),
    ("sliding_leg", "along - dot(e, spin.force)", "along + dot(e, spin.force)", "spinning hexapod"),
    ("sliding_leg", "mass - 2 * first + m_SS", "mass - first + m_SS", "hexapod"),
    ("sliding_leg", "- i.weight_U", "+ i.weight_U", "hexapod"),
    ("sliding_spin", "centre * zs - Gamma * w", "centre * zs + Gamma * w", "spinning hexapod"),
    ("sliding_spin", "- j * (2 * (dot(r, rate) * angular))", "- j * (dot(r, rate) * angular)", "inclined hexaslide"),
    ("slide", "+ dot(relative, relative)", "- dot(relative, relative)", "hexaslide"),
    ("platform_levers", "cross(alpha, D), cross(w, V)", "cross(alpha, D), cross(V, w)", "bench-6ups"),
    ("platform_levers", "zz - xx - lift", "zz - xx + lift", "raised joints"),
    ("platform_levers", "-xz - h * fx", "xz - h * fx", "skew platform"),
    ("platform_levers", "spin=xx + yy - zz", "spin=xx + yy + zz", "bench-6ups"),
    ("inverse_dynamics", "dot(n, U[1]) - dot(D2, beside)", "dot(n, U[1]) + dot(D2, beside)", "hexaslide"),
    ("solve", "load.rows[2] - side2[2] * k2", "load.rows[2] + side2[2] * k2", "bench-6ups"),
]  # fmt: skip
"""Module, text, other text, and a robot on which the difference must show."""
BROKEN = 1e-9
"""Share of the largest force that a mutant must be off by at least."""


@cache
def few_samples(name: str) -> tuple[States, np.ndarray]:
    states = random_states(get(name), 6, seed=8)
    return states, virtual_power_forces(get(name))(states)[0]


def mutant_error(module: str, old: str, new: str, name: str) -> float:
    robot = get(name)
    states, expected = few_samples(name)
    with mutated((module, old, new), minimal) as package:
        program = package.minimal_inverse_dynamics(robot)
    values = np.array([robot.values[p.name] for p in program.signature.parameters])
    found = plain_kernel(program).batch(states, values).outputs["force"]
    return share(np.nan_to_num(found) - expected, expected)


def test_a_copy_without_mutation_is_right() -> None:
    assert mutant_error("slide", "g * g", "g * g", "hexaslide") < ROUNDING


@pytest.mark.parametrize(("module", "old", "new", "name"), one_per_module(MUTANTS))
def test_mutants_are_seen(module: str, old: str, new: str, name: str) -> None:
    assert mutant_error(module, old, new, name) > BROKEN
