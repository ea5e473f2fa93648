"""Legs in link axes: the same equation as in world axes, the bordered solve and the projection against NumPy."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
import pytest

import flexapod as fp
from flexapod.equations.elastodynamics import link_assembly
from flexapod.equations.elastodynamics.bordered_solve import bordered_solve
from flexapod.equations.elastodynamics.closing import elastic_closing
from flexapod.equations.elastodynamics.dynamics import elastic_forward_dynamics, elastic_inverse_dynamics, elastic_mass_matrix
from flexapod.equations.elastodynamics.joint_forces import joint_forces
from flexapod.equations.elastodynamics.link_motion import link_motions
from flexapod.equations.elastodynamics.link_point import link_point
from flexapod.equations.elastodynamics.loops import independent_rows
from flexapod.equations.elastodynamics.program_state import RobotAt, read_state, tree_motion
from flexapod.equations.elastodynamics.projection import projected_force, projected_mass
from flexapod.equations.elastodynamics.tree_forces import tree_forces
from flexapod.equations.values import Values
from flexapod.kernels.tape.program import Program
from flexapod.robot.elastic_plan import ElasticPlan, LegLoop
from support import world_axes
from support.plain import plain_kernel

DATA = Path(__file__).parents[1] / "data" / "elastodynamics"
NAMES = ["dualemps", "planar-3-rrr"]
MAKE = {"mass": elastic_mass_matrix, "forward": elastic_forward_dynamics, "inverse": elastic_inverse_dynamics}

ROUNDING = 1e-12
"""Of the largest entry; both derivations agree to some 1e-14."""

FORCES = 1e-9
"""Forces of a few newton are what is left of elastic accelerations around 1e6 m/s^2."""
BY_NUMPY = 1e-13
"""Relative, and of entries of size 1: matrices of eight rows; found 4e-15."""


@cache
def robot(name: str) -> fp.Robot:
    return fp.load(DATA / f"{name}.yaml")


@cache
def function(program: Program) -> Any:
    return ca.Function("f", [program.input_symbols, program.parameter_symbols], [program.results])


def evaluate(program: Program, values: Any, inputs: dict[str, Any]) -> dict[str, np.ndarray]:
    """Outputs by CasADi, without our kernels."""
    s, f = program.signature, function(program)
    given = [np.ravel(inputs[i.name]) for i in s.inputs]
    flat = np.array(f(np.concatenate(given), [values[p.name] for p in s.parameters])).ravel()
    found, at = {}, 0
    for o in s.outputs:
        found[o.name] = flat[at : at + o.size].reshape(o.shape)
        at += o.size
    return found


@cache
def program(name: str, which: str, axes: str) -> Program:
    if axes == "world":
        return getattr(world_axes, which)(robot(name))
    return MAKE[which](robot(name), **({} if which == "mass" else {"axes": axes}))  # type: ignore[operator]


@cache
def closing(name: str) -> Any:
    made = elastic_closing(robot(name))
    return plain_kernel(made), np.array([robot(name).values[p.name] for p in made.signature.parameters])


@cache
def states(name: str, count: int = 3) -> list[dict[str, np.ndarray]]:
    """Random closed states with deformations, forces and wanted accelerations."""
    r, random = robot(name), np.random.default_rng(11)
    elastic = [leg.links[i].elastic for leg in r.legs for i in leg.moving]
    kernel, values = closing(name)
    found = []
    for _ in range(count):
        start = np.concatenate([leg.home for leg in r.legs]) + random.uniform(-1, 1, len(elastic)) * np.where(elastic, 1e-3, 0.03)
        given = {"joint_position": start, "position": r.home.position, "rotation": r.home.rotation}
        given["independent_velocity"] = random.uniform(-0.5, 0.5, len(r.elastic_plan.independent))
        closed = kernel(parameters=values, **{i.name: given[i.name] for i in kernel.signature.inputs})
        found.append({
            "joint_position": closed["closed_position"], "joint_velocity": closed["closed_velocity"],
            "position": closed["platform_position"], "rotation": closed["platform_rotation"],
            "velocity": closed["platform_velocity"], "angular_velocity": closed["platform_angular_velocity"],
            "force": random.uniform(-10, 10, len(r.actuators)), "actuator_acceleration": random.uniform(-2, 2, len(r.actuators)),
        })  # fmt: skip
    return found


@pytest.mark.parametrize(
    ("which", "axes"),
    [("mass", "links"), ("forward", "links"), ("forward", "projected"), ("inverse", "links"), ("inverse", "projected")],
)
@pytest.mark.parametrize("name", NAMES)
def test_link_axes_equal_world_axes(name: str, which: str, axes: str) -> None:
    for s in states(name):
        one = evaluate(program(name, which, "world"), robot(name).values, s)
        two = evaluate(program(name, which, axes), robot(name).values, s)
        assert one.keys() == two.keys()
        for key, wanted in one.items():
            bound = FORCES if key in ("force", "power") else ROUNDING
            assert np.abs(two[key] - wanted).max() <= bound * np.abs(wanted).max(), key


@pytest.mark.parametrize("name", NAMES)
def test_points_of_legs_equal_the_recursion_in_world_axes(name: str) -> None:
    """Pose, twist and acceleration of every leg's end, and columns against differences of its position."""
    r = robot(name)
    b = Program("ends")
    values, state = Values(b), read_state(b, r)
    still = tree_motion(values, r, state)
    for i, leg in enumerate(r.legs):
        own, end = values.of(f"legs.{leg.name}"), f"{leg.closing.joint}.on_link"
        links = link_motions(own, leg, state.q[i], state.qd[i], ca.SX([0, 0, -9.81]))
        R, p = own.rotation(f"{end}.R", "B", "H").expr, own.vector(f"{end}.p", "B").expr
        point = link_point(leg, links, leg.closing.link, p, R, "H")
        for what in ("p", "v", "w", "a", "alpha", "R"):
            b.output(f"one{i}{what}", getattr(point.frame, what).expr)
            b.output(f"two{i}{what}", getattr(still.ends[i], what).expr)
        q = ca.vertcat(*state.q[i])
        chosen = sorted(point.columns)
        b.output(f"one{i}columns", ca.horzcat(*[point.columns[k][0].expr for k in chosen]))
        b.output(f"two{i}columns", ca.jacobian(still.ends[i].p.expr, q)[:, chosen])
    for s in states(name):
        found = evaluate(b, r.values, s)
        for key, value in found.items():
            if key.startswith("one"):
                other = found["two" + key[3:]]
                assert np.abs(value - other).max() <= ROUNDING * max(1.0, np.abs(other).max()), key


@pytest.mark.parametrize("name", ["gough-stewart-beams", "tripteron-flexible", "planar-3-rrr-springs"])
def test_legs_in_space_equal_those_in_world_axes(name: str) -> None:
    """Mass matrices and forces of the cut legs, in space and with gravity, at random coordinates: loops play no part."""
    r, random = robot(name), np.random.default_rng(5)
    size, found = len(r.elastic_plan.columns), []
    b = Program("links")
    q = link_assembly.link_equation(b, r)
    b.output("M", q.M)
    b.output("h", q.h)
    other = Program("world")
    values, state = Values(other), read_state(other, r)
    still = tree_motion(values, r, state)
    h = tree_forces(RobotAt(b=other, values=values, robot=r, state=state), still, ca.SX.zeros(size))
    other.output("M", world_axes.tree_mass(other, values, r, state, still))
    other.output("h", h + joint_forces(values, r, state, still, False))
    inputs = {i.name: random.uniform(-0.2, 0.2, i.shape) for i in other.signature.inputs}
    inputs["rotation"] = r.home.rotation
    found = [evaluate(p, r.values, inputs) for p in (b, other)]
    for key in ("M", "h"):
        assert np.abs(found[0][key] - found[1][key]).max() <= ROUNDING * np.abs(found[1][key]).max(), key


def sparse(M: np.ndarray) -> Any:
    return ca.sparsify(ca.SX(M))


def values_of(expression: Any) -> np.ndarray:
    return np.array(ca.evalf(ca.densify(expression)))


def test_bordered_solve_equals_numpy() -> None:
    """Two blocks that meet through rows; rows of the first block are eliminated with it."""
    random = np.random.default_rng(2)
    M = np.zeros((7, 7))
    for at in (slice(0, 4), slice(4, 7)):
        B = random.normal(size=(at.stop - at.start, 5))
        M[at, at] = B @ B.T
    A, right, gamma = random.normal(size=(3, 7)), random.normal(size=7), random.normal(size=3)
    A[2, :4] = 0.0
    for after in ([[0, 1, 2, 3], [0, 1, 2, 3], [4, 5, 6]], [list(range(7))] * 3):
        x, multiplier = (values_of(e).ravel() for e in bordered_solve(sparse(M), sparse(A), ca.SX(right), ca.SX(gamma), after))
        whole = np.block([[M, -A.T], [A, np.zeros((3, 3))]])
        wanted = np.linalg.solve(whole, np.append(right, -gamma))
        assert np.allclose(np.append(x, multiplier), wanted, rtol=BY_NUMPY, atol=BY_NUMPY)


@pytest.mark.parametrize("coupled", [False, True])
def test_projection_equals_the_matrix_product(coupled: bool) -> None:
    """N^T M N with bound coordinates that belong to different legs, or that are coupled among each other."""
    random = np.random.default_rng(3)
    B = random.normal(size=(8, 10))
    M = B @ B.T
    free, bound = [0, 2, 3, 5, 6], [1, 4, 7]
    M[np.ix_([0, 2], [4, 7])] = M[np.ix_([4, 7], [0, 2])] = 0.0
    if not coupled:
        M[np.ix_(bound, bound)] = np.diag(np.diag(M)[bound])
    X, h, beta = random.normal(size=(3, 5)), random.normal(size=8), random.normal(size=3)
    X[:, 3] = 0.0
    N = np.zeros((8, 5))
    N[free], N[bound] = np.eye(5), X
    found = values_of(projected_mass(sparse(M), sparse(X), free, bound))
    assert np.allclose(found, N.T @ M @ N, rtol=BY_NUMPY, atol=BY_NUMPY)
    force = values_of(projected_force(sparse(M), ca.SX(h), sparse(X), ca.SX(beta), free, bound)).ravel()
    assert np.allclose(force, N.T @ (h + M[:, bound] @ beta), rtol=BY_NUMPY, atol=BY_NUMPY)


def test_solved_rows_serve_where_rows_depend_on_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """With rows solved for the bound coordinates in place of the raw ones, accelerations are the same."""
    raw = program("dualemps", "forward", "links")
    monkeypatch.setattr(link_assembly, "independent_rows", lambda plan: None)
    solved = elastic_forward_dynamics(robot("dualemps"))
    for s in states("dualemps"):
        one, two = (evaluate(p, robot("dualemps").values, s)["coordinate_acceleration"] for p in (raw, solved))
        assert np.abs(one - two).max() <= ROUNDING * np.abs(one).max()


def test_rows_that_are_used() -> None:
    leg = LegLoop(rows=(0, 2), dependents=(1,), leftover=(), crossed=True)
    other = LegLoop(rows=(1,), dependents=(4,), leftover=(0, 2))
    base = {"carrier": None, "columns": ("a",) * 6, "first": (0, 3), "dependents": (), "independent": ()}
    assert independent_rows(ElasticPlan(legs=(leg, other), kept=(0, 2), **base)) == [[0, 2], [1, 2]]  # type: ignore[arg-type]
    assert independent_rows(ElasticPlan(legs=(leg, other), kept=(1,), **base)) is None  # type: ignore[arg-type]
