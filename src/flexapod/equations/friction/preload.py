"""Ball-screw preload: frictional moment of the nut over the pitch, a constant force against the motion (Kim 2002 Eq. 30).

The paper prints the force without a sign of the motion; friction opposes it.
"""

from __future__ import annotations

from typing import Any


def preload(force: Any, direction: Any) -> Any:
    r"""Friction :math:`-(\tau_b/p)\,s(v)`.

    Args:
        force: preload moment over pitch [N].
        direction: sense of the rate.

    Checked by: tests/equations/test_friction.py.
    """
    return direction * (-force)
