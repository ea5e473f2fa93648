r"""Equation of motion of a robot with a flexible platform and rigid closed-form legs, in platform axes.

.. math:: M\,\dot w + c = B\,\Gamma + \text{load},\qquad w = (v, \omega, \dot e),\qquad
          M = M_p + \sum_i Y_i^T \Lambda_i Y_i,\quad Y_i = [\,1,\; -\hat r_i,\; \Phi_i\,]

with r_i = r_0i + Phi_i e, the legs as inertias and forces at their joints (`leg`; Long 2014 Eqs. 36-45).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import casadi as ca

from flexapod.arrays import SX
from flexapod.equations.flexible_platform.generalized_newton_euler import FlexibleModel, flexible_model
from flexapod.equations.flexible_platform.joint_shapes import joint_shapes
from flexapod.equations.flexible_platform.leg import FlexibleLeg, flexible_leg
from flexapod.equations.flexible_platform.mode_sums import ModeLoop, ModeSums, written_out
from flexapod.equations.flexible_platform.stretching import platform_force
from flexapod.equations.platform_inputs import FrameMotion, frame_motion, pose_inputs, twist_inputs
from flexapod.equations.values import Values
from flexapod.kernels.tape.program import Program
from flexapod.kernels.tape.roles import Loops
from flexapod.robot.flexible_platform import UNROLLED, FlexibleShape
from flexapod.robot.robot import Robot

THROUGH_JOINTS = 4
"""Modes from which solving through the joints takes fewer operations than an elimination of all modes (counted)."""


@dataclass(frozen=True, kw_only=True)
class FlexibleState:
    """Inputs of a state: R (3, 3) world-from-platform, motion in platform axes, elastic coordinates."""

    R: SX
    frame: FrameMotion
    w: SX
    e: SX
    ed: SX


@dataclass(frozen=True, kw_only=True)
class PlatformSolution:
    """Accelerations (6 + N,), actuator forces, and per leg the force (3,) that it demands at its joint, platform axes."""

    acceleration: SX
    force: SX
    joints: list[SX]


@dataclass(frozen=True, kw_only=True)
class FlexibleEquation:
    """Free platform and legs; M (n, n), c (n,), B (n, actuators) with n = 6 + N where they are needed, platform axes.

    `axis`: of the joints' displacements, where they move along one and the modes are normal; else None. `loop`: the modes in a
    loop, where they are many and the joints move along an axis.
    """

    whole: Callable[[], FlexibleModel]
    legs: list[FlexibleLeg]
    axis: int | None
    loop: ModeLoop | None

    @cached_property
    def body(self) -> FlexibleModel:
        """The free platform."""
        return self.whole()

    def mode_sums(self, load: SX, V: SX | None = None) -> ModeSums:
        """Sums over the modes for legs and frame, under a load (6 + N,), at an acceleration (6,) of the frame if known."""
        assert self.axis is not None
        phi = ca.vertcat(*[leg.Phi[self.axis, :] for leg in self.legs])
        return written_out(self.body, phi, load, V) if self.loop is None else self.loop.sums(load, V)

    @cached_property
    def M(self) -> SX:
        """Mass matrix (n, n)."""
        return self.body.M + sum(ca.mtimes(leg.Y.T, ca.mtimes(leg.inertia, leg.Y)) for leg in self.legs)

    @cached_property
    def c(self) -> SX:
        """Gravity, velocity, elastic and damping forces (n,)."""
        return self.body.c + sum(ca.mtimes(leg.Y.T, leg.bias) for leg in self.legs)

    @cached_property
    def B(self) -> SX:
        """Generalized force (n, actuators) per actuator force."""
        return ca.horzcat(*[ca.mtimes(leg.Y.T, leg.direction) for leg in self.legs])

    @property
    def rates(self) -> SX:
        """Actuator rates (actuators,)."""
        return ca.vertcat(*[leg.qd for leg in self.legs])

    @property
    def positions(self) -> SX:
        """Actuator positions (actuators,)."""
        return ca.vertcat(*[leg.q for leg in self.legs])


def state_inputs(b: Program, modes: int) -> FlexibleState:
    """Declare the inputs of a state of the platform."""
    (p, R), (v, w) = pose_inputs(b), twist_inputs(b)
    e = b.input("elastic", (modes,), doc="elastic coordinates")
    ed = b.input("elastic_velocity", (modes,), doc="rates of the elastic coordinates")
    return state_of(p, R, v, w, e, ed)


def state_of(p: SX, R: SX, v: SX, w: SX, e: SX, ed: SX) -> FlexibleState:
    """A state from its expressions, world axes."""
    return FlexibleState(R=R, frame=frame_motion(p, R, v, w), w=ca.mtimes(R.T, w), e=e, ed=ed)


def flexible_equation(
    b: Loops,
    robot: Robot,
    shape: FlexibleShape,
    letters: tuple[str, ...],
    state: FlexibleState,
    *,
    values: Values,
    second_order: bool = True,
) -> FlexibleEquation:
    """Assemble platform and legs.

    Args:
        shape: which moments the platform has.
        letters: axes along which the interface shapes move.
        values: of the whole robot.

    Source: Long 2014 Eqs. (11)-(33), (36)-(45). Checked by: tests/equations/test_flexible_platform.py.
    """
    own, g = values.of("platform"), ca.mtimes(state.R.T, values.vector("gravity", "W").expr)
    elastic = platform_force(own, shape, state.e)
    legs = []
    for leg in robot.legs:
        shapes = joint_shapes(values.of(f"legs.{leg.name}"), shape, letters)
        legs.append(flexible_leg(b, values, leg, shapes, state))
    plain = shape.normal and len(letters) == 1 and not shape.quadratic and shape.modes >= THROUGH_JOINTS
    axis = "xyz".index(letters[0]) if plain else None
    loop = None
    if axis is not None and shape.modes > UNROLLED:
        phi = ca.vertcat(*[leg.Phi[axis, :] for leg in legs])
        loop = ModeLoop(b=b, values=own, shape=shape, state=state, phi=phi, g=g, elastic=elastic, second_order=second_order)

    def whole() -> FlexibleModel:
        return flexible_model(b, own, shape, state.e, state.ed, w=state.w, g=g, second_order=second_order, elastic=elastic)

    return FlexibleEquation(whole=whole, legs=legs, axis=axis, loop=loop)
