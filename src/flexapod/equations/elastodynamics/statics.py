r"""Statics of a robot with flexible legs: forces at all coordinates, closing rows, and the exact derivative of the equilibrium.

With multipliers :math:`\lambda` of the closing rows chosen so that the bound coordinates are in equilibrium,

.. math:: \rho = N^T h,\qquad \frac{d\rho}{du} = N^T\,\frac{\partial(h - A^T\lambda)}{\partial z}\,N

(N^T A^T = 0 everywhere, so the change of N is that of A). h: weight, elastic forces, springs, less the load on the platform.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import casadi as ca

from flexapod.arrays import SX
from flexapod.equations.elastodynamics.closing import at_coordinates, moved
from flexapod.equations.elastodynamics.joint_forces import joint_forces
from flexapod.equations.elastodynamics.loops import loop_rows
from flexapod.equations.elastodynamics.program_state import RobotAt, platform_modes, tree_motion
from flexapod.equations.elastodynamics.tree_forces import platform_load, tree_forces
from flexapod.equations.platform_inputs import pose_inputs, wrench_input
from flexapod.equations.values import Values
from flexapod.kernels.tape.program import Program
from flexapod.robot.elastic_plan import ElasticPlan
from flexapod.robot.robot import Robot


class _Straight:
    """A program whose loops over modes are written out, so that CasADi can differentiate their results."""

    def __init__(self, program: Program) -> None:
        self.program = program

    def map(self, fn: Callable[..., Sequence[SX]], count: int, **given: Any) -> tuple[SX, ...]:
        """Map over the legs as that of the program, written out without a loop."""
        return self.program.map(fn, count, **{**given, "unroll": True})


def used_rows(plan: ElasticPlan) -> list[tuple[int, int]]:
    """(leg, row) of the closing rows that constrain anything."""
    return [(i, k) for i, leg in enumerate(plan.legs) for k in sorted({*leg.rows, *leg.leftover})]


def elastic_statics(robot: Robot) -> Program:
    """The program: closed coordinates, `wrench` (6,) on the platform frame (world axes), `multiplier` (m,) in; `forces` (z,) at
    rest, `rows` (m, z), `stiffness` (z, z) = d(forces - rows^T multiplier)/dz out.

    Checked by: tests/equations/test_elastodynamics.py.
    """
    b = Program("elastic_statics")
    plan, values, n = robot.elastic_plan, Values(b), len(robot.coordinates)
    used = used_rows(plan)
    q = b.input("joint_position", (n,), unit="m or rad", doc="coordinates of all joints and beams, loops closed")
    N = platform_modes(robot)
    e = b.input("modes", (N,)) if N else ca.SX.zeros(0)
    p: SX = ca.SX.zeros(0)
    R: SX = ca.SX.zeros(0)
    if plan.carrier is None:
        p, rotation = pose_inputs(b)
        R = ca.vec(rotation)
    wrench = wrench_input(b)
    multiplier = b.input("multiplier", (max(len(used), 1),), doc="of the closing rows")
    size = len(plan.columns)
    step = ca.SX.sym("step", size)
    head = size - n - N
    modes = e + step[head : head + N] if N else e
    state = at_coordinates(robot, moved(robot, ca.vertcat(q, p, R), step, range(size)), modes)
    motion = tree_motion(values, robot, state)
    at = RobotAt(b=_Straight(b), values=values, robot=robot, state=state)  # type: ignore[arg-type]
    h = tree_forces(at, motion, ca.SX.zeros(size))
    h = h + joint_forces(values, robot, state, motion, friction=False) - platform_load(robot, motion, wrench)
    matrices, _, _ = loop_rows(values, robot, motion)
    A = ca.vertcat(ca.SX(0, size), *[matrices[i][k, :] for i, k in used])
    held = h - (ca.mtimes(A.T, multiplier) if used else 0)
    K = ca.jacobian(held, step)
    rest = ca.SX.zeros(size)
    h, A, K = ca.substitute([ca.densify(h), ca.densify(A), ca.densify(K)], [step], [rest])
    b.output("forces", h, shape=(size,), dims=("coordinate",))
    if used:
        b.output("rows", A, shape=(len(used), size), dims=("row", "coordinate"))
    b.output("stiffness", K, shape=(size, size), dims=("coordinate", "coordinate_"))
    return b
