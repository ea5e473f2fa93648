"""Beams: closed forms of the element, static and modal textbook values, rates of convergence, Timoshenko, and what is refused."""

import numpy as np
import pytest
from bodies import STRIP

from flexapod.flexible import FlexibleBody, FlexibleBodyError, Section, beam, material

ROUNDING = 1e-13
"""Relative: closed forms of a few products, and solves of up to 18 unknowns."""
STEEL = material("steel")
LENGTH = 0.8
BAR = Section.rectangle(width=0.02, height=0.03)
CLAMPED = np.array([1.8751040687119611, 4.6940911329741746, 7.8547574382376126])
FREE = np.array([4.7300407448627040, 7.8532046240958376, 10.995607838001671])
"""Roots of cos x cosh x = -1 and = 1: omega = x^2 sqrt(EI / rho A) / L^2."""
ORDER = 0.2
"""Allowed distance of a measured order from four: the next term of the error is not yet negligible."""
LINEAR = 0.05
"""The same of linear elements, order two."""
SIXTEEN = 2e-4
"""Of the third frequency with 16 elements; found 1.5e-4."""
SLENDER = 0.5
"""Of the correction: free ends are no long beam's interior; found 0.06."""
CANCELLED = 1e-11
"""Relative: a difference of matrices a thousand times larger."""
NOTHING = 1e-14
"""[kg, kg m, kg m^2]: entries that vanish."""


def wave(section: Section, bend: float) -> float:
    return float(np.sqrt(STEEL.young * bend / (STEEL.density * section.area)) / LENGTH**2)


def static(body: FlexibleBody, force: np.ndarray) -> np.ndarray:
    return np.linalg.solve(body.K_ee, force)


def test_one_planar_element() -> None:
    """Consistent mass and stiffness of a clamped element in tip coordinates, as in every textbook; first moments by hand."""
    b = beam(length=LENGTH, section=BAR, material="steel", planar=True)
    m, L, EI = b.mass, LENGTH, STEEL.young * BAR.iz
    assert m == pytest.approx(STEEL.density * BAR.area * L, rel=ROUNDING)
    M = m / 420.0 * np.array([[140.0, 0, 0], [0, 156.0, -22.0 * L], [0, -22.0 * L, 4.0 * L * L]])
    K = np.array([[STEEL.young * BAR.area / L, 0, 0], [0, 12 * EI / L**3, -6 * EI / L**2], [0, -6 * EI / L**2, 4 * EI / L]])
    assert np.allclose(b.M_ee, M, rtol=ROUNDING, atol=0.0)
    assert np.allclose(b.K_ee, K, rtol=ROUNDING, atol=0.0)
    assert np.allclose(b.MS_de[:2], m * np.array([[0.5, 0, 0], [0, 0.5, -L / 12.0]]), rtol=ROUNDING, atol=0)
    assert np.allclose(b.beta[2], m * np.array([0, 7 * L / 20.0, -L * L / 20.0]), rtol=ROUNDING, atol=0)
    assert b.lambda_[0, 1, 2] == pytest.approx(m * 7.0 / 20.0, rel=ROUNDING)
    assert b.lambda_[0, 2, 2] == pytest.approx(-m * L / 20.0, rel=ROUNDING)
    assert b.I_rr[2, 2] == pytest.approx(m * L * L / 3.0, rel=ROUNDING)
    assert b.I_re[0, 2, 2] == pytest.approx(m * L / 3.0, rel=ROUNDING)
    assert b.names == ("u", "v", "theta")


def test_one_spatial_element() -> None:
    """Both planes, axial and torsion: (w, thy) is (v, theta) with another sign; torsional inertia rho (Iy + Iz) L / 3."""
    b = beam(length=LENGTH, section=BAR, material="steel")
    flat = beam(length=LENGTH, section=BAR, material="steel", planar=True)
    xy, xz = [0, 1, 5], [2, 4]
    assert np.allclose(b.M_ee[np.ix_(xy, xy)], flat.M_ee, rtol=ROUNDING, atol=0)
    assert np.allclose(b.K_ee[np.ix_(xy, xy)], flat.K_ee, rtol=ROUNDING, atol=0)
    sign = np.array([1.0, -1.0])
    assert np.allclose(b.M_ee[np.ix_(xz, xz)], sign[:, None] * flat.M_ee[1:, 1:] * sign, rtol=ROUNDING, atol=0)
    assert np.allclose(b.K_ee[np.ix_(xz, xz)], sign[:, None] * flat.K_ee[1:, 1:] * sign * BAR.iy / BAR.iz, rtol=ROUNDING, atol=0)
    assert b.M_ee[3, 3] == pytest.approx(STEEL.density * (BAR.iy + BAR.iz) * LENGTH / 3.0, rel=ROUNDING, abs=0)
    assert BAR.torsion is not None
    assert b.K_ee[3, 3] == pytest.approx(STEEL.shear_modulus() * BAR.torsion / LENGTH, rel=ROUNDING)
    assert b.names == ("u", "v", "w", "thx", "thy", "thz")
    tip = b.interfaces["tip"]
    assert np.allclose(np.vstack([tip.Phi_d, tip.Phi_r]), np.eye(6))


def test_cantilever_under_end_loads() -> None:
    """F L^3 / 3EI, F L^2 / 2EI, M L / EI, exact with any number of elements; directions of the spatial rotations."""
    for n in (1, 3):
        b = beam(length=LENGTH, section=BAR, material="steel", elements=n)
        tip, E, L = b.interfaces["tip"], STEEL.young, LENGTH
        assert tip.Phi_r is not None
        for axis, rotation, bend, sign in ((1, 2, BAR.iz, 1.0), (2, 1, BAR.iy, -1.0)):
            q = static(b, tip.Phi_d[axis])
            assert tip.Phi_d[axis] @ q == pytest.approx(L**3 / (3 * E * bend), rel=ROUNDING, abs=0)
            assert tip.Phi_r[rotation] @ q == pytest.approx(sign * L**2 / (2 * E * bend), rel=ROUNDING, abs=0)
            q = static(b, tip.Phi_r[rotation])
            assert tip.Phi_r[rotation] @ q == pytest.approx(L / (E * bend), rel=ROUNDING, abs=0)


def test_timoshenko_cantilever() -> None:
    """F L^3 / 3EI + F L / kappa G A, exact with any number of elements."""
    thick = Section.rectangle(width=0.2, height=0.1)
    for n in (1, 4):
        b = beam(length=LENGTH, section=thick, material="steel", theory="timoshenko", elements=n)
        tip = b.interfaces["tip"]
        for axis, bend in ((1, thick.iz), (2, thick.iy)):
            exact = LENGTH**3 / (3 * STEEL.young * bend) + LENGTH / (5 / 6 * STEEL.shear_modulus() * thick.area)
            assert tip.Phi_d[axis] @ static(b, tip.Phi_d[axis]) == pytest.approx(exact, rel=ROUNDING, abs=0)


@pytest.mark.parametrize("boundary", ["clamped", "free"])
def test_bending_frequencies_and_their_rate(boundary: str) -> None:
    """Errors fall with the fourth power of the element's length, from above."""
    exact = (CLAMPED if boundary == "clamped" else FREE) ** 2 * wave(BAR, BAR.iz)
    errors = []
    for n in (4, 8, 16):
        b = beam(length=LENGTH, section=BAR, material="steel", planar=True, elements=n, boundary=boundary, modes=3)
        errors.append(b.angular_frequency / exact - 1.0)
    rates = np.log2(np.array(errors[:-1]) / np.array(errors[1:]))
    assert (np.array(errors) > 0.0).all()
    assert errors[-1].max() < SIXTEEN
    assert (np.abs(rates[1] - 4.0) < ORDER).all()


def test_axial_and_torsional_frequencies_and_their_rate() -> None:
    """Quarter waves: omega = pi/2 sqrt(E / rho) / L and pi/2 sqrt(G J / rho Ip) / L, linear elements: rate 2."""
    errors = []
    assert BAR.torsion is not None
    for n in (4, 8, 16):
        b = beam(length=LENGTH, section=BAR, material="steel", elements=n)
        own = []
        for coordinate, speed2 in (
            ("u", STEEL.young / STEEL.density),
            ("thx", STEEL.shear_modulus() * BAR.torsion / (STEEL.density * (BAR.iy + BAR.iz))),
        ):
            k = [i for i, name in enumerate(b.names) if name.endswith("." + coordinate)]
            omega = b.truncated(k).angular_frequency[0]
            own.append(omega / (0.5 * np.pi * np.sqrt(speed2) / LENGTH) - 1.0)
        errors.append(own)
    rates = np.log2(np.array(errors[:-1]) / np.array(errors[1:]))
    assert np.allclose(rates, 2.0, rtol=0, atol=LINEAR)


def test_timoshenko_frequencies_of_a_pinned_wave() -> None:
    """A free, thick beam against the Timoshenko equation: its frequencies lie below Euler's, by the classical correction.

    For slender waves: omega = omega_0 (1 - (1 + E / kappa G) I p^2 / 2A), with the wave number of a long beam's interior.
    """
    section = Section.rectangle(width=0.02, height=0.02)
    slim, thick = (
        beam(length=LENGTH, section=section, material="steel", planar=True, elements=16, boundary="free", modes=3, theory=theory)
        for theory in ("euler-bernoulli", "timoshenko")
    )
    p = FREE / LENGTH
    shear = 1.0 + STEEL.young / (5 / 6 * STEEL.shear_modulus())
    expected = 0.5 * shear * section.iz / section.area * p**2
    found = 1.0 - thick.angular_frequency / slim.angular_frequency
    assert np.allclose(found, expected, rtol=SLENDER, atol=0)
    assert (found > 0.0).all()


def test_rotary_inertia_of_a_section() -> None:
    """Adds rho I integral of theta'^2: for the Hermite tip rotation 2 L / 15, for the tip deflection 6 / 5L."""
    plain, rotary = (beam(length=LENGTH, section=BAR, material="steel", planar=True, rotary_inertia=r) for r in (False, True))
    extra = STEEL.density * BAR.iz * np.array([[0, 0, 0], [0, 6 / (5 * LENGTH), -0.1], [0, -0.1, 2 * LENGTH / 15]])
    assert np.allclose(rotary.M_ee - plain.M_ee, extra, rtol=CANCELLED, atol=NOTHING)


def test_several_elements_and_their_names() -> None:
    b = beam(length=LENGTH, section=BAR, material="steel", planar=True, elements=2)
    assert b.names == ("1.u", "1.v", "1.theta", "2.u", "2.v", "2.theta")
    whole = beam(length=LENGTH, section=BAR, material="steel", planar=True)
    assert b.mass == pytest.approx(whole.mass, rel=ROUNDING)
    assert np.allclose(b.I_rr, whole.I_rr, rtol=ROUNDING, atol=0)
    half = np.array([[0.5, 0, 0], [0, 0.5, -LENGTH / 8], [0, 1.5 / LENGTH, -0.25]])
    same = b.transformed(np.vstack([half, np.eye(3)]))
    assert np.allclose(same.M_ee, whole.M_ee, rtol=ROUNDING, atol=0)
    assert np.allclose(same.K_ee, whole.K_ee, rtol=ROUNDING, atol=0)
    assert np.allclose(same.lambda_, whole.lambda_, rtol=0, atol=ROUNDING)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"length": -1.0}, "length must be a positive number of metres"),
        ({"elements": 0}, "elements must be a whole number, at least 1"),
        ({"theory": "mindlin"}, "theory must be one of euler-bernoulli, timoshenko"),
        ({"boundary": "hinged"}, "boundary must be clamped or free"),
        ({"boundary": "free"}, "A free beam needs `modes`"),
        ({"boundary": "free", "modes": 7}, "modes must be at most 6"),
        ({"modes": 7}, "modes must be at most 6"),
        ({"material": None}, "needs a material, or young and density"),
        ({"young": 1e9}, "either material, or young"),
        ({"material": "unobtainium"}, "No material is called"),
        ({"material": None, "young": 1e9, "density": 1000.0}, "Torsion and shear need poisson"),
        ({"section": Section.general(area=1e-4, iy=1e-8, iz=1e-8)}, "needs the torsion constant"),
    ],
)
def test_wrong_beams(change: dict[str, object], text: str) -> None:
    arguments = {"length": LENGTH, "section": STRIP, "material": "steel"} | change
    with pytest.raises(FlexibleBodyError, match=text):
        beam(**arguments)  # type: ignore[arg-type]
