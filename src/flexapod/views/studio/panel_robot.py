"""Tab `Robot`: choose one, open a file, save the variant as a robot file or a report."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

import flexapod as fp
from flexapod.errors import amount
from flexapod.views.studio.panel import Asked, Panel
from flexapod.views.studio.recording import SMALL, motion_of
from flexapod.views.studio.session import read_sent, robot_bytes
from flexapod.views.studio.tables import STYLE

if TYPE_CHECKING:
    from flexapod.views.studio.jobs import JobReport

OWN = "(own file)"


class RobotPanel(Panel):
    """Choosing, opening and saving."""

    def build(self) -> None:
        """Make the widgets."""
        self.choice = self.on(
            self.gui.add_dropdown("Catalogue", (*fp.catalogue(), OWN), initial_value=OWN, hint="robots that come with flexapod"),
            self._chosen, always=True,
        )  # fmt: skip
        self.on(self.gui.add_upload_button("Open a robot file ...", mime_type=".yaml,.yml"), self._uploaded, always=True)
        self.about = self.gui.add_html("")
        self.gui.add_divider()
        self.on(self.gui.add_button("Save as robot file", hint="the variant that is shown, as YAML"), self._save)
        reported = "geometry, actuators, loads, workspace, frequencies as a page"
        self.on(self.gui.add_button("Save report", hint=reported), self._report)

    def new_robot(self) -> None:
        """Show what the robot is."""
        if not self.studio.entered:
            self.choice.value = OWN
            return
        robot = self.studio.session.robot
        known = robot.description.path is not None and fp.catalogue().get(robot.name) == robot.description.path
        self.choice.value = robot.name if known else OWN
        changed = self.studio.session.variant.label
        legs = ", ".join(sorted({leg.architecture for leg in robot.legs}))
        facts = [
            f"<b>{escape(robot.title)}</b>",
            escape(str(robot.mobility)),
            f"{amount(len(robot.legs), 'leg')} ({escape(legs)}), {amount(len(robot.actuators), 'actuator')}"
            + (f", {len(robot.elastic_names)} elastic coordinates" if robot.elastic_names else ""),
            f"<span class='muted'>{escape(robot.source)}</span>",
            f"variant: <span id='variant'>{escape(changed)}</span>",
        ]
        self.about.content = f"{STYLE}<div class='fp' id='about'>{'<br>'.join(facts)}</div>"

    def _chosen(self, event: Asked) -> None:
        if event.value != OWN:
            self.studio.open(event.value)
        else:
            self.new_robot()

    def _uploaded(self, event: Asked) -> None:
        file = event.value
        self.studio.watch_no_longer()
        self.studio.opening(file.name, lambda report: report.call(read_sent, file.name, file.content, end=0.02))

    def _save(self, event: Asked) -> None:
        robot = self.studio.session.robot
        event.client.send_file_download(f"{_file_name(robot.name)}.yaml", robot_bytes(robot), save_immediately=True)
        self.studio.say(f"saved {robot.name}.yaml")

    def _report(self, event: Asked) -> None:
        robot, client = self.studio.session.robot, event.client
        stiffness = None if robot.elastic_names else dict(self.studio.stiffness)

        def done(content: bytes) -> None:
            client.send_file_download(f"{_file_name(robot.name)}-report.html", content, save_immediately=True)
            self.studio.say("saved the report")

        self.studio.jobs.start("report", lambda report: report.call(report_bytes, robot, stiffness), done)


def report_bytes(robot: fp.Robot, stiffness: dict[str, float] | None, report: JobReport) -> bytes:
    """The report on a small motion; computed in the other process."""
    from flexapod.views.reports.motion_report import robot_report

    motion = motion_of(robot, SMALL)
    report(0.1)
    text, _ = robot_report(robot, motion, SMALL, stiffness)
    return text.encode("utf-8")


def _file_name(name: str) -> str:
    """A robot's name as a file name: letters, digits, dashes."""
    return "".join(c if c.isalnum() or c in "-_" else "-" for c in name) or "robot"
