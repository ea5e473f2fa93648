r"""Kim's elimination: a U-P-S, P-U-S or R-U-S leg leaves one unknown, the force along its line (Eqs. 20-24).

Letters: F force of the leg on the platform at S, M_2 moment that crosses the second universal axis y (about U), M_1 that
across the first axis a. Each passive axis transmits nothing but friction, which gives F across the leg:

.. math:: y\cdot M_2 = f_y,\quad a\cdot M_1 = f_a
          \;\Rightarrow\; F\cdot x = \frac{f_y-y\cdot\bar M_2}{l},\quad F\cdot y = -\frac{f_a-a\cdot\bar M_1}{l\,(a\cdot x)}

with bars for the moments without F. The paper takes the moment of the universal joint along n; here it is along a x y.
"""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca

from flexapod.arrays import SX
from flexapod.equations.newton_euler.leg import ClosingJoint, LegForces, LegLoads, LinkJoint
from flexapod.equations.newton_euler.universal_motion import Spin, motion_in_leg_axes, universal_motion
from flexapod.equations.newton_euler.wrench import Wrench, at_rest, body_wrench, none
from flexapod.equations.platform_inputs import FrameMotion
from flexapod.equations.values import Values
from flexapod.kernels.tape.roles import TakesChecks
from flexapod.robot.model import Leg
from flexapod.spatial import Vec, cross, dot
from flexapod.spatial.vector import zero

BODIES = {
    "UPS": ("in_C.0", "in_L.0", "in_L.1"),
    "PUS": ("carrier", "in_C.0", "in_L.0"),
    "RUS": ("carrier", "in_C.0", "in_L.0"),
}


class UniversalLeg:
    """A closed-form leg at its motion; its one unknown is the force along n on the platform.

    Args:
        more: (3,) acceleration of S beyond that of `platform`, in leg axes: all vectors are then written in these; None: in
            those of the world.

    Source: Kim 2002 Eqs. (20)-(24), (27), (28) with the errata. Checked by: tests/equations/test_newton_euler.py.
    """

    def __init__(
        self, b: TakesChecks, values: Values, leg: Leg, sign: int, platform: FrameMotion, spin: Spin = "exact", *,
        more: SX | None = None,
    ) -> None:  # fmt: skip
        self.leg = leg
        self._values = values
        if more is None:
            self.motion, self.rotation = universal_motion(b, values, leg, sign, platform, spin), None
        else:
            self.motion, self.rotation = motion_in_leg_axes(b, values, leg, sign, platform, more)
        motion, self.arm = self.motion, platform.R @ values.vector("S", "P")
        first = 0 if leg.architecture == "UPS" else 1
        axes = [motion.axes.a, motion.axes.y]
        axes.insert(2 if first == 0 else 0, motion.axes.n if first == 0 else self._seen(values.vector("drive", "W")))
        self.joints = tuple(
            LinkJoint(
                kind=link.kind, axis=axis, centre=frame.p, rate=rate, acceleration=acceleration,
                guide=self._guide(link.friction is not None, link.joint) if link.kind == "P" else None,
            )
            for link, axis, frame, rate, acceleration in zip(
                leg.links, axes, motion.frames, motion.rates, motion.accelerations, strict=True
            )
        )  # fmt: skip
        half = platform.R @ values.rotation(f"{leg.closing.joint}.on_platform.R", "P", "H")
        world = [Vec([1.0 if i == k else 0.0 for i in range(3)], "W") for k in range(3)]
        self.closing = ClosingJoint(
            axes=tuple((zero("W"), axis) for axis in world),
            centre=motion.S.p,
            angular=self._seen(platform.w) - motion.frames[2].w,
            rates=(),
            frame=(self._seen(half.column(0)), self._seen(half.column(1)), self._seen(half.column(2))),
        )

    def _seen(self, vector: Vec) -> Vec:
        """A vector of the world in the axes of this model."""
        return vector if self.rotation is None else self.rotation @ vector

    def _guide(self, has_friction: bool, joint: str) -> tuple[Vec, Vec] | None:
        """Guide axes of the rail (fixed) or of the cylinder (fixed in the leg frame)."""
        if not has_friction:
            return None
        if self.leg.architecture == "PUS":
            R = self._values.rotation(f"{joint}.R", "W", "B")
            u, v = (self._seen(R @ self._values.vector(f"{joint}.friction.guide_{k}", "B")) for k in "uv")
        else:
            R = self.motion.frames[2].R
            u, v = (R @ self._values.vector(f"{joint}.friction.leg_guide_{k}", "L") for k in "uv")
        return u, v

    def body_loads(self, gravity: Vec | None, moves: Sequence[bool]) -> tuple[Wrench, ...]:
        """Newton and Euler of the three bodies, about their frame origins."""
        g = self._seen(gravity) if gravity is not None else zero("W")
        result = []
        names = BODIES[self.leg.architecture]
        for link, name, frame, move in zip(self.leg.links, names, self.motion.frames, moves, strict=True):
            moved = frame if move else at_rest(frame)
            result.append(body_wrench(self._values.of(name), moved, g) if link.body else none())
        return tuple(result)

    def columns(self) -> Sequence[SX]:
        """A unit force along the leg."""
        return [ca.vertcat(self.motion.axes.n.expr, ca.SX.zeros(3))]

    def particular(self, loads: LegLoads) -> Wrench:
        """Force across the leg from the two passive axes, and friction of the ball."""
        m = self.motion.axes
        M2, M1 = self._passive_moments(loads)
        f_a, f_y = (loads.axial[0], loads.axial[1]) if self._extends else (loads.axial[1], loads.axial[2])
        F_x = (f_y - dot(m.y, M2)) * m.inverse
        F_y = (dot(m.a, M1) - f_a) * (m.inverse / m.sine)
        return Wrench(force=m.x * F_x + m.y * F_y, moment=zero("W")) + loads.closing

    def finish(self, loads: LegLoads, unknowns: Sequence[SX]) -> LegForces:
        """Wrenches from the platform down to the base."""
        m = self.motion
        across = self.particular(loads)
        on_platform = Wrench(force=across.force + m.axes.n * unknowns[0], moment=across.moment)
        if self._extends:
            on_cross, on_leg, on_piston = loads.bodies
            slide = on_piston + on_platform.seen_from(m.S.p - m.frames[2].p)
            second = on_leg + slide.seen_from(m.frames[2].p - m.frames[1].p)
            force = dot(m.axes.n, slide.force) - loads.axial[2]
            return LegForces(actuators=(force,), joints=(second + on_cross, second, slide, on_platform))
        on_carrier, on_cross, on_leg = loads.bodies
        second = on_leg + on_platform.seen_from(m.axes.arm)
        first = second + on_cross
        drive = on_carrier + first.seen_from(m.frames[1].p - m.frames[0].p)
        along = drive.force if self.leg.architecture == "PUS" else drive.moment
        force = dot(self.joints[0].axis, along) - loads.axial[0]
        return LegForces(actuators=(force,), joints=(drive, first, second, on_platform))

    @property
    def _extends(self) -> bool:
        return self.leg.architecture == "UPS"

    def _passive_moments(self, loads: LegLoads) -> tuple[Vec, Vec]:
        """Moments about U of the bodies behind the second and the first universal axis, without the force at S."""
        m = self.motion
        if self._extends:
            on_cross, on_leg, on_piston = loads.bodies
            second = on_leg.moment + on_piston.moment + cross(m.frames[2].p - m.frames[1].p, on_piston.force)
        else:
            _, on_cross, on_leg = loads.bodies
            second = on_leg.moment
        second = second + loads.closing.moment + cross(m.axes.arm, loads.closing.force)
        return second, second + on_cross.moment
