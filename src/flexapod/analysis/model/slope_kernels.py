"""Kernels that also give derivatives: along a direction of the robot's numbers, or of the inputs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from flexapod.analysis.model.kernels import parameter_values, program_family
from flexapod.kernels.cache import lookup_key

if TYPE_CHECKING:
    from flexapod.analysis.model.kernels import RobotKernel
    from flexapod.kernels.kernel import Kernel
    from flexapod.robot.robot import Robot


def slope_kernel(bound: RobotKernel) -> Kernel:
    """The kernel that gives a quantity and its derivatives `<output>_dot` along a direction `<parameter>_dot` of the parameters.

    Checked by: tests/design/test_gradients.py.
    """
    assert bound.quantity is not None
    key = ("slopes", bound.quantity, repr(sorted(bound.options.items())), bound.compiled.zeros, lookup_key())
    if key not in bound.robot.kept:
        family = program_family(bound.robot, bound.quantity, bound.options)
        bound.robot.kept[key] = family.slopes(bool(bound.compiled.zeros))
    found: Kernel = bound.robot.kept[key]
    return found


def input_slopes(robot: Robot, quantity: str, **options: object) -> tuple[Kernel, NDArray[np.float64]]:
    """The kernel that gives a quantity and its derivatives `<output>_dot` along a direction `<input>_dot` of the inputs, and the
    robot's numbers for it. The quantity's own kernel is not compiled.

    Checked by: tests/equations/test_element_loops.py.
    """
    key = ("input slopes", quantity, repr(sorted(options.items())), lookup_key())
    if key not in robot.kept:
        family = program_family(robot, quantity, options)
        found = family.slopes(bool(robot.zeros), "inputs")
        numbers = parameter_values(robot, found.signature)
        lost = any(p.name in family.zeros and x != 0.0 for p, x in zip(found.signature.parameters, numbers, strict=True))
        if lost:
            found = family.slopes(False, "inputs")
        robot.kept[key] = found, parameter_values(robot, found.signature)
    kept: tuple[Kernel, NDArray[np.float64]] = robot.kept[key]
    return kept
