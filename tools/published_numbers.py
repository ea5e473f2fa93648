"""Numbers that the papers print about their robots, each with the function that computes it here; inputs are in the robot files.

The papers of `stewart-3-3`, `hexapod` and `hexaslide` print curves and no other result.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

import flexapod as fp


@dataclass(frozen=True, kw_only=True)
class Published:
    """A printed number: what, where, the text as printed, its unit, and how it is computed here."""

    what: str
    where: str
    printed: str
    unit: str
    ours: Callable[[fp.Robot], float]


def _home(robot: fp.Robot) -> fp.State:
    return fp.State(position=robot.home.position, rotation=robot.home.rotation)


def _actuator(k: int) -> Callable[[fp.Robot], float]:
    return lambda robot: float(fp.inverse_kinematics(robot, _home(robot), joints=False).actuator_position[k])


def _plate_omega(k: int) -> Callable[[fp.Robot], float]:
    return lambda robot: float(np.sqrt(robot.flexible_platform.K_ee[k, k]))  # type: ignore[union-attr]


def _frequency(k: int) -> Callable[[fp.Robot], float]:
    return lambda robot: float(fp.natural_frequencies(robot, _home(robot), prestress=False).frequency[k])


LENGTHS = [
    Published(what=f"joint value q3 of leg {k + 1} at the start", where="Table 4", printed=text, unit="m", ours=_actuator(k))
    for k, text in enumerate(("1.025", "1.039", "1.142", "1.126", "1.0203", "1.099"))
]
OMEGA = ("188.7473", "188.7475", "315.7169", "401.0187", "474.7468", "709.5586", "709.5814", "828.2868", "828.3062", "1310.581")
PLATE = [
    Published(what=f"elastic mode {k + 1} of the free plate", where="Table 2", printed=text, unit="rad/s", ours=_plate_omega(k))
    for k, text in enumerate(
        ["188.7473", "188.7475", "315.7169", "401.0187", "474.7468", "709.5586", "709.5814", "828.2868", "828.3062", "1310.581"]
    )
]
BEAMS = [
    Published(what=f"natural frequency {k + 1}, model of the paper", where="Table 3", printed=text, unit="Hz", ours=_frequency(k))
    for k, text in enumerate(("14.22", "25.09", "48.22", "92.37", "109.08"))
]

PUBLISHED: dict[str, list[Published]] = {
    "gough-stewart": LENGTHS,
    "gough-stewart-flexible": [
        Published(
            what="mass of the platform", where="section 6.1", printed="73.069", unit="kg", ours=lambda robot: robot.platform.mass
        ),
        *PLATE,
    ],
    "dualemps": BEAMS,
}
