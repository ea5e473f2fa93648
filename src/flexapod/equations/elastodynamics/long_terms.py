r"""Equation of a robot with many beam elements, in numbers whose count grows with its coordinates, not with their square.

Letters of `element_loops`. Closing row k is the work of a wrench L_k on the link that it ends and of -L'_k on the far half, at a
unit rate of coordinate j,

.. math:: A_{kj} = L_k\cdot S_j\ (j\text{ moves the end}) - L'_k\cdot S_j\ (j\text{ moves the far half})

so that multipliers, like loads and friction at cut joints, are wrenches on links: r = h - A^T lambda comes from one pass inwards.
A wrench is written as force, moment and the point that it is about, (9,).
`analysis.long_chains` makes mass matrix, rows and forces of these.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca

from flexapod.arrays import SX
from flexapod.equations.chain import LinkPose
from flexapod.equations.closing_rows import closing_rows
from flexapod.equations.elastodynamics.element_loops import Inwards, LoopedLeg, demand_elements
from flexapod.equations.elastodynamics.joint_forces import Friction, leg_views, sliding_points, spring_energy, spring_force
from flexapod.equations.elastodynamics.leg_maps import legs_inwards, legs_outwards
from flexapod.equations.elastodynamics.loops import SLIDES, mode_columns
from flexapod.equations.elastodynamics.program_state import ElasticState, RobotAt, TreeMotion, joined, read_state
from flexapod.equations.elastodynamics.statics import used_rows
from flexapod.equations.elastodynamics.tree_forces import platform_terms
from flexapod.equations.elastodynamics.tree_inertia import rigid_composite
from flexapod.equations.elastodynamics.world_links import WorldLink, wrench_at
from flexapod.equations.flexible_platform.generalized_newton_euler import first_moments
from flexapod.equations.flexible_platform.stretching import platform_energy
from flexapod.equations.platform_inputs import FrameMotion, wrench_input
from flexapod.equations.values import Values
from flexapod.kernels.tape.program import Program
from flexapod.robot.element_runs import alike_legs, element_runs
from flexapod.robot.robot import Robot
from flexapod.spatial import Rot, Vec, cross, dot


@dataclass(frozen=True, kw_only=True)
class CutRow:
    """One closing row: wrenches (9,) on the end and, negative, on the far half; coefficients of the platform's modes (N,)."""

    leg: int
    link: int
    to: tuple[int, int] | None
    end: SX
    far: SX
    modes: SX
    residual: SX
    drift: SX


@dataclass(frozen=True, kw_only=True)
class LongRobot:
    """A robot while its terms are assembled by a program."""

    robot: Robot
    values: Values
    state: ElasticState
    legs: list[LoopedLeg]
    motion: TreeMotion
    rows: list[CutRow]


def long_robot(b: Program, robot: Robot, demand: bool = True) -> LongRobot:
    """Declare a state and go outwards: frames of all links, closing rows; `demand`: what elements demand as well."""
    values, state = Values(b), read_state(b, robot)
    gravity, runs, legs = values.vector("gravity", "W").expr, element_runs(robot), []
    for i, leg in enumerate(robot.legs):
        own = [run for run in runs if run.leg is leg]
        inside = {beam.name for run in own for beam in run.elements}
        short = [beam for beam in robot.beams.get(leg.name, ()) if beam.name not in inside]
        q, qd = (ca.vertcat(ca.SX(0, 1), *column[i]) for column in (state.q, state.qd))
        legs.append(LoopedLeg(leg=leg, values=values.of(f"legs.{leg.name}"), q=q, qd=qd, runs=own, short=short))
    for group in alike_legs(robot):
        legs_outwards(b, [legs[i] for i in group], gravity, demand)
    links = [{k: frame_motion(frame, gravity) for k, frame in own.frames.items()} for own in legs]
    poses = [[_pose(own.frames.get(k)) for k in range(len(own.leg.links))] for own in legs]
    motion = joined(values, robot, state, poses, links)
    return LongRobot(robot=robot, values=values, state=state, legs=legs, motion=motion, rows=_rows(robot, motion))


def frame_motion(frame: WorldLink, gravity: SX) -> FrameMotion:
    """The motion of a link by its origin."""
    return FrameMotion(
        R=Rot(frame.R, "W", "B"), p=Vec(frame.p, "W"), v=Vec(frame.v, "W"), w=Vec(frame.w, "W"),
        a=Vec(frame.a + gravity, "W"), alpha=Vec(frame.alpha, "W"),
    )  # fmt: skip


def _pose(frame: WorldLink | None) -> LinkPose:
    """The pose of a link; inside elements, where nothing slides, none is kept."""
    R, p = (ca.SX.eye(3), ca.SX.zeros(3)) if frame is None else (frame.R, frame.p)
    return LinkPose(R=Rot(R, "W", "B"), p=Vec(p, "W"))


def _rows(robot: Robot, motion: TreeMotion) -> list[CutRow]:
    """The rows that constrain anything, in the order of `used_rows`."""
    found: dict[tuple[int, int], CutRow] = {}
    for i, leg in enumerate(robot.legs):
        at = 0
        for cut in motion.cuts[i]:
            closing, end, half = cut.closing, cut.end, cut.half
            slides = closing.type in SLIDES
            point = end.p if slides else half.p
            for row in closing_rows(leg, end, half, closing):
                angular = cross(end.p - half.p, row.linear) + row.angular if slides and row.rotating else row.angular
                modes = [
                    -(dot(row.linear, v) + (0 if w is None else dot(angular, w)))
                    for v, w in (mode_columns(robot, motion, i) if closing.to is None else {}).values()
                ]
                found[i, at] = CutRow(
                    leg=i, link=closing.link, to=closing.to, modes=ca.vertcat(ca.SX(0, 1), *modes), residual=row.r, drift=row.rdd,
                    end=ca.vertcat(row.linear.expr, row.angular.expr, point.expr),
                    far=ca.vertcat(row.linear.expr, angular.expr, half.p.expr),
                )  # fmt: skip
                at += 1
    return [found[place] for place in used_rows(robot.elastic_plan)]


@dataclass(frozen=True, kw_only=True)
class Forces:
    """Forces that are left: of the platform's twist and modes (`head`), by leg."""

    head: SX
    mass: SX
    legs: list[Inwards]


def forces(b: Program, long: LongRobot, wrench: SX, multiplier: SX) -> Forces:
    """h - A^T lambda at zero accelerations, with springs and load, without friction.

    Args:
        wrench: (6,) on the platform frame; multiplier: (m,) of the rows.

    Source: Briot 2014 Eqs. (5)-(33). Checked by: tests/equations/test_element_loops.py.
    """
    robot, plan, motion = long.robot, long.robot.elastic_plan, long.motion
    outside: list[dict[int, SX]] = [{} for _ in robot.legs]
    head: list[SX] = [ca.SX.zeros(6), ca.SX.zeros(long.state.e.numel())]

    def act(place: tuple[int, int] | None, load: SX, size: SX | float = 1) -> None:
        if place is None and plan.carrier is not None:
            place = (plan.carrier, robot.legs[plan.carrier].closing.link)
        if place is None:
            head[0] = head[0] + size * wrench_at(load[6:] - motion.platform.p.expr, load[:3], load[3:6])
        elif place[1] >= 0:
            own = size * wrench_at(load[6:] - long.legs[place[0]].frames[place[1]].p, load[:3], load[3:6])
            outside[place[0]][place[1]] = outside[place[0]].get(place[1], ca.SX.zeros(6)) + own

    act(None, ca.vertcat(wrench, motion.platform.p.expr))
    for k, row in enumerate(long.rows):
        act((row.leg, row.link), row.end, multiplier[k])
        act(row.to, row.far, -multiplier[k])
        head[1] = head[1] + row.modes * multiplier[k] if row.modes.numel() else head[1]
    legs = _inwards(b, long, outside)
    _springs(long, legs)
    own, mass = ca.SX(0, 1), ca.SX(0, 0)
    if plan.carrier is None:
        own, mass = platform_terms(
            RobotAt(b=b, values=long.values, robot=robot, state=long.state), motion, ca.SX.zeros(len(plan.columns))
        )
        own = own - ca.vertcat(*head)
    return Forces(head=own, mass=mass, legs=legs)


def _inwards(b: Program, long: LongRobot, outside: Sequence[dict[int, SX]]) -> list[Inwards]:
    """`inwards` of all legs, alike ones in one loop."""
    groups = alike_legs(long.robot)
    demand_elements(b, [long.legs[group[0]] for group in groups if len(group) == 1])
    found: dict[int, Inwards] = {}
    gravity = long.values.vector("gravity", "W").expr
    for group in groups:
        legs, own = [long.legs[i] for i in group], [outside[i] for i in group]
        found |= zip(group, legs_inwards(b, legs, gravity, own), strict=True)
    return [found[i] for i in range(len(long.legs))]


def _springs(long: LongRobot, legs: list[Inwards]) -> None:
    """Add springs of joints."""
    for i, own in enumerate(long.legs):
        for k, index in enumerate(own.leg.moving):
            if own.leg.links[index].spring:
                legs[i].forces[index] = legs[i].forces[index] + spring_force(own.values, own.leg, index, own.q[k], own.qd[k])


def long_rows(robot: Robot) -> Program:
    """The program: a state in; axes and points of coordinates, closing rows, motion of the platform out, see `long_chains`.

    Checked by: tests/equations/test_element_loops.py.
    """
    b = Program("long_rows")
    long = long_robot(b, robot, demand=False)
    _row_outputs(b, long)
    frame = long.motion.platform
    for name, value, unit in (
        ("platform_position", frame.p.expr, "m"), ("platform_velocity", frame.v.expr, "m/s"),
        ("platform_angular_velocity", frame.w.expr, "rad/s"), ("platform_acceleration", frame.a.expr, "m/s^2"),
        ("platform_angular_acceleration", frame.alpha.expr, "rad/s^2"),
    ):  # fmt: skip
        b.output(name, value, shape=(3,), unit=unit, dims=("axis",))
    b.output("platform_rotation", frame.R.expr, shape=(3, 3), dims=("axis", "platform_axis"))
    return b


def long_terms(robot: Robot) -> Program:
    """The program: a state and `wrench` (6,) on the platform frame in; axes, rows, F, blocks and forces without friction out.

    Checked by: tests/equations/test_element_loops.py.
    """
    b = Program("long_terms")
    long = long_robot(b, robot)
    wrench = wrench_input(b)
    _row_outputs(b, long)
    found = forces(b, long, wrench, ca.SX.zeros(len(long.rows)))
    _force_outputs(b, long, found)
    for i, (own, leg) in enumerate(zip(long.legs, found.legs, strict=True)):
        if own.axes:
            rotor = [own.values.scalar(f"{own.leg.links[k].coordinate}.rotor") for k in own.axes]
            b.output(f"F_{i}", ca.horzcat(*[leg.F[k] for k in own.axes]), shape=(6, len(own.axes)))
            b.output(f"rotor_{i}", ca.vertcat(*rotor), shape=(len(own.axes),))
        for k, run in leg.runs.items():
            b.output(f"F_{i}_{k}", run.F, shape=run.F.shape)
            b.output(f"blocks_{i}_{k}", run.blocks, shape=run.blocks.shape)
        if leg.masses:
            b.output(f"within_{i}", ca.vertcat(*leg.masses.values()), shape=(len(leg.masses),))
    if found.mass.numel():
        b.output("head_mass", found.mass, shape=found.mass.shape)
    return b


def long_forces(robot: Robot) -> Program:
    """The program: a state, `wrench` (6,) and `multiplier` (m,) of the closing rows in; forces h - A^T lambda out.

    Checked by: tests/equations/test_element_loops.py.
    """
    b = Program("long_forces")
    long = long_robot(b, robot)
    wrench = wrench_input(b)
    multiplier = b.input("multiplier", (max(len(long.rows), 1),), doc="of the closing rows")
    _force_outputs(b, long, forces(b, long, wrench, multiplier))
    return b


def long_sliding(robot: Robot, friction: Friction) -> Program:
    """The program: a state in; friction along coordinates (`axial`) and wrenches (9,) at cut joints out.

    Checked by: tests/equations/test_element_loops.py.
    """
    b = Program("long_sliding")
    long = long_robot(b, robot, demand=False)
    views = leg_views(long.values, robot, long.state, long.motion)
    for k, point in enumerate(sliding_points(long.values, robot, views, friction)):
        found = point.friction_at([0] * len(point.places))
        if point.links:
            b.output(f"axial_{k}", ca.vertcat(*found.axial.values()), shape=(len(found.axial),))
            continue
        half, columns = long.motion.halves[point.leg], mode_columns(robot, long.motion, point.leg)
        force, moment = found.closing.force, found.closing.moment
        felt = [dot(v, force) + (0 if w is None else dot(w, moment)) for v, w in columns.values()]
        b.output(f"cut_{k}", ca.vertcat(force.expr, moment.expr, *felt), shape=(6 + len(felt),))
        b.output(f"point_{k}", half.p.expr, shape=(3,))
    return b


def sliding_places(robot: Robot, friction: Friction) -> list[tuple[int, tuple[int, ...]]]:
    """Leg of every output of `long_sliding`, and the links along which it acts; none for the joint at which the leg is cut."""
    b = Program("places")
    long = long_robot(b, robot, demand=False)
    points = sliding_points(long.values, robot, leg_views(long.values, robot, long.state, long.motion), friction)
    return [(point.leg, point.links) for point in points]


def long_potential(robot: Robot) -> Program:
    """The program: a closed state in; `gravity_potential`, `elastic_potential` [J] out.

    Checked by: tests/equations/test_element_loops.py.
    """
    b = Program("long_potential")
    long = long_robot(b, robot)
    gravity, elastic, weight = long.values.vector("gravity", "W"), ca.SX(0), ca.SX(0)
    for own, inner in zip(long.legs, _inwards(b, long, [{}] * len(long.legs)), strict=True):
        weight = weight - ca.dot(gravity.expr, inner.moment)
        elastic = elastic + inner.energy
        for k, index in enumerate(own.leg.moving):
            if own.leg.links[index].spring:
                elastic = elastic + spring_energy(own.values, own.leg.links[index], own.q[k])
    if robot.elastic_plan.carrier is None:
        body, frame = rigid_composite(long.values, "platform", long.motion.platform.R), long.motion.platform
        moment = body.S
        if long.state.e.numel():
            shape = robot.flexible_shape[0]
            moment = moment + frame.R @ Vec(ca.mtimes(first_moments(long.values.of("platform"), shape), long.state.e), "P")
            elastic = elastic + platform_energy(long.values.of("platform"), shape, long.state.e)
        weight = weight - dot(gravity, frame.p * body.m + moment)
    b.output("gravity_potential", weight, shape=(), unit="J")
    b.output("elastic_potential", elastic, shape=(), unit="J")
    return b


def _row_outputs(b: Program, long: LongRobot) -> None:
    for i, own in enumerate(long.legs):
        if own.axes:
            points = [ca.vertcat(z, own.frames[k].p) for k, z in own.axes.items()]
            b.output(f"S_{i}", ca.horzcat(*points), shape=(6, len(own.axes)))
        for k, coordinates in enumerate(own.coordinates):
            b.output(f"S_{i}_{k}", coordinates, shape=coordinates.shape)
            b.output(f"root_{i}_{k}", own.starts[k], shape=(3,))
    if not long.rows:
        return
    parts: dict[str, Sequence[SX]] = {name: [getattr(row, name) for row in long.rows] for name in ("end", "far", "modes")}
    for name, values in parts.items():
        if values[0].numel():
            b.output(f"rows_{name}", ca.horzcat(*values).T, shape=(len(values), values[0].numel()))
    b.output("residual", ca.vertcat(*[row.residual for row in long.rows]), shape=(len(long.rows),))
    b.output("drift", ca.vertcat(*[row.drift for row in long.rows]), shape=(len(long.rows),))


def _force_outputs(b: Program, long: LongRobot, found: Forces) -> None:
    for i, (own, leg) in enumerate(zip(long.legs, found.legs, strict=True)):
        if own.axes:
            b.output(f"h_{i}", ca.vertcat(*[leg.forces[k] for k in own.axes]), shape=(len(own.axes),))
        for k, run in leg.runs.items():
            b.output(f"h_{i}_{k}", run.forces, shape=run.forces.shape)
    if found.head.numel():
        b.output("head_force", found.head, shape=(found.head.numel(),))
