"""Drives and residual vibration in the studio's tab Modes: shown with their robot, gone with another one."""

from __future__ import annotations

import numpy as np
import pytest
from studio_process import READY

from flexapod.views.drives import ASSUMED
from flexapod.views.studio.app import Studio
from support.patience import PATIENCE, until

SAME = 1e-9
"""Relative: frequencies of a stiffness matrix times four."""


@pytest.mark.full
def test_residual_vibration_of_dualemps() -> None:
    studio = Studio("dualemps")
    assert studio.loop.wait_until_idle(PATIENCE)
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


def test_the_stiffness_of_drives_has_the_unit_of_the_robot(studio: Studio) -> None:
    """Until one is given, frequencies are those of the report, and the strip says that the stiffness is assumed."""
    boxes = studio.modes.stiffness
    assert {unit: box.visible for unit, box in boxes.items()} == {"m": True, "rad": False}
    assert "[N/m]" in boxes["m"].label
    assert until(lambda: "stiffness assumed" in studio.strip.content)
    studio.loop.post("open", lambda: studio.open("planar-3-rrr"))
    assert studio.loop.wait_until_idle(READY)
    assert {unit: box.visible for unit, box in boxes.items()} == {"m": False, "rad": True}
    assert boxes["rad"].value == ASSUMED["rad"]
    assert until(lambda: "drives of 1e+05 N m/rad (assumed" in studio.frequencies.content)
    studio.stiffness["rad"] = 4e5
    before = studio.modes.found
    assert before is not None
    studio.loop.post("ask", studio.modes.ask)
    assert until(lambda: "drives of 4e+05 N m/rad" in studio.frequencies.content)
    assert studio.modes.found is not None
    assert np.allclose(studio.modes.found.frequency, 2.0 * before.frequency, rtol=SAME, atol=0), "four times as stiff"
