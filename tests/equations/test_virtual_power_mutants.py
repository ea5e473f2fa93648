"""A flipped sign or a lost term in virtual power breaks agreement with the other formulations."""

from __future__ import annotations

from functools import cache
from importlib import import_module

import numpy as np
import pytest

import flexapod as fp
from flexapod.analysis.verbs.sampling import random_states
from flexapod.equations import virtual_power
from support.mutants import mutated, one_per_module
from support.plain import plain_kernel

BROKEN = 1e-9
"""Share of the largest force that a mutant must be off by at least; agreement is 1e-14."""
UNCHANGED = 1e-12
"""Share of the largest force by which a copy without mutation may be off; found 5e-16."""

MUTANTS = [
    ("inertia_wrench", "lifted = frame.a - gravity", "lifted = frame.a + gravity", "stewart-3-3"),
    ("inertia_wrench", "+ cross(frame.alpha, c)", "- cross(frame.alpha, c)", "hexa"),
    ("inertia_wrench", "+ cross(frame.w, cross(frame.w, c))", "", "hexaslide"),
    ("inertia_wrench", "moment=cross(c, lifted) + frame.R @ own", "moment=frame.R @ own - cross(c, lifted)", "stewart-3-3"),
    ("inertia_wrench", "+ cross(w, Vec(ca.mtimes(I, w.expr), body))", "", "stewart-3-3"),
    ("closed_form_leg", "ratio = -1 /", "ratio = 1 /", "stewart-3-3"),
    ("closed_form_leg", "cross(moment, n) * (1 / length)", "cross(n, moment) * (1 / length)", "hexapod"),
    ("closed_form_leg", "axial = axial + dot(piston.force, n)", "axial = axial - dot(piston.force, n)", "stewart-3-3"),
    ("closed_form_leg", "piston.seen_from(tip.p - motion.leg.p)", "piston.seen_from(motion.leg.p - tip.p)", "stewart-3-3"),
    ("closed_form_leg", "rod.force + on_cross.force - rotated", "rod.force + on_cross.force + rotated", "hexapod"),
    ("closed_form_leg", "return spin * dot(rod.moment, n) +", "return -spin * dot(rod.moment, n) +", "hexa with inclined axes"),
    ("closed_form_leg", "+ cross_rate * dot(on_cross.moment, a)", "- cross_rate * dot(on_cross.moment, a)",
     "hexa with inclined axes"),
    ("closed_form_leg", "values.scalar(\"carrier.mass\") * dot(motion.carrier.a - gravity, drive)",
     "values.scalar(\"carrier.mass\") * dot(motion.carrier.a + gravity, drive)", "hexaslide"),
    ("general_leg", "forces[i] + rotors[k] * qdd[k]", "forces[i] - rotors[k] * qdd[k]", "delta with rotors"),
    ("general_leg", "wrenches[i].seen_from(arm)", "wrenches[i]", "delta"),
    ("general_leg", "arm = frame.p - links[link.parent].p", "arm = links[link.parent].p - frame.p", "delta"),
    ("platform_equation", "moment=cross(arm, force)", "moment=cross(force, arm)", "stewart-3-3"),
    ("platform_equation", "X = -solve(", "X = solve(", "five-bar"),
    ("inverse_dynamics", "equation.h - wrench", "equation.h + wrench", "stewart-3-3"),
]  # fmt: skip
"""Module, text, other text, and a robot on which the difference must show."""


def robot_of(name: str) -> fp.Robot:
    if name == "delta with rotors":
        return fp.load("delta").with_parameters({"legs.shoulder.inertia": 0.01})
    if name == "hexa with inclined axes":  # else the crank turns about the first universal axis and these terms vanish
        inertia = {f"legs.cross.inertia.{k}": 0.002 for k in ("xx", "yy", "zz")}
        return fp.load("hexa").with_parameters({"legs.elbow.axis1": [0.3, 1.0, 0.2], **inertia})
    return fp.load(name)


@cache
def expected(name: str) -> tuple[fp.Robot, dict[str, np.ndarray], np.ndarray]:
    robot = robot_of(name)
    states = random_states(robot, 4, seed=8)
    load = np.random.default_rng(1).normal(size=(4, 6))
    motion = fp.Motion(time=np.arange(4.0), **states)
    force = fp.inverse_dynamics(robot, motion, friction=False, formulation="virtual_work", wrench=load).force.values
    guess = fp.inverse_kinematics(robot, motion).joint_position.values
    return robot, {**states, "wrench": load, "guess": guess}, force


def error(module: str, old: str, new: str, name: str) -> float:
    robot, states, force = expected(name)
    with mutated((module, old, new), virtual_power) as package:
        program = import_module(f"{package.__name__}.inverse_dynamics").virtual_power(robot)
    values = np.array([robot.values[p.name] for p in program.signature.parameters])
    given = {i.name: states[i.name] for i in program.signature.inputs}
    found = plain_kernel(program).batch(given, values).outputs["force"]
    return float(np.abs(np.nan_to_num(found) - force).max() / np.abs(force).max())


def test_a_copy_without_mutation_is_right() -> None:
    for name in ("stewart-3-3", "delta", "hexa with inclined axes"):
        assert error("inverse_dynamics", "equation.h - wrench", "equation.h - wrench", name) < UNCHANGED


@pytest.mark.parametrize(("module", "old", "new", "name"), one_per_module(MUTANTS))
def test_mutants_are_seen(module: str, old: str, new: str, name: str) -> None:
    assert error(module, old, new, name) > BROKEN
