"""Joints with friction: each of them, its load, and the effect of its friction on the leg.

A universal or spherical joint inside a leg is two or three links; with friction along the relative angular velocity its
moment acts between the bodies outside (Kim Eq. 31), otherwise each axis has its own friction.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING, Literal

import casadi as ca

from flexapod.arrays import SX, Mask, Scalar
from flexapod.equations.friction import Coefficients, axis_friction, bearing_load, guide_load, read_coefficients, vector_friction
from flexapod.equations.newton_euler.leg import LegForces, LegModel
from flexapod.equations.newton_euler.wrench import Wrench, none
from flexapod.equations.values import Values
from flexapod.errors import InputError
from flexapod.kernels.tape.roles import TakesChecks
from flexapod.spatial import Vec, dot
from flexapod.spatial.vector import zero

if TYPE_CHECKING:
    from flexapod.robot.robot import Robot

Source = Literal["prismatic", "universal", "spherical", "revolute"]
BY_LINKS: dict[str, Source] = {"P": "prismatic", "R": "revolute", "RR": "universal", "RRR": "spherical"}
UNLOADED = 1e-100
"""Reaction force [N] of a bearing below which its direction says nothing; added, so that no weight is zero."""
UNDETERMINED = (
    "friction of joint {joint} depends on a reaction that is statically indeterminate with rigid bodies; set friction=False, "
    "or give the joint a constant or viscous friction"
)
SOURCES: tuple[Source, ...] = ("prismatic", "universal", "spherical", "revolute")


@dataclass(frozen=True, kw_only=True)
class PointFriction:
    """Friction of one point.

    Args:
        axial: by link index, force or moment along the coordinate, on the link.
        closing: on the platform, about the closing centre.
        shown: by joint index (closing: number of links), what is reported there.
        carried: by joint index, what passes the joint beside its reaction.
    """

    axial: dict[int, SX]
    closing: Wrench
    shown: dict[int, Wrench]
    carried: dict[int, Wrench]


@dataclass(frozen=True, kw_only=True, eq=False)
class FrictionPoint:
    """A joint with friction.

    Args:
        leg: index of its leg.
        joint: its name in the file.
        source: kind of joint, by which contributions are added up.
        links: indices of its links; empty for the closing joint.
        driven: it acts along an actuated coordinate, so its friction reaches nothing but the actuator.
        loaded: its reaction is determined; otherwise friction that depends on it is refused, see `refuse_open_loads`.
    """

    model: LegModel
    leg: int
    joint: str
    source: Source
    coefficients: Coefficients
    links: tuple[int, ...]
    driven: bool
    loaded: bool = True

    @property
    def places(self) -> tuple[int, ...]:
        """Joint indices whose force loads the point."""
        if not self.links:
            return (len(self.model.joints),)
        return self.links if self.coefficients.per_axis else self.links[-1:]

    def loads(self, forces: LegForces) -> list[SX]:
        """Normal force of a guide, or reaction force of a bearing, per place [N]."""
        return [self.load(place, forces.joints[place].force) for place in self.places]

    def load(self, place: int, force: Vec) -> SX:
        """Normal force of a guide, or reaction force of a bearing, under the force that crosses a joint [N]."""
        return self.sloped_load(self.components(place, force))[0]

    def components(self, place: int, force: Vec) -> SX:
        """Components of the force through a joint that load the point: (2,) across a guide, (3,) of a bearing [N]."""
        if self.source != "prismatic":
            return force.expr
        guide = self.model.joints[place].guide if self.links else self.model.closing.guide
        assert guide is not None
        return ca.vertcat(*[dot(axis, force) for axis in guide])

    def sloped_load(self, components: SX) -> tuple[SX, SX, SX]:
        """The load Y, a weight w > 0 and the row w Y' by the components: of a norm, w = Y and w Y' needs no division."""
        if not self.loaded:
            return ca.SX(0), ca.SX(1), ca.SX(1, components.numel())
        if self.source != "prismatic":
            load = bearing_load(Vec(components, "W"))
            return load, load + UNLOADED, components.T
        rule, f = self.coefficients.rule, ca.SX.sym("f", 2)
        load = guide_load(components[0], components[1], rule)
        if rule == "norm":
            return load, load + UNLOADED, components.T
        return load, ca.SX(1), ca.substitute(ca.jacobian(guide_load(f[0], f[1], rule), f), f, components)

    def friction_at(self, loads: Sequence[Scalar]) -> PointFriction:
        """Friction for given loads."""
        return self._inside(loads) if self.links else self._closing(loads)

    def work(self, found: PointFriction) -> list[tuple[SX, SX]]:
        """Rates of the joint and the forces of friction along them: of its links' coordinates, or of the closing joint."""
        closing = self.model.closing
        if self.links:
            return [(self.model.joints[i].rate, size) for i, size in found.axial.items()]
        if self.source in ("revolute", "prismatic"):
            linear, angular = closing.axes[0]
            return [(closing.rates[0], dot(linear, found.closing.force) + dot(angular, found.closing.moment))]
        return [(closing.angular.expr, found.closing.moment.expr)]

    def _inside(self, loads: Sequence[Scalar]) -> PointFriction:
        joints, c = self.model.joints, self.coefficients
        axial: dict[int, SX] = {}
        shown: dict[int, Wrench] = {}
        if len(self.links) == 1 or c.per_axis:
            for i, load in zip(self.links, loads, strict=True):
                axial[i] = axis_friction(c, joints[i].rate, load)
                shown[i] = _along(joints[i].axis * axial[i], joints[i].kind == "P")
            return PointFriction(axial=axial, closing=none(), shown=shown, carried=shown)
        w = zero("W")
        for i in self.links:
            w = w + joints[i].axis * joints[i].rate
        moment = vector_friction(c, w, loads[0])
        axial = {i: dot(joints[i].axis, moment) for i in self.links}
        shown = {i: _along(joints[i].axis * axial[i], False) for i in self.links}
        return PointFriction(axial=axial, closing=none(), shown=shown, carried={i: _along(moment, False) for i in self.links})

    def _closing(self, loads: Sequence[Scalar]) -> PointFriction:
        closing, c, load = self.model.closing, self.coefficients, loads[0]
        if self.source in ("revolute", "prismatic"):
            linear, angular = closing.axes[0]
            size = axis_friction(c, closing.rates[0], load)
            on_platform = Wrench(force=linear * size, moment=angular * size)
        elif c.per_axis:
            axes = list(closing.frame) if self.source == "spherical" else [angular for _, angular in closing.axes]
            rates = closing.rates or tuple(dot(axis, closing.angular) for axis in axes)
            moment = zero("W")
            for axis, rate in zip(axes, rates, strict=True):
                moment = moment + axis * axis_friction(c, rate, load)
            on_platform = _along(moment, False)
        else:
            on_platform = _along(vector_friction(c, closing.angular, load), False)
        here = {len(self.model.joints): on_platform}
        return PointFriction(axial={}, closing=on_platform, shown=here, carried=here)


def friction_points(models: Sequence[LegModel], values: Values) -> list[FrictionPoint]:
    """All joints with friction, leg by leg from the base outwards."""
    result = []
    for number, model in enumerate(models):
        own = values.of(f"legs.{model.leg.name}")
        indexed = [(i, k) for i, k in enumerate(model.leg.links) if k.friction is not None and not k.elastic]
        for joint, group in groupby(indexed, key=lambda pair: pair[1].joint):
            members = list(group)
            kinds = "".join(link.kind for _, link in members)
            if "P" in kinds and len(kinds) > 1:
                raise _no_cylinder(model, joint)
            source = BY_LINKS[kinds]
            first = members[0][1]
            assert first.friction is not None
            result.append(
                FrictionPoint(
                    model=model, leg=number, joint=joint, source=source, links=tuple(i for i, _ in members),
                    coefficients=read_coefficients(own, joint, first.friction, kinds == "P"),
                    driven=any(link.actuated for _, link in members),
                )
            )  # fmt: skip
        result += _closing_point(model, number, own)
    return result


def load_count(robot: Robot) -> int:
    """Number of loads that the friction of all legs depends on: see `FrictionPoint.places`."""
    total = 0
    for leg in robot.legs:
        having = [link for link in leg.links if link.friction is not None and not link.elastic]
        for _, group in groupby(having, key=lambda link: link.joint):
            members = list(group)
            total += len(members) if members[0].friction.direction == "per_axis" else 1  # type: ignore[union-attr]
        total += leg.closing.friction is not None
    return total


def refuse_open_loads(
    b: TakesChecks, models: Sequence[LegModel], points: Sequence[FrictionPoint], mask: Mask
) -> list[FrictionPoint]:
    """Points with reactions that rigid bodies leave undetermined: a status where their friction would depend on them.

    Args:
        mask: (joints, 2, 3) undetermined components, all legs in order.
    """
    result = []
    starts = [sum(len(m.joints) + 1 for m in models[:k]) for k in range(len(models))]
    for point in points:
        at = starts[point.leg]
        if any(mask[at + place, 0].any() for place in point.places):
            b.fail_if(
                ca.SX(point.coefficients.load) != 0,
                UNDETERMINED,
                joint=f"{point.model.leg.name}.{point.joint}",
            )
            point = replace(point, loaded=False)
        result.append(point)
    return result


def _closing_point(model: LegModel, number: int, values: Values) -> list[FrictionPoint]:
    closing = model.leg.closing
    if closing.friction is None:
        return []
    if closing.type == "cylindrical":
        raise _no_cylinder(model, closing.joint)
    source: Source = closing.type  # type: ignore[assignment]
    coefficients = read_coefficients(values, closing.joint, closing.friction, source == "prismatic")
    return [
        FrictionPoint(
            model=model, leg=number, joint=closing.joint, source=source, links=(), coefficients=coefficients, driven=False
        )
    ]


def _no_cylinder(model: LegModel, joint: str) -> InputError:
    return InputError(
        f"friction of joint {model.leg.name}.{joint}: a cylindrical joint slides and turns, and one coefficient cannot describe "
        "both; write it as a prismatic and a revolute joint"
    )


def _along(vector: Vec, linear: bool) -> Wrench:
    return Wrench(force=vector if linear else zero("W"), moment=zero("W") if linear else vector)
