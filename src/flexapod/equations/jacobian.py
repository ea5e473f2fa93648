r"""Jacobians: actuator rates and constraints per platform twist.

.. math:: \dot q_a = J\,\begin{bmatrix}v\\ \omega\end{bmatrix},\qquad G\,\begin{bmatrix}v\\ \omega\end{bmatrix} = 0

The actuator rate is linear in the twist, so J is its exact derivative; G are the closing rows that no leg coordinate can
meet (limited mobility). Type 1 singularities are those of a leg's own block, type 2 those of [J; G].
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from flexapod.arrays import SX
from flexapod.equations.chain import LinkPose
from flexapod.equations.closing import ClosedLeg, close_leg
from flexapod.equations.closing_rows import leg_block, leg_gaps, platform_halves
from flexapod.equations.leg_kinematics import home_guess
from flexapod.equations.platform_inputs import FrameMotion, frame_motion, guess_input, pose_inputs
from flexapod.equations.universal_leg import leg_motion
from flexapod.equations.values import Values
from flexapod.kernels.tape.control_flow import Builder
from flexapod.kernels.tape.program import Program
from flexapod.kernels.tape.roles import Iterates
from flexapod.robot.model import Leg
from flexapod.robot.robot import Robot
from flexapod.spatial import cross, dot


@dataclass(frozen=True, kw_only=True)
class PoseLeg:
    """A leg at a pose: coordinates, derivative of its actuator coordinates, leftover rows, measure of type 1."""

    q: SX
    actuators: SX
    jacobian: SX
    residual: SX
    constraint: SX
    margin: SX


def moving_frame(position: SX, rotation: SX) -> tuple[FrameMotion, SX]:
    """A platform at a pose with symbolic twist, and the twist (6,) to differentiate by."""
    twist = ca.SX.sym("twist", 6)
    return frame_motion(position, rotation, twist[:3], twist[3:]), twist


def legs_at_pose(b: Iterates, robot: Robot, values: Values, frame: FrameMotion, twist: SX, guess: SX | None) -> list[PoseLeg]:
    """All legs at a pose; general ones start from their part of `guess` (joints,), or from home."""
    legs, at = [], 0
    for i, leg in enumerate(robot.legs):
        part = None if guess is None else guess[at : at + len(leg.moving)]
        legs.append(_leg_at_pose(b, robot, i, values.of(f"legs.{leg.name}"), frame, twist, guess=part))
        at += len(leg.moving)
    return legs


def _leg_at_pose(
    b: Iterates, robot: Robot, index: int, values: Values, frame: FrameMotion, twist: SX, *, guess: SX | None
) -> PoseLeg:
    """One leg at a pose; general legs start from `guess` (a column), or from home."""
    leg, form = robot.legs[index], robot.closed_forms[index]
    if form is not None:
        motion = leg_motion(b, values, leg, form.sign, frame)
        J = ca.jacobian(motion.actuator.qd, twist)
        angles = ca.vertcat(*[angle.q for angle in motion.angles])
        q = ca.vertcat(angles, motion.actuator.q) if leg.architecture == "UPS" else ca.vertcat(motion.actuator.q, angles)
        none = ca.SX.zeros(0, 1)
        n, a = motion.leg.R.column(2), motion.cross.R.column(0)
        if leg.architecture == "UPS":
            m = cross(n, a)
            margin = ca.sqrt(dot(m, m))
        else:
            assert motion.carrier is not None
            drive = values.vector("drive", "W")
            across = drive if leg.architecture == "PUS" else cross(drive, motion.leg.p - motion.carrier.p)
            margin = ca.fabs(dot(n, across)) / ca.sqrt(dot(across, across))
        return PoseLeg(q=q, actuators=motion.actuator.q, jacobian=J, residual=none, constraint=ca.SX.zeros(0, 6), margin=margin)
    start: SX = guess if guess is not None else ca.vertcat(*home_guess(values, leg))
    closed = close_leg(b, values, leg, robot.plan.legs[index], frame, [start[i] for i in range(start.numel())])
    driven = _driven(leg)
    return PoseLeg(
        q=ca.vertcat(*closed.q),
        actuators=ca.vertcat(*[closed.q[i] for i in driven]),
        jacobian=closed.jacobian[driven, :],
        residual=closed.leftover[0],
        constraint=closed.constraint,
        margin=_block_margin(robot, index, values, frame, closed),
    )


def _block_margin(robot: Robot, index: int, values: Values, frame: FrameMotion, closed: ClosedLeg) -> SX:
    """|det| of a general leg's block over the product of its row lengths: 1 where rows are orthogonal, 0 where singular.

    Prismatic columns are multiplied by the characteristic length, so that the number has no unit.
    """
    leg, plan = robot.legs[index], robot.plan.legs[index]
    if not plan.rows:
        return ca.SX(1)
    poses = [LinkPose(R=link.R, p=link.p) for link in closed.links]
    B = leg_block(leg, poses, leg_gaps(values, leg, closed.links, platform_halves(values, leg, frame)))
    length = values.program.parameter("characteristic_length", unit="m")
    columns = ca.vertcat(*[length if leg.links[leg.moving[k]].kind == "P" else 1 for k in plan.dependents])
    block = ca.densify(B[list(plan.rows), list(plan.dependents)]) @ ca.diag(columns)
    sizes = ca.SX(1)
    for i in range(len(plan.rows)):
        sizes *= ca.dot(block[i, :], block[i, :])
    return ca.fabs(ca.det(block)) / ca.sqrt(sizes)


def _driven(leg: Leg) -> list[int]:
    return [k for k, i in enumerate(leg.moving) if leg.links[i].actuated]


class WithFewerChecks:
    """A builder that ignores the checks whose message contains a text.

    Args:
        b: the builder, which takes the other checks and all loops.
        ignored: the text.
    """

    def __init__(self, b: Builder, ignored: str) -> None:
        self._b, self._ignored = b, ignored
        self.iterate = b.iterate

    def fail_if(self, condition: SX, message: str, **fields: object) -> int:
        """Pass on the checks that count."""
        return 0 if self._ignored in message else self._b.fail_if(condition, message, **fields)


def without_angles(b: Builder) -> WithFewerChecks:
    """A builder for programs that need no universal angles: a leg along its first universal axis is no failure there."""
    return WithFewerChecks(b, "first universal axis")


def without_checks(b: Builder) -> WithFewerChecks:
    """A builder without checks: a trial pose may be out of reach (it is then NaN and not taken)."""
    return WithFewerChecks(b, "")


def jacobian(robot: Robot, joints: bool = True) -> Program:
    """The program: `jacobian` (actuators, 6), `constraint_jacobian` (rows, 6), `margin` (legs,) [type 1].

    The margin of a closed-form leg is the sine or cosine that vanishes at its singularity (leg along the first universal
    axis; rod normal to the rail; rod in line with the crank); of a general leg the determinant of its block over the
    product of its row lengths.

    Args:
        joints: also `joint_position`; without it a leg along its first universal axis is no failure.

    Checked by: tests/equations/test_jacobian.py.
    """
    b = Program("jacobian")
    position, rotation = pose_inputs(b)
    guess = guess_input(b, robot)
    frame, twist = moving_frame(position, rotation)
    legs = legs_at_pose(b if joints else without_angles(b), robot, Values(b), frame, twist, guess)
    J = ca.densify(ca.vertcat(*[leg.jacobian for leg in legs]))
    G = ca.densify(ca.vertcat(*[leg.constraint for leg in legs]))
    b.output("jacobian", J, shape=J.shape, dims=("actuator", "twist"))
    if G.shape[0]:
        b.output("constraint_jacobian", G, shape=G.shape, dims=("constraint_row", "twist"))
        b.output("constraint", ca.vertcat(*[leg.residual for leg in legs]), shape=(G.shape[0],), dims=("constraint_row",))
    b.output("margin", ca.vertcat(*[leg.margin for leg in legs]), shape=(len(legs),), dims=("leg",))
    b.output("actuator_position", ca.vertcat(*[leg.actuators for leg in legs]), shape=(len(robot.actuators),), dims=("actuator",))
    if joints:
        b.output("joint_position", ca.vertcat(*[leg.q for leg in legs]), shape=(len(robot.coordinates),), dims=("joint",))
    return b
