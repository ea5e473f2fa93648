"""`inverse_dynamics(..., spin="neglected")`: Kim's n.omega = 0, against his printed equations and legs without axial inertia."""

from __future__ import annotations

import numpy as np
import pytest

import flexapod as fp

PRINTED = 1e-11
"""Of the largest force: Kim's Eq. (29) is other algebra; both round at 1e-15 of sums of some hundred terms."""

KIM_DISCREPANCY = 4.9e-6
"""Largest change of a force by the neglected spin on the circle at 40 rpm [N], three digits."""
TWO_DIGITS = 0.02
"""KIM_DISCREPANCY is written with two digits; half of the last is 1 %."""


def kim_forces(robot: fp.Robot, motion: fp.Motion) -> np.ndarray:
    """Kim Eqs. (4)-(12), (19), (25)-(29) with the errata, sample by sample; parameters of appendix A.1 from the robot file."""
    m, ms, ml, l = 10.7673, 0.9971, 2.1729, 0.9
    I_platform, I_link = np.diag([0.1181489, 0.1181488, 0.2258968]), np.array([0.1402837, 0.1402837, 0.0001087])
    g, CG = np.array([0.0, 0.0, 9.81]), np.array([0.0, 0.0, 0.007])
    result = []
    for k in range(len(motion.time)):
        R, w, dw = motion.rotation[k], motion.angular_velocity[k], motion.angular_acceleration[k]
        C, dC, ddC = motion.position[k], motion.velocity[k], motion.acceleration[k]
        rotated = skew(dw) + skew(w) @ skew(w)
        G = C + R @ CG
        across, T1, rows = [], [], []
        for leg in robot.legs:
            A0, a = rail(robot, leg.name)
            CB = R @ leg.closing.on_platform.position
            d, dd, ddd = C + CB - A0, dC + np.cross(w, CB), ddC + rotated @ CB
            root = (a @ d) ** 2 - d @ d + l * l
            rate_root = 2 * (a @ d) * (a @ dd) - 2 * d @ dd
            second_root = 2 * (a @ dd) ** 2 + 2 * (a @ d) * (a @ ddd) - 2 * dd @ dd - 2 * d @ ddd
            lam = a @ d - np.sqrt(root)
            dlam = a @ dd - rate_root / (2 * np.sqrt(root))
            ddlam = a @ ddd - (2 * second_root * root - rate_root**2) / (4 * root * np.sqrt(root))
            n, dn, ddn = (d - lam * a) / l, (dd - dlam * a) / l, (ddd - ddlam * a) / l
            w_l, dw_l = np.cross(n, dn), np.cross(n, ddn)  # Eq. (19)
            spread = I_link[0] * (np.eye(3) - np.outer(n, n)) + I_link[2] * np.outer(n, n)  # Eq. (14), I'_xx = I'_yy
            euler = spread @ dw_l + np.cross(w_l, spread @ w_l)
            half = ml * (ddlam * a + l / 2 * ddn - g)
            n_x_F = 0.5 * np.cross(n, half) + euler / l  # Eq. (23) with the errata: F on the link by the platform
            across.append(-np.cross(n, n_x_F))
            arm = C + CB - G
            T1.append(np.concatenate([n, np.cross(arm, n)]))
            rows.append((a, n, ddlam, half, arm))
        # platform, Eqs. (25)-(26); -F_B acts on it
        ddG = ddC + rotated @ (R @ CG)
        I_world = R @ I_platform @ R.T
        force = m * (g - ddG) - sum(across)
        moment = -I_world @ dw - np.cross(w, I_world @ w) - sum(np.cross(r[4], f) for r, f in zip(rows, across, strict=True))
        axial = np.linalg.solve(np.array(T1).T, np.concatenate([force, moment]))
        taus = []
        for (a, n, ddlam, half, _), f, z in zip(rows, across, axial, strict=True):
            F_A = half - (f + n * z)  # Eq. (22)
            taus.append(ms * (ddlam - a @ g) + a @ F_A)  # Eq. (21)
        result.append(taus)
    return np.array(result)


def skew(v: np.ndarray) -> np.ndarray:
    return np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])


def rail(robot: fp.Robot, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Start of a rail and its direction, from the printed end points (z first to last: 0 to 0.35 m)."""
    column = "ABCDEF".index(name) if name in "ABCDEF" else int(name) - 1
    start = np.array([(-0.7380, -0.8480, -0.1100, 0.1100, 0.8480, 0.7380), (-0.5531, -0.3625, 0.9157, 0.9157, -0.3625, -0.5531),
                      (0.0,) * 6])[:, column]  # fmt: skip
    end = np.array([(-0.2130, -0.3230, -0.1100, 0.1100, 0.3230, 0.2130), (-0.2500, -0.0595, 0.3095, 0.3095, -0.0595, -0.2500),
                    (0.35,) * 6])[:, column]  # fmt: skip
    return start, (end - start) / np.linalg.norm(end - start)


@pytest.fixture(scope="module")
def hexaslide() -> fp.Robot:
    return fp.load("hexaslide")


@pytest.mark.parametrize("case", ["circle", "Eq. 33"])
def test_forces_are_those_of_the_printed_equations(hexaslide: fp.Robot, case: str) -> None:
    motion = fp.motions.kim_circle(samples=31) if case == "circle" else fp.motions.kim_constant_acceleration(samples=31)
    ours = fp.inverse_dynamics(hexaslide, motion, friction=False, spin="neglected")
    theirs = kim_forces(hexaslide, motion)
    assert ours.attrs["formulation"] == "newton_euler"
    assert np.abs(ours.force.values - theirs).max() < PRINTED * np.abs(theirs).max()
    exact = fp.inverse_dynamics(hexaslide, motion, friction=False).force.values
    assert np.abs(exact - theirs).max() > 1e3 * PRINTED * np.abs(theirs).max()  # the same check sees the spin


def test_discrepancy_at_40_rpm(hexaslide: fp.Robot) -> None:
    motion = fp.motions.kim_circle(samples=121)
    exact, without = (fp.inverse_dynamics(hexaslide, motion, friction=False, spin=s).force.values for s in ("exact", "neglected"))
    assert np.abs(exact - without).max() == pytest.approx(KIM_DISCREPANCY, rel=TWO_DIGITS)


@pytest.mark.parametrize("name", ["hexaslide", "stewart-3-3"])
def test_slender_legs_are_the_limit(name: str) -> None:
    """Legs that are bodies of revolution: leaving out the spin is the same as leaving out their inertia about their line."""
    robot = fp.load(name)
    motion = fp.motions.kim_circle(samples=31) if name == "hexaslide" else fp.motions.staicu_motion("rotation-z", samples=31)
    bodies = ["link"] if name == "hexaslide" else ["cylinder", "piston"]
    axes = {body: [robot.parameter(f"legs.{body}.inertia.{k}") for k in ("xx", "yy", "zz")] for body in bodies}
    slender = {f"legs.{body}.inertia.{'xyz'[k]}{'xyz'[k]}": 0.0 for body, v in axes.items() for k in [int(np.argmin(v))]}
    assert all(np.isclose(*sorted(v)[1:]) for v in axes.values())
    without = fp.inverse_dynamics(robot, motion, friction=False, spin="neglected").force.values
    limit = fp.inverse_dynamics(robot.with_parameters(slender), motion, friction=False, formulation="virtual_power").force.values
    assert np.abs(without - limit).max() < PRINTED * np.abs(limit).max()


def test_friction_reactions_and_contributions_take_the_option(hexaslide: fp.Robot) -> None:
    motion = fp.motions.kim_circle(rpm=60.0, samples=7)
    exact, without = (
        fp.inverse_dynamics(hexaslide, motion, reactions=True, contributions="frozen", spin=s) for s in ("exact", "neglected")
    )
    for name in ("force", "power", "reaction_force", "force_contribution"):
        assert np.abs(exact[name] - without[name]).max() > 0, name
    total = without.force_contribution.sum("contribution")
    assert np.abs(total - without.force).max() < PRINTED * np.abs(without.force).max()


def test_refusals(hexaslide: fp.Robot) -> None:
    motion = fp.motions.kim_circle(samples=3)
    with pytest.raises(fp.InputError, match="spin: expected 'exact' or 'neglected', got 'none'"):
        fp.inverse_dynamics(hexaslide, motion, spin="none")  # type: ignore[arg-type]
    with pytest.raises(fp.InputError, match="variant of newton_euler, not of virtual_work"):
        fp.inverse_dynamics(hexaslide, motion, spin="neglected", formulation="virtual_work")
    with pytest.raises(fp.InputError, match="massless legs have no inertia on which spin could act"):
        fp.inverse_dynamics(hexaslide, motion, friction=False, spin="neglected", legs="massless")


@pytest.mark.parametrize("name", ["delta", "five-bar", "dualemps", "gough-stewart-flexible"])
def test_robots_without_such_legs_say_why(name: str) -> None:
    robot = fp.load(name)
    at = fp.State(position=robot.home.position, rotation=robot.home.rotation)
    with pytest.raises(fp.FlexapodError, match="spin"):
        fp.inverse_dynamics(robot, at, friction=False, spin="neglected")
