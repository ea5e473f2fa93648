r"""Closed-form legs under given forces of their drives, as `carrying_legs` takes them.

The drive's balance gives the force along a leg, which inverse dynamics leaves unknown. A leg moves with the acceleration s of its
joint on the platform and knows nothing else of the platform's acceleration; its forces are affine in s and in its loads y.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import casadi as ca

from flexapod.arrays import SX
from flexapod.equations.newton_euler.carrying_legs import CarryingLeg, Packed
from flexapod.equations.newton_euler.friction_points import friction_points
from flexapod.equations.newton_euler.inverse_dynamics import leg_loads
from flexapod.equations.newton_euler.loaded_leg import affine, forces_at, friction_of, loads_of, with_friction
from flexapod.equations.newton_euler.universal_leg_force import UniversalLeg
from flexapod.equations.platform_inputs import FrameMotion
from flexapod.equations.values import Values
from flexapod.kernels.tape.control_flow import Builder
from flexapod.kernels.tape.layers import map_in_layers
from flexapod.kernels.tape.roles import TakesChecks
from flexapod.spatial import Rot, Vec
from flexapod.spatial.vector import zero

if TYPE_CHECKING:
    from flexapod.robot.architecture import ClosedFormLeg
    from flexapod.robot.model import Friction, Leg
    from flexapod.robot.robot import Robot


@dataclass(frozen=True, kw_only=True)
class DrivenLegs:
    """Legs that are alike, one column for each.

    Args:
        packed: their maps; heat: (1 + k, legs) power of friction without loads and per load; rates: (1, legs) of the drives.
    """

    packed: Packed
    heat: SX
    rates: SX

    def power(self, loads: Sequence[SX]) -> SX:
        """Power [W] that the friction of all these legs turns into heat."""
        return ca.sum2(self.heat[0, :]) + sum((ca.dot(self.heat[1:, i], y) for i, y in enumerate(loads)), ca.SX(0))


@dataclass(frozen=True, kw_only=True)
class MovingPlatform:
    """Pose and twist of the platform, without acceleration, and gravity, world axes."""

    frame: FrameMotion
    gravity: Vec

    @property
    def column(self) -> SX:
        """(21,) position, rotation by columns, velocity, angular velocity, gravity."""
        f = self.frame
        return ca.vertcat(f.p.expr, ca.vec(f.R.expr), f.v.expr, f.w.expr, self.gravity.expr)

    @staticmethod
    def of(column: SX) -> MovingPlatform:
        """The platform of `column`."""
        p, v, w, g = (Vec(column[k : k + 3], "W") for k in (0, 12, 15, 18))
        frame = FrameMotion(p=p, R=Rot(ca.reshape(column[3:12], 3, 3), "W", "P"), v=v, w=w, a=zero("W"), alpha=zero("W"))
        return MovingPlatform(frame=frame, gravity=g)


def one_by_one(b: TakesChecks, values: Values, robot: Robot, platform: MovingPlatform, force: SX) -> list[DrivenLegs]:
    """Every leg by itself, under the forces (legs,) of the drives."""
    found = []
    for i, (leg, form) in enumerate(zip(robot.legs, robot.closed_forms, strict=True)):
        assert form is not None
        one, heat, rate = _driven(b, values, leg, form.sign, platform, force[i])
        found.append(DrivenLegs(packed=Packed(one), heat=heat, rates=rate))
    return found


def in_loops(b: Builder, values: Values, robot: Robot, platform: MovingPlatform, force: SX) -> list[DrivenLegs]:
    """Legs that are alike in loops of `b`; where they are not, every leg by itself."""
    first, count = robot.legs[0], len(robot.legs)
    if len({_shape(leg, form) for leg, form in zip(robot.legs, robot.closed_forms, strict=True)}) > 1:
        return one_by_one(b, values, robot, platform, force)
    form, recorder, own, at = robot.closed_forms[0], Recorder(), ca.SX.sym("force"), ca.SX.sym("platform", 21)
    assert form is not None
    one, heat, rate = _driven(recorder, Values(recorder), first, form.sign, MovingPlatform.of(at), own)  # type: ignore[arg-type]
    packed, prefix = Packed(one), f"legs.{first.name}."
    each, shared = [(own, force.T)], [(at, platform.column)]
    for name, (symbol, unit, doc) in recorder.numbers.items():
        if name.startswith(prefix):
            paths = [f"legs.{leg.name}.{name.removeprefix(prefix)}" for leg in robot.legs]
            each.append((symbol, ca.horzcat(*[values.program.parameter(path, unit=unit, doc=doc) for path in paths])))
        else:
            shared.append((symbol, values.program.parameter(name, unit=unit, doc=doc)))
    failing = ca.vertcat(*[ca.SX(condition) for condition, _ in recorder.checks])
    packed.entries, heat, rates, failed = map_in_layers(b, [packed.entries, heat, rate, failing], count, each=each, shared=shared)
    for i, leg in enumerate(robot.legs):
        for k, (_, message) in enumerate(recorder.checks):
            values.program.fail_if(failed[k, i], message, leg=leg.name)
    return [DrivenLegs(packed=packed, heat=heat, rates=rates)]


class Recorder:
    """Stands for a program while one leg is written for many: its numbers are symbols, its checks are kept."""

    def __init__(self) -> None:
        self.numbers: dict[str, tuple[SX, str, str]] = {}
        self.checks: list[tuple[SX, str]] = []

    def parameter(self, name: str, *, unit: str = "", doc: str = "") -> SX:
        """A symbol for a number."""
        return self.numbers.setdefault(name, (ca.SX.sym(name), unit, doc))[0]

    def fail_if(self, condition: SX, message: str, **_: object) -> None:
        """Keep a check; its only field is the leg."""
        self.checks.append((condition, message))


def _driven(
    b: TakesChecks, values: Values, leg: Leg, sign: int, platform: MovingPlatform, force: SX
) -> tuple[CarryingLeg, SX, SX]:
    """A leg under the force of its drive, heat of its friction (1 + k,), and the rate of the drive."""
    s = ca.SX.sym("s", 3)
    model = UniversalLeg(b, values.of(f"legs.{leg.name}"), leg, sign, platform.frame, more=s)
    points = friction_points([model], values)
    y, x = ca.SX.sym("y", sum(len(p.places) for p in points)), ca.SX.sym("x")
    load = with_friction(model, leg_loads(model, values, platform.gravity, True, True), points, y)
    drive, per_x = affine(model.finish(load, [x]).actuators[0], x)
    forces = model.finish(load, [(force - drive) / per_x])
    assert model.rotation is not None
    R, k, end = model.rotation.expr.T, y.numel(), forces.joints[-1]
    F, per_F = affine(end.force.expr, ca.vertcat(y, s))
    M, per_M = affine(end.moment.expr, y)
    P, per_P = affine(forces_at(points, forces), ca.vertcat(y, s))
    work = [ca.dot(rate, size) for p, one in zip(points, friction_of(points, y), strict=True) for rate, size in p.work(one)]
    heat, per_load = affine(-sum(work, ca.SX(0)), y)
    drives = [i for i, link in enumerate(leg.links) if link.actuated]
    carrying = CarryingLeg(
        R=R, r=model.arm.expr, F=F, G=per_F[:, k:], g=per_F[:, :k], M=ca.mtimes(R, M), m=ca.mtimes(R, per_M),
        P=P, L=per_P[:, :k], K=per_P[:, k:], loads=partial(loads_of, points),
    )  # fmt: skip
    return carrying, ca.densify(ca.vertcat(heat, per_load.T)), model.joints[drives[0]].rate


def _shape(leg: Leg, form: ClosedFormLeg | None) -> tuple[object, ...]:
    """All that the equations of a leg depend on besides its numbers."""
    links = [
        (k.joint, k.coordinate, k.kind, k.actuated, k.parent, bool(k.body), k.elastic, _rules(k.friction)) for k in leg.links
    ]
    end = leg.closing
    return (
        leg.architecture,
        leg.branch,
        None if form is None else form.sign,
        tuple(links),
        end.joint,
        end.type,
        _rules(end.friction),
    )


def _rules(friction: Friction | None) -> tuple[object, ...] | None:
    return None if friction is None else (friction.normal_rule, friction.direction, friction.speed is None)
