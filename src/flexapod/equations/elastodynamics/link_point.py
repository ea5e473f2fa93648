r"""Motion of a point of a leg in world axes, and its derivatives by all coordinates, by recursion inwards from the point.

The vector from a link's origin to the point is turned and lengthened link by link; a coordinate's column is made in its own
axes, where it is :math:`z\times r` or z, and turned along with the rest:

.. math:: x_i = R\,x_j + \text{what link } j \text{ adds in axes of } i
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca

from flexapod.arrays import SX
from flexapod.equations.elastodynamics.link_motion import LinkMotion, Z
from flexapod.equations.platform_inputs import FrameMotion
from flexapod.robot.model import Leg
from flexapod.spatial import Rot, Vec


@dataclass(frozen=True, kw_only=True)
class LinkPoint:
    """A frame fixed to a link, in the world.

    Args:
        frame: pose, twist and acceleration at zero accelerations of the coordinates.
        columns: index among the leg's moving coordinates -> unit twist (linear at the point, angular).
    """

    frame: FrameMotion
    columns: dict[int, tuple[Vec, Vec]]


def link_point(leg: Leg, links: Sequence[LinkMotion], link: int, p: SX, R: SX, name: str) -> LinkPoint:
    """A frame at p, rotated by R relative to a link's axes; `name` names its axes.

    Source: Briot 2014 Eqs. (28)-(33). Checked by: tests/equations/test_link_axes.py.
    """
    if link < 0:
        zero = Vec(ca.SX.zeros(3), "W")
        frame = FrameMotion(R=Rot(R, "W", name), p=Vec(p, "W"), v=zero, w=zero, a=zero, alpha=zero)
        return LinkPoint(frame=frame, columns={})
    body = links[link]
    r, v, a, w, alpha = p, ca.cross(body.w, p), ca.mtimes(body.U, p), body.w, body.alpha
    linear: dict[int, SX] = {}
    angular: dict[int, SX] = {}
    j = link
    while j >= 0:
        own, kind = links[j], leg.links[j].kind
        if kind != "fixed":
            k = leg.moving.index(j)
            linear[k] = ca.cross(ca.SX(Z), r) if kind == "R" else ca.SX(Z)
            angular[k] = ca.SX(Z) if kind == "R" else ca.SX.zeros(3)
        rotated = own.R
        r = own.r + ca.mtimes(rotated, r)
        v, a = own.dv + ca.mtimes(rotated, v), own.da + ca.mtimes(rotated, a)
        w, alpha, R = ca.mtimes(rotated, w), ca.mtimes(rotated, alpha), ca.mtimes(rotated, R)
        linear = {k: ca.mtimes(rotated, x) for k, x in linear.items()}
        angular = {k: ca.mtimes(rotated, x) for k, x in angular.items()}
        j = leg.links[j].parent
    frame = FrameMotion(R=Rot(R, "W", name), p=Vec(r, "W"), v=Vec(v, "W"), w=Vec(w, "W"), a=Vec(a, "W"), alpha=Vec(alpha, "W"))
    return LinkPoint(frame=frame, columns={k: (Vec(linear[k], "W"), Vec(angular[k], "W")) for k in linear})
