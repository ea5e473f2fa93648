"""Tab `Modes`: natural frequencies and damping at the shown pose; each mode animated."""

from __future__ import annotations

import time
from functools import partial
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

import flexapod as fp
from flexapod.views.drives import ASSUMED
from flexapod.views.output import number
from flexapod.views.residual_vibration import shaped_residuals
from flexapod.views.studio.panel import Asked, Panel
from flexapod.views.studio.plots import TimePlot
from flexapod.views.studio.tables import STYLE, UNSTABLE, frequencies_html, residual_html
from flexapod.views.studio.vibration import Modes, displaced, modes_of, room_of_mode

if TYPE_CHECKING:
    import xarray as xr

    from flexapod.views.studio.jobs import JobReport

BEAT = 1.0 / 25.0
BESIDE = 4
"""Modes that are drawn side by side."""
SHOWN = 12
"""Modes that can be chosen."""
NONE = "none"


class ModesPanel(Panel):
    """Frequencies that follow the pose and the parameters, and an animation."""

    def build(self) -> None:
        """Make the widgets."""
        gui = self.gui
        self.found: Modes | None = None
        self.playing = self.asked = False
        self._since, self._room, self._rooms = 0.0, 1.0, [1.0]
        hint = "of every such actuator of a rigid robot: an assumed value, enter yours; flexible robots have locked actuators"
        self.stiffness = {
            unit: self.on(
                gui.add_number(
                    f"Drive stiffness [{name}]", ASSUMED[unit], min=1.0, max=1e15, step=step, hint=hint, visible=False
                ),
                partial(self._stiffened, unit),
            )
            for unit, name, step in (("m", "N/m", 1e5), ("rad", "N\u00a0m/rad", 1e3))
        }
        self.mode = self.on(gui.add_dropdown("Mode", (NONE,), initial_value=NONE), lambda _: self._started())
        self.factor = gui.add_slider("Amplitude x", 0.1, 4.0, 0.1, 1.0, marks=())
        self.speed = gui.add_slider("Cycles per second", 0.1, 2.0, 0.1, 0.5, marks=())
        self.play = self.on(gui.add_button("Animate", disabled=True), lambda _: self._toggle())
        self.row = self.on(
            gui.add_checkbox("Side by side", False, hint=f"the first {BESIDE} modes as robots in a row"),
            lambda _: self._arranged(),
        )
        self.about = gui.add_html("")
        self.swing = self.on(
            gui.add_button("Residual vibration", hint="vibration after a fast move, with and without input shapers"),
            lambda _: self._residual(),
        )
        self.left = gui.add_html("")
        self.after = TimePlot(gui)

    def new_robot(self) -> None:
        """The stiffness belongs to rigid robots, residual vibration to flexible ones."""
        robot = self.studio.session.robot
        for unit, box in self.stiffness.items():
            box.visible = unit in robot.actuator_units and not robot.elastic_names
        self.swing.visible = bool(self.studio.session.robot.elastic_names)

    def forget(self) -> None:
        """The modes belong to another robot or variant."""
        self.pause()
        self.found, self.asked = None, True
        self.about.content = self.left.content = ""
        self.after.hide()
        self.play.disabled = True
        self.studio.frequencies.content = frequencies_html(f"computing the frequencies of {self.studio.session.robot.name} ...")

    def _residual(self) -> None:
        """A standard move from home as given and shaped, with exact and wrong frequencies, in the other process."""
        variant = self.studio.session.variant

        def done(found: list[tuple[str, xr.Dataset]]) -> None:
            if self.studio.session.variant is not variant:
                return
            self.left.content = residual_html(variant.robot.name, variant.label, found)
            exact = found[0][1]
            axis = int(np.abs(exact.displacement.values).max(axis=(0, 1)).argmax())
            names = tuple(str(name) for name in exact.way.values)
            curves = 1e3 * exact.displacement.values[:, :, axis].T
            self.after.load(f"after the move, along {'xyz'[axis]} [mm]", names, exact.since_end.values, curves, None)
            self.studio.say("residual vibration is ready", "good")

        self.studio.jobs.start("residual vibration", lambda report: report.call(shaped_residuals, variant.robot), done)

    def ask(self) -> None:
        """Compute the frequencies when nothing else waits."""
        self.asked = True
        self.studio.loop.quiet("frequencies", self.start)

    def start(self) -> None:
        """Compute the frequencies at the shown pose, for the shown variant and the kept one, beside the studio's thread."""
        session, stiffness = self.studio.session, dict(self.studio.stiffness)
        variant, kept, shown, other = session.variant, session.kept, session.numbers, session.kept_numbers
        if not shown.taken:
            self.found, self.asked = None, False
            self._report_text("no frequencies: the pose cannot be reached")
            return

        def work(report: JobReport) -> tuple[Modes | str, Modes | None]:
            try:
                first = modes_of(variant.robot, shown.state, stiffness, variant.label)
                report(0.5)
                second = None
                if kept is not None and other is not None and other.taken:
                    second = modes_of(kept.robot, other.state, stiffness, kept.label)
                return first, second
            except fp.FlexapodError as error:
                return f"no frequencies: {error}", None

        def done(result: tuple[Modes | str, Modes | None]) -> None:
            if self.studio.session.variant is not variant or self.studio.session.numbers is not shown:
                return  # of another robot, variant or pose: they are computed again
            found, beside = result
            self.found, self.asked = (None if isinstance(found, str) else found), False
            self._report_text(found, beside)
            if not self.studio.motion.shows:
                self.studio.write_numbers()

        self.studio.background.start("frequencies", work, done)

    def _report_text(self, found: Modes | str, kept: Modes | None = None) -> None:
        if isinstance(found, str):
            self.studio.frequencies.content = frequencies_html(found)
            self.play.disabled = True
            return
        self.studio.frequencies.content = frequencies_html(found, kept, found.held)
        names = tuple(
            f"{k + 1}: {number(float(f), 5)} Hz" if found.stable[k] else f"{k + 1}: unstable"
            for k, f in enumerate(found.frequency[:SHOWN])
        )
        if tuple(self.mode.options) != names:
            k = self._index()
            self.mode.options = names
            self.mode.value = names[min(max(k, 0), len(names) - 1)]
        self.play.disabled = False

    def _index(self) -> int:
        text = self.mode.value
        return int(text.split(":")[0]) - 1 if text and text[0].isdigit() else -1

    def _stiffened(self, unit: str, event: Asked) -> None:
        value = float(event.value)
        if np.isfinite(value) and value > 0:
            self.studio.stiffness[unit] = value
            self.ask()

    def _arranged(self) -> None:
        """Side by side, or one by one; the animation goes on."""
        if self.playing:
            self._started()

    def pause(self) -> None:
        """Stop the animation and return to rest."""
        self.studio.scene.forget_row()
        if self.playing:
            self.playing = False
            self.studio.loop.beat(None)
            self.play.label = "Animate"

    def _toggle(self) -> None:
        if self.playing:
            self.pause()
            self.studio.redraw()
            return
        self._started()

    def _started(self) -> None:
        if self.found is None or self._index() < 0:
            return
        self.studio.motion.pause()
        self.studio.write_numbers()
        self.playing, self._since = True, time.monotonic()
        self.play.label = "Stop"
        k = min(self._index(), len(self.found.frequency) - 1)
        session, scale = self.studio.session, self.studio.scene.shown.deformation
        self._room = room_of_mode(session.robot, session.coordinates, self.found, k, float(self.factor.value), scale)
        self.studio.scene.forget_row()
        if self.row.value:
            count = min(BESIDE, len(self.found.frequency))
            labels = [
                f"{number(float(f), 4)} Hz" if ok else "unstable"
                for f, ok in zip(self.found.frequency, self.found.stable, strict=True)
            ]
            names = [f"{i + 1}: {labels[i]}" for i in range(count)]
            self._rooms = [
                room_of_mode(session.robot, session.coordinates, self.found, i, float(self.factor.value), scale)
                for i in range(count)
            ]
            self.studio.scene.show_row(session.robot, names)
        state = "" if self.found.stable[k] else f"<br><span class='red'>{UNSTABLE}</span>"
        self.about.content = (
            f"{STYLE}<div class='fp' id='mode'><b>mode {k + 1}</b>: {number(float(self.found.frequency[k]), 6)} Hz, "
            f"damping {number(100 * float(self.found.damping[k]), 4)} %{state}<br>"
            f"<span class='muted'>amplitude exaggerated; {escape(self.found.origin.text)}</span></div>"
        )
        self.studio.loop.beat(BEAT, self._beat)

    def _beat(self) -> None:
        if self.found is None or self.studio.scene.view is None or not self.playing:
            self.studio.loop.beat(None)
            return
        self._draw(2.0 * np.pi * float(self.speed.value) * (time.monotonic() - self._since))

    def show_phase(self, part: float) -> None:
        """Hold the animation at a part of its cycle, 0 to 1."""
        self.studio.loop.beat(None)
        self._draw(2.0 * np.pi * part)

    def go_on(self) -> None:
        """Animate again what was held."""
        if self.playing:
            self.studio.loop.beat(BEAT, self._beat)

    def _draw(self, phase: float) -> None:
        """Draw the mode, or the row of modes, at a phase [rad]."""
        found, studio = self.found, self.studio
        view = studio.scene.view
        if found is None or view is None:
            return
        k = min(max(self._index(), 0), len(found.frequency) - 1)
        session, scale = studio.session, studio.scene.shown.deformation
        factor = float(self.factor.value)

        def shown(mode: int, factor: float) -> tuple[fp.State, Any]:
            return displaced(session.robot, session.coordinates, found, mode, phase, factor=factor, deformation=scale)

        if studio.scene.row:
            with studio.server.atomic():
                for i, one in enumerate(studio.scene.row):
                    one.pose(*shown(i, self._rooms[i] * factor), studio.scene.shown, set())
            studio.server.flush()
            return
        state, elastic = shown(k, self._room * factor)
        with studio.server.atomic():
            view.pose(state, elastic, studio.scene.shown, set())
            view.arrows(np.zeros(len(studio.session.robot.actuators)), {}, studio.scene.shown)
        studio.server.flush()
