"""Any kernel as a block without states: inverse dynamics, kinematics, mass matrix."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from flexapod.analysis.model.kernels import kernel_with_friction
from flexapod.analysis.verbs.export_c import golden_inputs
from flexapod.analysis.verbs.sampling import random_leg_states, random_states
from flexapod.bridges.fmu.model_kernels import FMUVariable, Plant
from flexapod.bridges.fmu.rigid import union
from flexapod.bridges.fmu.units import entry_units

if TYPE_CHECKING:
    from flexapod.arrays import Array
    from flexapod.kernels.tape.signature import Input, Output
    from flexapod.robot.robot import Robot


def block_plant(robot: Robot, quantity: str, options: dict[str, object]) -> Plant:
    """The plant of a quantity that `kernel` knows; its arrays become scalars with their place in brackets, rows first."""
    bound = kernel_with_friction(robot, quantity, options)
    signature, tape = bound.signature, bound.compiled.tape
    states = random_leg_states(robot, 1, seed=1) if robot.elastic_legs else random_states(robot, 1, seed=1)
    start = golden_inputs(bound, states)
    if not robot.elastic_legs:
        for name in set(start) - {"position", "rotation", "guess", "guess_position", "guess_rotation"}:
            start[name] = np.zeros_like(start[name])
        home = {"position": robot.home.position, "rotation": robot.home.rotation}
        start |= {name: np.asarray(value)[None] for name, value in home.items() if name in start}
    values = dict(zip([p.name for p in signature.parameters], bound.parameters, strict=True))
    return Plant(
        name=robot.name, about=f"{quantity} of {robot.name}", states=[], margins=[], leaving=[], memory=[], rates=tape,
        inputs=[v for i in signature.inputs for v in _scalars(robot, i, start[i.name][0])],
        outputs=[v for o in signature.outputs for v in _scalars(robot, o, np.zeros(o.shape))],
        parameters=union(robot, [tape], values),
    )  # fmt: skip


def _scalars(robot: Robot, array: Input | Output, start: Array) -> list[FMUVariable]:
    labels = _labels(robot, array)
    return [
        FMUVariable(name=f"{array.name}{label}", unit=unit, start=float(x), doc=array.doc)
        for label, unit, x in zip(labels, entry_units(robot, array), np.ravel(start), strict=True)
    ]


def _labels(robot: Robot, array: Input | Output) -> list[str]:
    """`.x` for vectors, `.A` for actuators, `[1,2]` for what has no names, counted from one as Modelica does."""
    shape = array.shape
    if shape == ():
        return [""]
    if shape == (3,):
        return [f".{a}" for a in "xyz"]
    if shape == (3, 3):
        return [f".{a}{b}" for a in "xyz" for b in "xyz"]
    if shape == (len(robot.actuators),):
        return [f".{a}" for a in robot.actuators]
    return ["[" + ",".join(str(k + 1) for k in index) + "]" for index in np.ndindex(*shape)]
