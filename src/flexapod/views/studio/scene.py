"""The three-dimensional scene: ground, camera, the robot, the kept variant beside it, the handle to drag, the workspace slice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

import flexapod as fp
from flexapod.arrays import Array
from flexapod.views.leg_curves import home_joints
from flexapod.views.scene.colours import RED
from flexapod.views.scene.frames import wxyz
from flexapod.views.scene.meshes import plate, sphere
from flexapod.views.scene.shapes import platform_surface
from flexapod.views.studio.camera import (
    ASPECT,
    FIELD,
    PARALLEL,
    camera_place,
    level,
    oblique,
    planes_of,
    seen_points,
    upward_direction,
)
from flexapod.views.studio.exaggeration import good_factor
from flexapod.views.studio.force_handle import ForceHandle
from flexapod.views.studio.moved_coordinates import PoseCoordinates
from flexapod.views.studio.numbers import Numbers, bad_legs
from flexapod.views.studio.recording import largest_displacement
from flexapod.views.studio.robot_view import RobotView
from flexapod.views.studio.shown import Shown

if TYPE_CHECKING:
    import viser

PLANES: tuple[Literal["yz", "xz", "xy"], ...] = ("yz", "xz", "xy")

SKY, EARTH, DAYLIGHT = (255, 255, 255), (205, 207, 212), 3.2
"""Light from above and from below, and how much of it. viser's own is a photographed environment: to prepare it and to look it up
at every point takes a machine without a graphics card longer than everything else of a picture together."""
HANDLE = 0.13
"""Length of the handle's arrows, of the robot's extent."""
BESIDE = 1.25
"""Distance of the kept variant, of the robot's width."""
Vector = Sequence[float] | Array
"""Three numbers."""


@dataclass(frozen=True, kw_only=True)
class Placed:
    """Place to which a person dragged a handle; the handle itself goes back to the platform whenever that is drawn."""

    name: str
    position: tuple[float, ...]
    wxyz: tuple[float, ...]


class StudioScene:
    """Everything that is drawn in three dimensions. Methods are called from the studio's thread."""

    def __init__(self, server: viser.ViserServer) -> None:
        self.server, self.scene = server, server.scene
        self.scene.world_axes.visible = False
        self.scene.configure_environment_map(None)
        self.scene.add_light_hemisphere("/sky", sky_color=SKY, ground_color=EARTH, intensity=DAYLIGHT)
        self.view: RobotView | None = None
        self.kept: RobotView | None = None
        self._ahead: fp.Robot | None = None
        self.handles: list[viser.TransformControlsHandle] = []
        self._whole: tuple[Array, Array, Array, Array] | None = None
        self.orthographic: bool | None = None
        self.overlaid, self._shown = False, 0
        self.handles_shown = True
        self.slice: Any = None
        self.space: dict[str, Any] = {}
        self.shown = Shown()
        self.force: ForceHandle | None = None
        self._ghost: Any = None
        self.row: list[RobotView] = []
        self._single: tuple[Array, Array, Array, Array] | None = None

    @property
    def parallel(self) -> bool:
        """Parallel projection: as a person chose; until then planar robots only, whose plan has no depth."""
        if self.orthographic is not None:
            return self.orthographic
        return self.view is not None and self.view.robot.planar

    def show_ahead(self, robot: fp.Robot) -> None:
        """Draw a robot at its home from its file alone: it is seen while its equations are read or compiled."""
        self._anew(robot, None, look=True)
        assert self.view is not None
        home = fp.State.at_home(robot)
        self.view.pose(home, np.zeros(len(robot.elastic_names)), self.shown, set(), joints=home_joints(robot))
        self._ahead = robot

    def show(self, robot: fp.Robot, kept: fp.Robot | None, coordinates: PoseCoordinates, *, look: bool) -> None:
        """Draw a robot, and a kept variant beside it, anew; one that is drawn ahead stays as it is.

        Args:
            look: also turn every camera to the robot.
        """
        if self._ahead is not robot or kept is not None:
            self._anew(robot, kept, look=look)
        self._ahead = None
        self._handles(robot, coordinates)

    def _anew(self, robot: fp.Robot, kept: fp.Robot | None, *, look: bool) -> None:
        for old in (self.view, self.kept):
            if old is not None:
                old.remove()
        self.forget_slice()
        self.forget_space()
        self.beyond(None)
        self.forget_row()
        self._shown += 1  # a node of a name that was there before may keep its place on the page: names are new
        self.view = RobotView(self.scene, f"/robot-{self._shown}", robot, np.zeros(3))
        up = upward_direction(robot)
        across = level(robot, up)
        points = seen_points(robot, self.view.size)
        self.kept = None
        if kept is not None:
            beside = np.zeros(3) if self.overlaid else -BESIDE * float(np.ptp(points @ across)) * across
            self.kept = RobotView(self.scene, f"/kept-{self._shown}", kept, beside, ghost=True)
            points = np.vstack([points, points + beside])
        if look:
            self.scene.set_up_direction(tuple(up))
            self._ground(up, points.min(axis=0), points.max(axis=0))
            self._whole = (points, up, across, oblique(robot, up, across))
            self.look()

    def _ground(self, up: Array, low: Array, high: Array) -> None:
        axis = int(np.abs(up).argmax())
        size = float(np.linalg.norm(high - low))
        cell = float(10.0 ** np.round(np.log10(size / 12.0)))
        place = 0.5 * (low + high)
        place[axis] = (low if up[axis] > 0 else high)[axis] - np.sign(up[axis]) * 0.02 * size
        self.scene.add_grid(
            "/ground", 4.0 * size, 4.0 * size, plane=PLANES[axis], position=tuple(place), cell_size=cell, section_size=5 * cell,
            cell_color=(222, 224, 228), section_color=(196, 200, 206), shadow_opacity=0.10, fade_distance=6.0 * size,
        )  # fmt: skip

    def look(self, kind: str = "fit") -> None:
        """Turn the cameras, now and later ones, to the whole robot: `fit`, `top`, `front`, `side`, or `row` for several."""
        if self._whole is None:
            return
        points, up, across, oblique = self._whole
        front = np.cross(across, up)
        ways = {"fit": oblique, "top": up + 1e-3 * front, "front": front + 1e-3 * up, "side": across + 1e-3 * up}
        direction = (ways | {"row": self._row_direction()})[kind]
        field = PARALLEL if self.parallel else FIELD
        initial = self.server.initial_camera
        position, middle = camera_place(points, up, direction, field, ASPECT)
        initial.look_at, initial.up, initial.position, initial.fov = tuple(middle), tuple(up), tuple(position), field
        initial.near, initial.far = planes_of(position, points)
        for client in self.server.get_clients().values():
            position, middle = camera_place(points, up, direction, field, float(client.camera.aspect))
            with client.atomic():
                client.camera.fov = field
                client.camera.near, client.camera.far = planes_of(position, points)
                client.camera.up_direction = tuple(up)
                client.camera.position = tuple(position)  # takes look_at along, so that comes last
                client.camera.look_at = tuple(middle)

    def _row_direction(self) -> Array:
        """The direction from which several robots in a row are seen: from the front; planar ones in plan view."""
        assert self._whole is not None
        _, up, across, plan = self._whole
        return plan if self.view is not None and self.view.robot.planar else np.asarray(np.cross(across, up) + 0.6 * up)

    def place_cameras(self, position: Vector, look_at: Vector, up: Vector) -> None:
        """Put the cameras, now and later ones, to a place."""
        initial = self.server.initial_camera
        initial.position, initial.look_at, initial.up = tuple(position), tuple(look_at), tuple(up)
        for client in self.server.get_clients().values():
            with client.atomic():
                client.camera.up_direction = tuple(up)
                client.camera.position = tuple(position)
                client.camera.look_at = tuple(look_at)

    def _handles(self, robot: fp.Robot, coordinates: PoseCoordinates) -> None:
        """Arrows and rings for the motions that the robot has, and no others."""
        for old in self.handles:
            old.remove()
        size = self.view.size if self.view else 1.0
        places: dict[str, Any] = {"position": tuple(robot.home.position), "visible": self.handles_shown}
        self.handles = [
            self.scene.add_transform_controls(
                f"/drag-{self._shown}/{name}", scale=HANDLE * size, line_width=1.6, depth_test=False, opacity=0.75,
                disable_sliders=True,
                **options, **places,
            )
            for name, options in handle_options(robot, coordinates)
        ]  # fmt: skip

    def show_handles(self, shown: bool) -> None:
        """Draw the handles or not."""
        self.handles_shown = bool(shown)
        for handle in self.handles:
            handle.visible = self.handles_shown

    def choose_deformation(self, robot: fp.Robot, state: fp.State, elastic: Array, largest: float | None = None) -> None:
        """The factor on the drawn deformation, chosen for this robot: its largest displacement is seen, its legs still reach.

        Args:
            largest: displacement [m] that shall be seen; that of `elastic` if left out.
        """
        factor = good_factor(robot, state, elastic, largest)
        if largest is None:
            known = bool(len(elastic)) and bool(np.all(np.isfinite(elastic)))
            largest = float(largest_displacement(robot, elastic[None])[0]) if known else 0.0
        self.shown = replace(self.shown, deformation=factor, largest=largest)

    def pose(self, numbers: Numbers, kept: Numbers | None, *, move_handle: bool = True) -> None:
        """Draw the numbers' pose; what is at fault in red."""
        if self.view is None:
            return
        red = bad_legs(self.view.robot, numbers.problems)
        if numbers.problems and not red:
            red = {""}  # no leg by name: the platform alone
        self.view.pose(numbers.state, numbers.elastic, self.shown, red)
        self.view.arrows(numbers.force, numbers.reaction, self.shown)
        if self.kept is not None and kept is not None:
            self.kept.pose(kept.state, kept.elastic, self.shown, set())
            self.kept.arrows(kept.force, kept.reaction, self.shown)
        if move_handle:
            self.place_handle(numbers.state)

    def moment(
        self, numbers: Numbers, drawn: tuple[fp.State, Array], kept: Numbers | None, kept_drawn: tuple[fp.State, Array] | None
    ) -> None:
        """Draw a moment of a motion, and that of the kept variant in step with it; poses and joints are known already."""
        if self.view is None:
            return
        red = bad_legs(self.view.robot, numbers.problems) or ({""} if numbers.problems else set())
        for view, found, at in ((self.view, numbers, drawn), (self.kept, kept, kept_drawn)):
            if view is not None and found is not None and at is not None:
                view.pose(at[0], found.elastic, self.shown, red if view is self.view else set(), joints=at[1])
                view.arrows(found.force, {}, self.shown)
        self.place_handle(drawn[0])

    def beyond(self, asked: fp.State | None) -> None:
        """A red ghost of the platform where it was dragged to, beyond the limit at which the robot halted; None takes it away."""
        if self.view is None:
            return
        if asked is None:
            if self._ghost is not None:
                self._ghost.remove()
                self._ghost = None
            return
        if self._ghost is None:
            points, _, triangles = platform_surface(self.view.robot)
            mesh = plate(points, 0.016 * self.view.size) if triangles is not None else sphere()
            vertices = mesh[0] if triangles is not None else 0.02 * self.view.size * mesh[0]
            self._ghost = self.scene.add_mesh_simple(
                f"/beyond-{self._shown}", vertices, mesh[1], color=RED, opacity=0.4, side="double", cast_shadow=False
            )
        self._ghost.wxyz, self._ghost.position = wxyz(asked.rotation), asked.position

    def select(self, leg: int | None) -> None:
        """Make the other legs paler; None makes all as they are."""
        if self.view is not None:
            self.view.selected = leg

    def add_force_handle(self, numbers: Numbers) -> Any:
        """The handle of a force on the platform, of this robot; hidden until it is asked for."""
        assert self.view is not None
        shown = self.force is not None and self.force.shown
        if self.force is not None:
            self.force.remove()
        straight = np.array(self.view.robot.actuator_units) == "m"
        known = np.abs(numbers.force[straight & np.isfinite(numbers.force)])
        weight = float(np.linalg.norm(self.view.robot.gravity)) * float(self.view.robot.platform.mass)
        largest = max([1.0, weight, *known])
        robot = self.view.robot
        axes = (robot.description.file.plane or "xyz") if robot.planar else "xyz"
        self.force = ForceHandle(self.scene, f"/force-{self._shown}", self.view.size, largest, upward_direction(robot), axes)
        self.force.shown = shown
        return self.force.handle

    def force_at(self, place: ArrayLike, state: fp.State) -> tuple[float, float, float]:
        """The force [N] that a place of the force's handle means."""
        return self.force.force_at(place, state) if self.force is not None else (0.0, 0.0, 0.0)

    def show_force(self, numbers: Numbers, force: tuple[float, ...], *, move: bool = True) -> None:
        """Draw the force on the platform."""
        if self.force is not None:
            self.force.draw(numbers.state, force, move=move)

    def place_handle(self, state: fp.State) -> None:
        """Put the handles to drag where the platform is: arrows along the axes of the world, rings turned as it is since home."""
        assert self.view is not None
        rotated = wxyz(state.rotation @ self.view.robot.home.rotation.T)
        for handle in self.handles:
            handle.position, handle.wxyz = state.position, (1.0, 0.0, 0.0, 0.0) if _moves(handle) else rotated

    def dragged_to(self, handle: Placed, state: fp.State) -> tuple[Array, Array]:
        """Position (3,) and rotation (3, 3) of the platform that a handle asks for, from the state before."""
        assert self.view is not None
        if _moves(handle):
            return np.array(handle.position), state.rotation
        rotation = fp.motions.quat_wxyz_rotation(handle.wxyz)
        return np.array(handle.position), np.asarray(rotation @ self.view.robot.home.rotation)

    def show_row(self, robot: fp.Robot, names: list[str]) -> None:
        """Robots in a row, one per name, instead of the one; the cameras see them all."""
        self.forget_row()
        if self.view is None or self._whole is None:
            return
        points, up, across, direction = self._whole
        step = BESIDE * float(np.ptp(points @ across))
        seen = self._row_direction()
        above = up if not robot.planar else np.cross(seen, across) / np.linalg.norm(np.cross(seen, across))
        self.view.root.visible = False
        for k, name in enumerate(names):
            offset = (k - 0.5 * (len(names) - 1)) * step * across
            self.row.append(RobotView(self.scene, f"/row-{self._shown}-{k}", robot, offset))
            middle = 0.5 * (points.min(axis=0) + points.max(axis=0))
            place = middle + 0.62 * float(np.ptp(points @ above)) * above
            self.scene.add_label(f"/row-{self._shown}-{k}/name", name, position=tuple(place), font_screen_scale=1.1)
        wide = 0.5 * (len(names) - 1) * step * across
        self._single, self._whole = self._whole, (np.vstack([points - wide, points + wide]), up, across, direction)
        self.show_handles(False)
        self.look("row")

    def forget_row(self) -> None:
        """Show one robot again."""
        if not self.row or self.view is None:
            return
        for one in self.row:
            one.remove()
        self.row, self._whole = [], self._single
        self.view.root.visible = True
        self.show_handles(True)
        self.look()

    def forget_slice(self) -> None:
        """Take the workspace slice away."""
        if self.slice is not None:
            self.slice.remove()
            self.slice = None

    def show_slice(self, vertices: Array, faces: NDArray[np.int64], colours: NDArray[np.uint8]) -> None:
        """Draw a coloured surface: the workspace slice."""
        import trimesh

        self.forget_slice()
        mesh = trimesh.Trimesh(vertices=vertices, faces=faces, vertex_colors=colours, process=False)
        self.slice = self.scene.add_mesh_trimesh("/workspace", mesh, cast_shadow=False)

    def forget_space(self, *names: str) -> None:
        """Take drawings of the space of poses away; all if none is named."""
        for name in names or tuple(self.space):
            if name in self.space:
                self.space.pop(name).remove()

    def show_lines(self, name: str, segments: Array, colour: tuple[int, int, int]) -> None:
        """Draw segments (k, 2, 3)."""
        self.forget_space(name)
        if len(segments):
            self.space[name] = self.scene.add_line_segments(
                f"/space/{name}", segments, colour, thickness=2.5, thickness_units="screen"
            )

    def show_surface(self, vertices: Array, faces: NDArray[np.int64]) -> None:
        """Draw the workspace's surface; the robot is seen through it."""
        self.forget_space("surface")
        self.space["surface"] = self.scene.add_mesh_simple(
            "/space/surface", vertices, faces, color=(120, 170, 210), opacity=0.35, side="double", cast_shadow=False
        )


def _moves(handle: viser.TransformControlsHandle | Placed) -> bool:
    """A handle of translations, not of rotations."""
    return str(handle.name).endswith("/arrows")


def handle_options(robot: fp.Robot, coordinates: PoseCoordinates) -> list[tuple[str, dict[str, Any]]]:
    """Handles of a robot: one with the arrows of its translations, one with three rings or one per ring.

    A ring about an axis is drawn where the two other axes are active.
    """
    if coordinates.kind == "actuator":  # the platform follows its origin alone
        moves, rotations = list(robot.description.file.plane or "xyz"), []
    else:
        moves = [name for name in coordinates.names if name in "xyz"]
        rotations = [name[1] for name in coordinates.names if name not in "xyz"]
    found: list[tuple[str, dict[str, Any]]] = []
    if moves:
        found.append(("arrows", {"active_axes": tuple(a in moves for a in "xyz"), "disable_rotations": True}))
    if len(rotations) == 3:
        found.append(("rings", {"disable_axes": True}))
        return found
    return found + [(f"ring-{t}", {"active_axes": tuple(a != t for a in "xyz"), "disable_axes": True}) for t in rotations]
