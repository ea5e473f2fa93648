"""`FlexibleBody`: damping, other coordinates, rigid limit, and what it refuses."""

import subprocess
import sys

import numpy as np
import pytest
from bodies import HEXAGON, STRIP, random_body, sources

from flexapod.flexible import FlexibleBodyError, Interface, Nodes, beam, plate
from flexapod.flexible.body import replace_body

ROUNDING = 1e-12
"""Relative, and [m]: sums over a few points."""
SOLVED = 1e-12
"""After a Cholesky factor and an eigenproblem of matrices with entries from 1e-4 to 1e8."""
PRINTED = 5e-5
"""[kg]: a mass with four decimals."""


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(11)


def test_damping(rng: np.random.Generator) -> None:
    """Every mode of the damped body has the asked ratio: complex frequencies of the state matrix, and 2 d sqrt(k) (Long 2014)."""
    body = random_body(rng).with_damping(0.05)
    N = len(body.M_ee)
    inverse = np.linalg.inv(body.M_ee)
    A = np.block([[np.zeros((N, N)), np.eye(N)], [-inverse @ body.K_ee, -inverse @ body.D_ee]])
    poles = np.linalg.eigvals(A)
    assert np.allclose(-poles.real / np.abs(poles), 0.05, rtol=SOLVED, atol=0)
    modal = body.normal_modes()
    assert np.allclose(np.diag(modal.D_ee), 2.0 * 0.05 * np.sqrt(np.diag(modal.K_ee)), rtol=SOLVED, atol=0)


def test_damping_matrix_and_ratios_per_mode(rng: np.random.Generator) -> None:
    body = random_body(rng)
    D = body.M_ee * 0.3
    assert np.allclose(body.with_damping(D).D_ee, D, rtol=ROUNDING, atol=0)
    ratios = [0.01, 0.02, 0.03, 0.04]
    modal = body.with_damping(ratios).normal_modes()
    assert np.allclose(np.diag(modal.D_ee), 2.0 * np.array(ratios) * body.angular_frequency, rtol=SOLVED, atol=0)


@pytest.mark.parametrize(
    ("damping", "text"),
    [
        (-0.1, "must not be negative"),
        ([0.1, 0.2], "shape"),
        (-np.eye(4), "must not be negative"),
        (np.triu(np.ones((4, 4))), "symmetric"),
    ],
)
def test_wrong_damping(rng: np.random.Generator, damping: object, text: str) -> None:
    with pytest.raises(FlexibleBodyError, match=text):
        random_body(rng).with_damping(damping)  # type: ignore[arg-type]


def test_transformed_energy(rng: np.random.Generator) -> None:
    """Energy does not depend on the coordinates; shapes of interfaces and nodes follow."""
    body = random_body(rng)
    V = rng.standard_normal((4, 2))
    other = body.transformed(V, ["a", "b"])
    p, pdot, v, w = (rng.standard_normal(k) for k in (2, 2, 3, 3))
    state = {"velocity": v, "angular_velocity": w}
    expected = body.kinetic_energy(**state, elastic=V @ p, elastic_velocity=V @ pdot)
    assert other.kinetic_energy(**state, elastic=p, elastic_velocity=pdot) == pytest.approx(expected, rel=ROUNDING)
    assert other.potential_energy(p) == pytest.approx(body.potential_energy(V @ p), rel=ROUNDING)
    assert other.names == ("a", "b")


def test_truncated_and_normal_modes() -> None:
    body = beam(length=0.5, section=STRIP, young=74e9, density=2800.0, planar=True)
    modal = body.normal_modes()
    assert np.allclose(modal.M_ee, np.eye(3), rtol=0, atol=SOLVED)
    assert np.allclose(modal.angular_frequency, body.angular_frequency, rtol=SOLVED, atol=0)
    first = modal.truncated(1)
    assert first.angular_frequency[0] == pytest.approx(body.angular_frequency[0], rel=SOLVED)
    assert modal.truncated([2, 0]).names == ("mode3", "mode1")
    with pytest.raises(FlexibleBodyError, match="coordinate 5, but the body has 3"):
        modal.truncated(5)
    with pytest.raises(FlexibleBodyError, match="at most 3"):
        body.normal_modes(4)


def test_rigid(rng: np.random.Generator) -> None:
    """Rigid data of a body of points, moved to the centre of mass by hand; a bar by its textbook inertia."""
    body = random_body(rng)
    assert body.nodes is not None
    m, r = body.nodes.mass, body.nodes.r0
    com = m @ r / m.sum()
    about = sum(mi * (d @ d * np.eye(3) - np.outer(d, d)) for mi, d in zip(m, r - com, strict=True))
    rigid = body.rigid()
    assert np.allclose(rigid.com, com, rtol=ROUNDING, atol=0)
    assert np.allclose(rigid.inertia_com, about, rtol=ROUNDING, atol=0)
    rod = beam(length=2.0, section=STRIP, material="steel", elements=3).rigid()
    assert rod.inertia_com[2, 2] == pytest.approx(rod.mass * 2.0**2 / 12.0, rel=ROUNDING)
    bar = beam(length=2.0, section=STRIP, material="steel", elements=3, rotary_inertia=True).rigid()
    slim = bar.mass * (2.0**2 / 12.0 + 0.004**2 / 12.0)
    assert bar.inertia_com[2, 2] == pytest.approx(slim, rel=ROUNDING)
    assert bar.inertia_com[0, 0] == pytest.approx(bar.mass * (0.05**2 + 0.004**2) / 12.0, rel=ROUNDING)


def test_interface_position() -> None:
    body = beam(length=0.5, section=STRIP, young=74e9, density=2800.0, planar=True)
    assert np.allclose(body.interfaces["tip"].position([0.01, 0.02, 0.1]), [0.51, 0.02, 0.0], rtol=0, atol=ROUNDING)
    assert np.allclose(body.interfaces["base"].position([0.01, 0.02, 0.1]), 0.0)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"mass": -1.0}, "mass must be a positive number of kg"),
        ({"MS_r": np.zeros(2)}, r"MS_r must have the shape \(3\), has \(2,\)"),
        ({"I_rr": np.triu(np.ones((3, 3)))}, "I_rr must be symmetric"),
        ({"K_ee": np.full((4, 4), np.nan)}, "K_ee must be finite"),
        ({"K_ee": -np.eye(4)}, "K_ee must not be negative"),
        ({"M_ee": np.zeros((4, 4))}, "M_ee must be positive definite"),
        ({"beta": np.zeros((3, 4))}, "I_re and beta must be moments of the same shapes"),
        ({"lambda_": np.ones((4, 4, 3))}, "I_ee and lambda_ must be moments"),
        ({"names": ("a",)}, "names must be 4 different names"),
        ({"interfaces": {"A": Interface(r0=np.zeros(3), Phi_d=np.zeros((3, 2)))}}, "Interface A has 2 shapes, but the body"),
        ({"MS_de": "many"}, "MS_de must be an array of real numbers"),
    ],
)
def test_wrong_bodies(rng: np.random.Generator, change: dict[str, object], text: str) -> None:
    with pytest.raises(FlexibleBodyError, match=text):
        replace_body(random_body(rng), **change)


def test_wrong_nodes() -> None:
    with pytest.raises(FlexibleBodyError, match="node 1 has -1 kg"):
        Nodes(r0=np.zeros((2, 3)), mass=[1.0, -1.0], Phi_d=np.zeros((2, 3, 1)))
    with pytest.raises(FlexibleBodyError, match=r"spread needs nodes\.Phi_r"):
        Nodes(r0=np.zeros((2, 3)), mass=np.ones(2), Phi_d=np.zeros((2, 3, 1)), spread=np.zeros((2, 3, 3)))
    with pytest.raises(FlexibleBodyError, match=r"numbers of nodes from 0 to 1"):
        Nodes(r0=np.zeros((2, 3)), mass=np.ones(2), Phi_d=np.zeros((2, 3, 1)), triangles=[[0, 1, 2]])


def test_constants_cannot_be_changed(rng: np.random.Generator) -> None:
    body = random_body(rng)
    with pytest.raises(ValueError, match="read-only"):
        body.K_ee[0, 0] = 1.0


@pytest.mark.parametrize("name", ["plate file", "mindlin", "kirchhoff", "free beam"])
def test_free_bodies_use_the_mean_frame(name: str) -> None:
    """Elastic modes of a free body carry neither momentum nor angular momentum."""
    body = sources()[name]
    size = np.sqrt(body.mass * np.diag(body.M_ee).max())
    assert np.abs(body.MS_de).max() < SOLVED * size
    assert np.abs(body.beta).max() < SOLVED * size


def test_no_modes_is_a_rigid_body() -> None:
    body = plate(**HEXAGON, modes=0, mesh_size=0.25)
    assert body.M_ee.shape == (0, 0)
    assert body.rigid().mass == pytest.approx(73.0709, abs=PRINTED)


def test_import_is_light() -> None:
    code = "import sys, flexapod.flexible; sys.exit(any(m in sys.modules for m in ('numpy', 'scipy', 'skfem')))"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr


def test_no_module_hides_a_function() -> None:
    """`flexapod.flexible.plate` is a function whatever was imported before."""
    import importlib
    import pkgutil

    import flexapod.flexible as package

    for module in pkgutil.iter_modules(package.__path__):
        importlib.import_module(f"flexapod.flexible.{module.name}")
    assert all(callable(getattr(package, name)) for name in package.__all__ if name != "MATERIALS")
    assert not {module.name for module in pkgutil.iter_modules(package.__path__)} & set(package.__all__)
