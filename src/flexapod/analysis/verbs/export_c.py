"""`export_c`: a kernel as portable C99, with inputs for its self-test."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from flexapod.analysis.model.kernels import RobotKernel, kernel, kernel_with_friction
from flexapod.analysis.model.model_names import identifier
from flexapod.analysis.verbs.sampling import dependent_inputs, random_inputs
from flexapod.arrays import Array
from flexapod.calls import check_path, checked
from flexapod.errors import FlexapodError
from flexapod.kernels.c.export import export_c as write_c

if TYPE_CHECKING:
    from flexapod.robot.robot import Robot


@checked(folder=check_path)
def export_c(robot: Robot, quantity: str, folder: str | Path, **options: object) -> dict[str, Path]:
    """Write the kernel of a quantity as portable C99, with header, self-test and README.

    Args:
        quantity: as for `kernel`; ``"inverse_dynamics"`` and ``"forward_dynamics"`` have the friction of the robot file where
            it has any (friction=False leaves it out), else they are the formulation with the fewest operations.
        folder: created if missing; files that flexapod did not write are never replaced.
        options: as for `kernel`.
    Returns:
        Role -> path of each file written: `header`, `source`, `test`, `readme`.
    """
    bound = exported_kernel(robot, quantity, options)
    golden = golden_inputs(bound, random_inputs(robot, 8, seed=1))
    name = identifier(f"{robot.name}_{quantity}", "robot")
    return write_c(bound.compiled, Path(folder), name=name, golden_inputs=golden, parameters=bound.parameters)


def exported_kernel(robot: Robot, quantity: str, options: Mapping[str, object]) -> RobotKernel:
    """Kernel that `export_c` writes: with friction that of `kernel_with_friction`; forward dynamics without friction by the
    first formulation that applies, the last being virtual power, which always does."""
    general = kernel_with_friction(robot, quantity, options)
    if (general.quantity, general.options) != ("forward_dynamics", {}):
        return general
    for program in ("minimal_forward_dynamics", "link_forward_dynamics") if not robot.elastic_names else ():
        try:
            return kernel(robot, program)
        except FlexapodError:
            continue
    return general


def golden_inputs(bound: RobotKernel, states: Mapping[str, Array]) -> dict[str, NDArray[np.float64]]:
    """Inputs of a kernel's self-test: random states that the robot can reach, joints and actuators that belong to them."""
    count = len(states["position"])
    home = np.concatenate([leg.home for leg in bound.robot.legs])
    known = {
        **states,
        **dependent_inputs(bound.robot, states, {i.name for i in bound.signature.inputs}),
        "guess": np.tile(home, (count, 1)),
        "guess_position": np.tile(bound.robot.home.position, (count, 1)),
        "guess_rotation": np.tile(bound.robot.home.rotation, (count, 1, 1)),
    }
    random = np.random.default_rng(2)
    for i in bound.signature.inputs:  # loads, forces, elastic coordinates: small random numbers, the same on every machine
        if i.name not in known:
            known[i.name] = random.uniform(-1.0, 1.0, (count, *i.shape)) * (1e-3 if i.name == "elastic" else 1.0)
    return {i.name: np.ascontiguousarray(known[i.name]) for i in bound.signature.inputs}
