"""Colours shared by all drawings and figures: of legs, forces, bodies and violated limits; safe for colour-blind readers."""

from __future__ import annotations

Shade = tuple[int, int, int]
"""Red, green and blue, 0 to 255."""


def rgb(text: str) -> Shade:
    """`#0072B2` as numbers."""
    return int(text[1:3], 16), int(text[3:5], 16), int(text[5:7], 16)


COLOURS = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#56B4E9", "#CC79A7", "#999933", "#332288")
"""Okabe-Ito colours and two of Tol's, in leg order."""
DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot", "solid", "dash")
"""Line styles, in leg order."""
PUSH, PULL = "#5D3A9B", "#E66100"
"""Forces that push and that pull: purple and orange differ for every kind of colour vision, and in grey."""
REACTION: Shade = (40, 90, 60)
"""Forces and moments of joints."""
FAULT = "#d51e1e"
"""Colour of values beyond a limit."""
RED = rgb(FAULT)
"""FAULT as red, green, blue; it also marks legs that cannot reach."""
LIMIT = "#882255"
"""Limits in figures."""
METAL, STEEL, DARK = (168, 173, 180), (105, 111, 120), (52, 57, 65)
"""Rods, hardware of joints, and motors or cut sections of beams."""
PLATE, BASE, PAYLOAD = "#3E546E", "#B2B8C0", "#7A5C3A"
"""Platform, base and payload of a robot that is drawn."""
PLATFORM, GHOST = "#444444", "#9aa3ad"
"""Platform in figures, and a robot that is only a hint."""
SCALE: Shade = (70, 76, 84)
"""The bar with the scale of a drawing."""


def colour(index: int) -> str:
    """Colour of a leg or actuator."""
    return COLOURS[index % len(COLOURS)]
