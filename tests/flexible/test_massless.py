"""Lumped masses without rotary inertia: every reduction condenses the rotations statically, against condensation by hand."""

import numpy as np
import pytest
from scipy import linalg, sparse

from flexapod.flexible import FlexibleBody, FlexibleBodyError, Section, from_matrices, material
from flexapod.flexible.beam_element import BeamElement
from flexapod.flexible.matrices import rigid_motions
from flexapod.flexible.normal_modes import DENSE

ROUNDING = 1e-7
"""Frequencies of stiffness matrices with condition 1e8."""

TUBE = Section.tube(outer=0.03, inner=0.02)
STEP = 0.05
MOMENTUM = 1e-12
"""Of mass-normalised modes: rounding; found 4e-16."""
FEW, MANY = 0.05, 5e-4
"""Errors of three frequencies with four and with twelve component modes; found 4e-3 and 2e-4."""


def frame(nodes: int, *, straight: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mass, stiffness and nodes of a line of beam elements, straight or bent twice; a lump of mass at every node."""
    along = np.tile(np.eye(3)[0], (nodes - 1, 1))
    if not straight:
        along[nodes // 3 :] = np.eye(3)[1]
        along[2 * nodes // 3 :] = np.eye(3)[2]
    at = STEP * np.vstack([np.zeros(3), np.cumsum(along, axis=0)])
    element = BeamElement(length=STEP, section=TUBE, material=material("steel"), planar=False, shear=False).stiffness()
    K = np.zeros((6 * nodes, 6 * nodes))
    for k, x in enumerate(along):
        y = np.roll(x, 1)
        axes = np.kron(np.eye(4), np.stack([x, y, np.cross(x, y)]))
        K[6 * k : 6 * k + 12, 6 * k : 6 * k + 12] += axes.T @ element @ axes
    lump = material("steel").density * TUBE.area * STEP
    return np.diag(np.tile([lump] * 3 + [0.0] * 3, nodes)), K, at


def condensed(M: np.ndarray, K: np.ndarray) -> np.ndarray:
    """Elastic angular frequencies after the rotations are condensed by hand."""
    t, r = np.flatnonzero(np.diag(M) > 0.0), np.flatnonzero(np.diag(M) == 0.0)
    stiff = K[np.ix_(t, t)] - K[np.ix_(t, r)] @ np.linalg.pinv(K[np.ix_(r, r)]) @ K[np.ix_(r, t)]
    values = linalg.eigh(stiff, M[np.ix_(t, t)], eigvals_only=True)
    return np.sqrt(values[values > 1e-8 * values[-1]])


@pytest.mark.parametrize("straight", [False, True])
@pytest.mark.parametrize("method", ["normal", "craig-bampton"])
def test_all_modes_are_the_condensed_ones(method: str, straight: bool) -> None:
    """A straight line of points has no inertia about itself: its spin is a rigid motion without inertia."""
    M, K, at = frame(14, straight=straight)
    exact = condensed(M, K)
    assert len(exact) == 42 - (5 if straight else 6)
    ends = {"root": 0, "tip": 13}
    count = len(exact) if method == "normal" else 36
    body = from_matrices(M, K, at, dofs_per_node=6, modes=count, method=method, interfaces=ends)
    assert len(body.angular_frequency) == len(exact)
    assert np.allclose(body.angular_frequency, exact, rtol=ROUNDING, atol=0)
    R = rigid_motions(at, 6)
    momentum = R.T @ (M @ shapes(body))
    assert np.abs(momentum).max() < MOMENTUM


def shapes(body: FlexibleBody) -> np.ndarray:
    assert body.nodes is not None
    assert body.nodes.Phi_r is not None
    return np.concatenate([body.nodes.Phi_d, body.nodes.Phi_r], axis=1).reshape(-1, len(body.M_ee))


@pytest.mark.parametrize("nodes", [20, DENSE // 6 + 20], ids=["dense", "sparse"])
def test_few_modes(nodes: int) -> None:
    """Normal modes are the lowest; component modes lie above them and come down to them."""
    M, K, at = frame(nodes, straight=False)
    exact = condensed(M, K)[:3]
    M, K = sparse.csc_array(M), sparse.csc_array(K)
    normal = from_matrices(M, K, at, dofs_per_node=6, modes=8)
    assert np.allclose(normal.angular_frequency[:3], exact, rtol=ROUNDING, atol=0)
    errors = []
    for count in (4, 12):
        body = from_matrices(
            M, K, at, dofs_per_node=6, modes=count, method="craig-bampton", interfaces={"root": 0, "tip": nodes - 1}
        )
        assert len(body.M_ee) == 12 - 6 + count
        errors.append(body.angular_frequency[:3] / exact - 1.0)
    assert (errors[1] > -ROUNDING).all()
    assert errors[1].max() < MANY < errors[0].max() < FEW


def test_statics_at_interfaces_with_massless_rotations() -> None:
    """A moment between two interfaces: exact in component modes, although the rotations have no inertia."""
    M, K, at = frame(14, straight=False)
    body = from_matrices(M, K, at, dofs_per_node=6, modes=2, method="craig-bampton", interfaces={"root": 0, "tip": 13})
    load = np.zeros(len(K))
    load[3:6], load[-3:] = [1.0, 2.0, -1.0], [-1.0, -2.0, 1.0]
    exact = load @ np.linalg.lstsq(K, load, rcond=1e-12)[0]
    modal = shapes(body).T @ load
    assert modal @ np.linalg.solve(body.K_ee, modal) == pytest.approx(exact, rel=ROUNDING)


def test_more_modes_than_have_inertia() -> None:
    M, K, at = frame(8, straight=False)
    with pytest.raises(FlexibleBodyError, match="modes must be at most 18, the elastic degrees of freedom with inertia, is 19"):
        from_matrices(M, K, at, dofs_per_node=6, modes=19)
    with pytest.raises(FlexibleBodyError, match="modes must be at most 18, the degrees of freedom beside the interfaces with"):
        from_matrices(M, K, at, dofs_per_node=6, modes=19, method="craig-bampton", interfaces={"root": 0, "tip": 7})
