"""A running studio: server, one thread that changes the state, panels, scene.

Everything that callbacks of the page ask for happens in the studio's thread; long computations run beside it and come back to it.
"""

from __future__ import annotations

import contextlib
import gc
import io
import os
import traceback
from collections.abc import Callable
from html import escape
from pathlib import Path
from typing import Any

import flexapod as fp
from flexapod.views.studio.jobs import Jobs
from flexapod.views.studio.loop import Loop
from flexapod.views.studio.scene import StudioScene
from flexapod.views.studio.session import Session
from flexapod.views.studio.tables import STYLE, numbers_html

LOCAL = "127.0.0.1"
STIFFNESS = 1e7
"""Stiffness of the actuators of rigid robots until another is given [N/m or N m/rad]."""


class Studio:
    """A studio on a port of this machine. All clients see the same robot.

    Args:
        robot: catalogue name or path of a robot file.
        host, port: where it listens; port 0 takes any that is free.

    Checked by: tests/studio/test_studio_life.py.
    """

    def __init__(self, robot: str | Path = "stewart-3-3", *, host: str = LOCAL, port: int = 0) -> None:
        import viser

        from flexapod.views.studio.guard import guard_server

        first = fp.load(robot)
        with contextlib.redirect_stdout(io.StringIO()):
            self.server = viser.ViserServer(host=host, port=port, label="flexapod studio", verbose=False)
        guard_server(self.server, local=host in (LOCAL, "localhost", "::1"))
        self.host = host
        self.stiffness = STIFFNESS
        self.source = ""
        self.loop = Loop(self.failed)
        self.jobs = Jobs(self.loop.post, self._progress, self.failed)
        self.scene = StudioScene(self.server)
        self.session: Session
        self._build()
        self._tidy_up()
        self.loop.post("open", lambda: self.show(first))
        self.loop.start()

    @property
    def port(self) -> int:
        """The port it listens on."""
        return int(self.server.get_port())

    @property
    def url(self) -> str:
        """The page's address."""
        return f"http://{'localhost' if self.host in (LOCAL, '0.0.0.0') else self.host}:{self.port}"

    def stop(self) -> None:
        """Close the page's server and end the threads."""
        self.jobs.cancel(quietly=True)
        self.loop.stop()
        self.jobs.join(0.2)
        with contextlib.redirect_stdout(io.StringIO()):
            self.server.stop()

    def _build(self) -> None:
        from flexapod.views.studio.panel_design import DesignPanel
        from flexapod.views.studio.panel_modes import ModesPanel
        from flexapod.views.studio.panel_motion import MotionPanel
        from flexapod.views.studio.panel_pose import PosePanel
        from flexapod.views.studio.panel_robot import RobotPanel
        from flexapod.views.studio.panel_view import ViewPanel

        gui = self.server.gui
        gui.configure_theme(show_logo=False, show_share_button=False, brand_color=(0, 114, 178))
        gui.main_panel.dock_right()
        gui.main_panel.set_width(372)
        self.left = gui.add_panel()
        numbers = self.left.add_tab("Numbers")
        self.left.dock_left()
        self.left.set_width(400)
        with numbers:
            self.numbers = gui.add_html("")
            self.frequencies = gui.add_html("")
        self.status = gui.add_html("")
        self.bar: Any = gui.add_progress_bar(0.0, visible=False, animated=True)
        self.cancel: Any = gui.add_button("Cancel", visible=False)

        async def cancel(_: Any) -> None:
            self.loop.post("cancel", self.jobs.cancel)

        self.cancel.on_click(cancel)
        tabs = gui.add_tab_group()
        self.motion: MotionPanel
        self.modes: ModesPanel
        pose = PosePanel(self, tabs.add_tab("Pose"))
        robot = RobotPanel(self, tabs.add_tab("Robot"))
        design = DesignPanel(self, tabs.add_tab("Design"))
        self.motion = MotionPanel(self, tabs.add_tab("Motion"))
        self.modes = ModesPanel(self, tabs.add_tab("Modes"))
        view = ViewPanel(self, tabs.add_tab("View"))
        self.panels = (pose, robot, design, self.motion, self.modes, view)

    def _tidy_up(self) -> None:
        """What a client that left leaves behind in memory goes in a quiet moment, not whenever the collector comes by."""

        async def left(_: Any) -> None:
            self.loop.quiet("tidy", gc.collect)

        self.server.on_client_disconnect(left)

    # Everything below runs in the studio's thread.

    def open(self, name: str) -> None:
        """Open a robot of the catalogue."""
        self.busy(f"opening {name} ...")
        self.show(fp.load(name))

    def show(self, robot: fp.Robot) -> None:
        """Show another robot at its home; everything that belonged to the one before goes."""
        self.busy(f"preparing {robot.name}: the first time its equations are compiled ...")
        session = Session.start(robot)
        session.reactions = self.scene.shown.reactions and not robot.elastic_names
        self.session = session
        self.motion.forget()
        self.modes.forget()
        self.scene.show(robot, None, look=True)
        self._connect_handle()
        self._everything()
        self.say(f"{robot.name} is ready")

    def varied(self, step: Callable[[], Any], text: str) -> None:
        """Change the variant that is shown."""
        self.busy("computing the variant ...")
        pair = self.session.kept is not None
        step()
        self.motion.forget()
        self.modes.forget()
        kept = self.session.kept
        self.scene.show(self.session.robot, None if kept is None else kept.robot, look=pair != (kept is not None))
        self._connect_handle()
        self._everything()
        self.say(text)

    def moved(self, step: Callable[[], Any], source: str = "") -> None:
        """Move the robot, then show it; `source` is the widget that asked and is left alone."""
        self.source = source
        self.modes.pause()
        self.motion.pause()
        step()
        self.refresh()
        self.source = ""

    def refresh(self) -> None:
        """Numbers first, then the drawing, then the other widgets."""
        self.write_numbers()
        self.redraw()
        for panel in self.panels:
            panel.refresh()
        self.modes.ask()

    def write_numbers(self) -> None:
        """The numbers panel."""
        self.numbers.content = numbers_html(self.session.robot, self.session.numbers, self.session.kept_numbers)
        self.frequencies.visible = True
        self.server.flush()

    def redraw(self) -> None:
        """The drawing at the session's pose."""
        with self.server.atomic():
            self.scene.pose(self.session.numbers, self.session.kept_numbers, move_handle=self.source != "handle")
        self.server.flush()

    def _everything(self) -> None:
        for panel in self.panels:
            panel.new_robot()
        self.refresh()

    def _connect_handle(self) -> None:
        """Dragging the handle moves the platform; it snaps to where the platform is when it is let go."""

        async def dragged(event: Any) -> None:
            if event.phase == "end":
                self.loop.post("dropped", lambda: self.scene.place_handle(self.session.numbers.state))
                return
            position, quat = event.target.position, event.target.wxyz
            turn = fp.motions.quat_wxyz_rotation
            self.loop.post("drag", lambda: self.moved(lambda: self.session.place(position, turn(quat)), source="handle"))

        self.scene.handle.on_update(dragged)

    def busy(self, text: str) -> None:
        """Say that something takes a moment."""
        self.say(text, "busy")

    def say(self, text: str, kind: str = "good") -> None:
        """One line above the tabs: `good`, `bad` or `busy`."""
        shade = {"good": "#e6f4ee", "bad": "#fdeaea", "busy": "#eef2f7"}[kind]
        edge = {"good": "#009E73", "bad": "#d51e1e", "busy": "#0072B2"}[kind]
        box = f"background:{shade};border-left:4px solid {edge};padding:.3em .5em"
        self.status.content = (
            f"{STYLE}<div class='fp' id='status' data-kind='{kind}' style='{box};max-height:11em;overflow:auto'>"
            f"{escape(text)}</div>"
        )
        self.server.flush()

    def failed(self, error: Exception) -> None:
        """Tell what went wrong; the studio goes on."""
        if isinstance(error, fp.FlexapodError):
            self.say(str(error), "bad")
            return
        if os.environ.get("FLEXAPOD_DEBUG"):
            traceback.print_exception(error)
        self.say(f"flexapod itself failed ({type(error).__name__}: {error}). This is a fault of flexapod.", "bad")

    def _progress(self, name: str | None, part: float) -> None:
        self.bar.visible = self.cancel.visible = name is not None
        if name is not None:
            self.bar.value = 100.0 * part
            self.busy(f"{name}: {100 * part:.0f} %")
        else:
            self.say("done" if part == 1.0 else "cancelled")
