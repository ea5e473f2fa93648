"""Colours that all drawings and figures share: of legs, of forces, of what is at fault; safe for colour-blind readers."""

from __future__ import annotations

COLOURS = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#56B4E9", "#CC79A7", "#999933", "#332288")
"""Okabe-Ito colours and two of Tol's, in leg order."""
DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot", "solid", "dash")
"""Line styles, in leg order."""
PUSH, PULL = "#5D3A9B", "#E66100"
"""Forces that push and that pull: purple and orange differ for every kind of colour vision, and in grey."""


def colour(index: int) -> str:
    """Colour of a leg or actuator."""
    return COLOURS[index % len(COLOURS)]
