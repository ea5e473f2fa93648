"""Closed-form legs written in their own axes, alone and in loops: the same forces and accelerations as in world axes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import casadi as ca
import numpy as np
import pytest

import flexapod as fp
from flexapod.analysis.verbs.sampling import random_states
from flexapod.equations.forward_friction import Forward
from flexapod.equations.newton_euler.leg import LegLoads
from flexapod.equations.newton_euler.universal_leg_force import UniversalLeg
from flexapod.equations.newton_euler.wrench import none
from flexapod.equations.platform_inputs import platform_motion_inputs, platform_state
from flexapod.equations.values import Values
from flexapod.kernels.tape.program import Program
from flexapod.simulation.system.load_friction import smooth
from support.plain import compile_kernel

ROUNDING = 1e-11
"""Relative to the largest entry: some hundred operations, and quotients by the sines of universal joints."""

COUPLED = 1e-11
"""Of accelerations, relative to the largest: loads stop at 1e-12 of the largest, times the condition of the mass matrix."""

COUNT = 60
NAMES = ("position", "rotation", "velocity", "angular_velocity")


def numbers(kernel: Any, robot: fp.Robot) -> Any:
    return np.array([robot.values[p.name] for p in kernel.signature.parameters])


@pytest.mark.parametrize("name", ["hexaslide", "gough-stewart", "hexa"])
def test_forces_of_a_leg_do_not_depend_on_the_axes(name: str) -> None:
    """P-U-S, U-P-S and R-U-S: drive force and closing force, the latter turned back to the world."""
    robot = fp.load(name)
    states, found = random_states(robot, COUNT, seed=4), []
    for leg_axes in (False, True):
        b = Program("leg")
        platform, values = platform_motion_inputs(b), Values(b)
        leg, form = robot.legs[1], robot.closed_forms[1]
        assert form is not None
        more = ca.SX.zeros(3) if leg_axes else None
        model = UniversalLeg(b, values.of(f"legs.{leg.name}"), leg, form.sign, platform, more=more)
        loads = model.body_loads(values.vector("gravity", "W"), [True] * 3)
        forces = model.finish(LegLoads(bodies=loads, axial=(0, 0, 0), closing=none()), [ca.SX(7)])
        end = forces.joints[-1].force
        b.output("drive", forces.actuators[0])
        b.output("end", (end if model.rotation is None else model.rotation.T @ end).expr, (3,))
        kernel = compile_kernel(b)
        found.append(kernel.batch(states, numbers(kernel, robot)).outputs)
    for key, values_ in found[0].items():
        np.testing.assert_allclose(found[1][key], values_, rtol=ROUNDING, atol=ROUNDING * np.abs(values_).max())


def accelerations(robot: fp.Robot, looped: bool, warm: bool) -> Callable[[dict[str, Any]], Any]:
    """Accelerations and what goes with them, of inputs."""
    b = Program("forward")
    frame = platform_state(b)
    force, start = b.input("force", (6,)), b.input("start", (24,)) if warm else None
    forward = Forward(
        robot=robot, values=Values(b), frame=frame, force=force, wrench=ca.SX.zeros(6), guess=None,
        equation=lambda: None, looped=looped,  # type: ignore[arg-type, return-value]
    )  # fmt: skip
    found = forward.solve(b, b, start)
    b.output("acceleration", found.acceleration, (6,))
    b.output("heat", found.heat)
    b.output("memory", found.memory, (24,))
    b.output("rates", found.rates, (6,))
    kernel = compile_kernel(b)

    def found_of(inputs: dict[str, Any]) -> Any:
        result = kernel.batch({i.name: inputs[i.name] for i in kernel.signature.inputs}, numbers(kernel, robot))
        assert (result.status == 0).all()
        return result.outputs

    return found_of


def test_loops_and_starts_change_nothing_beyond_the_tolerance() -> None:
    """In loops, from a memory of zeros, and from the loads and accelerations of other states: the same solution."""
    robot = smooth(fp.load("hexaslide"))
    states = {k: v for k, v in random_states(robot, COUNT, seed=5).items() if k in NAMES}
    force = np.random.default_rng(6).uniform(-50.0, 50.0, size=(COUNT, 6))
    inputs = {**states, "force": force}
    plain = accelerations(robot, looped=False, warm=False)(inputs)
    others = [np.zeros((COUNT, 24)), plain["memory"], np.roll(plain["memory"], 1, axis=0)]
    found = [accelerations(robot, looped=True, warm=False)(inputs)]
    for looped in (False, True):
        of = accelerations(robot, looped=looped, warm=True)
        found += [of({**inputs, "start": start}) for start in others]
    for other in found:
        for key, values in plain.items():
            np.testing.assert_allclose(other[key], values, rtol=COUPLED, atol=COUPLED * np.abs(values).max())
