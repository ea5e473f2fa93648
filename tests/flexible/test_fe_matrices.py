"""Bodies from matrices: solid elements against direct integration, beam matrices against beams, files, and what is refused."""

from pathlib import Path

import numpy as np
import pytest
from bodies import STRIP
from scipy import linalg, sparse
from scipy.io import mmwrite

from flexapod.flexible import FlexibleBody, FlexibleBodyError, Section, beam, from_matrices, material
from flexapod.flexible.beam_element import BeamElement
from flexapod.flexible.beams import BeamChain
from flexapod.flexible.matrices import rigid_motions
from flexapod.flexible.shape_integrals import shape_integrals

ROUNDING = 1e-10
"""Relative, of moments of the size of 1, and of the largest stiffness: sums over elements, solves and modes; found 1e-15."""
SIZES = np.array([0.6, 0.1, 0.05])
DENSITY = 2700.0
VANISHES = 1e-14
"""[kg m, kg m^2]: entries that vanish."""
SPRINGS = 1e-3
"""Of frequencies: springs of 1e14 N/m instead of held nodes; found 8e-6."""
SHAPES = 1e-9
"""Of the largest entry: eigenvectors; found 1e-12."""
LUMPED = 0.05
"""Of the largest at 32 elements: rotary inertia of the nodes' parts is left out; found 0.022."""


class Solid:
    """A box of tetrahedra by scikit-fem, degrees of freedom node by node, its corner away from the frame origin."""

    def __init__(self) -> None:
        import skfem
        from skfem.models.elasticity import lame_parameters, linear_elasticity

        self.skfem = skfem
        mesh = skfem.MeshTet.init_tensor(*(np.linspace(0.0, s, n) for s, n in zip(SIZES, (7, 3, 2), strict=True)))
        self.mesh = mesh.translated((0.2, -0.1, 0.3))
        self.basis = skfem.Basis(self.mesh, skfem.ElementVector(skfem.ElementTetP1()), intorder=4)
        self.K = linear_elasticity(*lame_parameters(7e10, 0.33)).assemble(self.basis)
        self.M = skfem.BilinearForm(lambda u, v, w: DENSITY * (u[0] * v[0] + u[1] * v[1] + u[2] * v[2])).assemble(self.basis)
        assert (self.basis.nodal_dofs.T.ravel() == np.arange(self.basis.N)).all()
        self.nodes = self.mesh.p.T

    def values(self, field: np.ndarray) -> np.ndarray:
        """A nodal field (n, 3) at the integration points, (3, p)."""
        return np.asarray(self.basis.interpolate(field.ravel())).reshape(3, -1)

    def integral(self, integrand: np.ndarray) -> np.ndarray:
        """Integral of rho times an integrand (..., p), by the quadrature of the elements; no matrices."""
        return DENSITY * integrand @ self.basis.dx.ravel()

    def cross(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """Integral of rho a x b of two nodal fields."""
        return self.integral(np.cross(self.values(a), self.values(b), axis=0))

    def hats(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """Integral of rho hat(a)^T hat(b), (3, 3)."""
        matrices = [np.stack([np.cross(x, e, axis=0) for e in np.eye(3)[:, :, None]], axis=1) for x in map(self.values, (a, b))]
        return self.integral(np.einsum("xip,xjp->ijp", *matrices))


@pytest.fixture(scope="module")
def solid() -> Solid:
    return Solid()


def test_solid_elements_against_direct_integration(solid: Solid) -> None:
    body = from_matrices(solid.M, solid.K, solid.nodes, modes=4, interfaces={"A": 0, "B": tuple(solid.nodes[5])})
    box = DENSITY * SIZES.prod()
    centre = np.array([0.2, -0.1, 0.3]) + 0.5 * SIZES
    assert body.mass == pytest.approx(box, rel=ROUNDING)
    assert np.allclose(body.rigid().com, centre, rtol=ROUNDING, atol=0)
    a, b, c = SIZES**2
    assert np.allclose(body.rigid().inertia_com, box / 12.0 * np.diag([b + c, a + c, a + b]), rtol=ROUNDING, atol=ROUNDING)
    assert body.nodes is not None
    phi = body.nodes.Phi_d
    for k in range(4):
        assert np.allclose(body.I_re[k], solid.hats(solid.nodes, phi[:, :, k]), rtol=0, atol=ROUNDING)
        for i in range(4):
            assert np.allclose(body.lambda_[k, i], solid.cross(phi[:, :, k], phi[:, :, i]), rtol=0, atol=ROUNDING)
            assert np.allclose(body.I_ee[i, k], solid.hats(phi[:, :, i], phi[:, :, k]), rtol=0, atol=ROUNDING)
    assert np.allclose(body.M_ee, np.eye(4), rtol=0, atol=ROUNDING)
    assert np.abs(body.MS_de).max() < ROUNDING
    assert np.abs(body.beta).max() < ROUNDING
    assert np.allclose(body.interfaces["B"].r0, solid.nodes[5])
    assert body.interfaces["A"].Phi_r is None


def test_momenta_of_a_held_body(solid: Solid) -> None:
    """Held at one end the modes carry momentum: integrals by quadrature, frequencies by dense matrices without the held nodes."""
    held = np.flatnonzero(np.isclose(solid.nodes[:, 0], 0.2))
    springs = np.zeros(len(solid.nodes) * 3)
    springs.reshape(-1, 3)[held] = 1e14
    body = from_matrices(solid.M, solid.K + sparse.diags_array(springs), solid.nodes, modes=3)
    assert body.nodes is not None
    phi = body.nodes.Phi_d
    for k in range(3):
        field = phi[:, :, k]
        assert np.allclose(body.MS_de[:, k], solid.integral(solid.values(field)), rtol=ROUNDING, atol=ROUNDING)
        assert np.allclose(body.beta[:, k], solid.cross(solid.nodes, field), rtol=ROUNDING, atol=ROUNDING)
        assert np.allclose(body.I_re[k], solid.hats(solid.nodes, field), rtol=ROUNDING, atol=ROUNDING)
    assert np.abs(body.MS_de).max() > 0.1
    free = np.flatnonzero(springs == 0.0)
    K, M = (matrix.toarray()[np.ix_(free, free)] for matrix in (solid.K, solid.M))
    expected = np.sqrt(linalg.eigh(K, M, eigvals_only=True)[:3])
    assert np.allclose(body.angular_frequency, expected, rtol=SPRINGS, atol=0)


def chain(n: int = 6, section: Section = STRIP) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Six degrees of freedom per node from beam elements."""
    parts = BeamElement(length=0.5 / n, section=section, material=material("steel"), planar=False, shear=False)
    whole = BeamChain([parts] * n, True)
    x = np.linspace(0.0, 0.5, n + 1)
    return shape_integrals(whole.nodes).M_ee, whole.K, np.stack([x, 0 * x, 0 * x], axis=1)


def beam_and_matrices(n: int) -> tuple[FlexibleBody, FlexibleBody]:
    """The same free beam, four bending modes in both planes, from matrices and from `beam`, with the same signs."""
    bar = Section.rectangle(width=0.02, height=0.025)
    body = from_matrices(*chain(n, bar), dofs_per_node=6, modes=4, interfaces={"tip": n})
    same = beam(length=0.5, section=bar, material="steel", elements=n, boundary="free", modes=4, rotary_inertia=True)
    sign = np.sign(np.sum(body.interfaces["tip"].Phi_d * same.interfaces["tip"].Phi_d, axis=0))
    return body.transformed(np.diag(sign)), same


def test_beam_matrices_give_the_beam() -> None:
    body, same = beam_and_matrices(6)
    assert np.allclose(body.angular_frequency, same.angular_frequency, rtol=ROUNDING, atol=0)
    assert body.mass == pytest.approx(same.mass, rel=ROUNDING)
    assert np.allclose(body.MS_r, same.MS_r, rtol=ROUNDING, atol=VANISHES)
    assert np.allclose(body.I_rr, same.I_rr, rtol=ROUNDING, atol=VANISHES)
    assert np.allclose(body.M_ee, same.M_ee, rtol=0, atol=ROUNDING)
    assert np.abs(body.MS_de).max() < ROUNDING
    assert np.abs(body.beta).max() < ROUNDING
    tip, other = body.interfaces["tip"], same.interfaces["tip"]
    assert np.allclose(tip.Phi_d, other.Phi_d, rtol=0, atol=SHAPES * np.abs(other.Phi_d).max())
    assert tip.Phi_r is not None
    assert other.Phi_r is not None
    assert np.allclose(tip.Phi_r, other.Phi_r, rtol=0, atol=SHAPES * np.abs(other.Phi_r).max())


def test_products_of_shapes_of_beam_matrices_converge() -> None:
    """lambda, I_re and I_ee from the nodes' parts: second order, down to the rotary inertia that is left out."""
    found = {n: beam_and_matrices(n) for n in (8, 16, 32)}
    assert np.abs(found[32][1].lambda_).max() > 0.5
    for name in ("lambda_", "I_re", "I_ee"):
        errors = [np.abs(getattr(a, name) - getattr(b, name)).max() for a, b in found.values()]
        scale = 1.0 if name != "I_re" else float(np.sqrt(found[32][1].I_rr.max()))
        assert errors[2] < LUMPED * scale
        assert errors[0] > 2.5 * errors[1]


def test_rigid_motions_cost_nothing(solid: Solid) -> None:
    R = rigid_motions(solid.nodes, 3)
    assert np.abs(solid.K @ R).max() < ROUNDING * np.abs(solid.K).max()


def test_component_modes(solid: Solid) -> None:
    """Statics at the interfaces: pulling two corners apart, against a solve with the whole matrix."""
    corners = {"A": 0, "B": len(solid.nodes) - 1, "C": 3, "D": 10}
    body = from_matrices(solid.M, solid.K, solid.nodes, modes=2, method="craig-bampton", interfaces=corners)
    assert len(body.M_ee) == 12 - 6 + 2
    direction = solid.nodes[corners["B"]] - solid.nodes[0]
    direction /= np.linalg.norm(direction)
    load = np.zeros(solid.K.shape[0])
    load[3 * corners["B"] : 3 * corners["B"] + 3] = direction
    load[:3] = -direction
    exact = load @ np.linalg.lstsq(solid.K.toarray(), load, rcond=1e-12)[0]
    modal = direction @ body.interfaces["B"].Phi_d - direction @ body.interfaces["A"].Phi_d
    assert modal @ np.linalg.solve(body.K_ee, modal) == pytest.approx(exact, rel=ROUNDING, abs=0)


@pytest.mark.parametrize("symmetry", ["general", "symmetric"])
def test_matrix_market_files(tmp_path: Path, symmetry: str) -> None:
    M, K, nodes = chain()
    mmwrite(tmp_path / "M.mtx", sparse.coo_array(M), symmetry=symmetry)
    mmwrite(tmp_path / "K.mtx", sparse.coo_array(K), symmetry=symmetry)
    mmwrite(tmp_path / "nodes.mtx", nodes)
    files = (tmp_path / "M.mtx", str(tmp_path / "K.mtx"), tmp_path / "nodes.mtx")
    body = from_matrices(*files, dofs_per_node=6, modes=5, damping=0.01)
    direct = from_matrices(M, sparse.csr_array(K), nodes, dofs_per_node=6, modes=5, damping=0.01)
    assert np.allclose(body.angular_frequency, direct.angular_frequency, rtol=ROUNDING, atol=0)
    assert np.allclose(np.diag(body.D_ee), 0.02 * body.angular_frequency, rtol=ROUNDING, atol=0)


def test_all_modes_and_one_more() -> None:
    M, K, nodes = chain(2)
    assert len(from_matrices(M, K, nodes, dofs_per_node=6, modes=12).M_ee) == 12
    with pytest.raises(FlexibleBodyError, match="modes must be at most 12, the number of elastic degrees of freedom, is 13"):
        from_matrices(M, K, nodes, dofs_per_node=6, modes=13)


def changed(matrix: np.ndarray, i: int, k: int, value: float) -> np.ndarray:
    result = matrix.copy()
    result[i, k] = value
    return result


def test_wrong_matrices(tmp_path: Path) -> None:
    M, K, nodes = chain(2)
    largest = np.abs(K).max()
    wrong = [
        ((M, changed(K, 0, 6, 0.5 * largest), nodes), {}, r"stiffness must be symmetric, but entries \(0, 6\) and \(6, 0\)"),
        ((changed(M, 1, 7, M.max()), K, nodes), {}, "mass must be symmetric"),
        ((-M, K, nodes), {}, "mass must not be negative and not zero, but diagonal entry"),
        ((np.zeros_like(M), K, nodes), {}, "mass must not be negative and not zero"),
        ((changed(changed(M, 0, 6, 9 * M.max()), 6, 0, 9 * M.max()), K, nodes), {}, "mass must be positive semidefinite"),
        ((M, K[:-1, :-1], nodes), {}, r"stiffness must have the shape \(18, 18\)"),
        ((M, K, nodes), {"dofs_per_node": 3}, r"mass must have the shape \(9, 9\)"),
        ((M, K, nodes), {"dofs_per_node": 2}, "dofs_per_node must be 3 or 6"),
        ((M, changed(K, 0, 0, np.nan), nodes), {}, "stiffness must be finite"),
        ((M, K, nodes[:, :2]), {}, "nodes must have the shape"),
        ((M, K, nodes), {"method": "guyan"}, "method must be normal, craig-bampton or residual"),
        ((M, K, nodes), {"method": "craig-bampton"}, "at least one interface"),
        ((M, K, nodes), {"interfaces": {"A": 3}}, "interface A must be a node from 0 to 2, is 3"),
        ((M, K, nodes), {"interfaces": {"A": (0.1, 0.0, 0.0)}}, "interface A must be at a node"),
        ((tmp_path / "no.mtx", K, nodes), {}, "mass: there is no file"),
    ]
    for matrices, options, text in wrong:
        with pytest.raises(FlexibleBodyError, match=text):
            from_matrices(*matrices, **({"dofs_per_node": 6, "modes": 2} | options))


def test_masses_that_differ_by_direction(solid: Solid) -> None:
    """A mass matrix in the order of axes instead of nodes, or with an axis forgotten, is noticed."""
    forgotten = sparse.diags_array(np.tile([1.0, 1.0, 0.5], len(solid.nodes)))
    with pytest.raises(FlexibleBodyError, match="masses along x, y, z are"):
        from_matrices(forgotten @ solid.M @ forgotten, solid.K, solid.nodes, modes=2)
    order = np.arange(len(solid.nodes) * 3).reshape(-1, 3).T.ravel()
    with pytest.raises(FlexibleBodyError):
        from_matrices(solid.M[:, order][order, :], solid.K[:, order][order, :], solid.nodes, modes=2)
