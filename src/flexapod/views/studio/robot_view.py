"""One robot in the scene: nodes that are made once per robot, and moved with every pose.

All rods are one node, all joints another: a pose costs a handful of small messages, whatever the robot.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

import flexapod as fp
from flexapod.arrays import Array
from flexapod.views.output import number
from flexapod.views.scene import colours
from flexapod.views.scene.arrows import ForceArrows, actuator_arrows, reaction_arrows, scale_bar
from flexapod.views.scene.colours import DARK, GHOST, PULL, PUSH, REACTION, RED, SCALE, colour, rgb
from flexapod.views.scene.frames import drawn_pose, mesh_frame, wxyz
from flexapod.views.scene.labels import name_parts, name_place
from flexapod.views.scene.meshes import cylinder, cylinder_placements, plate, sphere
from flexapod.views.scene.shapes import (
    TOOL,
    Drawing,
    drawing,
    extent,
    ground_parts,
    payload_balls,
    platform_corners,
    platform_rods,
)
from flexapod.views.studio.camera import (
    ASPECT,
    FIELD,
    PARALLEL,
    camera_place,
    level,
    oblique,
    scale_place,
    seen_points,
    upward_direction,
)
from flexapod.views.studio.flat_arrows import FlatLines
from flexapod.views.studio.platform_view import PlatformView
from flexapod.views.studio.shown import Shown, drawing_colours, linear

if TYPE_CHECKING:
    import viser

PLATE, GROUND, PAYLOAD = (rgb(text) for text in (colours.PLATE, colours.BASE, colours.PAYLOAD))
ARROW, ARCS = 0.0065, 0.011
"""Thickness of the lines of arrows and of arcs, of the extent."""
PALE = 0.72
"""Part of their colour that other legs lose while one is selected."""


class RobotView:
    """The nodes of one robot under a name of the scene tree.

    Args:
        offset: (3,) [m] where it is in the scene.
        ghost: grey, for the kept variant.
    """

    def __init__(self, scene: viser.SceneApi, name: str, robot: fp.Robot, offset: Array, *, ghost: bool = False) -> None:
        self.scene, self.name, self.robot, self.ghost = scene, name, robot, ghost
        self.size = extent(robot)
        self.corner, self.right = scale_place(robot, self.size)
        up = upward_direction(robot)
        self.seen = oblique(robot, up, level(robot, up))
        field = PARALLEL if robot.planar else FIELD
        self.eye = camera_place(seen_points(robot, self.size), up, self.seen, field, ASPECT)[0]
        self.shades = tuple(GHOST for _ in robot.legs) if ghost else None
        self.root = scene.add_frame(name, show_axes=False, position=tuple(offset))
        self.platform = PlatformView(scene, name, robot, self.size, 0.35 if ghost else 0.96)
        self.clicked: Callable[[int], None] = lambda leg: None
        self.selected: int | None = None
        self.last: Drawing | None = None
        self.drawn: ForceArrows | None = None
        self._parts: Array | None = None
        self._static()
        self._moving: dict[str, Any] = {}
        self._lines: dict[str, FlatLines] = {}

    def remove(self) -> None:
        """Take the robot out of the scene."""
        self.root.remove()

    def _static(self) -> None:
        """Rails with their stops, and base: they never move."""
        fixed, outline = ground_parts(self.robot, self.size)
        if fixed.start:
            self._rods("rails", np.array(fixed.start), np.array(fixed.end), np.array(fixed.radius), fixed.colour)
        if outline is not None:
            vertices, faces = plate(outline, 0.01 * self.size)
            self.scene.add_mesh_simple(
                f"{self.name}/base", vertices, faces, color=GROUND, opacity=0.35 if self.ghost else 0.85, flat_shading=True,
                side="double", cast_shadow=False,
            )  # fmt: skip

    def _rods(self, name: str, start: Array, end: Array, radius: Array, shades: ArrayLike) -> viser.BatchedMeshHandle:
        quat, middle, scale = cylinder_placements(start, end, radius)
        vertices, faces = cylinder()
        return self.scene.add_batched_meshes_simple(
            f"{self.name}/{name}", vertices, faces, quat, middle, batched_scales=scale, lod="off",
            batched_colors=linear(shades), opacity=0.35 if self.ghost else None,
        )  # fmt: skip

    def pose(self, state: fp.State, elastic: Array, shown: Shown, red: set[str], joints: Array | None = None) -> bool:
        """Draw a pose; False where the robot cannot reach it, and only the platform moved.

        Args:
            joints: (coordinates,) where they are known already.
        """
        bent = shown.deformation * elastic
        if joints is None:
            state, joints = drawn_pose(self.robot, state, bent)
        corners = platform_corners(self.robot, state, bent)
        self._platform(state, bent, bool(red) or not np.all(np.isfinite(joints)), shown)
        if not np.all(np.isfinite(joints)):
            self._repaint(red)
            return False
        self.last = drawing(self.robot, joints, corners, self.size, red, self.shades, opened=shown.opened)
        self._legs(self.last)
        self._beams(self.last, red)
        self._shapes(state, self.last, red)
        self._frames(state, self.last, shown.frames)
        self._labels(self.last, shown.labels and not self.ghost)
        return True

    def _legs(self, now: Drawing) -> None:
        for name, rods in (("rods", now.rods), ("hardware", now.hardware)):
            if not rods.start:
                continue
            start, end, radius = np.array(rods.start), np.array(rods.end), np.array(rods.radius)
            shades = self._lit(np.array(rods.colour, dtype=np.uint8), np.array(rods.leg))
            if name not in self._moving:
                self._moving[name] = self._rods(name, start, end, radius, shades)
                self._listen(self._moving[name], list(rods.leg))
                continue
            node = self._moving[name]
            node.batched_wxyzs, node.batched_positions, node.batched_scales = cylinder_placements(start, end, radius)
            if name == "rods":
                node.batched_colors = linear(shades)
        if len(now.balls):
            self._balls(now)

    def _shapes(self, state: fp.State, now: Drawing, red: set[str]) -> None:
        """Meshes from files, each where its body is; those of legs at fault are red, and the platform with them."""
        for k, mesh in enumerate(self.robot.meshes):
            R, p = mesh_frame(mesh, now.frames, state)
            node = self._moving.get(f"shape {k}")
            shade = PLATE if mesh.leg < 0 else rgb(colour(mesh.leg))
            if self.ghost:
                shade = rgb(GHOST)
            elif red and (mesh.leg < 0 or self.robot.legs[mesh.leg].name in red):
                shade = RED
            if node is None:
                node = self._moving[f"shape {k}"] = self.scene.add_mesh_simple(
                    f"{self.name}/shapes/{k}", mesh.vertices, mesh.faces, color=shade, opacity=0.35 if self.ghost else None,
                    flat_shading=True, side="double",
                )  # fmt: skip
            node.wxyz, node.position, node.color = wxyz(R), p, shade

    def _beams(self, now: Drawing, red: set[str]) -> None:
        """Beams with their sections: the walls in the colour of the leg, the faces across it dark."""
        for k, beam in enumerate(now.beams):
            usual = rgb(self.shades[beam.leg] if self.shades else colour(beam.leg))
            shade = RED if self.robot.legs[beam.leg].name in red else usual
            lit = self._lit(np.array([shade], dtype=np.uint8), np.array([beam.leg]))[0]
            for name, faces, paint in (("walls", beam.walls, lit), ("sections", beam.sections, DARK)):
                key, tint = f"beam {k} {name}", (int(paint[0]), int(paint[1]), int(paint[2]))
                node = self._moving.get(key)
                used, own = np.unique(faces, return_inverse=True)
                vertices = beam.vertices[used]
                if node is not None and len(node.vertices) != len(vertices):
                    node.remove()  # cut open or whole again: viser's page keeps buffers of the old length
                    node = None
                if node is None:
                    node = self._moving[key] = self.scene.add_mesh_simple(
                        f"{self.name}/beams/{k} {name}", vertices, own.reshape(faces.shape), color=tint, flat_shading=True,
                        side="double", opacity=0.35 if self.ghost else None,
                    )  # fmt: skip
                    self._listen(node, [beam.leg])
                    continue
                node.vertices = vertices
                if tuple(node.color) != tint:
                    node.color = tint

    def _listen(self, node: viser.BatchedMeshHandle | viser.MeshHandle, legs: list[int]) -> None:
        """A click on a rod is a click on its leg."""
        if self.ghost:
            return

        async def clicked(event: viser.SceneNodePointerEvent[Any]) -> None:
            index = 0 if len(legs) == 1 else event.instance_index
            if index is not None and 0 <= index < len(legs) and legs[index] >= 0:
                self.clicked(legs[index])

        node.on_click(clicked)

    def _lit(self, shades: NDArray[np.uint8], legs: NDArray[np.int64]) -> NDArray[np.uint8]:
        """Colours with the other legs paler while one is selected."""
        if self.selected is None:
            return shades
        pale = (PALE * 255.0 + (1.0 - PALE) * shades).astype(np.uint8)
        return np.where((legs == self.selected)[:, None], shades, pale)

    def _balls(self, now: Drawing) -> None:
        if "balls" in self._moving:
            self._moving["balls"].batched_positions = now.balls
            return
        vertices, faces = sphere()
        self._moving["balls"] = self.scene.add_batched_meshes_simple(
            f"{self.name}/joints", vertices, faces, np.tile((1.0, 0.0, 0.0, 0.0), (len(now.balls), 1)), now.balls,
            batched_scales=np.repeat(now.ball_radius[:, None], 3, axis=1), batched_colors=linear(now.ball_colour), lod="off",
            opacity=0.35 if self.ghost else None,
        )  # fmt: skip

    def _repaint(self, red: set[str]) -> None:
        """Legs stay where they were; those at fault turn red."""
        if self.last is None or "rods" not in self._moving:
            return
        frozen = drawing_colours(self.robot, self.last, red, self.shades)
        self._moving["rods"].batched_colors = linear(frozen)
        self._beams(self.last, red)

    def _platform(self, state: fp.State, elastic: Array, red: bool, shown: Shown) -> None:
        shade = RED if red else rgb(GHOST) if self.ghost else PLATE
        self._bars(state, shade)
        self._payloads(state)
        largest = 0.0 if red or self.ghost else shown.largest
        self.platform.draw(state, elastic, shade, shown.deformation, largest)

    def _payloads(self, state: fp.State) -> None:
        """Draw the payloads that are fixed to the platform as balls by their mass."""
        centre, radius = payload_balls(self.robot, state)
        if not len(radius):
            return
        if "payloads" in self._moving:
            self._moving["payloads"].batched_positions = centre
            return
        vertices, faces = sphere()
        self._moving["payloads"] = self.scene.add_batched_meshes_simple(
            f"{self.name}/payloads", vertices, faces, np.tile((1.0, 0.0, 0.0, 0.0), (len(radius), 1)), centre,
            batched_scales=np.repeat(radius[:, None], 3, axis=1), lod="off",
            batched_colors=linear(np.tile(PAYLOAD, (len(radius), 1))), opacity=0.35 if self.ghost else None,
        )  # fmt: skip

    def _bars(self, state: fp.State, shade: tuple[int, int, int]) -> None:
        """Rods on the platform: to its tool and other named points, and to its joints where it has no area."""
        start, ends = platform_rods(self.robot, state)
        if not len(ends):
            return
        thick = 0.012 if self.platform.triangles is None else TOOL
        radius, shades = np.full(len(ends), thick * self.size), np.tile(shade, (len(ends), 1))
        if "bars" not in self._moving:
            self._moving["bars"] = self._rods("bars", start, ends, radius, shades)
        node = self._moving["bars"]
        node.batched_wxyzs, node.batched_positions, node.batched_scales = cylinder_placements(start, ends, radius)
        node.batched_colors = linear(shades)

    def arrows(self, force: Array, reaction: dict[str, Array], shown: Shown) -> None:
        """Forces of the actuators and reactions of the joints at the pose that was drawn last."""
        if self.last is None:
            return
        none = np.zeros((0, 2, 3))
        drawn = None
        if shown.forces:
            drawn = actuator_arrows(self.robot, self.last, force, self.size, shown.arrow_scale, self.seen)
        self.drawn = drawn
        for name, shade, side in (("push", PUSH, True), ("pull", PULL, False)):
            points = none if drawn is None else drawn.points[drawn.push == side]
            arcs = none if drawn is None else drawn.arcs[drawn.arc_push == side]
            self._flat(name, rgb(GHOST if self.ghost else shade), ARROW).arrows(points)
            self._flat(f"{name} arcs", rgb(GHOST if self.ghost else shade), ARCS).draw(arcs)
        self._values(drawn, force, shown.values)
        self._scale_bar(force, shown)
        react = reaction_arrows(self.robot, self.last, reaction, self.size, shown.arrow_scale) if shown.reactions else none
        self._flat("reactions", REACTION, 0.7 * ARROW).arrows(react)

    def _flat(self, name: str, shade: tuple[int, int, int], thick: float) -> FlatLines:
        """Lines of one colour, `thick` of the extent; made once."""
        if name not in self._lines:
            self._lines[name] = FlatLines(self.scene, f"{self.name}/{name}", shade, thick * self.size)
        return self._lines[name]

    def _scale_bar(self, force: Array, shown: Shown) -> None:
        """An arrow of a round force beside the robot, to the scale of all others, with its number."""
        value, length = scale_bar(self.robot, force, self.size, shown.arrow_scale)
        wanted = shown.forces and not self.ghost and value > 0.0
        points = np.array([[self.corner, self.corner + length * self.right]])
        self._flat("scale", SCALE, ARROW).arrows(points if wanted else points[:0])
        text, reported = self._moving.get("scale text"), f"{value:,.10g} N".replace(",", " ")
        if text is not None:
            text.text, text.visible = reported, wanted
        elif wanted:
            self._moving["scale text"] = self.scene.add_label(
                f"{self.name}/scale text", reported, position=tuple(self.corner), anchor="center-right", font_screen_scale=0.85
            )

    def _values(self, drawn: ForceArrows | None, force: Array, wanted: bool) -> None:
        """The force of every actuator, or of the selected leg's, as a number at the tip of its arrow."""
        for k, unit in enumerate(self.robot.actuator_units):
            node, place = self._moving.get(f"value {k}"), None
            if drawn is not None and not self.ghost:
                own = (drawn.actuator == k) & (wanted | (drawn.leg == (-1 if self.selected is None else self.selected)))
                place = drawn.points[own][0, 1] if own.any() else None
            if place is None:
                if node is not None:
                    node.visible = False
                continue
            text = f"{number(float(force[k]), 4)} {'N' if unit == 'm' else 'N m'}"
            if node is None:
                self._moving[f"value {k}"] = self.scene.add_label(
                    f"{self.name}/values/{k}", text, position=tuple(place), anchor="center-center", font_screen_scale=0.8
                )
                continue
            node.text, node.position, node.visible = text, place, True

    def _frames(self, state: fp.State, now: Drawing, wanted: bool) -> None:
        node = self._moving.get("frames")
        if not wanted:
            if node is not None:
                node.visible = False
            return
        own = [f for frames in now.frames for f in frames]
        R = np.array([np.eye(3), state.rotation, *[f.rotation for f in own]])
        p = np.array([np.zeros(3), state.position, *[f.origin for f in own]])
        if node is None:
            scale = np.array([1.6, 1.6, *([1.0] * len(own))])
            self._moving["frames"] = self.scene.add_batched_axes(
                f"{self.name}/frames", wxyz(R), p, scale, axes_length=0.06 * self.size, axes_radius=0.0022 * self.size
            )
            return
        node.batched_wxyzs, node.batched_positions, node.visible = wxyz(R), p, True

    def _labels(self, now: Drawing, wanted: bool) -> None:
        if self._parts is None:
            self._parts = name_parts(now, self.eye, self.size)
        for k, leg in enumerate(self.robot.legs):
            place = name_place(now, k, float(self._parts[k]))
            node = self._moving.get(f"label {k}")
            if node is None:
                if not wanted:
                    continue
                self._moving[f"label {k}"] = self.scene.add_label(
                    f"{self.name}/labels/{k}", leg.name, position=tuple(place), anchor="center-center", font_screen_scale=0.9
                )
                continue
            node.position, node.visible = place, wanted
