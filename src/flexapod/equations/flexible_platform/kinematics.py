"""Kinematics of a robot with a flexible platform: actuators, joints, bodies and points from the deformed platform.

The platform's joints are at r = r_0 + Phi e; everything behind them is the rigid legs' kinematics.
"""

from __future__ import annotations

from typing import Literal

import casadi as ca

from flexapod.arrays import SX
from flexapod.equations.flexible_platform.joint_shapes import JointShapes, joint_shapes
from flexapod.equations.inverse_kinematics import actuator_outputs, body_outputs, columns_of, driven_coordinates, joint_outputs
from flexapod.equations.leg_kinematics import LegKinematics, _bodies
from flexapod.equations.platform_inputs import FrameMotion, PointMotion, platform_motion_inputs
from flexapod.equations.universal_leg import leg_motion
from flexapod.equations.values import Values
from flexapod.kernels.tape.program import Program
from flexapod.robot.robot import Robot
from flexapod.spatial import Vec, cross


def flexible_kinematics(robot: Robot, detail: Literal["actuators", "joints", "bodies"] = "actuators") -> Program:
    """The program: motion of the frame, `elastic`, `elastic_velocity`, `elastic_acceleration` in; as `inverse_kinematics` out.

    Source: Long 2014 Eqs. (2), (6), (11)-(13), (18)-(25). Checked by: tests/analysis/test_flexible_kinematics.py.
    """
    b = Program("flexible_kinematics")
    frame = platform_motion_inputs(b)
    shape, letters = robot.flexible_shape
    e = [b.input(name, (shape.modes,), doc=f"{name.replace('_', ' ')} coordinates") for name in ELASTIC]
    values, legs = Values(b), []
    for leg, form in zip(robot.legs, robot.closed_forms, strict=True):
        assert form is not None
        own = values.of(f"legs.{leg.name}")
        S = joint_at(frame, own.vector("S", "P"), joint_shapes(own, shape, letters), e)
        motion = leg_motion(b, own, leg, form.sign, frame, S)
        first, none = (motion.actuator,), ca.SX.zeros(0, 1)
        coordinates = motion.angles + first if leg.architecture == "UPS" else first + motion.angles
        legs.append(LegKinematics(coordinates=coordinates, bodies=_bodies(own, leg, motion), leftover=(none, none, none)))
    actuator_outputs(b, robot, columns_of(driven_coordinates(robot, legs)))
    if detail == "joints":
        joint_outputs(b, columns_of([c for leg in legs for c in leg.coordinates]))
    elif detail == "bodies":
        body_outputs(b, [frame, *[body for leg in legs for body in leg.bodies.values()]])
    return b


ELASTIC = ("elastic", "elastic_velocity", "elastic_acceleration")


def joint_at(frame: FrameMotion, r0: Vec, shapes: JointShapes, e: list[SX]) -> PointMotion:
    r"""Motion of a point of the deformed platform, world axes.

    .. math:: \ddot p = a + \alpha\times r + \omega\times(\omega\times r + 2\Phi\dot e) + \Phi\ddot e
              \qquad\text{(Long 2014 Eq. 22)}
    """
    Phi = shapes.columns(e[0])
    twice = ca.mtimes(Phi, e[2])
    if shapes.Q:
        twice = twice + shapes.drift(e[1])
    shift, rate, second = (frame.R @ Vec(x, "P") for x in (shapes.shift(e[0]), ca.mtimes(Phi, e[1]), twice))
    r = frame.R @ r0 + shift
    spin = cross(frame.w, r)
    return PointMotion(
        p=frame.p + r,
        v=frame.v + spin + rate,
        a=frame.a + cross(frame.alpha, r) + cross(frame.w, spin + rate * 2) + second,
    )
