"""The common start of both directions of the minimal dynamics: the robot's numbers as symbols, on the basis of the plan."""

from __future__ import annotations

from dataclasses import dataclass

from flexapod.equations.minimal.extending_leg import ExtendingInertia, extending_inertia
from flexapod.equations.minimal.planning import MinimalPlan
from flexapod.equations.minimal.platform_levers import Basis, PseudoInertia, lever_basis, pseudo_inertia
from flexapod.equations.minimal.sliding_leg import SlidingInertia, sliding_inertia
from flexapod.equations.minimal.vectors import Triple, triple
from flexapod.equations.values import Values
from flexapod.kernels.tape.program import Program
from flexapod.robot.robot import Robot


@dataclass(frozen=True, kw_only=True)
class MinimalModel:
    """Hoisted numbers: gravity, joints on the levers, legs, platform with the leg masses at its joints; U per leg."""

    values: Values
    gravity: Triple
    basis: Basis
    body: PseudoInertia
    base: tuple[Triple, ...]
    extending: tuple[ExtendingInertia, ...] = ()
    sliding: tuple[SlidingInertia, ...] = ()


def model(b: Program, robot: Robot, plan: MinimalPlan) -> MinimalModel:
    """The model of a robot under a plan."""
    values = Values(b)
    basis = lever_basis(plan, values)
    driven = list(zip(plan.legs, plan.driven, strict=True))
    extending: tuple[ExtendingInertia, ...] = ()
    sliding: tuple[SlidingInertia, ...] = ()
    if plan.architecture == "UPS":
        extending = tuple(extending_inertia(robot, values, name, k) for name, k in driven)
        masses, weightless = [i.piston + i.rotor for i in extending], [i.rotor for i in extending]
    else:
        sliding = tuple(sliding_inertia(robot, values, name, k) for name, k in driven)
        masses, weightless = [i.m_SS for i in sliding], [-i.m_SU for i in sliding]
    return MinimalModel(
        values=values,
        gravity=triple(values.vector("gravity", "W").expr),
        basis=basis,
        body=pseudo_inertia(values, basis, masses, weightless),
        base=tuple(triple(values.vector(f"legs.{name}.U", "W").expr) for name in plan.base_joints),
        extending=extending,
        sliding=sliding,
    )
