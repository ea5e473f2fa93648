"""Leg colours and dashes for every reader: distinguished with each kind of colour blindness, and in print without colour.

Dichromats are simulated by the matrices of Machado, Oliveira and Fernandes, IEEE Trans. Vis. Comput. Graph. 15 (2009),
severity 1, on linear RGB; distances are CIE76 in L*a*b* (D65). 2.3 is a just noticeable difference.
"""

from itertools import combinations
from typing import Any

import numpy as np
import pytest

from flexapod.views.scene.colours import COLOURS, DASHES

MATRICES = {
    "none": np.eye(3),
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}
TO_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
WHITE = TO_XYZ.sum(axis=1)
CLEAR = 10.0
"""Four just noticeable differences."""

SIX = 6
"""Legs of a hexapod; robots with more share dashes, not colours."""


def linear(colour: str) -> Any:
    v = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(v <= 0.04045, v / 12.92, ((v + 0.055) / 1.055) ** 2.4)


def lab(rgb: Any) -> Any:
    t = TO_XYZ @ np.clip(rgb, 0, 1) / WHITE
    f = np.where(t > (6 / 29) ** 3, np.cbrt(t), t / (3 * (6 / 29) ** 2) + 4 / 29)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def seen(colour: str, kind: str) -> Any:
    return lab(np.array(MATRICES[kind]) @ linear(colour))


@pytest.mark.parametrize("kind", list(MATRICES))
def test_legs_are_reported_apart(kind: str) -> None:
    near = {
        (a, b): float(np.linalg.norm(seen(COLOURS[a], kind) - seen(COLOURS[b], kind))) for a, b in combinations(range(SIX), 2)
    }
    assert min(near.values()) > CLEAR, near


def test_legs_are_reported_apart_without_colour() -> None:
    assert len(set(DASHES[:SIX])) == SIX
    for colour in COLOURS[:SIX]:
        assert seen(colour, "none")[0] < 80, "dark enough on white paper"


def test_the_check_can_fail() -> None:
    red, green = "#d62728", "#2ca02c"
    assert np.linalg.norm(seen(red, "none") - seen(green, "none")) > 5 * CLEAR
    assert np.linalg.norm(seen(red, "deuteranopia") - seen(green, "deuteranopia")) < 3 * CLEAR
