"""Residual vibration in the studio's tab Modes: computed beside the page, told with its robot, gone with another one."""

from __future__ import annotations

import pytest

from flexapod.views.studio.app import Studio
from support.patience import PATIENCE, until


@pytest.mark.full
def test_residual_vibration_of_dualemps() -> None:
    studio = Studio("dualemps")
    assert studio.loop.settle(PATIENCE)
    panel = studio.modes
    assert panel.swing.visible
    assert not panel.after.plot.visible
    studio.loop.post("residual", panel._residual)
    assert until(lambda: "id='residual'" in panel.left.content)
    text = panel.left.content
    assert "dualemps" in text
    assert "10 % too high" in text
    for name in ("as given", "zv", "zvd", "ei"):
        assert name in text
    assert until(lambda: panel.after.plot.visible)
    assert "after the move" in panel.after.plot.title
    studio.stop()


def test_rigid_robots_have_no_button(studio: Studio) -> None:
    """And nothing of it is shown."""
    assert not studio.modes.swing.visible
    assert studio.modes.left.content == ""
    assert not studio.modes.after.plot.visible
