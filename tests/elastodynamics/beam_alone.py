"""Robot files of one beam: a driven hub or slider, the beam, and a tip that is the platform."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import numpy as np

import flexapod as fp

FILE = """
flexapod: 1
name: beam-alone
source: tests of beams
gravity: [{gravity}]
{plane}
characteristic_length: {length}
home: {{position: [{length}, 0, 0]}}
platform: {{body: "1.tip"}}
legs:
  each:
    "1":
      table:
        - {{body: hub, mu: 1, sigma: 0, inertial: {{ZZ: {hub}}}}}
        - body: arm
          sigma: 2
          flexible:
            {{type: beam, length: {length}, elements: {elements}, {words}section: {section}, young: {young}, density: {density}}}
        - {{body: tip, sigma: 2, d: {length}, inertial: {{M: {tip}}}}}
"""


@cache
def beam_alone(
    *, elements: int, words: str = "", length: float = 1.0, section: str = "{shape: rectangle, width: 0.01, height: 0.02}",
    young: float = 70e9, density: float = 2700.0, hub: float = 0.1, tip: float = 0.0, planar: bool = True,
    gravity: str = "0, 0, 0",
) -> fp.Robot:  # fmt: skip
    """The robot of one beam along x that its hub turns about z."""
    text = FILE.format(
        elements=elements, words=words, length=length, section=section, young=young, density=density, hub=hub, tip=tip,
        gravity=gravity, plane="plane: xy" if planar else "",
    )  # fmt: skip
    path = Path(mkdtemp()) / "beam-alone.yaml"
    path.write_text(text)
    return fp.load(path)


def hub(
    angle: float | np.ndarray = 0.0, rate: float | np.ndarray = 0.0, acceleration: float | np.ndarray = 0.0
) -> fp.ActuatorMotion:
    """Samples of the hub's motion."""
    q, qd, qdd = np.broadcast_arrays(*(np.atleast_1d(np.asarray(x, dtype=float)) for x in (angle, rate, acceleration)))
    return fp.ActuatorMotion(time=np.arange(float(len(q))), position=q[:, None], velocity=qd[:, None], acceleration=qdd[:, None])
