"""The papers' motions against reference data and against independent computations."""

from pathlib import Path

import numpy as np
import pytest
from motion_checks import check_motion
from scipy.optimize import brentq

from flexapod.errors import InputError
from flexapod.motions import (
    Motion,
    dualemps_circle,
    dualemps_circle_tip,
    dualemps_square,
    kim_circle,
    kim_constant_acceleration,
    sinatra_motion,
    staicu_motion,
)

DATA = Path(__file__).parents[1] / "data" / "motions"
GOLDEN = 1e-14
"""Of the largest entry, or of 1: both sides evaluate the same closed formulas in another order."""
ROUNDING = 1e-12
"""[m, rad, m/s]: a few roundings of closed formulas of the size of 1."""
PRINTED = 1e-3
"""[m]: heights of the papers are printed with three decimals at most."""
KIM = 1e-13
"""Relative: sums of a few products."""


def columns(name: str, *prefixes: str) -> list[np.ndarray]:
    table = np.genfromtxt(DATA / f"{name}.csv", delimiter=",", names=True, deletechars="")
    found = [[c for c in table.dtype.names if c.startswith(f"{p}_")] for p in prefixes]
    return [table["t"], *(np.column_stack([table[c] for c in names]) for names in found)]


def near(ours: np.ndarray, reference: np.ndarray, what: str) -> None:
    assert ours.shape == reference.shape
    off = np.abs(ours - reference).max() / max(1.0, np.abs(reference).max())
    assert off < GOLDEN, f"{what}: off by {off:.3g}"


@pytest.mark.parametrize(
    ("name", "motion"),
    [
        ("stewart-3-3_vertical_z", staicu_motion("vertical-z")),
        ("stewart-3-3_rotation_z", staicu_motion("rotation-z")),
        ("hexapod_vertical_z", sinatra_motion("vertical-z")),
        ("hexapod_rotation_z", sinatra_motion("rotation-z")),
        ("hexaslide_circle40rpm", kim_circle()),
    ],
)
def test_reference_motions(name: str, motion: Motion) -> None:
    t, p, R, v, w, a, alpha = columns(name, "p", "R", "v", "w", "a", "alpha")
    near(motion.time, t, "time")
    near(motion.position, p, "position")
    near(motion.rotation.reshape(-1, 9), R, "rotation")
    near(motion.velocity, v, "velocity")
    near(motion.angular_velocity, w, "angular velocity")
    near(motion.acceleration, a, "acceleration")
    near(motion.angular_acceleration, alpha, "angular acceleration")


def test_dualemps_square() -> None:
    t, q, qd, qdd = columns("dualemps_square", "q", "qd", "qdd")
    motion = dualemps_square()
    for values, reference, what in (
        (motion.time, t, "time"),
        (motion.position, q, "position"),
        (motion.velocity, qd, "velocity"),
        (motion.acceleration, qdd, "acceleration"),
    ):
        near(values[::10], reference, what)


def test_horizontal_examples() -> None:
    for motion, height in ((staicu_motion("horizontal-x"), 4.33), (sinatra_motion("horizontal-x"), 0.606)):
        assert motion.position[:, 0].max() == pytest.approx(0.2, abs=ROUNDING)
        np.testing.assert_allclose(motion.position[:, 2], height, rtol=0, atol=PRINTED)


def test_kim_constant_acceleration() -> None:
    motion = kim_constant_acceleration(samples=301)
    t = motion.time
    first = t <= 1.5
    np.testing.assert_allclose(motion.acceleration[first], 0.1, rtol=KIM)
    np.testing.assert_allclose(motion.acceleration[~first], -0.1, rtol=KIM)
    np.testing.assert_allclose(motion.position[0], (0, 0, 0.80))
    np.testing.assert_allclose(motion.position[-1], (0.225, 0.225, 1.025), rtol=KIM)
    # Euler angle accelerations of R = Ry Rx Rz: angles at the end by the same law, 0.05 and 0.1 rad/s^2
    theta, psi, phi = 0.1125, 0.1125, 0.225
    cy, sy, cx, sx, cz, sz = np.cos(theta), np.sin(theta), np.cos(psi), np.sin(psi), np.cos(phi), np.sin(phi)
    Ry, Rx = np.array([[cy, 0, sy], [0, 1, 0], [-sy, 0, cy]]), np.array([[1, 0, 0], [0, cx, -sx], [0, sx, cx]])
    Rz = np.array([[cz, -sz, 0], [sz, cz, 0], [0, 0, 1]])
    np.testing.assert_allclose(motion.rotation[-1], Ry @ Rx @ Rz, rtol=0, atol=GOLDEN)
    check_motion(motion, np.concatenate([np.linspace(0.1, 1.4, 9), np.linspace(1.6, 2.9, 9)]), 2e-3)


def test_dualemps_circle_tip_is_the_circle_of_the_paper() -> None:
    motion = dualemps_circle_tip()
    assert motion.time[-1] == pytest.approx(2 * np.pi * 0.1 / 0.2)
    np.testing.assert_allclose(np.hypot(motion.position[:, 0] - 0.28, motion.position[:, 2] - 0.90), 0.1, rtol=ROUNDING)
    np.testing.assert_allclose(np.linalg.norm(motion.velocity, axis=1), 0.2, rtol=ROUNDING)
    check_motion(motion, np.linspace(0.1, 3.0, 21), 1e-3)


def tip_of(q11: float, q21: float) -> tuple[float, float, float]:
    """Point P of the rigid robot from its sliders: the loop solved by bisection, independent of the closed form."""

    def gap(theta: float) -> float:
        joint = np.array([0.6 * np.cos(theta), q11 + 0.6 * np.sin(theta)])
        return float(np.hypot(joint[0] - 0.4, joint[1] - q21) - 0.6)

    theta = brentq(gap, 0.4, 1.55, xtol=1e-15)
    return 0.805 * np.cos(theta), q11 + 0.805 * np.sin(theta), theta


def test_dualemps_tip_at_home() -> None:
    """Reference value at rest, t = 0 of the reference square: tip 0.26833 m, 0.75896 m, 1.23096 rad."""
    tip = (0.2683333333333335, 0.758961278473561, 1.2309594173407745)
    np.testing.assert_allclose(tip_of(0.0, 0.0), tip, rtol=0, atol=ROUNDING)


def test_dualemps_circle_moves_the_tip_along_the_circle() -> None:
    sliders, tip = dualemps_circle(samples=21), dualemps_circle_tip(samples=21)
    angle = np.arctan2(tip.rotation[:, 2, 0], tip.rotation[:, 0, 0])
    for i, (q11, q21) in enumerate(sliders.position):
        x, y, theta = tip_of(q11, q21)
        np.testing.assert_allclose((x, y, theta), (*tip.position[i, [0, 2]], angle[i]), rtol=0, atol=ROUNDING)
    check_motion(sliders, np.linspace(0.1, 3.0, 21), 1e-3)


def test_errors() -> None:
    with pytest.raises(InputError, match=r"^example: expected one of vertical-z, .*, got 'vertical'; did you mean 'vertical-z'"):
        staicu_motion("vertical")
    with pytest.raises(InputError, match=r"^center: point P cannot reach x = 0.85 m; leg 1 is 0.805 m long$"):
        dualemps_circle(center=(0.75, 0.9))
