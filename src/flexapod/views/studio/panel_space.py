"""Tab `Space`: all poses of the shown actuators, to be chosen one by one; singular curves of a slice; the workspace's surface."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

import flexapod as fp
from flexapod.arrays import Array
from flexapod.views.output import number, without_noise
from flexapod.views.studio.moved_coordinates import PoseCoordinates
from flexapod.views.studio.panel import Asked, Panel
from flexapod.views.studio.tables import STYLE
from flexapod.views.studio.workspace_slice import NO_PLANE, plane_problem, planes

if TYPE_CHECKING:
    from flexapod.views.studio.jobs import JobReport

RESOLUTIONS = (6, 10, 16, 24)
"""Cells of the surface along its longest side, one after the other: a first picture soon, then finer ones."""
UNCUT = "whole"
"""The choice that cuts nothing away."""

CELLS = 14
"""Cells of the grid on which singular curves are looked for."""

NONE = "(none listed)"


class SpacePanel(Panel):
    """The space of poses, drawn where the robot is."""

    def build(self) -> None:
        """Make the widgets."""
        gui = self.gui
        self.found: dict[str, fp.State] = {}
        self.solid: tuple[Array, NDArray[np.int64]] | None = None
        with gui.add_folder("Assembly modes"):
            self.on(gui.add_button("All poses", hint="that the actuators shown allow"), self._poses)
            self.choice = self.on(gui.add_dropdown("Go to pose", (NONE,), initial_value=NONE), self._chosen)
        with gui.add_folder("Workspace and singular poses"):
            self.on(gui.add_button("Workspace surface", hint="positions at the orientation shown"), self._surface)
            self.cut = self.on(
                gui.add_dropdown(
                    "Cut across", (UNCUT, "x", "y", "z"), initial_value=UNCUT, hint="what lies beyond the plane is left out"
                ),
                lambda _: self._clip(),
            )
            self.at = self.on(gui.add_slider("Cut at [%]", 0.0, 100.0, 1.0, 50.0, marks=()), lambda _: self._clip())
            self.plane = gui.add_dropdown("Slice", ("xy",), initial_value="xy")
            self.on(gui.add_button("Singular curves", hint="type 2, on the slice through the pose shown"), self._curves)
        self.on(gui.add_button("Remove drawings"), lambda _: self._forget())
        self.note = gui.add_html("")

    def new_robot(self) -> None:
        """Forget the results: nothing is known of another robot."""
        slices = planes(self.studio.session.coordinates) or (NO_PLANE,)
        if tuple(self.plane.options) != slices:
            self.plane.options = slices
        self._forget()

    def _forget(self) -> None:
        self.studio.scene.forget_space()
        self.found, self.choice.options, self.note.content, self.solid = {}, (NONE,), "", None

    def _report_text(self, text: str) -> None:
        self.note.content = f"{STYLE}<div class='fp' id='space'>{escape(text)}</div>"

    def _poses(self, event: object) -> None:
        session = self.studio.session
        robot, q = session.robot, session.numbers.actuator
        if not np.all(np.isfinite(q)):
            raise fp.InputError("all poses: the robot cannot reach the pose that is asked for; move it back first")
        self.studio.jobs.start("all poses", lambda report: report.call(all_poses, robot, q), self._listed)

    def _listed(self, found: tuple[str, list[str], Array, Array]) -> None:
        text, names, p, R = found
        self.found = {name: fp.State(position=p[k], rotation=R[k]) for k, name in enumerate(names)}
        self.choice.options = tuple(names) or (NONE,)
        self.studio.scene.show_lines("poses", platforms(self.studio.session.robot, p, R), (90, 90, 90))
        self._report_text(text)

    def _chosen(self, event: Asked) -> None:
        state = self.found.get(event.value)
        if state is not None:
            self.studio.moved(lambda: self.studio.session.place(state.position, state.rotation))

    def _surface(self, event: object) -> None:
        session = self.studio.session
        robot, R = session.robot, session.last_good.rotation
        self._finer(robot, R, 0)

    def _finer(self, robot: fp.Robot, rotation: Array, k: int) -> None:
        """Compute one resolution in a job, then the next finer one: the surface fills in while it is looked at."""
        part = f"{k + 1} of {len(RESOLUTIONS)}"

        def done(found: tuple[str, Array, NDArray[np.int64]]) -> None:
            if self.studio.session.robot is not robot:
                return
            self.solid = found[1:]
            self._clip()
            last = k + 1 == len(RESOLUTIONS)
            self._report_text(found[0] + ("" if last else f" (step {part}, a finer one follows)"))
            if not last:
                self.studio.loop.post("finer workspace", lambda: self._finer(robot, rotation, k + 1))

        self.studio.jobs.start(
            f"workspace surface, step {part}", lambda report: report.call(surface, robot, rotation, RESOLUTIONS[k]), done
        )

    def _clip(self) -> None:
        """Draw what the cutting plane leaves of the surface."""
        if self.solid is None:
            return
        vertices, faces = self.solid
        if self.cut.value in ("x", "y", "z"):
            axis = "xyz".index(self.cut.value)
            low, high = vertices[:, axis].min(), vertices[:, axis].max()
            vertices, faces = clipped(vertices, faces, axis, float(low + 0.01 * float(self.at.value) * (high - low)))
        if len(faces):
            self.studio.scene.show_surface(vertices, faces)
        else:
            self.studio.scene.forget_space("surface")

    def _curves(self, event: object) -> None:
        session = self.studio.session
        if self.plane.value not in planes(session.coordinates):
            raise fp.InputError(plane_problem(session.coordinates))
        given = session.robot, session.coordinates, session.last_good, self.plane.value
        self.studio.jobs.start("singular curves", lambda report: report.call(singular_curves, *given), self._curved)

    def _curved(self, found: tuple[str, list[Array]]) -> None:
        text, curves = found
        parts = [np.stack([curve[:-1], curve[1:]], axis=1) for curve in curves]
        self.studio.scene.show_lines("curves", np.concatenate(parts) if parts else np.zeros((0, 2, 3)), (200, 40, 40))
        self._report_text(text)


def all_poses(robot: fp.Robot, q: Array, report: JobReport) -> tuple[str, list[str], Array, Array]:
    """Text about the poses, their names, positions and rotations; computed in the other process."""
    report(0.1)
    modes = fp.assembly_modes(robot, q)
    count = int(modes["count"])
    names = []
    for k in range(count):
        at = ", ".join(number(float(x), 3) for x in without_noise(modes["position"].values[k], robot.size))
        names.append(f"{k + 1}: {modes['operation_mode'].values[k]} ({at}) m")
    text = f"{count} poses of these actuators; complete: {modes['completeness'].values}. {modes['detail'].values}"
    return text, names, modes["position"].values[:count], modes["rotation"].values[:count]


def platforms(robot: fp.Robot, p: Array, R: Array) -> Array:
    """Segments (k, 2, 3) of the platform's polygon in every pose."""
    joints = np.array([leg.closing.on_platform.position for leg in robot.legs])
    corners = p[:, None] + joints @ np.swapaxes(R, 1, 2)
    return np.stack([corners, np.roll(corners, -1, axis=1)], axis=2).reshape(-1, 2, 3)


def clipped(vertices: Array, faces: NDArray[np.int64], axis: int, most: float) -> tuple[Array, NDArray[np.int64]]:
    """A surface without what lies beyond a coordinate `most`: triangles across the plane are cut at it.

    Checked by: tests/studio/test_studio_space.py.
    """
    from trimesh.intersections import slice_faces_plane

    found = slice_faces_plane(vertices, faces, plane_normal=-np.eye(3)[axis], plane_origin=most * np.eye(3)[axis])  # type: ignore[no-untyped-call]
    return np.asarray(found[0], dtype=np.float64), np.asarray(found[1], dtype=np.int64).reshape(-1, 3)


def surface(robot: fp.Robot, rotation: Array, resolution: int, report: JobReport) -> tuple[str, Array, NDArray[np.int64]]:
    """Text about the workspace at an orientation, and its surface; computed in the other process."""
    report(0.1)
    rotated = robot.mobility.platform == 6
    solid = fp.workspace_solid(robot, resolution=resolution, orientation=rotation if rotated else None)
    text = f"volume {number(solid.volume, 4)} +- {number(solid.volume_error, 2)} m^3, "
    return text + f"area {number(solid.area, 4)} +- {number(solid.area_error, 2)} m^2", solid.vertices, solid.faces


def singular_curves(
    robot: fp.Robot, coordinates: PoseCoordinates, state: fp.State, plane: str, report: JobReport
) -> tuple[str, list[Array]]:
    """Text about a slice through a pose, and its singular curves in the world; computed in the other process."""
    report(0.1)
    at, size = state.position, robot.size
    window: dict[str, Any] = {a: (float(at["xyz".index(a)]) - size, float(at["xyz".index(a)]) + size) for a in plane}
    third = next(axis for axis in "xyz" if axis not in plane)
    if coordinates.kind == "pose" and third in coordinates.names:
        window[third] = float(state.position["xyz".index(third)])
    rotated = robot.mobility.platform == 6
    locus = fp.singularity_locus(robot, window, orientation=state.rotation if rotated else None, cells=CELLS)
    curves = []
    for curve in locus.curves:
        points = np.tile(np.asarray(state.position, dtype=np.float64), (len(curve), 1))
        for k, axis in enumerate(locus.axes):
            points[:, "xyz".index(axis)] = curve[:, k]
        curves.append(points)
    many = f"{len(curves)} curve{'s' * (len(curves) != 1)} of type 2 singular poses" if curves else "no type 2 singular pose"
    return f"{many} within {number(size, 3)} m on the slice {plane}", curves
