r"""The line of a bent beam element between the frames of its ends.

.. math:: p(s) = h_{00}p_0 + h_{10}L t_0 + h_{01}p_1 + h_{11}L t_1

Cubic Hermite polynomials h; p_0, p_1 ends of the element, t_0, t_1 the direction of the undeformed element there, L its length.
For small deflections this is the line of an Euler-Bernoulli element. Modes of a reduced beam add to it across its axis.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from flexapod.arrays import Array
from flexapod.views.scene.frames import LinkFrame

if TYPE_CHECKING:
    from flexapod.views.scene.parts import Beam

PIECES = 8
"""Straight pieces that draw one element."""


def beam_curve(bent: list[LinkFrame], rest: list[LinkFrame], element: Beam, tip: int, pieces: int = PIECES) -> Array:
    """Points (pieces + 1, 3) from the root of an element to one of its tips.

    Args:
        bent, rest: frames of the leg's links, as they are and without deformation.
        element: of `robot.beams`.
        tip: link at its far end, of `element.tips`.

    Checked by: tests/studio/test_studio_drawing.py.
    """
    root, chord = element.root, rest[tip].origin - rest[element.root].origin
    if element.rooted is None:  # a beam's own axis, without the rounding of a difference
        chord = float(np.linalg.norm(chord)) * (rest[root].rotation @ element.axes)[:, 0]
    t0, t1 = (bent[k].rotation @ (rest[k].rotation.T @ chord) for k in (root, tip))
    s = np.linspace(0.0, 1.0, pieces + 1)[:, None]
    h00, h10, h01, h11 = 2 * s**3 - 3 * s**2 + 1, s**3 - 2 * s**2 + s, 3 * s**2 - 2 * s**3, s**3 - s**2
    line = h00 * bent[root].origin + h10 * t0 + h01 * bent[tip].origin + h11 * t1
    if element.basis is None:
        return np.asarray(line)
    modes = element.links[element.links.index(tip) + 1 :]  # links beyond the tip, which slide along their z axes
    before = [tip, *modes][: len(modes)]
    slid = [float(bent[k].rotation[:, 2] @ (bent[k].origin - bent[j].origin)) for j, k in zip(before, modes, strict=True)]
    across = element.inner_line(s[:, 0], np.array(slid))
    return np.asarray(line + across @ (bent[root].rotation @ element.axes).T)
