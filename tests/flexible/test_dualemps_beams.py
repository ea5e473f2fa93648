"""The beams of DualEMPS (Briot 2014): mass and stiffness matrix at rest and frequencies of the robot, assembled here by hand.

Two legs of 0.6 m, sliders along Y at X = 0 and 0.4 m: rigid 12, beam 13, rigid 14 up to the joint, and beyond it beam 16, rigid
17; rigid 22, beam 23, rigid 24. The tree's velocities are closed at the joint for the two passive angles.
"""

import json

import numpy as np
import pytest
from bodies import DATA

from flexapod.flexible import FlexibleBody, Section, beam

REFERENCE = json.loads((DATA / "dualemps-beams.json").read_text())
MATRIX = 1e-13
"""Closed forms on both sides; the reference has all digits of a double."""

PRINTED = 1e-4
"""Frequencies are printed with five digits."""

PLANE = [0, 1, 5]
VANISHES = 1e-9
"""[N/m] of 1e8 N/m: entries that vanish."""
EIGHT = 2e-4
"""Of frequencies with eight elements per beam; found 1.3e-4."""
TABLE_2 = 6e-4
"""[kg]: masses printed with three decimals."""


class Assembly:
    """Rows of velocities (vx, vy, omega) in the plane, as matrices on the tree's rates; mass and stiffness as they grow."""

    def __init__(self, elements: int) -> None:
        data = REFERENCE["beams"]
        section = Section.rectangle(width=data["width_bending"], height=data["height"])
        self.beams = [
            beam(length=L, section=section, young=data["E"], density=data["rho"], planar=True, elements=elements)
            for L in data["length"]
        ]
        self.n = 4 + 3 * 3 * elements
        self.M, self.K = np.zeros((self.n, self.n)), np.zeros((self.n, self.n))

    def start(self, slider: int, angle: int) -> np.ndarray:
        """Velocity of the leg's first frame: the slider moves along Y, then the passive joint turns."""
        J = np.zeros((3, self.n))
        J[1, slider] = 1.0
        J[2, angle] = 1.0
        return J

    def rigid(self, name: str, J: np.ndarray, along: np.ndarray) -> None:
        """m, first moment along the link and inertia about the frame origin."""
        m, mx, zz = REFERENCE["rigid_bodies"][name]
        s = mx * np.array([-along[1], along[0]])
        self.M += J.T @ np.array([[m, 0, s[0]], [0, m, s[1]], [s[0], s[1], zz]]) @ J

    def flexible(self, body: FlexibleBody, J: np.ndarray, along: np.ndarray, first: int) -> np.ndarray:
        """Adds a beam whose coordinates start at `first`; returns the velocity of its tip."""
        N = len(body.M_ee)
        rotation = np.array([[along[0], along[1], 0], [-along[1], along[0], 0], [0, 0, 1]])
        E = np.eye(self.n)[first : first + N]
        local = np.vstack([rotation @ J, E])
        rows = [*PLANE, *range(6, 6 + N)]
        self.M += local.T @ body.mass_matrix(np.zeros(N))[np.ix_(rows, rows)] @ local
        self.K += E.T @ body.K_ee @ E
        tip = body.interfaces["tip"]
        assert tip.Phi_r is not None
        elastic = np.vstack([tip.Phi_d[:2], tip.Phi_r[2:]]) @ E
        return moved(J, along, tip.r0[0]) + rotation.T @ elastic


def moved(J: np.ndarray, along: np.ndarray, distance: float) -> np.ndarray:
    result = J.copy()
    result[:2] += distance * np.outer([-along[1], along[0]], J[2])
    return result


def dualemps(elements: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Mass and stiffness matrix for (q11, q21, beam 13, beam 23, beam 16) at q11 = q21 = 0."""
    g = REFERENCE["geometry"]
    robot = Assembly(elements)
    N = 3 * elements
    length = g["d13"] + g["d14_beam"] + g["d15"]
    half = 0.5 * g["slider_offset_d21"]
    up = np.sqrt(length**2 - half**2)
    closing = []
    for leg, along in ((1, np.array([half, up]) / length), (2, np.array([-half, up]) / length)):
        J = robot.start(leg - 1, 2 + leg - 1)
        robot.M += np.diag(np.eye(robot.n)[leg - 1]) * REFERENCE["rigid_bodies"][f"{leg}1"][0]
        robot.rigid(f"{leg}2", J, along)
        J = robot.flexible(robot.beams[leg - 1], moved(J, along, g["d13"]), along, 4 + N * (leg - 1))
        robot.rigid(f"{leg}4", J, along)
        closing.append(moved(J, along, g["d15"]))
        if leg == 1:
            J = moved(J, along, g["d15"] + g["d16"])
            robot.rigid("17", robot.flexible(robot.beams[2], J, along, 4 + 2 * N), along)
    gap = closing[0][:2] - closing[1][:2]
    free = [0, 1, *range(4, robot.n)]
    S = np.zeros((robot.n, robot.n - 2))
    S[free] = np.eye(robot.n - 2)
    S[2:4] = -np.linalg.solve(gap[:, 2:4], gap[:, free])
    return S.T @ robot.M @ S, S.T @ robot.K @ S


def frequencies(elements: int) -> np.ndarray:
    """The six lowest with locked sliders [Hz]."""
    M, K = (matrix[2:, 2:] for matrix in dualemps(elements))
    return np.sqrt(np.sort(np.linalg.eigvals(np.linalg.solve(M, K)).real)[:6]) / (2.0 * np.pi)


def test_matrices_at_rest() -> None:
    M, K = dualemps()
    expected = np.array(REFERENCE["mass_matrix_q0"])
    assert np.abs(M - expected).max() < MATRIX * np.abs(expected).max()
    elastic = np.abs(M - expected)[2:, 2:]
    assert elastic.max() < MATRIX * np.abs(expected[2:, 2:]).max()
    assert np.allclose(K, REFERENCE["stiffness_matrix_q0"], rtol=MATRIX, atol=VANISHES)


def test_frequencies_with_one_element() -> None:
    printed = REFERENCE["frequencies_hz_locked_actuators_q11_q21_0"]["one_element_as_printed"]
    assert np.allclose(frequencies(1), printed, rtol=PRINTED, atol=0)


def test_frequencies_converge_with_the_elements() -> None:
    """To the printed values with 32 elements; the error falls with the fourth power."""
    exact = frequencies(32)
    printed = REFERENCE["frequencies_hz_locked_actuators_q11_q21_0"]["converged_32_elements"]
    assert np.allclose(exact, printed, rtol=PRINTED, atol=0)
    errors = [frequencies(n) / exact - 1.0 for n in (4, 8)]
    assert errors[1].max() < EIGHT
    assert np.log2(errors[0] / errors[1]).min() > 3.5


def test_the_comparison_can_fail() -> None:
    """Beams 1 % longer are noticed."""
    M, _ = dualemps()
    REFERENCE["beams"]["length"][2] *= 1.01
    try:
        changed, _ = dualemps()
    finally:
        REFERENCE["beams"]["length"][2] /= 1.01
    assert np.abs(changed - M).max() > 1e3 * MATRIX * np.abs(M).max()


@pytest.mark.parametrize("link", [0, 1, 2])
def test_beam_mass(link: int) -> None:
    """Table 2 of the paper lists the beams as bodies of 0.252 and 0.078 kg."""
    body = Assembly(1).beams[link]
    assert body.mass == pytest.approx((0.252, 0.252, 0.078)[link], abs=TABLE_2)
