r"""Force elements between two points of any robot: springs, dampers, constant forces.

.. math:: T = k\,(l - l_0) + d\,\dot l + T_0,\qquad h = T\,\frac{\partial l}{\partial z},\qquad
          \frac{\partial l}{\partial z_j} = n\cdot(v_{2j} - v_{1j}),\qquad U = \tfrac12 k\,(l-l_0)^2 + T_0\,l

n is the direction from the first point to the second, v_{ij} the velocity of point i per rate of coordinate j.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from flexapod.arrays import SX
from flexapod.equations.chain import chain_columns
from flexapod.equations.elastodynamics.program_state import TreeMotion, platform_columns
from flexapod.equations.platform_inputs import FrameMotion, PointMotion
from flexapod.equations.values import Values
from flexapod.robot.point_forces import PLATFORM, WORLD, End
from flexapod.robot.robot import Robot
from flexapod.spatial import Vec, dot
from flexapod.spatial.vector import zero


@dataclass(frozen=True, kw_only=True)
class Stretched:
    """A force element at a state: its ends, direction, length and rate, tension, and slope (z,) of the length."""

    ends: tuple[Vec, Vec]
    direction: Vec
    length: SX
    rate: SX
    tension: SX
    slope: SX
    stiffness: SX
    damping: SX
    energy: SX


def force_element_states(values: Values, robot: Robot, motion: TreeMotion) -> list[Stretched]:
    """Every force element of a robot.

    Checked by: tests/elastodynamics/test_point_forces.py.
    """
    result = []
    for force in robot.forces:
        own = values.of(f"forces.{force.name}")
        places = [_point(own, robot, motion, end, name) for end, name in ((force.first, "from"), (force.second, "to"))]
        (p1, v1, columns1), (p2, v2, columns2) = places
        gap = p2 - p1
        length = ca.sqrt(dot(gap, gap))
        n = gap * (1 / length)
        slope = ca.SX.zeros(len(robot.elastic_plan.columns))
        for sign, columns in ((-1, columns1), (1, columns2)):
            for j, v in columns.items():
                slope[j] = slope[j] + sign * dot(n, v)
        rate = dot(n, v2 - v1)
        k, d, preload = own.scalar("stiffness"), own.scalar("damping"), own.scalar("preload")
        stretch = length - own.scalar("length")
        result.append(
            Stretched(
                ends=(p1, p2), direction=n, length=length, rate=rate, tension=k * stretch + d * rate + preload, slope=slope,
                stiffness=k, damping=d, energy=k * stretch**2 / 2 + preload * length,
            )
        )  # fmt: skip
    return result


def _point(values: Values, robot: Robot, motion: TreeMotion, end: End, name: str) -> tuple[Vec, Vec, dict[int, Vec]]:
    """Position and velocity of an end, and its velocity per rate of every coordinate that moves it; world axes."""
    plan, p = robot.elastic_plan, values.vector(f"{name}.p", "B")
    if end.on == WORLD:
        return Vec(p.expr, "W"), zero("W"), {}
    if end.on == PLATFORM:
        point = _on(motion.platform, p)
        return point.p, point.v, {j: v for j, (v, _) in platform_columns(robot, plan, motion, point.p).items()}
    i, link = end.on
    point = _on(motion.links[i][link], p)
    columns = chain_columns(robot.legs[i], motion.poses[i], link, point.p)
    return point.p, point.v, {plan.first[i] + j: v for j, (v, _) in columns.items()}


def _on(frame: FrameMotion, p: Vec) -> PointMotion:
    moved = FrameMotion(R=frame.R.renamed("W", "B"), p=frame.p, v=frame.v, w=frame.w, a=frame.a, alpha=frame.alpha)
    return moved.point(p)
