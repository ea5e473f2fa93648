"""A running studio: server, one thread that changes the state, panels, scene.

Everything that callbacks of the page ask for happens in the studio's thread; long computations run beside it and come back to it.
Loading and compiling a robot is such a computation too: the one before stays alive until the next is ready.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import io
import os
import time
import traceback
from collections.abc import Callable, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import flexapod as fp
from flexapod.views.studio.hover import hover_of
from flexapod.views.studio.jobs import JobReport, Jobs
from flexapod.views.studio.loop import ActionLoop
from flexapod.views.studio.numbers import Numbers
from flexapod.views.studio.scene import Placed, StudioScene
from flexapod.views.studio.session import Session, read_file
from flexapod.views.studio.shortcuts import add_shortcuts
from flexapod.views.studio.state_address import read_state, restore
from flexapod.views.studio.strip import strip_html
from flexapod.views.studio.tables import STYLE, ShownMoment, numbers_html
from flexapod.views.studio.watch import FileWatch

if TYPE_CHECKING:
    import viser

LOCAL = "127.0.0.1"
SENT = 0.001
"""Seconds in which the server's thread sends the numbers before this one goes on with the drawing: they share one interpreter."""
DRAWER = 392
"""Width of the drawer [pixels]."""


class Studio:
    """A studio on a port of this machine. All clients see the same robot.

    Args:
        robot: catalogue name or path of a robot file.
        host, port: where it listens; port 0 takes any that is free.

    Checked by: tests/studio/test_studio_life.py.
    """

    def __init__(self, robot: str | Path = "stewart-3-3", *, host: str = LOCAL, port: int = 0) -> None:
        from flexapod.views.studio.viser_private import guarded_server

        first = fp.load(robot)
        script = Path(__file__).with_name("page.js").read_text(encoding="utf-8")
        self.server = guarded_server(host, port, "flexapod studio", script, self._asked_by_link)
        self.host = host
        self.stiffness: dict[str, float] = {}
        self.source, self.theme = "", "screen"
        self.entered = False
        self.selected: int | None = None
        self.after_opening: Callable[[], None] | None = None
        self.loop = ActionLoop(self.failed)
        self.jobs = Jobs(self.loop.post, self._progress, self.failed)
        self.background = Jobs(self.loop.post, lambda name, part: None, self.failed)
        self.loop.also_busy = [lambda: self.jobs.waited_for, lambda: self.background.waited_for]
        self.scene = StudioScene(self.server)
        self.session: Session
        self._tidy_up()
        self.watch: FileWatch | None = None
        if str(robot) not in fp.catalogue():
            self.watch = FileWatch(Path(robot), lambda: self.loop.post("file", lambda: self._file_changed(Path(robot))))
        self.loop.post("open", lambda: self._first(first))
        self.loop.start()

    @property
    def port(self) -> int:
        """The port it listens on."""
        return int(self.server.get_port())

    @property
    def url(self) -> str:
        """The page's address."""
        name = "localhost" if self.host in (LOCAL, "0.0.0.0", "::") else self.host
        return f"http://{f'[{name}]' if ':' in name else name}:{self.port}"

    def stop(self) -> None:
        """Close the page's server and end the threads."""
        self.watch_no_longer()
        for jobs in (self.jobs, self.background):
            jobs.cancel(quietly=True)
        self.loop.stop()
        for jobs in (self.jobs, self.background):
            jobs.join(0.2)
        with contextlib.redirect_stdout(io.StringIO()):
            self.server.stop()
        gc.unfreeze()

    def _build(self) -> None:
        from viser import Icon

        from flexapod.views.studio.panel_design import DesignPanel
        from flexapod.views.studio.panel_modes import ModesPanel
        from flexapod.views.studio.panel_motion import MotionPanel
        from flexapod.views.studio.panel_pose import PosePanel
        from flexapod.views.studio.panel_robot import RobotPanel
        from flexapod.views.studio.panel_space import SpacePanel
        from flexapod.views.studio.panel_view import ViewPanel

        gui = self.server.gui
        gui.configure_theme(show_logo=False, show_share_button=False, brand_color=(0, 114, 178))
        gui.main_panel.dock_left()
        gui.main_panel.set_width(DRAWER)
        self.status = gui.add_html("")
        self.strip, self.keys, self.hover, self.legend = (gui.add_html("") for _ in range(4))
        self.bar: Any = gui.add_progress_bar(0.0, visible=False)
        self.cancel: Any = gui.add_button("Cancel", visible=False)

        async def cancel(_: object) -> None:
            self.loop.post("cancel", self.jobs.cancel)

        self.cancel.on_click(cancel)
        tabs = gui.add_tab_group()
        self.numbers = gui.add_html("")
        self.frequencies = gui.add_html("")
        self.motion: MotionPanel
        self.modes: ModesPanel
        pose = PosePanel(self, tabs.add_tab("Pose", Icon.ARROWS_MOVE))
        self.robot_panel = RobotPanel(self, tabs.add_tab("Robot", Icon.ROBOT))
        self.design = DesignPanel(self, tabs.add_tab("Design", Icon.RULER_MEASURE))
        self.motion = MotionPanel(self, tabs.add_tab("Motion", Icon.ROUTE))
        self.modes = ModesPanel(self, tabs.add_tab("Modes", Icon.WAVE_SINE))
        self.space = SpacePanel(self, tabs.add_tab("Space", Icon.CUBE))
        self.view_panel = ViewPanel(self, tabs.add_tab("View", Icon.EYE))
        self.panels = (pose, self.robot_panel, self.design, self.motion, self.modes, self.space, self.view_panel)

    def _tidy_up(self) -> None:
        """Free the memory of clients that left in a quiet moment, not whenever the garbage collector runs."""

        async def left(_: object) -> None:
            self.loop.quiet("tidy", give_back_memory)

        self.server.on_client_disconnect(left)

    def _asked_by_link(self, query: str) -> None:
        """A page was asked for with a state in its address; called by the server."""
        state = read_state(query)
        if state is not None:
            self.loop.post("link", lambda: restore(self, state))

    # Everything below runs in the studio's thread.

    def open(self, name: str) -> None:
        """Open a robot of the catalogue, and no other file of this machine."""
        if name not in fp.catalogue():
            raise fp.InputError(f"no robot of the catalogue is called {name[:80]!r}")
        self.watch_no_longer()
        self.after_opening = None
        self.opening(name, lambda _: fp.load(name))

    def _first(self, robot: fp.Robot) -> None:
        """Draw the robot that the studio starts with, at its home, and make it ready; a browser loads the page meanwhile."""
        with self.server.atomic():
            self._build()
            add_shortcuts(self)
            self.scene.show_ahead(robot)
        self.server.flush()
        self.opening(robot.name, lambda _: robot)

    def watch_no_longer(self) -> None:
        """Stop watching the file: another robot is shown."""
        if self.watch is not None:
            self.watch.stop()
            self.watch = None

    def _file_changed(self, path: Path) -> None:
        """The robot file was saved: show it as it is now; its problems, with their lines, where it has any."""
        if self.watch is not None:
            self.opening(path.name, lambda report: report.call(read_file, path, end=0.02), follow=True)

    def opening(self, name: str, load: Callable[[JobReport], fp.Robot], *, follow: bool = False) -> None:
        """Load and prepare a robot in a job; it is shown when it is ready, and the one before stays until then.

        Args:
            load: reads the robot, in the job; a file of a person, which may take long, by `Report.call` in the other process.
            follow: it is the same robot, changed: pose and camera stay.
        """
        from flexapod.views.studio.prepare import ready_session

        self.jobs.start(
            f"opening {name}", lambda report: ready_session(load(report), report),
            lambda session: self.enter(session, follow=follow),
        )  # fmt: skip

    def enter(self, session: Session, *, follow: bool = False) -> None:
        """Show another robot at its home; everything that belonged to the one before goes.

        Args:
            follow: stay at the pose, where the robot has the same coordinates, and leave the camera alone.
        """
        robot = session.robot
        follow = follow and self.entered
        if follow and session.coordinates.names == self.session.coordinates.names:
            session.move(self.session.values)
        session.reactions = self.scene.shown.reactions and not robot.elastic_names
        self.session, self.entered, self.selected = session, True, None
        self.motion.forget()
        self.modes.forget()
        self.design.search.value = ""
        self.scene.show(robot, None, session.coordinates, look=not follow)
        self.scene.choose_deformation(robot, session.numbers.state, session.numbers.elastic)
        self._connect_handles()
        self._everything()
        self.say(f"{robot.name} is ready")
        self.loop.quiet("set apart", collect_and_freeze)
        then, self.after_opening = self.after_opening, None
        if then is not None:
            then()

    def varied(self, step: Callable[[], object], text: str) -> None:
        """Change the variant that is shown."""
        self.busy("computing the variant ...")
        pair = self.session.kept is not None
        step()
        self.motion.forget()
        self.modes.forget()
        kept = self.session.kept
        other = None if kept is None else kept.robot
        self.scene.show(self.session.robot, other, self.session.coordinates, look=pair != (kept is not None))
        self._connect_handles()
        self._everything()
        self.say(text)

    def moved(self, step: Callable[[], object], source: str = "") -> None:
        """Move the robot, then show it; `source` is the widget that asked and is left alone."""
        self.source = source
        self.modes.pause()
        self.motion.timeline.leave()
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
        """The numbers of the pose, beside the view and in the strip below it."""
        self.show_numbers(self.session.numbers, self.session.kept_numbers)

    def show_numbers(self, numbers: Numbers, kept: Numbers | None, moment: ShownMoment | None = None) -> None:
        """Write numbers, of the pose or of a moment of a motion."""
        robot = self.session.robot
        table = numbers_html(robot, numbers, kept, moment, self.selected)
        strip = strip_html(robot, numbers, self.modes.found, self.modes.asked, moment, self.selected)
        with self.server.atomic():  # the server's thread is woken once, not in between
            self.numbers.content, self.strip.content = table, strip
            self.frequencies.visible = moment is None
        self.server.flush()
        time.sleep(SENT)
        self.loop.quiet("hover", lambda: self._write_hover(numbers))

    def _write_hover(self, numbers: Numbers) -> None:
        """Write what is below the mouse in the view, once the robot rests."""
        if numbers.origin.robot == self.session.robot.name:
            self.hover.content = hover_of(self.session.robot, numbers, self.scene.view)

    def pushed(self, force: Sequence[float]) -> None:
        """Apply another force to the platform: numbers, arrows and deflection follow."""
        self.moved(lambda: self.session.push(force), source="force")

    def redraw(self) -> None:
        """The drawing at the session's pose."""
        with self.server.atomic():
            self.scene.pose(self.session.numbers, self.session.kept_numbers, move_handle=self.source != "handle")
            self.scene.beyond(self.session.asked)
            self.scene.show_force(self.session.numbers, self.session.force, move=self.source != "force")
        self.server.flush()

    def _everything(self) -> None:
        for panel in self.panels:
            panel.new_robot()
        self.refresh()

    def _connect_handles(self) -> None:
        """Dragging a handle moves the platform; it snaps to where the platform is when it is let go."""

        async def dragged(event: viser.TransformControlsEvent) -> None:
            if event.phase == "end":
                self.loop.post("dropped", self._dropped)
                return
            handle = event.target
            there = Placed(name=str(handle.name), position=tuple(handle.position), wxyz=tuple(handle.wxyz))
            self.loop.post("drag", lambda: self.moved(lambda: self._dragged(there), source="handle"))

        for handle in self.scene.handles:
            handle.on_update(dragged)
        if self.scene.view is not None:
            self.scene.view.clicked = lambda leg: self.loop.post("select", lambda: self.select(leg))

        async def pushed(event: viser.TransformControlsEvent) -> None:
            place = tuple(float(x) for x in event.target.position)
            self.loop.post("push", lambda: self.pushed(self.scene.force_at(place, self.session.numbers.state)))

        self.scene.add_force_handle(self.session.numbers).on_update(pushed)

    def _dragged(self, handle: Placed) -> None:
        self.session.drag(*self.scene.dragged_to(handle, self.session.numbers.state))

    def _dropped(self) -> None:
        """The handle snaps to the platform, and what was asked for beyond limits is forgotten."""
        self.session.asked = None
        self.scene.beyond(None)
        self.scene.place_handle(self.session.numbers.state)

    def select(self, leg: int | None) -> None:
        """Light up a leg: its row, its bars, its curves; the same leg once more, and it is as the others again."""
        self.selected = None if leg == self.selected else leg
        self.scene.select(self.selected)
        if self.motion.shows:
            self.motion.timeline.plot()
            self.motion.timeline.again()
        else:
            self.write_numbers()
            self.redraw()
        if self.selected is not None:
            self.design.offer(self.session.robot.legs[self.selected].name)

    def busy(self, text: str) -> None:
        """Say that something takes a moment."""
        self.say(text, "busy")

    def say(self, text: str, kind: str = "good") -> None:
        """Show one line above the tabs: `good`, `bad` or `busy`."""
        shade = {"good": "#e6f4ee", "bad": "#fdeaea", "busy": "#eef2f7"}[kind]
        edge = {"good": "#009E73", "bad": "#d51e1e", "busy": "#0072B2"}[kind]
        box = f"background:{shade};border-left:4px solid {edge};padding:.3em .5em"
        self.status.content = (
            f"{STYLE}<div class='fp' id='status' data-kind='{kind}' data-theme='{self.theme}' "
            f"style='{box};max-height:11em;overflow:auto'>"
            f"{escape(text)}</div>"
        )
        self.server.flush()

    def failed(self, error: Exception) -> None:
        """Say what went wrong; the studio goes on."""
        if isinstance(error, fp.FlexapodError):
            self.say(str(error), "bad")
            return
        if os.environ.get("FLEXAPOD_DEBUG"):
            traceback.print_exception(error)
        self.say(f"internal error ({type(error).__name__}: {error}). This is a fault of flexapod.", "bad")

    def _progress(self, name: str | None, part: float) -> None:
        self.bar.visible = self.cancel.visible = name is not None
        if name is not None:
            self.bar.value = 100.0 * part
            first = "; equations are compiled the first time" if name.startswith("opening") and part < 0.9 else ""
            self.busy(f"{name}: {100 * part:.0f} %{first}")
        elif part == 1.0:
            self.say("done")
        else:
            self.say("cancelled" if self.entered else "cancelled; choose a robot in the tab Robot")
            self.robot_panel.new_robot()


def collect_and_freeze() -> None:
    """Collect what the former robot left, and set apart what stays: modules, robot, page.

    A search through all of it takes 50 ms, in a notebook with much beside it a second, and a slider would have to wait for it
    whenever the collector comes by.
    """
    gc.unfreeze()
    give_back_memory()
    gc.freeze()


def give_back_memory() -> None:
    """Collect what clients left, and hand free pages back to the system where its allocator can (glibc)."""
    gc.collect()
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
