"""Reduced beams in robots: spin, buckling, stress, energy and motion against beams of all their elements."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from beam_alone import beam_alone, hub
from test_rotating_beam import EI, HALF_A_PER_CENT, L, ritz
from test_ten_seconds import BALANCE, broken

import flexapod as fp

COLUMN = 1e-3
"""Buckling load with one mode and more (found 2e-4)."""


SAME = 1e-4
"""Of the length; found 2.2e-5 with three modes, 2.6e-3 without."""
RECOVERED = 1e-9
"""Relative, and moments [N m] of 2: a force at the tip bends in the shapes that reduction keeps; found 7e-13."""
ONE_FRAME = 1e-4
"""Of the shortening by bending, between reduced beams and those of one element."""
FOURFOLD = 0.1
"""Of the ratio of two errors."""


def test_spin_up_to_three_times_the_first_frequency() -> None:
    """Stiffened by its spin in one frame: eight elements and four modes are seven coordinates."""
    first = ritz(0.0)[0]
    spin = first * np.linspace(0.0, 3.0, 4)
    found = fp.moving_frequencies(beam_alone(elements=8, words="modes: 4, "), hub(0.4, spin))
    assert found.sizes["elastic_coordinate"] == 7
    exact = np.array([ritz(s)[:2] for s in spin])
    assert (np.abs(2 * np.pi * found.frequency.values[:, :2] / exact - 1) < HALF_A_PER_CENT).all()


@pytest.mark.parametrize("words", ["modes: 2, ", "modes: 2, theory: exact, poisson: 0.3, "])
def test_column(words: str) -> None:
    robot = beam_alone(elements=8, words=words)
    found = fp.buckling(robot, hub(), [-1000.0, 0, 0, 0, 0, 0])
    assert float(found.critical_load[0, 0]) == pytest.approx(-(np.pi**2) * EI / (4 * L**2), rel=COLUMN)


def test_stress_of_all_its_elements() -> None:
    """A force at the tip: the moment falls linearly along the eight elements; the same strain by validity's measure."""
    robot = beam_alone(elements=8, words="modes: 3, ")
    bent = fp.static_deflection(robot, hub(), wrench=[0, 2.0, 0, 0, 0, 0])
    found = fp.beam_stress(robot, bent)
    assert found.sizes["element"] == 8
    exact = 2.0 * (1.0 - np.linspace(0, 1, 9))
    assert found.moment_z.values[0] == pytest.approx(np.stack([exact[:-1], exact[1:]], axis=1), abs=RECOVERED)
    assert found.attrs["peak_element"] == "1.arm.beam1"
    assert found.attrs["peak"] == pytest.approx(2.0 * 0.005 / (0.02 * 0.01**3 / 12), rel=RECOVERED)
    assert float(bent.strain.max()) == pytest.approx(found.attrs["peak"] / 70e9, rel=RECOVERED)


@pytest.mark.parametrize(
    ("words", "elements", "text"),
    [
        ("modes: 1, bend: 20 deg, ", 4, "cannot be given together with bend: a reduced beam is straight"),
        ("modes: 1, ", 1, "reduces a beam of several elements"),
        ("modes: 9, ", 4, "4 elements have 6 modes of bending and twisting between their ends, 9 are asked for"),
    ],
)
def test_bad_input(words: str, elements: int, text: str) -> None:
    with pytest.raises(fp.FlexapodError, match=text):
        beam_alone(elements=elements, words=words)


LAWS = {"linear": "stiffening: false, poisson: 0.3, ", "stiffened": "poisson: 0.3, ", "exact": "theory: exact, poisson: 0.3, "}


@pytest.mark.full
@pytest.mark.parametrize("law", LAWS)
def test_energy_over_ten_seconds(law: str) -> None:
    """A falling flexible pendulum of six elements in one frame with two modes, let go at the horizontal."""
    robot = beam_alone(elements=6, words="modes: 2, " + LAWS[law], gravity="0, -9.81, 0", hub=0.01, tip=0.2)
    result = fp.simulate(robot, hub(), duration=10.0, step=1e-3, friction=False, watch=())
    assert float(result.time[-1]) == pytest.approx(10.0)
    assert broken(result) < BALANCE


@pytest.mark.full
@pytest.mark.parametrize("law", ["stiffened", "exact"])
def test_motion_of_all_elements(law: str) -> None:
    """The tip over half a second of fall and vibration against six elements with frames of their own: of the length."""
    tips, made = [], []
    for words in ("", "modes: 3, "):
        robot = beam_alone(elements=6, words=words + LAWS[law], gravity="0, -9.81, 0", hub=0.01, tip=0.2)
        result = fp.simulate(robot, hub(), duration=0.5, step=1e-3, friction=False, watch=())
        tips.append(result.position.values)
        made.append(len(robot.elastic_names))
    assert made == [18, 6]
    assert np.abs(tips[0] - tips[1]).max() < SAME


LIMIT = 0.02
"""Of the shortening by bending: what is left between the limit of many frames and one stiffened frame (found 1.3e-3)."""


@pytest.mark.full
def test_where_positions_of_reduced_linear_beams_differ_from(tmp_path: Path) -> None:
    """DualEMPS bent by a moment: linear beams in one frame do not shorten when they bend, reduced or of one element alike.

    Elements with frames of their own shorten, the error falls with the square of their number, and their limit is where
    stiffened reduced beams are: it is what bending shortens, and nothing of the reduction.
    """
    text = (Path(fp.__file__).parent / "robots" / "dualemps-8.yaml").read_text()
    q = np.zeros((1, 2))
    still = fp.ActuatorMotion(time=[0.0], position=q, velocity=q, acceleration=q)

    def position(words: str, stiffening: str = "false") -> np.ndarray:
        path = tmp_path / "robot.yaml"
        path.write_text(text.replace("elements: 8", words).replace("stiffening: false", f"stiffening: {stiffening}"))
        return fp.static_deflection(fp.load(path), still, wrench=np.array([[0.0, 0.0, 0.0, 0.0, 3.0, 0.0]])).position.values[0]

    single, reduced = position("elements: 1"), position("elements: 8, modes: 2")
    stiffened, four, eight = position("elements: 8, modes: 2", "true"), position("elements: 4"), position("elements: 8")
    shortening = float(np.linalg.norm(reduced - stiffened))
    assert np.linalg.norm(reduced - single) < ONE_FRAME * shortening
    assert np.linalg.norm(four - stiffened) / np.linalg.norm(eight - stiffened) == pytest.approx(4.0, rel=FOURFOLD)
    assert np.linalg.norm(eight + (eight - four) / 3.0 - stiffened) < LIMIT * shortening
