"""Linkages of the IFToMM collection of benchmark problems, against integrations of their one equation of motion: Bricard's
over-constrained linkage, and a chain of four-bars that goes through its singular position."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import flexapod as fp

MECHANISMS = Path(__file__).parents[1] / "data" / "mechanisms"
G = 9.81
BALANCE = 1e-9
"""Of the energy exchanged, over 10 s."""
SAME = 1e-8
"""[rad] between two integrations over 10 s; the step of 1 ms leaves 1e-9 with the sixth power of the step."""
SINGULAR = 1e-6
"""Of the energy exchanged, where nodes of a step come near a position in which every choice of coordinates fails: rounding is
divided by the distance from it, once per loop (1e-8 to 3e-7 measured with three steps)."""


def run(name: str, step: float, **start: object) -> object:
    robot = fp.load(MECHANISMS / f"{name}.yaml")
    state = fp.State(position=robot.home.position, rotation=robot.home.rotation, **start)
    options = {"drive": "force", "force": [0.0], "method": "implicit", "watch": ("stroke",)}
    return fp.simulate(robot, state, duration=10.0, step=step, output_step=0.01, **options)


def turned(axis: int, angle: complex) -> np.ndarray:
    """Rotation about an axis by a number that may be complex."""
    c, s = np.cos(angle), np.sin(angle)
    R = np.eye(3, dtype=complex)
    i, j = [(1, 2), (2, 0), (0, 1)][axis]
    R[i, i], R[i, j], R[j, i], R[j, j] = c, -s, s, c
    return R


def bricard(theta: complex) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Centres and axes of the five rods, from both ends, with sin(phi) = -sin(theta) / (1 + sin(theta))."""
    phi = np.arcsin(-np.sin(theta) / (1 + np.sin(theta)))
    x, y, z = np.eye(3)
    A = turned(1, theta)
    B = A @ turned(2, phi)
    C = B @ turned(0, theta)
    D = turned(0, -phi)
    E = D @ turned(2, -theta)
    ends = [np.zeros(3), A @ x, A @ x - B @ y, A @ x - B @ y + C @ z]
    other = [z + np.zeros(3), z - D @ y, z - D @ y + E @ x]
    assert np.abs(ends[3] - other[2]).max() < 1e-12  # the loop closes
    chain = [*ends[:3], ends[3], other[1], other[0]]
    rods = [chain[k + 1] - chain[k] for k in range(5)]
    return [chain[k] + rods[k] / 2 for k in range(5)], rods


def inertia_and_height(theta: float) -> tuple[float, float]:
    """Kinetic energy per half rate squared, and height of all centres: thin rods, derivatives by complex steps."""
    small = 1e-30
    there, rods = bricard(theta + 1j * small)
    mass = 0.0
    for centre, rod in zip(there, rods, strict=True):
        v, d = centre.imag / small, rod.imag / small
        mass += float(v @ v + d @ d / 12)
    return mass, float(sum(centre.real[1] for centre in there))


@pytest.mark.full
def test_bricard() -> None:
    """Ten seconds, in which the run changes the coordinates and rows by which it closes the loop."""
    found = run("bricard", 1e-3)
    assert "stopped" not in found.attrs
    assert float(np.abs(found.ledger_residual).max()) < BALANCE * float(found.kinetic_energy.max())

    def rates(_: float, y: np.ndarray) -> list[float]:
        h = 1e-5
        (low, a), (mass, _), (high, b) = (inertia_and_height(y[0] + k * h) for k in (-1, 0, 1))
        return [y[1], -((high - low) / (2 * h) * y[1] ** 2 / 2 + G * (b - a) / (2 * h)) / mass]

    until = 2.0
    other = solve_ivp(rates, (0.0, until), [0.0, 0.0], method="DOP853", rtol=1e-11, atol=1e-12, t_eval=found.time.values[:201])
    assert np.abs(found.joint_position.values[:201, 0] - other.y[0]).max() < SAME
    again = run("bricard", 5e-4)
    assert np.abs(found.joint_position.values - again.joint_position.values).max() < SAME


def test_four_bars_stay_on_their_branch() -> None:
    """Two four-bars as a pendulum that goes round: at every half turn all bars lie in one line, where each could fold."""
    found = run("four-bars", 1e-3, velocity=[-1.0, 0.0, 0.0])
    assert "stopped" not in found.attrs
    theta = found.joint_position.sel(joint="0.foot").values
    for joint, sign in (("1.foot", 1), ("2.foot", 1), ("0.pin", -1), ("1.pin", -1)):
        assert np.abs(found.joint_position.sel(joint=joint).values - sign * theta).max() < 1e-11
    assert theta[-1] > 10 * np.pi
    assert float(np.abs(found.ledger_residual).max()) < SINGULAR * float(found.kinetic_energy.max())
    inertia, weight = 3 / 3 + 2, (3 / 2 + 2) * G  # three bars about their feet, two couplers in translation
    other = solve_ivp(
        lambda t, y: [y[1], weight * np.sin(y[0]) / inertia], (0, 10), [0.0, 1.0], method="DOP853", rtol=1e-12, atol=1e-12,
        t_eval=found.time.values,
    )  # fmt: skip
    assert np.abs(theta - other.y[0]).max() < 1e-4
