"""The orientation of degenerate modes: it undoes any turning, follows the plate, and does not depend on the mesh."""

import numpy as np
import pytest
from bodies import HEXAGON

from flexapod.flexible import plate, regular_outline
from flexapod.flexible.mode_order import fixed_orientation

ROUNDING = 1e-9
"""Relative: modes of a symmetric mesh of a few hundred triangles; found 5e-12."""
MESH = 2e-3
"""Shapes at a corner on two meshes of a few hundred triangles."""


def test_any_rotation_and_sign_is_undone() -> None:
    """Five modes, two pairs of them equal, turned at random: the oriented modes are the same."""
    rng = np.random.default_rng(21)
    r0, mass = rng.standard_normal((30, 3)), rng.uniform(1.0, 2.0, 30)
    phi = rng.standard_normal((30, 3, 5))
    phi /= np.sqrt(np.einsum("nak,n,nak->k", phi, mass, phi))
    omega2 = np.array([4.0, 4.0, 9.0, 16.0, 16.0])
    rotation = np.zeros((5, 5))
    for part in (slice(0, 2), slice(2, 3), slice(3, 5)):
        rotation[part, part] = np.linalg.qr(rng.standard_normal((part.stop - part.start,) * 2))[0]
    rotation[2, 2] = -1.0
    one = phi @ fixed_orientation(omega2, r0, mass, phi)[0]
    other = (phi @ rotation) @ fixed_orientation(omega2, r0, mass, phi @ rotation)[0]
    assert np.abs(one - other).max() < ROUNDING
    assert np.abs(phi - phi @ rotation).max() > 0.1


def test_frequencies_of_a_group_become_equal_and_others_stay() -> None:
    rng = np.random.default_rng(22)
    phi = rng.standard_normal((5, 3, 3))
    omega2 = np.array([1.0, 1.0 + 1e-9, 1.1])
    found = fixed_orientation(omega2, rng.standard_normal((5, 3)), np.ones(5), phi)[1]
    assert found[0] == found[1]
    assert found[2] == 1.1


@pytest.mark.parametrize("theory", ["kirchhoff", "mindlin"])
def test_modes_do_not_depend_on_the_mesh(theory: str) -> None:
    """Ten modes of the hexagon, five of them in pairs, at two corners and at an odd point."""
    places = {"A": (0.5, 0.0), "B": (-0.25, 0.25 * np.sqrt(3.0)), "C": (0.1, 0.23)}
    sizes = (0.125, 0.1) if theory == "kirchhoff" else (0.06, 0.05)
    coarse, fine = (plate(**HEXAGON, theory=theory, mesh_size=size, interfaces=places) for size in sizes)
    largest = np.abs(fine.interfaces["A"].Phi_d).max()
    for name in places:
        assert np.abs(coarse.interfaces[name].Phi_d - fine.interfaces[name].Phi_d).max() < MESH * largest


def test_the_first_pair_is_oriented_by_the_body_axes() -> None:
    """The first mode of the first pair is even in y, the second odd: the functionals x^2 and x y of the rule."""
    corner = {"A": (0.25, 0.25 * np.sqrt(3.0)), "mirror": (0.25, -0.25 * np.sqrt(3.0))}
    body = plate(**HEXAGON, theory="kirchhoff", modes=2, interfaces=corner)
    up, down = (body.interfaces[name].Phi_d[2] for name in corner)
    assert up[0] == pytest.approx(down[0], rel=ROUNDING)
    assert up[1] == pytest.approx(-down[1], rel=ROUNDING)


def test_cutting_a_pair_keeps_its_first_mode() -> None:
    whole = plate(**HEXAGON, theory="kirchhoff", modes=2, interfaces={"A": (0.5, 0.0)})
    cut = plate(**HEXAGON, theory="kirchhoff", modes=1, interfaces={"A": (0.5, 0.0)})
    assert np.allclose(cut.interfaces["A"].Phi_d[2], whole.interfaces["A"].Phi_d[2, :1], rtol=ROUNDING, atol=0)


def test_a_square_too() -> None:
    body = plate(**(HEXAGON | {"outline": regular_outline(4, 0.5)}), theory="kirchhoff", modes=6)
    assert body.angular_frequency[3] == pytest.approx(body.angular_frequency[4], rel=ROUNDING)
