"""The trace test: it closes on complete lists, does not on lists that lack a pose, and finds poses that were left out."""

import numpy as np
import pytest

import flexapod as fp
from flexapod.analysis.poses import trace_test as module
from flexapod.analysis.poses.complex_loops import Points
from flexapod.analysis.poses.operation_modes import generic_solutions
from flexapod.analysis.poses.trace_test import STRAIGHT, SlicedLoops, _bend, _moved, trace_test

BENT = 100 * STRAIGHT  # second difference of sums that lack a point, apart from what counts as straight; complete ones have 1e-15
LENGTHS = 1e-10  # leg lengths [m] by their formula; found to 1e-14
DERIVATIVE = 1e-6  # central differences with a step of 1e-5, error of second order


def test_derivatives_of_the_sliced_equations():
    loops, generic = generic_solutions(fp.load("five-bar"))
    random = np.random.default_rng(2)
    normal = lambda *n: random.normal(size=n) + 1j * random.normal(size=n)  # noqa: E731
    sliced = SlicedLoops(loops, generic.q, normal(2))
    x = sliced.at_slice(generic.x, normal(14))  # at t = 0 the loops are closed; rows of open ones are not derivatives
    step, change = 1e-5 * normal(len(x), sliced.unknowns), 1e-5 * normal(14)
    _, rows, by_slice = sliced.evaluate(x)
    ahead, behind = (sliced.evaluate(sliced.moved(x, sign * step))[0] for sign in (1, -1))
    assert np.abs((ahead - behind) / 2 - (rows @ step[..., None])[..., 0]).max() < DERIVATIVE * np.abs(step).max()
    values = []
    for sign in (1, -1):
        q = x.q.copy()
        q[:, sliced.driven] += sign * change
        values.append(sliced.evaluate(Points(p=x.p, R=x.R, q=q))[0])
    assert np.abs((values[0] - values[1]) / 2 - by_slice @ change).max() < DERIVATIVE * np.abs(change).max()


def test_the_test_finds_what_was_left_out(monkeypatch):
    """One of the two poses of a five-bar: the sums bend until all points of a slice are there, and the other pose comes back."""
    loops, generic = generic_solutions(fp.load("five-bar"))
    bends = []
    monkeypatch.setattr(module, "_bend", lambda *given: bends.append(_bend(*given)) or bends[-1])
    found = trace_test(loops, generic.q, generic.x.at(slice(0, 1)), seed=2)
    assert found.complete
    assert found.degree == 8
    assert len(found.x) == 2
    assert bends[-1][0] < STRAIGHT
    assert all(bend > BENT for bend, _ in bends[:-1])


def test_lists_that_lack_a_point_bend():
    loops, generic = generic_solutions(fp.load("dualemps"))
    random = np.random.default_rng(5)
    normal = lambda n: random.normal(size=n) + 1j * random.normal(size=n)  # noqa: E731
    sliced, still = SlicedLoops(loops, generic.q, loops.robot.size * normal(len(generic.q))), np.zeros(14, dtype=complex)
    still[12], base, shift = 1.0, normal(14), np.zeros(14, dtype=complex)
    shift[13] = 1.0
    points = _moved(sliced, sliced.at_slice(generic.x, still), still, base)
    assert len(points) == 2  # of four
    assert _bend(sliced, points, base, shift, normal(13))[0] > BENT


@pytest.mark.parametrize(("name", "count"), [("five-bar", 2), ("tripteron", 1), ("dualemps", 2)])
def test_lists_without_a_proven_bound_are_trace_tested(name, count):
    robot = fp.load(name)
    q = np.concatenate([leg.home for leg in robot.legs])[list(robot.driven)] + 0.01
    found = fp.assembly_modes(robot, q)
    assert int(found["complex_count"]) == count
    assert str(found["completeness"].values) == "trace-tested"
    assert "no other pose" in str(found["detail"].values)
    assert str(fp.assembly_modes(robot, q, certify=False)["completeness"].values) == "unknown"


def test_the_tricept_has_twenty_four_poses():
    """24: the dimension of the quotient ring of its three leg equations in (cos, sin) of both hip angles and the length of the
    centre leg, by a Groebner basis modulo 32003 with random sizes and lengths; 28 without its symmetry."""
    robot = fp.load("tricept")
    q = np.concatenate([leg.home for leg in robot.legs])[list(robot.driven)] + np.array([0.02, -0.03, 0.05])
    found = fp.assembly_modes(robot, q)
    assert int(found["complex_count"]) == 24
    assert str(found["completeness"].values) == "trace-tested"
    assert "trace test of degree 56" in str(found["detail"].values)
    p, R = found["position"].values, found["rotation"].values
    angle = 2.0 * np.pi * np.arange(3) / 3.0
    radial = np.stack([np.cos(angle), np.sin(angle), 0.0 * angle], axis=1)
    legs = p[:, None] + (0.22 * radial + np.array([0.0, 0.0, 0.05])) @ np.swapaxes(R, 1, 2) - 0.55 * radial
    assert np.abs(np.linalg.norm(legs, axis=2) - np.abs(q)).max() < LENGTHS
    assert np.abs(R[:, 0, 1]).max() < LENGTHS, "a rotation about x, then about y"
    assert np.abs(np.einsum("nij,ni->nj", R, p)[:, :2]).max() < LENGTHS, "the centre leg points at the platform"
