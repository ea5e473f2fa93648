"""Tab `Motion`: presets, files and simulations; what is computed goes to the timeline."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

import flexapod as fp
from flexapod.views.output import number
from flexapod.views.studio.panel import Panel
from flexapod.views.studio.recording import SMALL, Recording, motion_choices, motion_of, record, recorded, recording_from_bytes
from flexapod.views.studio.tables import STYLE
from flexapod.views.studio.timeline import Timeline

if TYPE_CHECKING:
    from flexapod.views.studio.app import Studio

HOME, GIVEN = "from home", "as its numbers say"


class MotionPanel(Panel):
    """Choosing a motion; playing it is the timeline's."""

    def __init__(self, studio: Studio, tab: Any) -> None:
        super().__init__(studio, tab)
        self.timeline = Timeline(studio)

    def build(self) -> None:
        """Make the widgets."""
        gui = self.gui
        self.choice = gui.add_dropdown("Motion", motion_choices(), initial_value=SMALL)
        self.place = gui.add_dropdown("Placed", (HOME, GIVEN), initial_value=HOME, hint="of motions whose numbers are absolute")
        self.slowed = gui.add_number("Slowed by", 1.0, min=0.1, max=100.0, step=0.1, hint="take this many times the time")
        self.on(gui.add_button("Compute", hint="inverse dynamics along the motion"), lambda _: self._compute())
        self.on(gui.add_button("Simulate", hint="the same motion under computed-torque control"), lambda _: self._simulate())
        self.on(gui.add_upload_button("Open motion or result ...", mime_type=".csv,.parquet,.nc"), self._uploaded)
        self.about = gui.add_html("")

    @property
    def recording(self) -> Recording | None:
        """What is played."""
        return self.timeline.recording

    @property
    def shows(self) -> bool:
        """A moment of a motion is shown, not the pose of the sliders."""
        return self.timeline.shows

    def forget(self) -> None:
        """The recording belongs to another robot or variant."""
        self.timeline.forget()
        self.about.content = ""

    def pause(self) -> None:
        """Stop where it is."""
        self.timeline.pause()

    def show(self, t: float) -> None:
        """Draw the moment t [s]."""
        self.timeline.show(t)

    def _asked(self) -> tuple[str, float, bool]:
        """Name, slowing and place of the motion; a name that is not on the list could be a file of this machine."""
        if self.choice.value not in motion_choices():
            raise fp.InputError("motion: choose one from the list")
        return self.choice.value, float(self.slowed.value), self.place.value == HOME

    def _compute(self) -> None:
        session, asked = self.studio.session, self._asked()
        variant, kept = session.variant, session.kept

        def work(report: Any) -> tuple[Recording, Recording | None]:
            report(0.05)
            motion = _motion(variant.robot, *asked)
            report(0.3)
            first = record(variant.robot, motion, asked[0], variant.label)
            report(0.8)
            return first, None if kept is None else record(kept.robot, motion, asked[0], kept.label)

        self.studio.jobs.start(f"motion {asked[0]}", work, lambda found: self._loaded(*found))

    def _simulate(self) -> None:
        session, asked = self.studio.session, self._asked()
        variant, kept = session.variant, session.kept

        def work(report: Any) -> tuple[Recording, Recording | None]:
            middle = 1.0 if kept is None else 0.5
            first = report.call(simulated_recording, variant.robot, variant.label, *asked, end=middle)
            first.robot = variant.robot
            if kept is None:
                return first, None
            second = report.call(simulated_recording, kept.robot, kept.label, *asked, start=middle)
            second.robot = kept.robot
            return first, second

        self.studio.jobs.start(f"simulation of {asked[0]}", work, lambda found: self._loaded(*found))

    def _uploaded(self, event: Any) -> None:
        file, robot = event.target.value, self.studio.session.robot
        self.studio.jobs.start(
            f"reading {file.name}", lambda report: (recording_from_bytes(robot, file.name, file.content), None),
            lambda found: self._loaded(*found),
        )  # fmt: skip

    def _loaded(self, found: Recording, kept: Recording | None) -> None:
        """A recording is there: it is told, plotted and played."""
        robot = self.studio.session.robot
        if found.robot is not robot:
            return
        peak = number(float(np.nanmax(np.abs(found.force))), 6)
        away = float(np.linalg.norm(found.position[0] - robot.home.position))
        start = "starts at home" if away < 1e-9 * robot.size else f"starts {number(away, 3)} m from home"
        text = f"{escape(found.kind)} {escape(found.name)}: {found.duration:.4g} s, {len(found.time)} samples, {start}, "
        text += f"largest force {peak}" + (f"<br>{escape(found.note)}" if found.note else "")
        bad = int(found.limits.bad.sum())
        if bad:
            reason = escape(found.limits.problems(found.limits.worst)[0].text)
            text += f"<div class='bad' id='beyond'>beyond limits at {bad} of {len(found.time)} samples; worst: {reason}</div>"
        self.about.content = f"{STYLE}<div class='fp' id='recording'>{text}</div>"
        self.studio.say(f"{found.kind} {found.name} is ready" + (": it breaks limits" if bad else ""), "bad" if bad else "good")
        self.studio.modes.pause()
        self.timeline.load(found, kept)


def simulated_recording(robot: fp.Robot, variant: str, name: str, slowed: float, from_home: bool, report: Any) -> Recording:
    """A simulation along a motion; computed in the other process."""
    report(0.05)
    motion = _motion(robot, name, slowed, from_home)
    report(0.2)
    run = simulated(robot, motion)
    report(0.9)
    return recorded(robot, run, name, variant)


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


def _motion(robot: fp.Robot, name: str, slowed: float, from_home: bool) -> fp.Motion:
    motion = motion_of(robot, name, from_home=from_home)
    return fp.motions.slowed(motion, slowed) if slowed != 1.0 else motion
