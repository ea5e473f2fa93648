"""Tab `Motion`: presets, files and simulations; what is computed goes to the timeline."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

import flexapod as fp
from flexapod.views.output import number
from flexapod.views.studio.panel import Asked, Panel
from flexapod.views.studio.recording import SMALL, Recording, motion_choices, motion_of, record, recorded, recording_from_bytes
from flexapod.views.studio.tables import STYLE, peak_text
from flexapod.views.studio.timeline import Timeline

if TYPE_CHECKING:
    import viser

    from flexapod.views.studio.app import Studio
    from flexapod.views.studio.jobs import JobReport

HOME, GIVEN = "relative to home", "at the paper's coordinates"
GAINS = {"computed torque": (400.0, 40.0), "PD": (1e6, 2e4), "PD with feed-forward": (1e6, 2e4)}
"""Controllers that can be chosen, with gains to begin with (kp, kd)."""
CONTROLLERS = tuple(GAINS)


@dataclass(frozen=True, kw_only=True)
class SimulationSettings:
    """A simulation: controller, its gains, a force (3,) [N] during the middle third, error of the model's mass [%]."""

    name: str = CONTROLLERS[0]
    kp: float = 400.0
    kd: float = 40.0
    push: tuple[float, ...] = (0.0, 0.0, 0.0)
    wrong: float = 0.0


class MotionPanel(Panel):
    """Choosing a motion; playing it is the timeline's."""

    def __init__(self, studio: Studio, tab: viser.GuiTabHandle) -> None:
        super().__init__(studio, tab)
        self.timeline = Timeline(studio)

    def build(self) -> None:
        """Make the widgets."""
        gui = self.gui
        self.choice = gui.add_dropdown("Motion", motion_choices(), initial_value=SMALL)
        hint = "motions of papers have absolute coordinates; all others are relative to home"
        self.place = gui.add_dropdown("Placed", (HOME, GIVEN), initial_value=HOME, hint=hint)
        self.slowed = gui.add_number("Slowed by", 1.0, min=0.1, max=100.0, step=0.1, hint="factor on the duration")
        self.on(gui.add_button("Compute", hint="inverse dynamics along the motion"), lambda _: self._compute())
        with gui.add_folder("Simulation", expand_by_default=False):
            self.controller = self.on(
                gui.add_dropdown("Controller", CONTROLLERS, initial_value=CONTROLLERS[0], hint="of rigid robots"),
                lambda _: self._controller_chosen(),
            )
            self.kp = gui.add_number(
                "kp", 400.0, min=0.0, max=1e12, hint="proportional gain: 1/s^2 (computed torque), N/m or N m/rad (PD)"
            )
            self.kd = gui.add_number("kd", 40.0, min=0.0, max=1e12, hint="derivative gain")
            self.push = gui.add_vector3(
                "Disturbance [N]", (0.0, 0.0, 0.0), step=1.0, hint="on the platform during the middle third"
            )
            self.wrong = gui.add_number(
                "Model error [%]", 0.0, min=-90.0, max=500.0, step=1.0,
                hint="error of the platform's mass in the controller's model"
            )
            self.on(gui.add_button("Simulate", hint="the motion under this controller"), lambda _: self._simulate())
        self.on(gui.add_upload_button("Open motion or result ...", mime_type=".csv,.parquet,.nc"), self._uploaded)
        self.about = gui.add_html("")

    @property
    def recording(self) -> Recording | None:
        """The recording that is played."""
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

    def asked(self) -> tuple[str, float, bool]:
        """Name, slowing and place of the motion; a name that is not on the list could be a file of this machine."""
        if self.choice.value not in motion_choices():
            raise fp.InputError("motion: choose one from the list")
        return self.choice.value, float(self.slowed.value), self.place.value == HOME

    def ask(self, name: str, slowed: float, start_at_home: bool, t: float) -> None:
        """Compute a motion and show a moment of it: what a link asks for."""
        if name not in motion_choices():
            raise fp.InputError("motion: choose one from the list")
        self.choice.value, self.place.value = name, HOME if start_at_home else GIVEN
        self.slowed.value = min(max(slowed, 0.1), 100.0)
        self._compute(t)

    def _controller_chosen(self) -> None:
        if self.controller.value in GAINS:
            self.kp.value, self.kd.value = GAINS[self.controller.value]

    def _control(self) -> SimulationSettings:
        """Settings of the simulation; a name that is not on the list is refused."""
        if self.controller.value not in GAINS:
            raise fp.InputError(f"controller: expected one of {', '.join(CONTROLLERS)}")
        push = tuple(float(x) for x in self.push.value)
        return SimulationSettings(
            name=self.controller.value, kp=float(self.kp.value), kd=float(self.kd.value), push=push, wrong=float(self.wrong.value)
        )

    def _compute(self, at: float | None = None) -> None:
        session, asked = self.studio.session, self.asked()
        variant, kept = session.variant, session.kept

        def work(report: JobReport) -> tuple[Recording, Recording | None]:
            report(0.05)
            motion = _motion(variant.robot, *asked)
            report(0.3)
            first = record(variant.robot, motion, asked[0], variant.label)
            report(0.8)
            return first, None if kept is None else record(kept.robot, motion, asked[0], kept.label)

        def done(found: tuple[Recording, Recording | None]) -> None:
            self._loaded(*found)
            if at is not None:
                self.timeline.scrubbed(at)

        self.studio.jobs.start(f"motion {asked[0]}", work, done)

    def _simulate(self) -> None:
        session, asked, control = self.studio.session, self.asked(), self._control()
        variant, kept = session.variant, session.kept

        def work(report: JobReport) -> tuple[Recording, Recording | None]:
            middle = 1.0 if kept is None else 0.5
            first = report.call(simulated_recording, variant.robot, variant.label, asked, control, end=middle)
            first.robot = variant.robot
            if kept is None:
                return first, None
            second = report.call(simulated_recording, kept.robot, kept.label, asked, control, start=middle)
            second.robot = kept.robot
            return first, second

        self.studio.jobs.start(f"simulation of {asked[0]}", work, lambda found: self._loaded(*found))

    def _uploaded(self, event: Asked) -> None:
        file, robot = event.value, self.studio.session.robot
        self.studio.jobs.start(
            f"reading {file.name}", lambda report: (recording_from_bytes(robot, file.name, file.content), None),
            lambda found: self._loaded(*found),
        )  # fmt: skip

    def _loaded(self, found: Recording, kept: Recording | None) -> None:
        """A recording is there: its numbers are shown, plotted and played."""
        robot = self.studio.session.robot
        if found.robot is not robot:
            return
        away = float(np.linalg.norm(found.position[0] - robot.home.position))
        start = "starts at home" if away < 1e-9 * robot.size else f"starts {number(away, 3)} m from home"
        text = f"{escape(found.kind)} {escape(found.name)}: {found.duration:.4g} s, {len(found.time)} samples, {start}, "
        text += f"largest {peak_text(robot, found.force)}" + (f"<div id='note'>{escape(found.note)}</div>" if found.note else "")
        if np.any(np.isfinite(found.tracking)):
            worst, rms = float(np.nanmax(found.tracking)), float(np.sqrt(np.nanmean(found.tracking**2)))
            sizes = f"{number(1e3 * worst, 3)} mm at most, {number(1e3 * rms, 3)} mm RMS"
            text += f"<br><span id='tracking'>tracking error {sizes}</span>"
        bad = int(found.limits.bad.sum())
        if bad:
            reason = escape(found.limits.problems(found.limits.worst)[0].text)
            text += f"<div class='bad' id='beyond'>beyond limits at {bad} of {len(found.time)} samples; worst: {reason}</div>"
        self.about.content = f"{STYLE}<div class='fp' id='recording'>{text}</div>"
        self.studio.say(f"{found.kind} {found.name} is ready" + (": it breaks limits" if bad else ""), "bad" if bad else "good")
        self.studio.modes.pause()
        self.timeline.load(found, kept)


def simulated_recording(
    robot: fp.Robot, variant: str, asked: tuple[str, float, bool], control: SimulationSettings, report: Callable[[float], None]
) -> Recording:
    """A simulation along a motion, given by `MotionPanel.asked`; computed in the other process."""
    report(0.05)
    motion = _motion(robot, *asked)
    report(0.2)
    result = simulated(robot, motion, control)
    report(0.9)
    return recorded(robot, result, asked[0], variant, motion)


def simulated(robot: fp.Robot, motion: fp.Motion, control: SimulationSettings) -> Any:
    """The motion under a controller (rigid robots), driven by the forces of inverse dynamics (flexible platforms), or by
    actuators that follow it exactly (flexible legs).

    Checked by: tests/studio/test_studio_control.py.
    """
    if robot.moved_by == "actuators":
        legs = fp.inverse_kinematics(robot, motion, joints=False)
        rates = {key: legs[f"actuator_{key}"].values for key in ("position", "velocity", "acceleration")}
        return fp.simulate(robot, fp.ActuatorMotion(time=motion.time, **rates), drive="actuators", progress=False)
    if robot.elastic_names:
        return fp.simulate(robot, motion, drive="platform", progress=False)
    load: dict[str, Any] = {}
    if any(control.push):
        load["wrench"] = disturbance(motion, control.push)
    return fp.simulate(robot, motion, controller=controller_of(robot, control), progress=False, **load)


def controller_of(robot: fp.Robot, control: SimulationSettings) -> Any:
    """The controller with its gains; its own model has another mass of the platform where one is asked for."""
    model = robot
    if control.wrong:
        model = robot.with_parameters({"platform.mass": float(robot.platform.mass) * (1.0 + 0.01 * control.wrong)})
    if control.name == "PD":
        return fp.PD(kp=control.kp, kd=control.kd)
    if control.name == "PD with feed-forward":
        return fp.FeedForwardPD(kp=control.kp, kd=control.kd, model=model)
    return fp.ComputedTorque(kp=control.kp, kd=control.kd, model=model)


def disturbance(motion: fp.Motion, push: tuple[float, ...]) -> tuple[Any, Any]:
    """A force (3,) [N] on the platform during the middle third of a motion: times (k,) and wrenches (k, 6)."""
    first, last = float(motion.time[0]), float(motion.time[-1])
    a, b, edge = first + (last - first) / 3.0, last - (last - first) / 3.0, 1e-3 * (last - first)
    times = np.array([first, a, a + edge, b, b + edge, last])
    return times, np.outer([0.0, 0.0, 1.0, 1.0, 0.0, 0.0], [*push, 0.0, 0.0, 0.0])


def _motion(robot: fp.Robot, name: str, slowed: float, start_at_home: bool) -> fp.Motion:
    motion = motion_of(robot, name, start_at_home=start_at_home)
    return fp.motions.slowed(motion, slowed) if slowed != 1.0 else motion
