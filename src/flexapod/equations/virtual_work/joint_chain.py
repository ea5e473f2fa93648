"""Relative matrices of any leg from its joint coordinates, which Newton's iteration finds inside the kernel."""

from __future__ import annotations

from collections.abc import Sequence

from flexapod.arrays import SX
from flexapod.equations.closing import solve_position
from flexapod.equations.platform_inputs import FrameMotion
from flexapod.equations.values import Values
from flexapod.equations.virtual_work.relative_frames import LegChain, Z, frame, steps_of
from flexapod.kernels.tape.program import Program
from flexapod.robot.model import Leg
from flexapod.robot.plan import LegPlan
from flexapod.spatial import Rot, Vec, rotation_z
from flexapod.spatial.vector import zero


def joint_chain(b: Program, values: Values, leg: Leg, plan: LegPlan, half: tuple[Rot, Vec], guess: Sequence[SX]) -> LegChain:
    r"""The leg that reaches the platform half of its closing joint.

    .. math:: a_{k,j} = (R^0_{jk}\,R_z(q_k))^T,\qquad r_{k,j} = p^0_{jk}\;(+\,z\,q_k)

    Args:
        half: rotation (frame H) and centre of the half on the platform, world.
        guess: coordinates to start from.

    Source: Staicu 2009 Eqs. (2)-(3), Sinatra 2009 Eqs. (2)-(3): every joint acts along its own z axis.
    Checked by: tests/equations/test_virtual_work.py.
    """
    R_WH, p = half
    still = FrameMotion(R=R_WH, p=p, v=zero("W"), w=zero("W"), a=zero("W"), alpha=zero("W"))
    q = iter(solve_position(b, values, leg, plan, [still], guess))
    rotations, arms = [], []
    for k, link in enumerate(leg.links):
        here, before = frame(k), frame(link.parent)
        rotation = values.rotation(f"{link.coordinate}.R", before, here)
        arm = values.vector(f"{link.coordinate}.p", before)
        if link.kind == "R":
            rotation = rotation @ rotation_z(next(q) + values.scalar(f"{link.coordinate}.zero"), here, here)
        elif link.kind == "P":
            arm = arm + rotation.column(2) * (next(q) + values.scalar(f"{link.coordinate}.zero"))
        rotations.append(rotation.T)
        arms.append(arm)
    axes = [Vec(Z, frame(k)) for k in range(len(leg.links))]
    steps = steps_of(values, leg, rotations, arms, axes, [f"{link.coordinate}.body" for link in leg.links])
    last = leg.closing.link
    return LegChain(steps=steps, last=last, tip=values.vector(f"{leg.closing.joint}.on_link.p", frame(last)))
