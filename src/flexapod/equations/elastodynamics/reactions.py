r"""Joint reactions and friction of any robot, once its accelerations and the multipliers of its closing rows are known.

Cut at its closing joint, a leg carries what the joint passes on: multipliers :math:`\lambda` along the closing rows, friction.
One pass of Newton and Euler from the tips inwards gives the wrench at every joint. A platform that is a link of one leg gets from
that leg what the others and the load leave over.

.. math:: w_E = -\sum\lambda_r (l_r, t_r) + w_f,\qquad w_i = F_i + \sum_{j\ \text{on}\ i} w_j
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca

from flexapod.arrays import SX
from flexapod.equations.closing_rows import closing_rows
from flexapod.equations.elastodynamics.elastic_tree import beam_models, tree_wrenches
from flexapod.equations.elastodynamics.joint_forces import (
    LegView,
    friction_force,
    leg_views,
    sliding_points,
    spring_force,
)
from flexapod.equations.elastodynamics.loops import SLIDES, coupling_rows
from flexapod.equations.elastodynamics.point_forces import Stretched, force_element_states
from flexapod.equations.elastodynamics.program_state import RobotAt, TreeMotion, read_state, tree_motion
from flexapod.equations.newton_euler.friction_coupling import joint_friction
from flexapod.equations.newton_euler.friction_points import SOURCES, FrictionPoint, PointFriction
from flexapod.equations.newton_euler.leg import LegForces
from flexapod.equations.newton_euler.wrench import Wrench, none, wrench_outputs
from flexapod.equations.platform_inputs import wrench_input
from flexapod.equations.values import Values
from flexapod.kernels.tape.program import Program
from flexapod.robot.elastic_plan import cut_joints, driven_columns
from flexapod.robot.leg_positions import ROWS
from flexapod.robot.robot import Robot
from flexapod.spatial import Vec, cross
from flexapod.spatial.vector import zero


def elastic_friction(robot: Robot, sources: Sequence[str] = SOURCES) -> Program:
    """The program: a closed state and loads `load` (k,) of the joints with friction in; `friction` (z,) out, forces along the
    coordinates, of joints of the named kinds.

    Source: Kim 2002 Eqs. (30)-(31). Checked by: tests/analysis/test_general_dynamics.py.
    """
    b = Program("elastic_friction")
    values, state = Values(b), read_state(b, robot)
    motion = tree_motion(values, robot, state)
    points = sliding_points(values, robot, leg_views(values, robot, state, motion), True)
    force = friction_force(values, robot, motion, points, _input_friction(b, points, sources))
    b.output("friction", force, shape=(force.numel(),), dims=("coordinate",))
    return b


def _input_friction(b: Program, points: Sequence[FrictionPoint], sources: Sequence[str]) -> list[PointFriction]:
    """Friction of every point at the input `load`; none of kinds that are left out."""
    counts = [len(point.places) for point in points]
    load = b.input("load", (max(sum(counts), 1),), unit="N", doc="loads of the joints with friction")
    starts = [sum(counts[:k]) for k in range(len(counts))]
    still = PointFriction(axial={}, closing=none(), shown={}, carried={})
    return [
        point.friction_at([load[at + k] for k in range(n)]) if point.source in sources else still
        for point, at, n in zip(points, starts, counts, strict=True)
    ]


def elastic_reactions(robot: Robot, sources: Sequence[str] = ()) -> Program:
    """The program: a closed state, `coordinate_acceleration` (z,), `multiplier` (m,) of the closing rows, actuator `force`,
    `wrench` (6,) on the platform frame and, with friction of joints of the kinds `sources`, the joints' `load` in.

    Out: `reaction_force`, `reaction_moment` (joints, 3) of all joints that are no deformation, in the order of
    `reaction_joints`, as for `newton_euler`; with friction also `friction_force`, `friction_moment`, and `next_load` (k,), the
    loads that belong to these reactions.

    Source: Kim 2002 Eqs. (20)-(32), on the tree of Briot 2014. Checked by: tests/analysis/test_general_dynamics.py.
    """
    b = Program("elastic_reactions")
    values, state, size = Values(b), read_state(b, robot), len(robot.elastic_plan.columns)
    zdd = b.input("coordinate_acceleration", (size,), doc="of all coordinates")
    multiplier = b.input("multiplier", (max(len(all_rows(robot)), 1),), doc="of the closing rows")
    force = b.input("force", (len(robot.actuators),), unit="N or N m")
    wrench = wrench_input(b)
    motion = tree_motion(values, robot, state, zdd)
    views = leg_views(values, robot, state, motion, guides=True)
    points = sliding_points(values, robot, views, True) if sources else []
    found = _input_friction(b, points, sources) if sources else []
    at = RobotAt(b=b, values=values, robot=robot, state=state)
    whole = _crossing(at, motion, zdd, _ends(robot, motion, multiplier, points, found, wrench))
    along = _Along(acceleration=zdd, force=force, geared=_geared(values, robot, multiplier))
    carried, shown = (joint_friction(views, points, found, what) for what in ("carried", "shown"))
    reactions = [w for i, view in enumerate(views) for w in _reactions(at, i, view, along, whole[i], carried[i])]
    wrench_outputs(b, "reaction", reactions)
    if sources:
        rigid = [[k for k, link in enumerate(leg.links) if not link.elastic] + [len(leg.links)] for leg in robot.legs]
        cut = [[none()] * len(leg.cuts) for leg in robot.legs]
        wrench_outputs(b, "friction", [w for i, own in enumerate(rigid) for w in (*[shown[i][k] for k in own], *cut[i])])
        loads = _loads(points, whole)
        b.output("next_load", ca.vertcat(*loads) if loads else ca.SX(0), shape=(max(len(loads), 1),), unit="N", dims=("load",))
    return b


def next_loads(
    at: RobotAt, zdd: SX, multiplier: SX, points: Sequence[FrictionPoint], found: Sequence[PointFriction], wrench: SX
) -> SX:
    """Loads (k,) of the joints with friction at a state given as expressions; arguments as inputs of `elastic_reactions`.

    Args:
        points, found: joints with friction at the state, and their friction.
    """
    motion = tree_motion(at.values, at.robot, at.state, zdd)
    ends = _ends(at.robot, motion, multiplier, points, found, wrench)
    return ca.vertcat(*_loads(points, _crossing(at, motion, zdd, ends)))


def _loads(points: Sequence[FrictionPoint], whole: Sequence[Sequence[Wrench]]) -> list[SX]:
    """Loads of joints with friction under the wrenches that cross every leg's joints."""
    forces = [LegForces(actuators=(), joints=tuple(joints)) for joints in whole]
    return [load for point in points for load in point.loads(forces[point.leg])]


def _crossing(at: RobotAt, motion: TreeMotion, zdd: SX, ends: Sequence[list[Wrench]]) -> list[list[Wrench]]:
    """Per leg, the wrenches that cross the joints of its tree and its closing joints."""
    on_links = _on_links(at.robot, motion, ends, force_element_states(at.values, at.robot, motion))
    return [_joint_wrenches(at, i, motion, zdd, on_links[i]) + ends[i] for i in range(len(at.robot.legs))]


def all_rows(robot: Robot) -> list[tuple[int, int]]:
    """(leg, row) of all closing rows, also of those without effect, which hold a planar robot in its plane."""
    counts = [sum(len(ROWS[c.type]) for c in cut_joints(robot, i)) + len(leg.couplings) for i, leg in enumerate(robot.legs)]
    return [(i, k) for i, count in enumerate(counts) for k in range(count)]


def reaction_joints(robot: Robot) -> tuple[str, ...]:
    """Names of the joints whose reactions are given: of every leg those that are no deformation, then its closing joints."""
    return tuple(
        f"{leg.name}.{joint}"
        for leg in robot.legs
        for joint in (*[link.coordinate for link in leg.links if not link.elastic], *[c.joint for c in leg.closings])
    )


def _ends(
    robot: Robot, motion: TreeMotion, multiplier: SX, points: Sequence[FrictionPoint], found: Sequence[PointFriction],
    wrench: SX,
) -> list[list[Wrench]]:  # fmt: skip
    """Wrench of every leg at each of its closing joints, about the joint's far half."""
    plan, at = robot.elastic_plan, 0
    result: list[list[Wrench]] = []
    for i, cuts in enumerate(motion.cuts):
        result.append([])
        for cut in cuts:
            given = none()
            for row in closing_rows(robot.legs[i], cut.end, cut.half, cut.closing):
                slides = cut.closing.type in SLIDES and row.rotating
                angular = cross(cut.end.p - cut.half.p, row.linear) + row.angular if slides else row.angular
                given = given - Wrench(force=row.linear * multiplier[at], moment=angular * multiplier[at])
                at += 1
            result[i].append(given)
        at += len(robot.legs[i].couplings)
    for point, friction in zip(points, found, strict=True):
        if not point.links:
            result[point.leg][0] = result[point.leg][0] + friction.closing
    if plan.carrier is not None:
        here = motion.halves[plan.carrier].p
        rest = Wrench(force=Vec(-wrench[:3], "W"), moment=Vec(-wrench[3:], "W")).seen_from(motion.platform.p - here)
        for cuts, given_away in zip(motion.cuts, result, strict=True):
            for cut, given in zip(cuts, given_away, strict=True):
                if cut.closing.to is None:
                    rest = rest - given.seen_from(cut.half.p - here)
        result[plan.carrier].insert(0, rest)
    return result


def _on_links(
    robot: Robot, motion: TreeMotion, ends: Sequence[Sequence[Wrench]], forces: Sequence[Stretched]
) -> list[dict[int, list[Wrench]]]:
    """Per leg: link -> wrench that it exerts at closing joints and on force elements, about the link's origin; the far link
    of an inner loop gets it."""
    result: list[dict[int, list[Wrench]]] = [{} for _ in robot.legs]
    for i, (leg, given_away) in enumerate(zip(robot.legs, ends, strict=True)):
        centres = [cut.half.p for cut in motion.cuts[i]]
        centres = centres if i != robot.elastic_plan.carrier else [motion.halves[i].p, *centres]
        for closing, centre, given in zip(leg.closings, centres, given_away, strict=True):
            if closing.link >= 0:
                here = given.seen_from(centre - motion.links[i][closing.link].p)
                result[i].setdefault(closing.link, []).append(here)
            if closing.to is not None and closing.to[1] >= 0:
                k, link = closing.to
                result[k].setdefault(link, []).append(none() - given.seen_from(centre - motion.links[k][link].p))
    for force, found in zip(robot.forces, forces, strict=True):
        for end, point, sign in ((force.first, found.ends[0], -1), (force.second, found.ends[1], 1)):
            i, link = end.on
            if i >= 0:
                pull = Wrench(force=found.direction * (sign * found.tension), moment=zero("W"))
                result[i].setdefault(link, []).append(pull.seen_from(point - motion.links[i][link].p))
    return result


def _joint_wrenches(at: RobotAt, i: int, motion: TreeMotion, zdd: SX, given: dict[int, list[Wrench]]) -> list[Wrench]:
    """The whole wrench that crosses every joint of a leg's tree, about its centre."""
    gravity, own, links = at.values.vector("gravity", "W"), at.leg(i), motion.links[i]
    leg, elements = own.leg, beam_models(own, links, gravity)
    qdd = [zdd[own.first + k] for k in range(len(leg.moving))]
    bodies, _ = tree_wrenches(own.values, leg, elements, links, qdd, gravity)
    whole = list(bodies)
    for link, wrenches in given.items():
        for wrench in wrenches:
            whole[link] = whole[link] + wrench
    for k in reversed(range(len(whole))):
        parent = leg.links[k].parent
        if parent >= 0:
            whole[parent] = whole[parent] + whole[k].seen_from(links[k].p - links[parent].p)
    return whole


def _geared(values: Values, robot: Robot, multiplier: SX) -> SX:
    """Forces (z,) of couplings along the coordinates."""
    force, at = ca.SX.zeros(len(robot.elastic_plan.columns)), 0
    for i in range(len(robot.legs)):
        at += sum(len(ROWS[c.type]) for c in cut_joints(robot, i))
        for A, _ in coupling_rows(values, robot, i):
            force, at = force + A.T * multiplier[at], at + 1
    return force


@dataclass(frozen=True, kw_only=True)
class _Along:
    """Along all coordinates z: their accelerations, forces of the actuators (in their order) and of couplings."""

    acceleration: SX
    force: SX
    geared: SX


def _reactions(
    at: RobotAt, i: int, view: LegView, acting: _Along, whole: Sequence[Wrench], friction: Sequence[Wrench]
) -> list[Wrench]:
    """The whole wrench less actuator, rotor, spring, coupling and friction along the free directions."""
    own, drives, result = at.leg(i), driven_columns(at.robot), []
    leg = own.leg
    for k, (link, joint) in enumerate(zip(leg.links, view.joints, strict=True)):
        if link.elastic:
            continue
        rest = whole[k] - friction[k]
        if link.kind != "fixed":
            place = leg.moving.index(k)
            column = own.first + place
            along = acting.geared[column] - own.values.scalar(f"{link.coordinate}.rotor") * acting.acceleration[column]
            along = along + acting.force[drives.index(column)] if link.actuated else along
            if link.spring:
                along = along - spring_force(own.values, leg, k, own.q[place], own.qd[place])
            size = joint.axis * along
            still = none()
            rest = rest - (
                Wrench(force=still.force, moment=size) if link.kind == "R" else Wrench(force=size, moment=still.moment)
            )
        result.append(rest)
    closing = len(leg.links)
    return [*result, whole[closing] - friction[-1], *whole[closing + 1 :]]
