"""Tab `View`: what is drawn: forces, reactions, frames, labels, exaggeration, and the workspace slice."""

from __future__ import annotations

from dataclasses import replace
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

import flexapod as fp
from flexapod.views.output import number
from flexapod.views.studio.exaggeration import factor_text, reachable_factor
from flexapod.views.studio.panel import Asked, Panel
from flexapod.views.studio.platform_view import legend_html
from flexapod.views.studio.recording import largest_displacement
from flexapod.views.studio.state_address import link_query
from flexapod.views.studio.tables import STYLE
from flexapod.views.studio.video import WAITED, record_video, save_gif
from flexapod.views.studio.workspace_slice import NO_PLANE, Slice, plane_problem, planes, workspace_slice

if TYPE_CHECKING:
    from flexapod.views.studio.jobs import JobReport


class ViewPanel(Panel):
    """Panel that chooses what is drawn besides the robot."""

    def build(self) -> None:
        """Make the widgets."""
        gui, shown = self.gui, self.studio.scene.shown
        views = gui.add_button_group("Look from", ("fit", "top", "front", "side"), hint="keys F, T, G, R; Ctrl-K lists all keys")
        self.on(views, lambda e: self.studio.scene.look(e.value) if e.value in e.target.options else None)
        self.parallel = self.on(
            gui.add_checkbox("Orthographic", False, hint="parallel lines stay parallel (key O)"),
            lambda e: self.set_parallel(bool(e.value)),
        )
        self.projector = self.on(
            gui.add_checkbox("Projector theme", False, hint="large letters and strong contrast for a lecture (key L)"),
            lambda e: self.set_theme("projector" if e.value else "screen"),
        )
        self.on(gui.add_button("Save picture", hint="of the view, as PNG"), self._picture)
        self.on(
            gui.add_button("Record video", hint="the motion that is loaded, or some seconds of what is seen, as MP4 or WebM"),
            self._record,
        )
        self.on(
            gui.add_button("Save GIF", hint="the motion or the mode that is shown, picture by picture: for slides and messages"),
            lambda e: save_gif(self.studio, e.client),
        )
        self.on(gui.add_button("Link to this state", hint="robot, changes, pose, motion and camera"), self._link)
        self.link = gui.add_html("")
        self.on(gui.add_checkbox("Actuator forces", shown.forces), lambda e: self._set(forces=e.value))
        self.reactions = self.on(gui.add_checkbox("Joint reactions", shown.reactions), self._reactions)
        self.on(gui.add_checkbox("Force values", shown.values), lambda e: self._set(values=bool(e.value)))
        self.on(
            gui.add_slider("Arrow length", 0.2, 4.0, 0.1, 1.0, marks=()),
            lambda e: self._set(arrow_scale=min(max(e.value, 0.2), 4.0)),
        )
        self.on(gui.add_checkbox("Frames", shown.frames), lambda e: self._set(frames=e.value))
        self.opened = self.on(
            gui.add_checkbox("Section through beams", shown.opened, hint="cut them open in the middle: walls and holes are seen"),
            lambda e: self._set(opened=bool(e.value)),
        )
        self.on(gui.add_checkbox("Leg names", shown.labels), lambda e: self._set(labels=e.value))
        self.deformation = self.on(
            gui.add_slider("Deformation 10^", 0.0, 5.0, 0.01, 0.0, marks=(), hint="power of ten of the factor on what is drawn"),
            lambda e: self._factor(10.0 ** min(max(float(e.value), 0.0), 5.0)),
        )
        self.factor_note = gui.add_html("")
        self.largest = 0.0
        with gui.add_folder("Workspace slice"):
            self.plane = gui.add_dropdown("Plane", ("xy",), initial_value="xy")
            self.on(gui.add_button("Compute slice"), self._slice)
            self.on(gui.add_button("Remove slice"), lambda _: self._forget())
            self.legend = gui.add_html("")

    def new_robot(self) -> None:
        """Planes of this robot; the deformation slider only where something bends."""
        self.parallel.value = self.studio.scene.parallel
        found = planes(self.studio.session.coordinates) or (NO_PLANE,)
        if tuple(self.plane.options) != found:
            self.plane.options = found
        flexible = bool(self.studio.session.robot.elastic_names)
        self.deformation.visible = self.factor_note.visible = flexible
        self.studio.legend.content = ""
        if flexible:
            elastic = self.studio.session.numbers.elastic
            self.new_factor(float(largest_displacement(self.studio.session.robot, elastic[None])[0]))
        beams = (element for elements in self.studio.session.robot.beams.values() for element in elements)
        self.opened.visible = any(element.rooted is None for element in beams)
        self.reactions.disabled = bool(self.studio.session.robot.elastic_names)
        self.legend.content = ""

    def set_parallel(self, parallel: bool) -> None:
        """Parallel or central projection, of the whole robot."""
        self.studio.scene.orthographic = self.parallel.value = parallel
        self.studio.scene.look()

    def set_theme(self, theme: str) -> None:
        """`screen` or `projector`."""
        self.studio.theme, self.projector.value = theme, theme == "projector"
        self.studio.say(f"{theme} theme")

    def _record(self, event: Asked) -> None:
        record_video(self.studio, event.client)

    def _link(self, event: Asked) -> None:
        """Show the address that brings back what is shown."""
        address = f"{self.studio.url}/?{link_query(self.studio, event.client)}"
        text = f"<a href='{escape(address)}' style='word-break:break-all'>{escape(address)}</a>"
        self.link.content = f"{STYLE}<div class='fp' id='link'>{text}</div>"
        self.studio.say("the link below brings back this state, in this studio or in another one of the same robot")

    def _picture(self, event: Asked) -> None:
        """Save the current view as PNG; the page draws it, so this waits in a job."""
        client, name = event.client, self.studio.session.robot.name

        def work(report: JobReport) -> bytes:
            import io

            from PIL import Image

            report(0.1)
            if client.client_id not in self.studio.server.get_clients():
                raise fp.InputError("picture: the page that asked for it was closed")
            height, width = int(client.camera.image_height), int(client.camera.image_width)
            image = client.get_render(height=height, width=width, transport_format="png", timeout=WAITED)
            stored = io.BytesIO()
            Image.fromarray(np.asarray(image)[..., :3]).save(stored, "PNG")
            return stored.getvalue()

        def done(content: bytes) -> None:
            client.send_file_download(f"{name}.png", content, save_immediately=True)
            self.studio.say(f"saved {name}.png")

        self.studio.jobs.start("picture", work, done)

    def new_factor(self, largest: float) -> None:
        """Show the factor that was chosen, and the displacement [m] that it enlarges."""
        factor, self.largest = self.studio.scene.shown.deformation, largest
        self.deformation.value = round(float(np.log10(factor)), 2)
        self._note(factor)

    def _note(self, factor: float) -> None:
        text = factor_text(factor, self.largest)
        self.studio.legend.content = legend_html(self.largest, factor) if self.studio.session.robot.joint_shapes else ""
        self.factor_note.content = f"{STYLE}<div class='fp muted'><span id='factor'>deformation {text}</span></div>"

    def _factor(self, factor: float) -> None:
        """Set the factor of the deformation: the chosen one, or the largest at which the drawing stays connected."""
        session = self.studio.session
        room = reachable_factor(session.robot, session.numbers.state, session.numbers.elastic, factor, self.largest)
        self._set(deformation=room)
        self._note(room)
        if room < factor:
            text = f"with x {number(factor, 3)} links would separate in the drawing: x {number(room, 3)} is drawn"
            self.studio.say(text, "bad")

    def _set(self, **changes: Any) -> None:
        self.studio.scene.shown = replace(self.studio.scene.shown, **changes)
        if self.studio.motion.shows:
            self.studio.motion.timeline.again()
        else:
            self.studio.redraw()

    def _reactions(self, event: Asked) -> None:
        self.studio.session.reactions = bool(event.value)
        self.studio.session.evaluate()
        self._set(reactions=bool(event.value))

    def _forget(self) -> None:
        self.studio.scene.forget_slice()
        self.legend.content = ""

    def _slice(self, event: object) -> None:
        session = self.studio.session
        if self.plane.value not in planes(session.coordinates):
            raise fp.InputError(plane_problem(session.coordinates))
        robot, coordinates, state, plane = session.robot, session.coordinates, session.last_good, self.plane.value
        self.studio.jobs.start(
            f"workspace slice {plane}", lambda report: workspace_slice(robot, coordinates, state, plane, report), self._drawn
        )

    def _drawn(self, found: Slice) -> None:
        if len(found.faces) == 0:
            self.studio.say("no pose of this plane can be reached", "bad")
            return
        self.studio.scene.show_slice(found.vertices, found.faces, found.colours)
        bar = "linear-gradient(90deg,rgb(253,231,37),rgb(92,200,99),rgb(33,144,141),rgb(59,81,139),rgb(68,1,84))"
        self.legend.content = (
            f"{STYLE}<div class='fp' id='slice'>condition number"
            f"<div style='height:10px;border-radius:3px;background:{bar}'></div>"
            f"<div style='display:flex;justify-content:space-between'><span>{number(found.low, 3)}</span>"
            f"<span>{number(found.high, 3)}</span></div><span class='muted'>{100 * found.share:.0f} % of the plane {found.axes} "
            "can be reached, at the orientation shown when it was computed</span></div>"
        )
