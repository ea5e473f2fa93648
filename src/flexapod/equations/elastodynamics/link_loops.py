r"""Closing rows of a robot whose legs are described in link axes: derivatives by all coordinates, second derivative at rest.

The same rows as `loops` gives from world axes; columns and accelerations of the joints come from the recursion inwards
(`link_point`). A platform that is a leg's own link is a point of that leg.
"""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca

from flexapod.arrays import SX
from flexapod.equations.closing_rows import closing_rows
from flexapod.equations.elastodynamics.link_motion import LinkMotion
from flexapod.equations.elastodynamics.link_point import link_point
from flexapod.equations.elastodynamics.loops import SLIDES, coupling_rows, mode_columns
from flexapod.equations.elastodynamics.program_state import Cut, TreeMotion, platform_columns
from flexapod.equations.platform_inputs import FrameMotion
from flexapod.equations.values import Values
from flexapod.robot.model import Closing
from flexapod.robot.robot import Robot
from flexapod.spatial import Vec, cross, dot

Twists = dict[int, tuple[Vec, Vec]]


def link_rows(
    values: Values, robot: Robot, legs: Sequence[Sequence[LinkMotion]], still: TreeMotion
) -> tuple[list[SX], list[SX]]:
    """Closing rows of every leg by all coordinates (m, z), and their second derivative at zero accelerations (m,).

    Args:
        legs: links of every leg.
        still: motion of a platform that is a body of its own.

    Source: Briot 2014 Eqs. (28)-(33). Checked by: tests/equations/test_link_axes.py.
    """
    plan = robot.elastic_plan
    matrices, drifts = [], []
    for i, leg in enumerate(robot.legs):
        found = []
        for cut in still.cuts[i]:
            own, name = values.of(f"legs.{leg.name}"), f"{cut.closing.joint}.on_link"
            R, p = own.rotation(f"{name}.R", "B", "H").expr, own.vector(f"{name}.p", "B").expr
            end = link_point(leg, legs[i], cut.closing.link, p, R, "H")
            half, carried = _half(values, robot, i, legs, still, cut)
            columns = {plan.first[i] + k: t for k, t in end.columns.items()}
            modes = mode_columns(robot, still, i) if cut.closing.to is None else {}
            found.append(_rows(robot, i, Cut(closing=cut.closing, end=end.frame, half=half), columns, carried, modes))
        found += [(A, ca.SX(0)) for A, _ in coupling_rows(values, robot, i)]
        matrices.append(ca.vertcat(ca.SX(0, len(plan.columns)), *[A for A, _ in found]))
        drifts.append(ca.vertcat(ca.SX(0, 1), *[drift for _, drift in found]))
    return matrices, drifts


def _half(
    values: Values, robot: Robot, i: int, legs: Sequence[Sequence[LinkMotion]], still: TreeMotion, cut: Cut
) -> tuple[FrameMotion, Twists]:
    """The far half of a cut joint of leg i, and the coordinates that move it."""
    plan = robot.elastic_plan
    if cut.closing.to is not None:
        k, link = cut.closing.to
        own, name = values.of(f"legs.{robot.legs[i].name}"), f"{cut.closing.joint}.on_platform"
        p, R = own.vector(f"{name}.p", "B").expr, own.rotation(f"{name}.R", "B", "H").expr
        point = link_point(robot.legs[k], legs[k], link, p, R, "H")
        return point.frame, {plan.first[k] + j: t for j, t in point.columns.items()}
    if plan.carrier is None:
        return cut.half, platform_columns(robot, plan, still, cut.half.p)
    carrier, first = robot.legs[plan.carrier], plan.first[plan.carrier]
    p, R = _on_carrier(values, robot, i, cut.closing)
    point = link_point(carrier, legs[plan.carrier], carrier.closing.link, p, R, "H")
    return point.frame, {first + k: t for k, t in point.columns.items()}


def _on_carrier(values: Values, robot: Robot, i: int, closing: Closing) -> tuple[SX, SX]:
    """Place and axes of a leg's joint on the link that is the platform, in its axes."""
    plan = robot.elastic_plan
    assert plan.carrier is not None
    carrier = robot.legs[plan.carrier]
    own, joint = values.of(f"legs.{carrier.name}"), carrier.closing.joint
    R_BP = ca.mtimes(own.rotation(f"{joint}.on_link.R", "B", "H").expr, own.rotation(f"{joint}.on_platform.R", "P", "H").expr.T)
    p_BP = own.vector(f"{joint}.on_link.p", "B").expr - ca.mtimes(R_BP, own.vector(f"{joint}.on_platform.p", "P").expr)
    there, name = values.of(f"legs.{robot.legs[i].name}"), f"{closing.joint}.on_platform"
    p = p_BP + ca.mtimes(R_BP, there.vector(f"{name}.p", "P").expr)
    return p, ca.mtimes(R_BP, there.rotation(f"{name}.R", "P", "H").expr)


def _rows(
    robot: Robot, i: int, cut: Cut, own: Twists, carried: Twists, modes: dict[int, tuple[Vec, Vec | None]]
) -> tuple[SX, SX]:
    end, half = cut.end, cut.half
    rows, slides = closing_rows(robot.legs[i], end, half, cut.closing), cut.closing.type in SLIDES
    A = ca.SX(len(rows), len(robot.elastic_plan.columns))
    for k, row in enumerate(rows):
        angular = cross(end.p - half.p, row.linear) + row.angular if slides and row.rotating else row.angular
        for j, (v, w) in carried.items():
            A[k, j] = -(dot(row.linear, v) + dot(angular, w))
        for j, (v, w) in own.items():
            A[k, j] = A[k, j] + dot(row.linear, v) + dot(row.angular, w)
        for j, (v, w_mode) in modes.items():
            A[k, j] = -(dot(row.linear, v) + (0 if w_mode is None else dot(angular, w_mode)))
    return A, ca.vertcat(*[row.rdd for row in rows])


def row_wrenches(
    values: Values, robot: Robot, i: int, legs: Sequence[Sequence[LinkMotion]], still: TreeMotion
) -> tuple[list[SX], list[SX]]:
    """Wrenches of every row of a leg that closes once: coefficients (6,) of the acceleration of its last link, and of the carrier
    link, in their axes.

    The second list is empty where the platform is a body of its own. Checked by: tests/equations/test_articulated.py.
    """
    leg, plan = robot.legs[i], robot.elastic_plan
    own, name = values.of(f"legs.{leg.name}"), f"{leg.closing.joint}.on_link"
    R, p = own.rotation(f"{name}.R", "B", "H").expr, own.vector(f"{name}.p", "B").expr
    end = link_point(leg, legs[i], leg.closing.link, p, R, "H").frame
    half, _ = _half(values, robot, i, legs, still, still.cuts[i][0])
    rows, slides = closing_rows(leg, end, half), leg.closing.type in SLIDES
    rotated = link_point(leg, legs[i], leg.closing.link, p, ca.SX.eye(3), "B").frame.R.expr.T
    first = [_wrench(rotated, p, row.linear.expr, row.angular.expr) for row in rows]
    if plan.carrier is None:
        return first, []
    carrier, at = robot.legs[plan.carrier], _on_carrier(values, robot, i, leg.closing)
    rotated = link_point(carrier, legs[plan.carrier], carrier.closing.link, at[0], ca.SX.eye(3), "B").frame.R.expr.T
    second = []
    for row in rows:
        angular = cross(end.p - half.p, row.linear) + row.angular if slides and row.rotating else row.angular
        second.append(-_wrench(rotated, at[0], row.linear.expr, angular.expr))
    return first, second


def _wrench(rotated: SX, p: SX, linear: SX, angular: SX) -> SX:
    force = ca.mtimes(rotated, linear)
    return ca.vertcat(force, ca.cross(p, force) + ca.mtimes(rotated, angular))
