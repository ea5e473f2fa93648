r"""Wrenches and the Newton and Euler equations of one body.

Letters: o origin of the body's frame B, h first moment m c, I tensor about o, a acceleration of o, g gravity.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca

from flexapod.arrays import SX
from flexapod.equations.platform_inputs import FrameMotion
from flexapod.equations.values import Values
from flexapod.kernels.tape.program import Program
from flexapod.spatial import Vec, cross
from flexapod.spatial.vector import zero


@dataclass(frozen=True, kw_only=True)
class Wrench:
    """Force and moment in world axes, the moment about a point that the context names."""

    force: Vec
    moment: Vec

    def __add__(self, other: Wrench) -> Wrench:
        return Wrench(force=self.force + other.force, moment=self.moment + other.moment)

    def __sub__(self, other: Wrench) -> Wrench:
        return Wrench(force=self.force - other.force, moment=self.moment - other.moment)

    def seen_from(self, arm: Vec) -> Wrench:
        """The same wrench about another point; `arm` runs from the new point to the old one."""
        return Wrench(force=self.force, moment=self.moment + cross(arm, self.force))

    @property
    def column(self) -> SX:
        """(6,) force, then moment."""
        return ca.vertcat(self.force.expr, self.moment.expr)


def none() -> Wrench:
    """No wrench."""
    return Wrench(force=zero("W"), moment=zero("W"))


def wrench_outputs(b: Program, name: str, wrenches: Sequence[Wrench]) -> None:
    """Outputs `<name>_force` and `<name>_moment` (joints, 3) of a program."""
    for key, unit in (("force", "N"), ("moment", "N m")):
        rows = ca.vertcat(*[getattr(wrench, key).expr.T for wrench in wrenches])
        b.output(f"{name}_{key}", rows, shape=(len(wrenches), 3), unit=unit, dims=("joint", "axis"))


def body_wrench(body: Values, frame: FrameMotion, gravity: Vec) -> Wrench:
    r"""Wrench that a body needs to follow its motion against gravity, about its frame origin.

    .. math:: F = m(a-g)+\dot\omega\times h+\omega\times(\omega\times h),\qquad
              M = h\times(a-g)+I\dot\omega+\omega\times I\omega

    Written in body axes, where h and I are constant; returned in world axes.

    Args:
        body: the values `mass`, `first_moment`, `inertia` in the axes of the frame.
        frame: motion of the body's frame.
        gravity: (3,) [m/s^2], world.

    Source: Kim 2002 Eqs. (20), (22), (25), about the frame origin instead of the centre of mass.
    Checked by: tests/equations/test_newton_euler.py.
    """
    B = frame.R.from_
    mass, h = body.scalar("mass"), body.vector("first_moment", B)
    if frame.w.expr.is_zero() and frame.alpha.expr.is_zero():  # it does not rotate
        need = frame.a - gravity
        return Wrench(force=need * mass, moment=cross(frame.R @ h, need))
    R_BW = frame.R.T
    w, alpha, a = R_BW @ frame.w, R_BW @ frame.alpha, R_BW @ (frame.a - gravity)
    force = a * mass + cross(alpha, h) + cross(w, cross(w, h))
    moment = cross(h, a) + _tensor(body, alpha) + cross(w, _tensor(body, w))
    return Wrench(force=frame.R @ force, moment=frame.R @ moment)


def at_rest(frame: FrameMotion) -> FrameMotion:
    """The same pose without motion."""
    still = zero("W")
    return FrameMotion(R=frame.R, p=frame.p, v=still, w=still, a=still, alpha=still)


def _tensor(body: Values, w: Vec) -> Vec:
    """I w with the six numbers of a symmetric tensor."""
    i = {key: body.scalar(f"inertia.{key}") for key in ("xx", "yy", "zz", "xy", "xz", "yz")}
    rows = [
        i["xx"] * w[0] + i["xy"] * w[1] + i["xz"] * w[2],
        i["xy"] * w[0] + i["yy"] * w[1] + i["yz"] * w[2],
        i["xz"] * w[0] + i["yz"] * w[1] + i["zz"] * w[2],
    ]
    return Vec(rows, w.frame)
