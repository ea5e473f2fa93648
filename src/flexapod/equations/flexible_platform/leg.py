r"""A rigid leg under a flexible platform: its inertia and the force that its motion needs at the joint, in platform axes.

.. math:: f = \Lambda\,(Y\dot w) + s - d\,\Gamma,\qquad Y = [\,1,\; -\hat r,\; \Phi\,],\qquad r = r_0 + \Phi e

with :math:`\Lambda = B^{-T} M B^{-1}` (3, 3) of the leg in link axes (`equations.model.leg`), s the demand of velocities and
weight, d what a unit of actuator force gives at the joint.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import casadi as ca

from flexapod.arrays import SX
from flexapod.equations.flexible_platform.joint_shapes import JointShapes
from flexapod.equations.model.algebra import LinkValues, mul, solve_blocks, sparse, symmetric
from flexapod.equations.model.forward_dynamics import joint_inertia
from flexapod.equations.model.leg import LinkLeg, TipTarget, leg_that_meets
from flexapod.equations.model.positions import Position, closed_positions, displacement
from flexapod.equations.universal_leg import TURNING_POINT
from flexapod.equations.values import Values
from flexapod.kernels.tape.roles import TakesChecks
from flexapod.robot.link_plan import closed_choice
from flexapod.robot.model import Leg

if TYPE_CHECKING:
    from flexapod.equations.flexible_platform.assembly import FlexibleState


@dataclass(frozen=True, kw_only=True)
class FlexibleLeg:
    """A leg at its joint, platform axes.

    Args:
        r: (3,) joint; Phi: (3, N) its displacement per elastic coordinate.
        inertia: Lambda (3, 3); bias: s (3,); direction: d (3,).
        q, qd: position and rate of the actuator.
    """

    r: SX
    Phi: SX
    inertia: SX
    bias: SX
    direction: SX
    q: SX
    qd: SX

    @property
    def Y(self) -> SX:
        """(3, 6 + N) velocity of the joint per velocity of frame and elastic coordinates."""
        return ca.horzcat(ca.SX.eye(3), -ca.skew(self.r), self.Phi)


def flexible_leg(b: TakesChecks, values: Values, leg: Leg, shapes: JointShapes, state: FlexibleState) -> FlexibleLeg:
    """A U-P-S, P-U-S or R-U-S leg that follows its joint on the deformed platform.

    Args:
        b: takes the checks; values: of the whole robot.

    Source: Long 2014 Eqs. (11)-(33), (36)-(37). Checked by: tests/equations/test_flexible_platform.py.
    """
    choice = closed_choice(leg)
    own = LinkValues(values.program, known=values._known).below(f"legs.{leg.name}", dict(choice.constants))
    R, frame = state.R, state.frame
    tip, Phi = deformed_tip(own, shapes, state, Values(values.program, "", values._known).vector("gravity", "W").expr)
    where = closed_positions(b, own, leg, choice.signs, S=tip.S, half=R, row=choice.rows[-1], band=TURNING_POINT)
    found = leg_that_meets(b, own, leg, choice, frame, tip, where=where, axes=R)
    T, Y = found.outward(ca.SX.eye(3)), solve_blocks(found.B.T, ca.SX.eye(3))
    inertia = symmetric(mul(mul(Y, joint_inertia(own, found)), Y.T))
    (k,) = found.driven
    return FlexibleLeg(
        r=tip.arm,
        Phi=Phi,
        inertia=symmetric(mul(mul(T.T, sparse(inertia)), T)),
        bias=ca.densify(mul(T.T, mul(Y, ca.vertcat(*found.h)))),
        direction=ca.densify(mul(T.T, Y[:, k])),
        q=_position(own, found, where[k], k),
        qd=found.qd[k],
    )


def deformed_tip(values: LinkValues, shapes: JointShapes, state: FlexibleState, gravity: SX) -> tuple[TipTarget, SX]:
    r"""The joint on the deformed platform, its motion at zero accelerations in platform axes, and Phi(e) (3, N).

    .. math:: r = r_0 + \Phi e,\quad v_S = v + \omega\times r + \Phi\dot e,\quad
              h = \omega\times(\omega\times r) + 2\,\omega\times\Phi\dot e
              \qquad\text{(Long 2014 Eqs. 11-13, 18, 24)}
    """
    R, w = state.R, state.w
    Phi = shapes.columns(state.e)
    r = ca.densify(values.vec("S") + shapes.shift(state.e))
    rate = ca.mtimes(Phi, state.ed)
    spin = ca.cross(w, r) + rate
    h = ca.cross(w, spin + rate)
    if shapes.Q:
        h = h + shapes.drift(state.ed)
    S = state.frame.p.expr + ca.mtimes(R, r)
    return TipTarget(arm=r, S=S, v=ca.mtimes(R.T, state.frame.v.expr) + spin, a=h - ca.densify(mul(R.T, gravity))), Phi


def _position(values: LinkValues, leg: LinkLeg, moved: Position, k: int) -> SX:
    """Position of the actuator: a displacement, or an angle by its cosine and sine."""
    link = leg.leg.links[leg.leg.moving[k]]
    if link.kind == "R":
        c, s = moved
        return ca.atan2(s, c) - values.scalar(f"{link.coordinate}.zero")
    return displacement(moved) - values.scalar(f"{link.coordinate}.zero")
