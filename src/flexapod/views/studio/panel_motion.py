"""Tab `Motion`: presets, files and simulations; play, scrub, plots in step."""

from __future__ import annotations

import time
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

import flexapod as fp
from flexapod.views.output import number
from flexapod.views.studio.panel import Panel
from flexapod.views.studio.plots import TimePlot, load_plots
from flexapod.views.studio.recording import SMALL, Recording, motion_choices, motion_of, record, recorded, recording_from_bytes
from flexapod.views.studio.tables import STYLE, actuator_legs, dot

if TYPE_CHECKING:
    from flexapod.views.studio.app import Studio

BEAT = 1.0 / 25.0
"""Seconds between two pictures."""


class MotionPanel(Panel):
    """A recording that is played."""

    def __init__(self, studio: Studio, tab: Any) -> None:
        self.panel: Any = None
        self.recording: Recording | None = None
        self.plots: list[TimePlot] = []
        self.playing = False
        self._from = (0.0, 0.0)
        super().__init__(studio, tab)

    def build(self) -> None:
        """Make the widgets."""
        gui = self.gui
        self.choice = gui.add_dropdown("Motion", motion_choices(), initial_value=SMALL)
        self.slowed = gui.add_number("Slowed by", 1.0, min=0.1, max=100.0, step=0.1, hint="take this many times the time")
        self.on(gui.add_button("Compute", hint="inverse dynamics along the motion"), lambda _: self._compute())
        self.on(gui.add_button("Simulate", hint="the same motion under computed-torque control"), lambda _: self._simulate())
        self.on(gui.add_upload_button("Open motion or result ...", mime_type=".csv,.parquet,.nc"), self._uploaded)
        self.about = gui.add_html("")
        self.play = self.on(gui.add_button("Play", disabled=True), lambda _: self._toggle())
        self.scrub = self.on(
            gui.add_slider("Time [s]", 0.0, 1.0, 0.001, 0.0, marks=(), disabled=True),
            lambda event: self._scrubbed(float(event.target.value)),
        )
        self.speed = gui.add_slider("Speed x", 0.1, 2.0, 0.1, 1.0, marks=())

    def forget(self) -> None:
        """The recording belongs to another robot or variant."""
        self.pause()
        self.recording = None
        if self.panel is not None:
            self.panel.visible = False
        self.play.disabled = self.scrub.disabled = True
        self.about.content = ""

    def pause(self) -> None:
        """Stop where it is."""
        if self.playing:
            self.playing = False
            self.studio.loop.beat(None)
            self.play.label = "Play"

    def _compute(self) -> None:
        session, name, slowed = self.studio.session, self.choice.value, float(self.slowed.value)
        robot, kept = session.robot, session.kept

        def work(report: Any) -> tuple[Recording, Recording | None]:
            report(0.05)
            motion = _motion(robot, name, slowed)
            report(0.3)
            first = record(robot, motion, name)
            report(0.8)
            return first, None if kept is None else record(kept.robot, motion, name)

        self.studio.jobs.start(f"motion {name}", work, lambda found: self._loaded(*found))

    def _simulate(self) -> None:
        session, name, slowed = self.studio.session, self.choice.value, float(self.slowed.value)
        robot = session.robot

        def work(report: Any) -> tuple[Recording, Recording | None]:
            report(0.05)
            motion = _motion(robot, name, slowed)
            report(0.2)
            run = simulated(robot, motion)
            report(0.9)
            return recorded(robot, run, name), None

        self.studio.jobs.start(f"simulation of {name}", work, lambda found: self._loaded(*found))

    def _uploaded(self, event: Any) -> None:
        file, robot = event.target.value, self.studio.session.robot
        self.studio.jobs.start(
            f"reading {file.name}", lambda report: (recording_from_bytes(robot, file.name, file.content), None),
            lambda found: self._loaded(*found),
        )  # fmt: skip

    def _loaded(self, found: Recording, kept: Recording | None) -> None:
        """A recording is there: plots, then the first picture, then it plays."""
        if found.robot is not self.studio.session.robot:
            return
        self.forget()
        self.recording = found
        self._plot(found, kept)
        self.scrub.max = max(found.duration, 1e-3)
        self.play.disabled = self.scrub.disabled = False
        peak = number(float(np.nanmax(np.abs(found.force))), 6)
        note = f"<br>{escape(found.note)}" if found.note else ""
        text = f"{escape(found.kind)} {escape(found.name)}: {found.duration:.4g} s, {len(found.time)} samples, "
        text += f"largest force {peak}{note}"
        self.about.content = f"{STYLE}<div class='fp' id='recording'>{text}</div>"
        self.studio.say(f"{found.kind} {found.name} is ready")
        self.modes_pause()
        self.show(0.0)
        self._toggle()

    def _plot(self, found: Recording, kept: Recording | None) -> None:
        if self.panel is None:
            self.panel = self.gui.add_panel()
            tab = self.panel.add_tab("Plots")
            self.panel.dock_below(self.studio.left)
            self.studio.server.flush()
            with tab:
                self.plots = [TimePlot(self.gui) for _ in range(3)]
        with self.studio.server.atomic():
            load_plots(self.plots, found, kept)
            self.panel.visible = True

    def modes_pause(self) -> None:
        """Only one thing moves."""
        self.studio.modes.pause()

    def _toggle(self) -> None:
        if self.recording is None:
            return
        if self.playing:
            self.pause()
            return
        self.modes_pause()
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

    def _scrubbed(self, t: float) -> None:
        if self.recording is None:
            return
        self.pause()
        self.modes_pause()
        self.show(min(max(t, 0.0), self.recording.duration))

    def show(self, t: float) -> None:
        """Draw the moment t [s]: robot, forces, numbers, plots."""
        found, studio = self.recording, self.studio
        view = studio.scene.view
        if found is None or view is None:
            return
        i = found.index(t)
        shown = studio.scene.shown
        state, joints = found.drawn(i, shown.deformation)
        with studio.server.atomic():
            view.pose(state, found.elastic[i], shown, set(), joints=joints)
            view.arrows(found.force[i], {}, shown)
            studio.scene.place_handle(state)
            for plot in self.plots:
                plot.show(t)
        studio.numbers.content = moment_html(found, i)
        studio.frequencies.visible = False
        studio.server.flush()


def simulated(robot: fp.Robot, motion: fp.Motion) -> Any:
    """The motion under computed-torque control (rigid robots), driven by the forces of inverse dynamics (flexible platforms), or
    by actuators that follow it exactly (flexible legs)."""
    if robot.elastic_legs:
        legs = fp.inverse_kinematics(robot, motion, joints=False)
        rates = {key: legs[f"actuator_{key}"].values for key in ("position", "velocity", "acceleration")}
        return fp.simulate(robot, fp.ActuatorMotion(time=motion.time, **rates), drive="actuators", progress=False)
    if robot.elastic_names:
        return fp.simulate(robot, motion, drive="platform", progress=False)
    return fp.simulate(robot, motion, controller=fp.ComputedTorque(kp=400.0, kd=40.0), progress=False)


def _motion(robot: fp.Robot, name: str, slowed: float) -> fp.Motion:
    motion = motion_of(robot, name)
    return fp.motions.slowed(motion, slowed) if slowed != 1.0 else motion


def moment_html(found: Recording, i: int) -> str:
    """Numbers of one sample of a recording."""
    robot = found.robot
    legs = actuator_legs(robot)
    rows = "".join(
        f"<tr><td>{dot(legs[k])}{escape(name)}</td><td id='force-{k}'>{number(float(found.force[i, k]), 6)}</td>"
        f"<td id='power-{k}'>{number(round(float(found.power[i, k]), 9) + 0.0, 5)}</td></tr>"
        for k, name in enumerate(robot.actuators)
    )
    units = set(robot.actuator_units)
    force = "N" if units == {"m"} else "N m" if units == {"rad"} else "N or N m"
    bent = f"<div>largest deformation {number(1e3 * float(found.deformation[i]), 4)} mm</div>" if found.elastic.shape[1] else ""
    place = ", ".join(f"{x:.4g}" for x in np.round(found.position[i], 9) + 0.0)
    return (
        f"{STYLE}<div class='fp' id='numbers'><div class='good' id='moment'>t = {found.time[i]:.3f} s of {escape(found.kind)} "
        f"{escape(found.name)}</div><table><tr><th>actuator</th><th>force [{force}]</th><th>power [W]</th></tr>{rows}</table>"
        f"{bent}<div class='muted'>platform at ({place}) m</div></div>"
    )

