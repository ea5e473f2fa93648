"""Bodies and definitions that several tests of flexible bodies share."""

from pathlib import Path

import numpy as np

from flexapod.flexible import FlexibleBody, Nodes, Section, beam, from_modes, plate, regular_outline
from flexapod.flexible.body import body_from_integrals
from flexapod.flexible.shape_integrals import shape_integrals

DATA = Path(__file__).parents[1] / "data" / "flexible"
HEXAGON = {"outline": regular_outline(6, 0.5), "thickness": 0.015, "young": 2e10, "poisson": 0.3, "density": 7500.0}
STRIP = Section.rectangle(width=0.004, height=0.05)


def hat(a: np.ndarray) -> np.ndarray:
    return np.array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]])


def random_nodes(rng: np.random.Generator, n: int = 9, N: int = 4, *, sized: bool = False) -> Nodes:
    """Nodes anywhere, any shapes; with a size on request."""
    root = 0.1 * rng.standard_normal((n, 3, 3))
    return Nodes(
        r0=rng.standard_normal((n, 3)),
        mass=rng.uniform(0.5, 2.0, n),
        Phi_d=rng.standard_normal((n, 3, N)),
        Phi_r=rng.standard_normal((n, 3, N)) if sized else None,
        spread=root @ root.transpose(0, 2, 1) if sized else None,
    )


def random_body(rng: np.random.Generator, N: int = 4, *, sized: bool = False) -> FlexibleBody:
    nodes = random_nodes(rng, N=N, sized=sized)
    root = rng.standard_normal((N, N))
    return body_from_integrals(shape_integrals(nodes), K_ee=root @ root.T + np.eye(N), nodes=nodes)


def sources() -> dict[str, FlexibleBody]:
    """One body from every source but the matrices."""
    rng = np.random.default_rng(5)
    return {
        "plate file": from_modes(DATA / "gough-stewart-modes-plate.npz"),
        "generic file": from_modes(DATA / "gough-stewart-modes-generic.npz"),
        "mindlin": plate(**HEXAGON, modes=4, mesh_size=0.17),
        "kirchhoff": plate(**HEXAGON, modes=4, mesh_size=0.25, theory="kirchhoff", point_masses=[(0.2, 0.1, 3.0)]),
        "planar beam": beam(length=0.5, section=STRIP, young=74e9, density=2800.0, planar=True),
        "spatial beam": beam(length=0.5, section=STRIP, material="steel", elements=2, rotary_inertia=True),
        "free beam": beam(length=0.5, section=STRIP, material="steel", elements=4, boundary="free", modes=5),
        "random": random_body(rng),
        "random sized": random_body(rng, sized=True),
    }


def mass_points(nodes: Nodes) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Points that replace nodes with a size: positions (p, 3), masses (p,), shapes (p, 3, N).

    With S the sum of +-s_a s_a^T over three axes, +-m/6 goes to r0 + sqrt(3) s_a and r0 - sqrt(3) s_a, the rest stays at r0: same
    moments to degree two.
    """
    r0, mass, phi = [nodes.r0], [nodes.mass.copy()], [nodes.Phi_d]
    if nodes.spread is not None and nodes.Phi_r is not None:
        values, axes = np.linalg.eigh(nodes.spread)
        for a in range(3):
            arm = axes[:, :, a] * np.sqrt(3.0 * np.abs(values[:, a]))[:, None]
            rotated = np.cross(nodes.Phi_r, arm[:, :, None], axis=1)
            part = nodes.mass * np.sign(values[:, a]) / 6.0
            mass[0] -= 2.0 * part
            for sign in (1.0, -1.0):
                r0.append(nodes.r0 + sign * arm)
                mass.append(part)
                phi.append(nodes.Phi_d + sign * rotated)
    return np.concatenate(r0), np.concatenate(mass), np.concatenate(phi)


def point_kinetic_energy(nodes: Nodes, v: np.ndarray, w: np.ndarray, q: np.ndarray, qdot: np.ndarray) -> float:
    """Sum of m v^2 / 2 over the mass points, from the definition of the motion (Briot 2014, Eqs. 1-3); no shape integrals."""
    r, m, phi = mass_points(nodes)
    speed = v + np.cross(w, r + phi @ q) + phi @ qdot
    return float(0.5 * m @ np.sum(speed**2, axis=1))
