"""Shape integrals against their definitions, node by node, and against the kinetic energy of the points."""

import numpy as np
import pytest
from bodies import hat, point_kinetic_energy, random_nodes, sources

from flexapod.flexible import FlexibleBody, FlexibleBodyError, Nodes
from flexapod.flexible.shape_integrals import shape_integrals

ROUNDING = 1e-13
"""Sums of a few dozen products."""

MANY_ROUNDINGS = 1e-11
"""Sums over ten thousand points, energies with cancelling terms."""

BODIES = sources()


def close(a: object, b: object, tolerance: float) -> bool:
    a, b = np.asarray(a), np.asarray(b)
    return bool(np.abs(a - b).max() <= tolerance * max(np.abs(b).max(), 1e-300))


def test_integrals_are_their_definitions() -> None:
    """Briot 2014, Eqs. (56)-(60), with loops and cross products."""
    nodes = random_nodes(np.random.default_rng(1))
    found = shape_integrals(nodes)
    N = nodes.Phi_d.shape[2]
    both = list(zip(nodes.r0, nodes.mass, nodes.Phi_d, strict=True))
    assert close(found.mass, sum(m for _, m, _ in both), ROUNDING)
    assert close(found.MS_r, sum(m * r for r, m, _ in both), ROUNDING)
    assert close(found.I_rr, sum(m * hat(r).T @ hat(r) for r, m, _ in both), ROUNDING)
    for k in range(N):
        assert close(found.MS_de[:, k], sum(m * p[:, k] for _, m, p in both), ROUNDING)
        assert close(found.beta[:, k], sum(m * np.cross(r, p[:, k]) for r, m, p in both), ROUNDING)
        assert close(found.I_re[k], sum(m * hat(r).T @ hat(p[:, k]) for r, m, p in both), ROUNDING)
        for i in range(N):
            expected = sum(m * np.cross(p[:, k], p[:, i]) for _, m, p in both)
            assert np.abs(found.lambda_[k, i] - expected).max() < ROUNDING * 100.0
            assert close(found.I_ee[i, k], sum(m * hat(p[:, i]).T @ hat(p[:, k]) for _, m, p in both), ROUNDING)
            assert np.abs(found.M_ee[i, k] - sum(m * p[:, i] @ p[:, k] for _, m, p in both)) < ROUNDING * 100.0


def test_a_node_with_a_size_is_a_small_rigid_body() -> None:
    """Inertia of a node of size S: m (tr S 1 - S) + Steiner; its elastic mass: m |phi_d|^2 + phi_r . (tr S 1 - S) phi_r m."""
    nodes = random_nodes(np.random.default_rng(2), n=1, N=1, sized=True)
    found = shape_integrals(nodes)
    assert nodes.spread is not None
    assert nodes.Phi_r is not None
    m, r, S = nodes.mass[0], nodes.r0[0], nodes.spread[0]
    own = np.trace(S) * np.eye(3) - S
    d, rotation = nodes.Phi_d[0, :, 0], nodes.Phi_r[0, :, 0]
    assert close(found.I_rr, m * (own + hat(r).T @ hat(r)), ROUNDING)
    assert close(found.M_ee[0, 0], m * (d @ d + rotation @ own @ rotation), ROUNDING)
    assert close(found.beta[:, 0], m * (np.cross(r, d) + own @ rotation), ROUNDING)
    assert close(found.MS_de[:, 0], m * d, ROUNDING)


@pytest.mark.parametrize("name", BODIES)
def test_kinetic_energy_of_random_motions(name: str) -> None:
    """The mass matrix of Eq. (64) gives the energy of the points, in deformed states."""
    body: FlexibleBody = BODIES[name]
    assert body.nodes is not None
    rng = np.random.default_rng(3)
    N = len(body.M_ee)
    for _ in range(5):
        v, w, q, qdot = (rng.standard_normal(k) for k in (3, 3, N, N))
        expected = point_kinetic_energy(body.nodes, v, w, q, qdot)
        found = body.kinetic_energy(velocity=v, angular_velocity=w, elastic=q, elastic_velocity=qdot)
        assert found == pytest.approx(expected, rel=MANY_ROUNDINGS)


def test_the_energy_test_can_fail() -> None:
    """The printed order of the indices in Eq. (57), lambda_ki for lambda_ik, gives another energy."""
    body = BODIES["random"]
    assert body.nodes is not None
    rng = np.random.default_rng(4)
    v, w, q, qdot = (rng.standard_normal(k) for k in (3, 3, 4, 4))
    M = body.mass_matrix(q)
    M[3:6, 6:] = body.beta + np.einsum("kix,i->xk", body.lambda_, q)
    M[6:, 3:6] = M[3:6, 6:].T
    x = np.concatenate([v, w, qdot])
    assert abs(0.5 * x @ M @ x / point_kinetic_energy(body.nodes, v, w, q, qdot) - 1.0) > 1e-3


def test_nodes_without_mass_are_refused() -> None:
    nodes = Nodes(r0=np.zeros((2, 3)), mass=np.zeros(2), Phi_d=np.zeros((2, 3, 1)))
    with pytest.raises(FlexibleBodyError, match="mass of the body must be positive"):
        shape_integrals(nodes)
