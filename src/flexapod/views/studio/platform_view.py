"""The platform in the scene: a plate, or a surface that deforms, coloured in bands by its displacement, with its outline at rest.

A page takes one colour per mesh, so the surface is cut along lines of equal displacement into one mesh per band; each triangle is
cut into four first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

import flexapod as fp
from flexapod.arrays import Array
from flexapod.views.scene.frames import wxyz
from flexapod.views.scene.meshes import plate
from flexapod.views.scene.shapes import has_shape, platform_surface

if TYPE_CHECKING:
    import viser

Faces = NDArray[np.int64]

BANDS = (
    (68, 1, 84), (72, 36, 117), (65, 68, 135), (53, 95, 141), (42, 120, 142), (33, 145, 140), (34, 168, 132), (68, 191, 112),
    (122, 209, 81), (189, 223, 38),
)  # fmt: skip
"""Colours of displacement from none to the largest (viridis): their lightness grows, so that they differ for everybody."""
OUTLINE = (120, 126, 134)
THICK = 0.016
"""Thickness of a rigid platform as drawn, of the extent."""


class PlatformView:
    """Nodes of one platform.

    Args:
        name: of the robot's node.
        size: extent of the robot [m].
    """

    def __init__(self, scene: viser.SceneApi, name: str, robot: fp.Robot, size: float, opacity: float) -> None:
        self.scene, self.name, self.robot, self.size, self.opacity = scene, name, robot, size, opacity
        self.points, self.shapes, triangles = platform_surface(robot)
        self.triangles = triangles
        self._nodes: dict[Any, Any] = {}
        if self.shapes is not None and triangles is not None:
            self.edges = border(triangles)
            self.points, self.shapes, self.triangles = finer_surface(self.points, self.shapes, oriented(self.points, triangles))

    def draw(self, state: fp.State, elastic: Array, shade: tuple[int, int, int], factor: float, largest: float) -> None:
        """Draw at a pose.

        Args:
            elastic: coordinates as drawn, which are `factor` times the true ones.
            largest: displacement [m] of the last band; 0 draws the surface in one shade.
        """
        if self.triangles is None or has_shape(self.robot):
            return
        if self.shapes is None:
            if "plate" not in self._nodes:
                vertices, faces = plate(self.points, THICK * self.size)
                self._nodes["plate"] = self.scene.add_mesh_simple(
                    f"{self.name}/platform", vertices, faces, color=shade, opacity=self.opacity, flat_shading=True, side="double"
                )
            node = self._nodes["plate"]
            node.wxyz, node.position, node.color = wxyz(state.rotation), state.position, shade
            return
        modes = elastic[: self.shapes.shape[2]] if len(elastic) else np.zeros(self.shapes.shape[2])
        moved = np.einsum("kij,j->ki", self.shapes, modes)
        bent = state.position + (self.points + moved) @ state.rotation.T
        corners, triangles, band = contoured(bent, np.linalg.norm(moved, axis=1) / factor, self.triangles, largest)
        for k, paint in enumerate(BANDS):
            self._band(k, corners, triangles[band == k], shade if largest <= 0.0 else paint)
        lines = (state.position + self.points @ state.rotation.T)[self.edges]
        if "outline" in self._nodes:
            self._nodes["outline"].points = lines
        else:
            self._nodes["outline"] = self.scene.add_line_segments(
                f"{self.name}/outline", lines, OUTLINE, thickness=1.5, thickness_units="screen"
            )

    def _band(self, k: int, vertices: Array, faces: Faces, shade: tuple[int, int, int]) -> None:
        node = self._nodes.get(k)
        if not len(faces):
            if node is not None:
                node.visible = False
            return
        used, own = np.unique(faces, return_inverse=True)
        corners, triangles = vertices[used], own.reshape(faces.shape)
        if node is not None:
            node.remove()  # another number of triangles: viser's page keeps buffers of the old length
        self._nodes[k] = self.scene.add_mesh_simple(
            f"{self.name}/platform/{k}", corners, triangles, color=shade, opacity=self.opacity, side="double"
        )


def contoured(points: Array, displacement: Array, triangles: Faces, largest: float) -> tuple[Array, Faces, NDArray[np.int64]]:
    """A surface cut along the lines between bands: points, triangles, and the band of each triangle.

    Checked by: tests/studio/test_studio_deformation.py.
    """
    values = np.column_stack([points, displacement])
    for k in range(1, len(BANDS) if largest > 0.0 else 1):
        values, triangles = cut_along(values, triangles, largest * k / len(BANDS))
    return values[:, :3], triangles, bands(values[:, 3], triangles, largest)


def cut_along(values: Array, triangles: Faces, level: float) -> tuple[Array, Faces]:
    """Triangles that a level of the last column of values (n, m) crosses, cut there: one corner off, the rest in two.

    Values are interpolated along the edges; triangles that share an edge share the new point on it.
    """
    above = values[:, -1] > level
    count = above[triangles].sum(axis=1)
    crossed = (count == 1) | (count == 2)
    if not crossed.any():
        return values, triangles
    cut = triangles[crossed]
    lone = np.argmax(above[cut] == (count[crossed] == 1)[:, None], axis=1)
    a, b, c = (np.take_along_axis(cut, ((lone + k) % 3)[:, None], axis=1)[:, 0] for k in range(3))
    sides = np.sort(np.vstack([np.column_stack([a, b]), np.column_stack([a, c])]), axis=1)
    edges, where = np.unique(sides, axis=0, return_inverse=True)
    first, second = values[edges[:, 0]], values[edges[:, 1]]
    part = ((level - first[:, -1]) / (second[:, -1] - first[:, -1]))[:, None]
    ab, ac = len(values) + where.reshape(2, -1)
    new = [np.column_stack(t) for t in ((a, ab, ac), (ab, b, c), (ab, c, ac))]
    return np.vstack([values, first + part * (second - first)]), np.vstack([triangles[~crossed], *new])


def bands(displacement: Array, triangles: Faces, largest: float) -> NDArray[np.int64]:
    """The band of each triangle by the mean displacement of its corners; all 0 where `largest` is 0.

    Checked by: tests/studio/test_studio_deformation.py.
    """
    if largest <= 0.0:
        return np.zeros(len(triangles), dtype=np.int64)
    mean = displacement[triangles].mean(axis=1) / largest
    return np.asarray(np.minimum((len(BANDS) * np.clip(mean, 0.0, 1.0)).astype(np.int64), len(BANDS) - 1))


def oriented(points: Array, triangles: Faces) -> Faces:
    """Triangles whose normals all point to the same side of the plane that fits the points: light then falls evenly on them."""
    normal = np.linalg.svd(points - points.mean(axis=0), full_matrices=False)[2][2]
    a, b, c = (points[triangles[:, k]] for k in range(3))
    down = np.cross(b - a, c - a) @ normal < 0.0
    return np.where(down[:, None], triangles[:, ::-1], triangles)


def border(triangles: Faces) -> NDArray[np.int64]:
    """Edges (m, 2) of one triangle only: the surface's outline."""
    edges = np.sort(np.vstack([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]]), axis=1)
    own, count = np.unique(edges, axis=0, return_counts=True)
    return np.asarray(own[count == 1])


def finer_surface(points: Array, shapes: Array, triangles: Faces) -> tuple[Array, Array, Faces]:
    """Triangles cut into four at the middles of their edges, where shapes (k, 3, N) are averaged; old points keep their index."""
    edges = np.sort(np.vstack([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]]), axis=1)
    own, where = np.unique(edges, axis=0, return_inverse=True)
    middle = len(points) + where.reshape(3, -1).T
    a, b, c = triangles.T
    ab, bc, ca = middle.T
    cut = np.vstack([np.column_stack(t) for t in ((a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca))])
    return (
        np.vstack([points, points[own].mean(axis=1)]),
        np.concatenate([shapes, shapes[own].mean(axis=1)]),
        cut,
    )


def legend_html(largest: float, factor: float) -> str:
    """The colours of displacement with their ends [mm], and the factor of the drawing; shown in the view by page.js."""
    from flexapod.views.output import number

    steps = ",".join(f"rgb{paint} {100 * k / len(BANDS):.0f}% {100 * (k + 1) / len(BANDS):.0f}%" for k, paint in enumerate(BANDS))
    return (
        f"<div id='legend-source' hidden>displacement, drawn x {number(factor, 3)}"
        f"<div style='height:10px;border-radius:3px;background:linear-gradient(90deg,{steps})'></div>"
        f"<div style='display:flex;justify-content:space-between'><span>0</span><span>{number(1e3 * largest, 3)} mm</span></div>"
        "grey lines: without deformation</div>"
    )
