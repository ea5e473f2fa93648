"""The timeline: play, speed, scrub, red spans where limits are not kept, the way to the worst moment, plots in step, files."""

from __future__ import annotations

import io
import time
from typing import TYPE_CHECKING, Any

import numpy as np

from flexapod.views.studio.plots import QUANTITIES, TimePlot, load_plot, plots_png
from flexapod.views.studio.recording import Recording
from flexapod.views.studio.tables import STYLE, ShownMoment

if TYPE_CHECKING:
    from flexapod.views.studio.app import Studio
    from flexapod.views.studio.panel import Asked

BEAT = 1.0 / 25.0
"""Seconds between two pictures."""
PLOTS, NOTHING = 2, "nothing"
"""Plots above the bar, and the choice that hides one."""


class Timeline:
    """A recording that is played, and the kept variant's in step with it."""

    def __init__(self, studio: Studio) -> None:
        self.studio = studio
        self.panel: Any = None
        self.recording: Recording | None = None
        self.kept: Recording | None = None
        self.plots: list[TimePlot] = []
        self.playing = self.shows = False
        self._from = (0.0, 0.0)

    def _build(self) -> None:
        """Made with the first recording: a panel without content would only take room."""
        gui, on = self.studio.server.gui, self.studio.motion.on
        self.panel = gui.add_panel()
        tab = self.panel.add_tab("Timeline")
        self.panel.float(x=0, y=0, width=900, height=300)  # the page's script puts it along the bottom
        self.studio.server.flush()
        with tab:
            names = (*QUANTITIES, NOTHING)
            self.plots = [TimePlot(gui) for _ in range(PLOTS)]
            self.play = on(gui.add_button("Play"), lambda _: self.toggle())
            self.worst = on(
                gui.add_button("Jump to worst", hint="where a limit is exceeded most, or nearest"), lambda _: self.jump()
            )
            self.speed = gui.add_slider("Speed x", 0.1, 2.0, 0.1, 1.0, marks=())
            self.chosen = [
                gui.add_dropdown(label, names, initial_value=name)
                for label, name in zip(("Plot", "and"), names[:PLOTS], strict=True)
            ]
            for choice in self.chosen:
                on(choice, lambda _: self.plot())
            on(gui.add_button("Save CSV", hint="time, pose, strokes, speeds, forces, powers, condition"), self._save)
            on(gui.add_button("Save PNG", hint="the plots that are shown, as a picture"), self._picture)
            self.bar = gui.add_html("")
            self.scrub = on(
                gui.add_slider("Time [s]", 0.0, 1.0, 0.001, 0.0, marks=()),
                lambda event: self.scrubbed(float(event.value)),
            )

    def forget(self) -> None:
        """The recording belongs to another robot or variant."""
        self.pause()
        self.recording = self.kept = None
        self.shows = False
        if self.panel is not None:
            self.panel.visible = False

    def pause(self) -> None:
        """Stop where it is."""
        if self.playing:
            self.playing = False
            self.studio.loop.beat(None)
            self.play.label = "Play"

    def leave(self) -> None:
        """The sliders' pose is shown again."""
        self.pause()
        self.shows = False

    def load(self, found: Recording, kept: Recording | None) -> None:
        """Load another recording: plots, then the first picture, then it plays."""
        self.forget()
        if self.panel is None:
            self._build()
        self.recording, self.kept = found, kept
        if found.elastic.shape[1]:
            largest, robot = float(np.nanmax(found.deformation)), found.robot
            at = int(np.nanargmax(found.deformation))
            self.studio.scene.choose_deformation(robot, found.state(at), found.elastic[at], largest)
            self.studio.view_panel.new_factor(largest)
        self.scrub.max = max(found.duration, 1e-3)
        self.bar.content = spans_html(found)
        self.plot()
        self.panel.visible = True
        self.show(0.0)
        self.toggle()

    def plot(self) -> None:
        """The chosen curves; those of the selected leg are thick."""
        if self.recording is None:
            return
        with self.studio.server.atomic():
            for plot, choice in zip(self.plots, self.chosen, strict=True):
                if choice.value == NOTHING:
                    plot.hide()
                else:
                    load_plot(plot, choice.value, self.recording, self.kept, self.studio.selected)

    def jump(self) -> None:
        """Show the worst moment: where a limit is exceeded most, or nearest."""
        found = self.recording
        if found is not None:
            self.scrubbed(float(found.time[found.limits.worst] - found.time[0]))

    def toggle(self) -> None:
        """Play, or stop where it is."""
        if self.recording is None:
            return
        if self.playing:
            self.pause()
            return
        self.studio.modes.pause()
        start = float(self.scrub.value)
        if start >= self.recording.duration - 1e-6:
            start = 0.0
        self.playing, self._from = True, (time.monotonic(), start)
        self.play.label = "Pause"
        self.studio.loop.beat(BEAT, self._beat)

    def _beat(self) -> None:
        if self.recording is None or not self.playing:
            self.studio.loop.beat(None)
            return
        since, start = self._from
        now = time.monotonic()
        t = start + (now - since) * float(self.speed.value)
        self._from = (now, min(t, self.recording.duration))
        if t >= self.recording.duration:
            self._from = (now, 0.0)
            t = self.recording.duration
        self.show(t)
        self.scrub.value = round(t, 3)

    def scrubbed(self, t: float) -> None:
        """Stop at a time [s] and show it."""
        if self.recording is None:
            return
        self.pause()
        self.studio.modes.pause()
        t = min(max(t, 0.0), self.recording.duration)
        self.show(t)
        self.scrub.value = round(t, 3)

    def again(self) -> None:
        """Draw the moment that is shown once more."""
        self.show(float(self.scrub.value))

    def show(self, t: float) -> None:
        """Draw the moment t [s]: robot, kept variant, forces, numbers, plots."""
        found, studio = self.recording, self.studio
        if found is None or studio.scene.view is None:
            return
        self.shows = True
        i = found.index(t)
        numbers = found.numbers(i)
        factor = studio.scene.shown.deformation
        kept = drawn = None
        if self.kept is not None:
            j = self.kept.index(t)
            kept, drawn = self.kept.numbers(j), self.kept.drawn(j, factor)
        with studio.server.atomic():
            studio.scene.moment(numbers, found.drawn(i, factor), kept, drawn)
            for plot in self.plots:
                plot.show(t)
        bent = float(found.deformation[i]) if found.elastic.shape[1] else None
        moment = ShownMoment(
            time=float(found.time[i]), title=f"{found.kind} {found.name}", power=found.power[i], deformation=bent
        )  # fmt: skip
        studio.show_numbers(numbers, kept, moment)

    def _picture(self, event: Asked) -> None:
        """The plots as a picture, drawn in a job."""
        found, kept, client = self.recording, self.kept, event.client
        names = [choice.value for choice in self.chosen if choice.value in QUANTITIES]
        if found is None:
            return
        file = f"{found.robot.name}-{found.name}.png".replace(" ", "-")

        def done(content: bytes) -> None:
            client.send_file_download(file, content, save_immediately=True)
            self.studio.say(f"saved {file}")

        self.studio.jobs.start("picture of the plots", lambda report: plots_png(found, kept, names), done)

    def _save(self, event: Asked) -> None:
        if self.recording is not None:
            name = f"{self.recording.robot.name}-{self.recording.name}.csv".replace(" ", "-")
            event.client.send_file_download(name, csv_bytes(self.recording), save_immediately=True)


def spans_html(found: Recording) -> str:
    """A bar over the motion: green, red where limits are not kept, a mark at the worst moment.

    Checked by: tests/studio/test_studio_tables.py.
    """
    t = (found.time - found.time[0]) / (found.duration or 1.0)
    spans = found.limits.spans()
    parts = "".join(
        f"<i class='red-span' style='position:absolute;top:0;bottom:0;left:{100 * t[a]:.2f}%;"
        f"width:{max(100 * (t[b] - t[a]), 0.6):.2f}%;background:#d51e1e'></i>"
        for a, b in spans
    )
    worst = 100 * t[found.limits.worst]
    mark = f"<i style='position:absolute;top:-3px;bottom:-3px;left:{worst:.2f}%;width:2px;background:#1f2933'></i>"
    spans_text = f"{len(spans)} span{'s' if len(spans) != 1 else ''} beyond limits" if spans else "within all limits"
    bar = "position:relative;height:10px;border-radius:3px;background:#009E73;flex:1"
    return (
        f"{STYLE}<div class='fp' id='timeline' data-spans='{len(spans)}' "
        "style='display:flex;align-items:center;gap:12px;margin:0 .7em'>"
        f"<span class='muted'>{spans_text}; the mark is the worst moment</span><div style='{bar}'>{parts}{mark}</div></div>"
    )


def csv_bytes(found: Recording) -> bytes:
    """The recording as a table; units are in the head."""
    names, units = found.robot.actuators, found.robot.actuator_units
    head = ["time [s]", "x [m]", "y [m]", "z [m]"]
    columns = [found.time[:, None], found.position]
    for label, values, unit in (("position", found.actuator, "{}"), ("speed", found.speed, "{}/s")):
        head += [f"{label} {name} [{unit.format(own)}]" for name, own in zip(names, units, strict=True)]
        columns.append(values)
    head += [f"force {name} [{'N' if own == 'm' else 'N m'}]" for name, own in zip(names, units, strict=True)]
    head += [*(f"power {name} [W]" for name in names), "condition number", "beyond limits"]
    columns += [found.force, found.power, found.condition[:, None], found.limits.bad[:, None].astype(float)]
    text = io.StringIO()
    np.savetxt(text, np.hstack(columns), delimiter=",", header=",".join(head), comments="", fmt="%.10g")
    return text.getvalue().encode()
