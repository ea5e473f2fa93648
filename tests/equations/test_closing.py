"""One closing algorithm: a 6-UPS robot, an over-constrained one, a flexible platform and DualEMPS are the same call.

`close_at` gets a leg and the motion of the half frames that it must meet. Here it is called for all four, and what it returns is
checked with matrix functions of time (support/jets.py) and with finite differences, neither of which knows its formulas.
"""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

import flexapod as fp
from flexapod.equations.chain import chain_motion, chain_poses
from flexapod.equations.closing import close_at, close_leg
from flexapod.equations.closing_rows import half_on_platform
from flexapod.equations.platform_inputs import FrameMotion, platform_motion_inputs
from flexapod.equations.values import Values
from flexapod.kernels.kernel import Kernel
from flexapod.kernels.tape.program import Program
from flexapod.robot.geometry import pose
from flexapod.robot.robot import Robot
from flexapod.spatial import Rot, Vec, cross
from support.jets import Jet, constant, half_on_link, link_jets, open_gaps, platform_jet
from support.plain import plain_kernel
from support.robots import FILES, drawn_motion, possible_motion, robot_named, run

CLOSED = 1e-12
"""Of the largest entry of the same order of derivative: rounding along a chain."""

SAMPLES = 60
CLOSED_FORM = (
    "8-ups", "bench-6ups", "gough-stewart", "gough-stewart-flexible", "hexa", "hexaglide", "hexapod", "hexaslide", "stewart-3-3",
)  # fmt: skip
"""Robots whose legs all close in closed form."""


@pytest.mark.parametrize("name", CLOSED_FORM)
def test_closed_form_agrees_with_newton(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLEXAPOD_BACKEND", "numpy")
    robot = robot_named(name)
    motion = drawn_motion(robot, 200, seed=21)
    ours, status = run(fp.kernel(robot, "inverse_kinematics", detail="joints"), motion)
    newton, again = run(fp.kernel(robot, "inverse_kinematics", detail="joints", closed_form=False), motion)
    assert np.all(status == 0)
    assert np.all(again == 0)
    for key in ("joint_position", "joint_velocity", "joint_acceleration"):
        assert np.abs(ours[key] - newton[key]).max() < CLOSED * max(1.0, np.abs(ours[key]).max()), key


def test_every_robot_in_closed_form_is_tried() -> None:
    assert {*CLOSED_FORM} == {name for name in FILES if all(leg.architecture != "general" for leg in robot_named(name).legs)}


# -- the four robots, one call ---------------------------------------------------------------------------------------------
def call(b: Program, robot: Robot, index: int, half: FrameMotion, guess: list, free: list = ()):  # type: ignore[type-arg]
    """The one call."""
    leg = robot.legs[index]
    return close_at(b, Values(b).of(f"legs.{leg.name}"), leg, robot.plan.legs[index], [half], guess, free=free)


def outputs_of(b: Program, name: str, closed) -> None:
    for key in ("q", "qd", "qdd"):
        column = ca.vertcat(*getattr(closed, key))
        b.output(f"{key}_{name}", column, shape=(column.numel(),))


def evaluate(b: Program | Kernel, robot: Robot, given: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    kernel = b if isinstance(b, Kernel) else plain_kernel(b)
    parameters = np.array([robot.values[p.name] for p in kernel.signature.parameters])
    batch = kernel.batch({i.name: given[i.name] for i in kernel.signature.inputs}, parameters)
    assert np.all(batch.status == 0), [kernel.signature.status(int(s)).text for s in np.unique(batch.status) if s]
    return batch.outputs


def assert_closed(leg, found: dict[str, np.ndarray], half: Jet) -> None:
    end = half_on_link(leg, link_jets(leg, *[found[f"{key}_{leg.name}"] for key in ("q", "qd", "qdd")]), len(half.x))
    for order, (gap, size) in enumerate(zip(open_gaps(leg.closing, end, half), end.parts, strict=True)):
        assert np.abs(gap).max() < CLOSED * max(1.0, np.abs(size).max()), f"leg {leg.name}, derivative {order}"


@pytest.mark.parametrize("name", ["stewart-3-3", "tripteron"])
def test_rigid_platform(name: str) -> None:
    robot = robot_named(name)
    b = Program("rigid")
    platform = platform_motion_inputs(b)
    for i, leg in enumerate(robot.legs):
        half = half_on_platform(Values(b).of(f"legs.{leg.name}"), leg, platform)
        outputs_of(b, leg.name, call(b, robot, i, half, list(leg.home)))
    motion = possible_motion(robot, SAMPLES, seed=1)
    found = evaluate(b, robot, motion)
    for leg in robot.legs:
        assert_closed(leg, found, platform_jet(motion) @ constant(leg.closing.on_platform, SAMPLES))


# A flexible platform: at leg i the half frame is displaced by Phi_i e and turned by psi_i.e about an axis k_i of the platform.
MODES = 3


def shapes(robot: Robot) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    random = np.random.default_rng(5)
    axes = random.normal(size=(len(robot.legs), 3))
    axes /= np.linalg.norm(axes, axis=1, keepdims=True)
    return random.normal(size=(len(robot.legs), 3, MODES)) * 0.1, random.normal(size=(len(robot.legs), MODES)) * 0.1, axes


def deforming_half(values: Values, robot: Robot, i: int, platform: FrameMotion, e, ed, edd) -> FrameMotion:
    """Motion of the half frame on a flexible platform, written by hand."""
    leg = robot.legs[i]
    Phi, psi, axes = (part[i] for part in shapes(robot))
    name = f"{leg.closing.joint}.on_platform"
    r0, R0 = values.vector(f"{name}.p", "P"), values.rotation(f"{name}.R", "P", "H")
    r = Vec(r0.expr + ca.mtimes(ca.DM(Phi), e), "P")
    point = platform.point(r)
    slip, slip_rate = platform.R @ Vec(ca.mtimes(ca.DM(Phi), ed), "P"), platform.R @ Vec(ca.mtimes(ca.DM(Phi), edd), "P")
    k = Vec(axes.tolist(), "P")
    angle, rate, second = (ca.dot(ca.DM(psi), x) for x in (e, ed, edd))
    K = ca.skew(k.expr)
    rotation = Rot(ca.SX.eye(3) + ca.sin(angle) * K + (1 - ca.cos(angle)) * ca.mtimes(K, K), "P", "P")
    k_W = platform.R @ k
    return FrameMotion(
        R=platform.R @ rotation @ R0,
        p=point.p,
        v=point.v + slip,
        a=point.a + slip_rate + cross(platform.w, slip) * 2,
        w=platform.w + k_W * rate,
        alpha=platform.alpha + k_W * second + cross(platform.w, k_W) * rate,
    )


def deformed_jet(robot: Robot, i: int, e: tuple[np.ndarray, np.ndarray, np.ndarray]) -> Jet:
    """The half frame in the platform frame as a function of time."""
    Phi, psi, k = (part[i] for part in shapes(robot))
    n = len(e[0])
    shift = [np.zeros((n, 4, 4)) for _ in range(3)]
    for matrix, x in zip(shift, e, strict=True):
        matrix[:, :3, 3] = x @ Phi.T
    shift[0] += np.eye(4)
    shift[0][:, :3, 3] += robot.legs[i].closing.on_platform.position
    K = np.array([[0, -k[2], k[1]], [k[2], 0, -k[0]], [-k[1], k[0], 0]])
    angle, rate, second = (x @ psi for x in e)
    s, c = np.sin(angle)[:, None, None], np.cos(angle)[:, None, None]
    slope, bend = c * K + s * (K @ K), -s * K + c * (K @ K)  # dR/dt and d2R/dt2 per angle
    rotation = [np.zeros((n, 4, 4)) for _ in range(3)]
    rotation[0] += np.eye(4)
    rotation[0][:, :3, :3] += s * K + (1 - c) * (K @ K)
    rotation[1][:, :3, :3] = slope * rate[:, None, None]
    rotation[2][:, :3, :3] = slope * second[:, None, None] + bend * (rate**2)[:, None, None]
    return Jet(*shift) @ Jet(*rotation) @ constant(pose(rotation=robot.legs[i].closing.on_platform.rotation), n)


def flexible_platform(robot: Robot, legs: list[int]) -> Program:
    b = Program("flexible_platform")
    platform = platform_motion_inputs(b)
    e, ed, edd = (b.input(name, (MODES,)) for name in ("e", "ed", "edd"))
    for i in legs:
        leg = robot.legs[i]
        half = deforming_half(Values(b).of(f"legs.{leg.name}"), robot, i, platform, e, ed, edd)
        outputs_of(b, leg.name, call(b, robot, i, half, list(leg.home)))
    return b


@pytest.mark.parametrize("name", ["stewart-3-3", "every-joint"])
def test_flexible_platform(name: str) -> None:
    """Legs that can follow any motion of their half frame; the half deforms."""
    robot = robot_named(name)
    motion, random = drawn_motion(robot, SAMPLES, seed=2), np.random.default_rng(3)
    elastic = tuple(random.normal(size=(SAMPLES, MODES)) * scale for scale in (0.1, 1.0, 5.0))
    every = list(range(len(robot.legs)))
    found = evaluate(flexible_platform(robot, every), robot, {**motion, **dict(zip(("e", "ed", "edd"), elastic, strict=True))})
    for i, leg in enumerate(robot.legs):
        assert_closed(leg, found, platform_jet(motion) @ deformed_jet(robot, i, elastic))


def test_flexible_platform_by_finite_differences() -> None:
    """The platform is at rest and deforms: rates of the legs are derivatives of their coordinates."""
    robot = robot_named("stewart-3-3")
    motion = drawn_motion(robot, SAMPLES, seed=2)
    for key in ("velocity", "angular_velocity", "acceleration", "angular_acceleration"):
        motion[key] = np.zeros((SAMPLES, 3))
    random = np.random.default_rng(4)
    e, ed, edd = (random.normal(size=(SAMPLES, MODES)) * 0.3 for _ in range(3))
    program = plain_kernel(flexible_platform(robot, [0]))

    def at(t: float) -> dict[str, np.ndarray]:
        return evaluate(program, robot, {**motion, "e": e + ed * t + edd * t * t / 2, "ed": ed + edd * t, "edd": edd})

    exact, errors = at(0.0), []
    for h in (0.1, 0.05):
        before, after = at(-h), at(h)
        rate = (after["q_A"] - before["q_A"]) / (2 * h)
        second = (after["q_A"] - 2 * exact["q_A"] + before["q_A"]) / h**2
        errors.append([np.abs(rate - exact["qd_A"]).max(), np.abs(second - exact["qdd_A"]).max()])
    ratio = np.array(errors[0]) / np.array(errors[1])
    assert np.all((ratio > 3.8) & (ratio < 4.2)), (errors, ratio)


# DualEMPS: leg 1 is a chain with a two-element beam, a branch with another beam hangs beyond the closing point, leg 2 (one more
# beam) closes on leg 1.
def elastic_input(b: Program, leg) -> tuple[list, list]:
    """Guess of a leg with its elastic coordinates as given, and their rates and accelerations."""
    names = [leg.links[i].coordinate for i in leg.moving]
    stiff = [k for k, i in enumerate(leg.moving) if not leg.links[i].elastic]
    values = {key: b.input(f"{key}_{leg.name}", (len(names),)) for key in ("e", "ed", "edd")}
    guess = [leg.home[k] if k in stiff else values["e"][k] for k in range(len(names))]
    return guess, [(values["ed"][k], values["edd"][k]) for k in range(len(names)) if k not in stiff]


def dualemps() -> Program:
    """Leg 1 is closed on the platform (its own link 15), leg 2 on that link as leg 1's recursion has it."""
    robot = robot_named("dualemps-topology")
    b = Program("dualemps")
    platform = platform_motion_inputs(b)
    one, two = robot.legs
    guess, free = elastic_input(b, one)
    values = Values(b).of("legs.1")
    first = close_leg(b, values, one, robot.plan.legs[0], platform, guess, free=free)
    outputs_of(b, "1", first)
    b.output("leftover_1", ca.vertcat(*first.leftover), shape=(ca.vertcat(*first.leftover).numel(),))
    link = first.links[one.closing.link]
    own = FrameMotion(R=link.R.renamed("W", "P"), p=link.p, v=link.v, w=link.w, a=link.a, alpha=link.alpha)
    half = half_on_platform(Values(b).of("legs.2"), two, own)
    guess, free = elastic_input(b, two)
    outputs_of(b, "2", call(b, robot, 1, half, guess, free))
    tip = chain_motion(one, chain_poses(values, one, first.q), first.qd, first.qdd)[-1]
    for key in ("p", "v", "w", "a", "alpha"):
        b.output(f"tip_{key}", getattr(tip, key).expr, shape=(3,))
    return b


def dualemps_state(t: float = 0.0) -> tuple[dict[str, np.ndarray], list[np.ndarray]]:
    """Random joint and elastic coordinates of leg 1 (the platform is its link), elastic ones of leg 2, along a smooth motion."""
    robot, random = robot_named("dualemps-topology"), np.random.default_rng(8)
    one, two = robot.legs
    given, own = {}, []
    for leg in (one, two):
        size = np.array([0.1 if not leg.links[i].elastic else (0.05 if leg.links[i].kind == "R" else 0.01) for i in leg.moving])
        x, xd, xdd = (
            (leg.home + size * random.normal(size=(SAMPLES, len(size)))),
            *(size * scale * random.normal(size=(SAMPLES, len(size))) for scale in (1.0, 3.0)),
        )
        own = own or [x + xd * t + xdd * t * t / 2, xd + xdd * t, xdd]
        given |= {f"e_{leg.name}": x + xd * t + xdd * t * t / 2, f"ed_{leg.name}": xd + xdd * t, f"edd_{leg.name}": xdd}
    frame = half_on_link(one, link_jets(one, *own), SAMPLES)
    w, alpha = frame.angular
    given |= {"position": frame.x[:, :3, 3], "rotation": frame.x[:, :3, :3], "velocity": frame.xd[:, :3, 3]}
    given |= {"acceleration": frame.xdd[:, :3, 3], "angular_velocity": w, "angular_acceleration": alpha}
    return {key: np.ascontiguousarray(values) for key, values in given.items()}, own


def test_dualemps_has_the_topology() -> None:
    robot = robot_named("dualemps-topology")
    one, two = robot.legs
    elastic = [link.coordinate for link in one.links if link.elastic]
    assert elastic == ["13.u", "13.v", "13.theta", "13.2.u", "13.2.v", "13.2.theta", "16.u", "16.v", "16.theta"]
    assert [link.coordinate for link in two.links if link.elastic] == ["23.u", "23.v", "23.theta"]
    assert one.links[one.closing.link].body.name == "15"
    assert one.closing.link < len(one.links) - 1, "beam 16 and body 17 lie beyond the closing point"
    pairs = zip(robot.legs, robot.plan.legs, strict=True)
    dependents = [[leg.links[leg.moving[k]].coordinate for k in plan.dependents] for leg, plan in pairs]
    assert dependents == [["q11", "q12"], ["q21", "q22"]]
    assert (robot.mobility.rank, robot.mobility.platform) == (2, 2)


def test_dualemps_closes_to_second_order() -> None:
    robot = robot_named("dualemps-topology")
    one, two = robot.legs
    given, own = dualemps_state()
    found = evaluate(dualemps(), robot, given)
    for key, values in zip(("q", "qd", "qdd"), own, strict=True):
        np.testing.assert_allclose(found[f"{key}_1"], values, rtol=0, atol=CLOSED * max(1.0, np.abs(values).max()))
    half = platform_jet(given)
    assert_closed(one, found, half @ constant(one.closing.on_platform, SAMPLES))
    assert_closed(two, found, half @ constant(two.closing.on_platform, SAMPLES))
    free = [k for k, i in enumerate(two.moving) if two.links[i].elastic]
    for key, name in (("q", "e"), ("qd", "ed"), ("qdd", "edd")):
        np.testing.assert_array_equal(found[f"{key}_2"][:, free], given[f"{name}_2"][:, free])
    assert np.abs(found["leftover_1"]).max() < CLOSED * max(1.0, np.abs(given["acceleration"]).max())
    tip = link_jets(one, *own)[-1]
    w, alpha = tip.angular
    wanted = {"p": tip.x[:, :3, 3], "v": tip.xd[:, :3, 3], "a": tip.xdd[:, :3, 3], "w": w, "alpha": alpha}
    for key, values in wanted.items():
        np.testing.assert_allclose(found[f"tip_{key}"], values, rtol=0, atol=CLOSED * max(1.0, np.abs(values).max()))


def test_dualemps_by_finite_differences() -> None:
    """Rates and accelerations of leg 2's joints against differences of its coordinates along the elastic motion."""
    robot, program = robot_named("dualemps-topology"), plain_kernel(dualemps())
    exact, errors = evaluate(program, robot, dualemps_state(0.0)[0]), []
    for h in (8e-3, 4e-3):
        before, after = (evaluate(program, robot, dualemps_state(t)[0])["q_2"] for t in (-h, h))
        rate, second = (after - before) / (2 * h), (after - 2 * exact["q_2"] + before) / h**2
        errors.append([np.abs(rate - exact["qd_2"]).max(), np.abs(second - exact["qdd_2"]).max()])
    ratio = np.array(errors[0]) / np.array(errors[1])
    assert np.all((ratio > 3.5) & (ratio < 4.5)), (errors, ratio)


def test_every_kind_of_closing_joint_is_tried() -> None:
    """Laws of tests/laws run over these robots; here only that none was forgotten."""
    robot = robot_named("every-joint")
    assert {leg.closing.type for leg in robot.legs} == {"revolute", "prismatic", "universal", "spherical", "cylindrical", "fixed"}
    inside = {link.coordinate for leg in robot.legs for link in leg.links}
    assert {"hip.1", "hip.2", "hip.3", "sleeve.1", "sleeve.2"} <= inside
    assert robot_named("tilting-platform").legs[3].links == ()
