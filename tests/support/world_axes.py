r"""The equation of a robot with flexible legs in world axes: a second assembly, to check the one in link axes.

Forces by the recursion of Briot 2014 section 3 at :math:`\ddot z = \beta`, mass matrices by composite bodies from the tips
inwards. Letters as in `flexapod.equations.elastodynamics.link_assembly`; m, S, I mass, first moment and tensor of everything
beyond a joint.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import casadi as ca

from flexapod.equations.chain import LinkPose
from flexapod.equations.elastodynamics.dynamics import accelerations, is_direct
from flexapod.equations.elastodynamics.elastic_tree import beam_models
from flexapod.equations.elastodynamics.joint_forces import joint_forces
from flexapod.equations.elastodynamics.link_tree import branch_pairs
from flexapod.equations.elastodynamics.loops import loop_rows, solve_loops
from flexapod.equations.elastodynamics.program_state import ElasticState, RobotAt, TreeMotion, read_state, tree_motion
from flexapod.equations.elastodynamics.tree_forces import platform_load, platform_terms, tree_forces
from flexapod.equations.elastodynamics.tree_inertia import Composite, beam_composite, rigid_composite
from flexapod.equations.values import Values
from flexapod.equations.virtual_power.inertia_wrench import Wrench
from flexapod.kernels.tape.program import Program
from flexapod.robot.beams import ElasticElement
from flexapod.robot.elastic_plan import driven_columns
from flexapod.robot.model import Leg
from flexapod.robot.robot import Robot
from flexapod.spatial import Rot, Vec, cross, dot
from flexapod.spatial.linear import solve_gram_schmidt, solve_symmetric
from flexapod.spatial.vector import zero


def inverse(robot: Robot) -> Program:
    """Inverse dynamics, as `elastic_inverse_dynamics`, forces and accelerations from one system."""
    b, n = Program("elastic_inverse_dynamics"), len(robot.actuators)
    q = elastic_equation(b, robot)
    wanted = b.input("actuator_acceleration", (n,), unit="m/s^2 or rad/s^2")
    size = q.c.numel()
    system = ca.vertcat(ca.horzcat(q.M, -q.A.T), ca.horzcat(q.A, ca.SX.zeros(n, n)))
    x = solve_gram_schmidt(ca.densify(system), ca.vertcat(-q.c, wanted - q.gamma))
    b.output("force", x[size:], shape=(n,), unit="N or N m", dims=("actuator",))
    b.output("power", x[size:] * q.rates, shape=(n,), unit="W", dims=("actuator",))
    accelerations(b, robot, ca.mtimes(q.N, x[:size]) + q.beta)
    return b


def forward(robot: Robot) -> Program:
    """Forward dynamics, as `elastic_forward_dynamics`."""
    b, n = Program("elastic_forward_dynamics"), len(robot.actuators)
    q = elastic_equation(b, robot)
    force = b.input("force", (n,), unit="N or N m", doc="actuator forces")
    z = ca.mtimes(q.N, solve_symmetric(q.M, ca.mtimes(q.A.T, force) - q.c)) + q.beta
    b.output("actuator_acceleration", z[driven_columns(robot)], shape=(n,), dims=("actuator",))
    accelerations(b, robot, z)
    return b


def mass(robot: Robot) -> Program:
    """Mass matrix, as `elastic_mass_matrix`."""
    b, n = Program("elastic_mass_matrix"), len(robot.actuators)
    q = elastic_equation(b, robot)
    size = q.c.numel()
    b.output("mass_matrix", q.M, shape=(size, size), dims=("independent", "independent_"))
    b.output("bias", q.c, shape=(size,), dims=("independent",))
    if not is_direct(robot):
        b.output("actuator_map", q.A, shape=(n, size), dims=("actuator", "independent"))
        b.output("actuator_bias", q.gamma, shape=(n,), dims=("actuator",))
    return b


@dataclass(frozen=True, kw_only=True)
class ElasticEquation:
    """Terms in independent coordinates u, and the map from u back to all coordinates.

    Args:
        M, c: (n, n), (n,) mass matrix and all other forces.
        A: (actuators, n) actuator rates per independent rate; forces act through its transpose.
        gamma: (actuators,) actuator accelerations at u'' = 0.
        N, beta: (z, n), (z,) accelerations of all coordinates: N u'' + beta.
        rates: (actuators,).
    """

    M: Any
    c: Any
    A: Any
    gamma: Any
    N: Any
    beta: Any
    rates: Any


def elastic_equation(b: Program, robot: Robot, friction: bool = False, wrench: Any = None) -> ElasticEquation:
    """Declare the inputs of a state and assemble the equation.

    Args:
        friction: of the joints, as in the file (Eq. 27).
        wrench: (6,) on the platform frame at its origin, world axes.

    Source: Briot 2014 Eqs. (28)-(44). Used by: tests/equations/test_link_axes.py.
    """
    values, plan = Values(b), robot.elastic_plan
    state = read_state(b, robot)
    still = tree_motion(values, robot, state)
    rows, drifts, _ = loop_rows(values, robot, still)
    X, drift = solve_loops(plan, rows, drifts)
    bound, free, size = list(plan.bound), list(plan.independent), len(plan.columns)
    beta = ca.SX(size, 1)
    beta[bound] = drift
    beta = ca.densify(beta)
    motion = tree_motion(values, robot, state, beta)
    M_z = tree_mass(b, values, robot, state, motion)
    h = tree_forces(RobotAt(b=b, values=values, robot=robot, state=state), motion, beta) + joint_forces(
        values, robot, state, motion, friction
    )
    if wrench is not None:
        h = h - platform_load(robot, motion, wrench)
    N = ca.SX(size, len(free))
    N[free, :] = ca.SX.eye(len(free))
    N[bound, :] = X
    driven = driven_columns(robot)
    rates = ca.vertcat(*[state.qd[i][k] for i, leg in enumerate(robot.legs) for k in _driven(leg)])
    return ElasticEquation(
        M=_projected(M_z, X, free, bound),
        c=h[free] + ca.mtimes(X.T, h[bound]),
        A=N[driven, :],
        gamma=beta[driven],
        N=N,
        beta=beta,
        rates=rates,
    )


def _projected(M_z: Any, X: Any, free: list[int], bound: list[int]) -> Any:
    """N^T M_z N with N = (1; X): both mixed terms and half of the last in one product."""
    product = ca.mtimes(M_z[free, bound] + ca.mtimes(X.T, M_z[bound, bound]) / 2, X)
    lower = ca.tril(ca.densify(M_z[free, free] + product + product.T))
    return lower + ca.tril(lower, False).T


def _driven(leg: Any) -> list[int]:
    return [k for k, index in enumerate(leg.moving) if leg.links[index].actuated]


def tree_mass(b: Any, values: Values, robot: Robot, state: ElasticState, motion: TreeMotion) -> Any:
    """Mass matrix (z, z) of all bodies, loops cut."""
    plan, gravity = robot.elastic_plan, values.vector("gravity", "W")
    size = len(plan.columns)
    M, whole = ca.SX(size, size), RobotAt(b=b, values=values, robot=robot, state=state)
    if plan.carrier is None:
        matrix = platform_terms(whole, motion, ca.SX.zeros(size))[1]
        M[: matrix.shape[0], : matrix.shape[0]] = matrix
    for i, leg in enumerate(robot.legs):
        own, at = values.of(f"legs.{leg.name}"), slice(plan.first[i], plan.first[i] + len(leg.moving))
        elements = beam_models(whole.leg(i), motion.links[i], gravity)
        by_link = {k: (beam, R, model.M) for beam, R, model in elements.values() for k in beam.links}
        M[at, at] = leg_mass_matrix(own, leg, motion.poses[i], by_link)
    return M


def leg_mass_matrix(values: Values, leg: Leg, poses: list[LinkPose], beams: Mapping[int, tuple[ElasticElement, Rot, Any]]) -> Any:
    """Mass matrix (n, n) of a leg's moving coordinates, cut from the platform; only j <= k along the tree is non-zero.

    Args:
        beams: by elastic link: its element, the beam axes in the world and the element's mass matrix in beam axes.

    Source: Briot 2014 Eqs. (9)-(27) in closed form.
    """
    n, moving = len(leg.moving), leg.moving
    composites = _composites(values, leg, poses, beams)
    M = ca.SX(n, n)
    for k, i in enumerate(moving):
        z = poses[i].z
        body = composites[i]
        wrench = Wrench(force=cross(z, body.S), moment=Vec(ca.mtimes(body.I, z.expr), "W"))
        if leg.links[i].kind == "P":
            wrench = Wrench(force=z * body.m, moment=cross(body.S, z))
        M[k, k] = values.scalar(f"{leg.links[i].coordinate}.rotor")
        j = i
        while j >= 0:
            if leg.links[j].kind != "fixed":
                row = moving.index(j)
                felt = dot(poses[j].z, wrench.moment if leg.links[j].kind == "R" else wrench.force)
                M[row, k] = M[row, k] + felt + _within(beams, i, j)
                M[k, row] = M[row, k]
            parent = leg.links[j].parent
            if parent >= 0:
                wrench = wrench.seen_from(poses[j].p - poses[parent].p)
                if i in beams and parent == beams[i][0].root:
                    wrench = wrench + _coupling(beams, i)
            j = parent
    for beam, own in {beam.name: (beam, full[6:, 6:]) for beam, _, full in beams.values()}.values():
        for row, k, value in branch_pairs(leg, beam, own):
            M[row, k], M[k, row] = M[row, k] + value, M[k, row] + value
    return M


def _composites(
    values: Values, leg: Leg, poses: list[LinkPose], beams: Mapping[int, tuple[ElasticElement, Rot, Any]]
) -> list[Composite]:
    """Composite body of everything beyond each joint, about the joint's frame."""
    result = []
    for i, link in enumerate(leg.links):
        rigid = link.body is not None and link.body.flexible is None
        none = Composite(m=ca.SX(0), S=zero("W"), I=ca.SX.zeros(3, 3))
        result.append(rigid_composite(values, f"{link.coordinate}.body", poses[i].R.renamed("W", "B")) if rigid else none)
    for beam, R, M in {beam.name: (beam, R, M) for beam, R, M in beams.values()}.values():
        result[beam.root] = together(result[beam.root], beam_composite(R, M))
    for i in reversed(range(len(leg.links))):
        parent = leg.links[i].parent
        if parent >= 0:
            result[parent] = together(result[parent], moved(result[i], poses[i].p - poses[parent].p))
    return result


def together(one: Composite, other: Composite) -> Composite:
    """Sum of two bodies about the same point."""
    return Composite(m=one.m + other.m, S=one.S + other.S, I=one.I + other.I)


def moved(body: Composite, r: Vec) -> Composite:
    """The same bodies about a point from which their own is at r."""
    S, x = body.S.expr, r.expr
    mixed = ca.mtimes(x, (body.S + r * (body.m / 2)).expr.T)
    extra = 2 * ca.trace(mixed) * ca.SX.eye(3) - mixed - mixed.T
    return Composite(m=body.m, S=Vec(S + body.m * x, "W"), I=body.I + extra)


def _coupling(beams: Mapping[int, tuple[ElasticElement, Rot, Any]], i: int) -> Wrench:
    """Wrench at an element's root per elastic acceleration."""
    beam, R, M = beams[i]
    k = 6 + beam.links.index(i)
    return Wrench(force=R @ Vec(M[:3, k], R.from_), moment=R @ Vec(M[3:6, k], R.from_))


def _within(beams: Mapping[int, tuple[ElasticElement, Rot, Any]], i: int, j: int) -> Any:
    """Elastic mass between two coordinates of one element."""
    if i not in beams or j not in beams or beams[i][0] is not beams[j][0]:
        return 0
    beam, _, M = beams[i]
    return M[6 + beam.links.index(j), 6 + beam.links.index(i)]
