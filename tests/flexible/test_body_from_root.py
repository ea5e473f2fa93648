"""Bodies in the displacements of their interfaces: moments against the mass points, stiffness against beam formulas."""

import numpy as np
import pytest
from test_fe_matrices import chain

from flexapod import flexible
from flexapod.flexible import FlexibleBodyError, Section
from flexapod.flexible.body_from_root import rooted_body, seen_from
from flexapod.flexible.shape_integrals import shape_integrals

ROUNDING = 1e-10
"""Sums over some hundred mass points against the same sums with the frame moved: some thousand roundings."""

VANISHES = 1e-12
"""Moments that vanish, where all of a kind do."""
STRIP = [[0.0, -0.1], [0.6, -0.1], [0.6, 0.1], [0.0, 0.1]]
BAR = Section.rectangle(width=0.02, height=0.025)


@pytest.fixture(scope="module")
def plate() -> flexible.FlexibleBody:
    places = {"root": (0.0, 0.0), "tip": (0.6, 0.0), "side": (0.3, 0.1)}
    return flexible.plate(
        outline=STRIP, thickness=0.02, young=2e11, poisson=0.3, density=7800.0, method="craig-bampton", modes=3, interfaces=places
    )


@pytest.mark.parametrize("tips", [["tip"], ["side", "tip"], []], ids=["one", "two", "none"])
def test_moments_are_those_of_the_mass_points(plate: flexible.FlexibleBody, tips: list[str]) -> None:
    found = rooted_body(plate, "root", tips)
    same, body = shape_integrals(found.body.nodes), found.body
    for name in ("MS_de", "beta", "lambda_", "I_re", "I_ee", "M_ee"):
        expected = getattr(same, name)
        assert np.allclose(getattr(body, name), expected, rtol=0.0, atol=ROUNDING * np.abs(expected).max() + VANISHES), name
    assert len(body.names) == 9
    assert found.inner == 9 - sum(map(len, found.components))
    for name in ("root", *tips):
        own = np.vstack([body.interfaces[name].Phi_d, body.interfaces[name].Phi_r])
        assert np.allclose(own[:, len(body.names) - found.inner :], 0.0, rtol=0, atol=ROUNDING), "inner modes hold root and tips"
    assert np.allclose(body.interfaces["root"].Phi_d, 0.0, rtol=0, atol=ROUNDING)


def test_the_moved_frame_has_the_same_motion(plate: flexible.FlexibleBody) -> None:
    """A body that moves and deforms has one kinetic energy, whichever frame follows it: at the undeformed shape."""
    random = np.random.default_rng(5)
    v, w, rates = random.normal(size=3), random.normal(size=3), random.normal(size=len(plate.names))
    root = plate.interfaces["root"]
    seen = seen_from(plate, root)
    zero = np.zeros(len(rates))
    first = plate.kinetic_energy(velocity=v, angular_velocity=w, elastic=zero, elastic_velocity=rates)
    then = seen.kinetic_energy(
        velocity=v + root.Phi_d @ rates, angular_velocity=w + root.Phi_r @ rates, elastic=zero, elastic_velocity=rates
    )
    assert then == pytest.approx(first, rel=ROUNDING)
    assert np.allclose(seen.K_ee, plate.K_ee)


def test_a_beam_of_matrices_has_the_stiffness_of_a_beam() -> None:
    """Euler-Bernoulli cubics are exact at their nodes: a chain of elements condensed to its tip is one element."""
    body = flexible.from_matrices(
        *chain(8, BAR), dofs_per_node=6, modes=0, method="craig-bampton", interfaces={"root": 0, "tip": 8}
    )
    found = rooted_body(body, "root", ["tip"])
    one = flexible.beam(length=0.5, section=BAR, material="steel")
    assert found.components == (("u", "v", "w", "thx", "thy", "thz"),)
    assert found.inner == 0
    scale = np.sqrt(np.outer(np.diag(one.K_ee), np.diag(one.K_ee)))
    assert np.allclose(found.body.K_ee / scale, one.K_ee / scale, rtol=0, atol=ROUNDING)
    planar = rooted_body(body, "root", ["tip"], planar=True)
    assert planar.components == (("u", "v", "thz"),)
    part = np.ix_([0, 1, 5], [0, 1, 5])
    assert np.allclose(planar.body.K_ee / scale[part], one.K_ee[part] / scale[part], rtol=0, atol=ROUNDING)


def test_too_few_modes_are_refused() -> None:
    body = flexible.from_matrices(*chain(8, BAR), dofs_per_node=6, modes=3, interfaces={"root": 0, "tip": 8})
    with pytest.raises(FlexibleBodyError, match="3 modes move only 3 of the 4 displacements"):
        rooted_body(body, "root", ["tip"])
    solid = flexible.from_matrices(*chain(8, BAR), dofs_per_node=6, modes=9, interfaces={"root": 0, "tip": 8})
    bare = flexible.body.replace_body(
        solid, interfaces={name: flexible.Interface(r0=p.r0, Phi_d=p.Phi_d) for name, p in solid.interfaces.items()}
    )
    with pytest.raises(FlexibleBodyError, match="interface root has no rotations"):
        rooted_body(bare, "root", ["tip"])
