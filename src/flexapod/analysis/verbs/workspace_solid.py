r"""`workspace_solid`: the workspace of a robot as a solid with a surface: constant orientation, orientation, reachable, ...

Kinds, p positions and R orientations of the platform that keep all demands:

.. math:: \text{constant-orientation}: \{p : (p, R_0)\},\quad \text{reachable}: \{p : \exists R\in O\},\quad
          \text{total-orientation}: \{p : \forall R\in O\},\quad \text{orientation}: \{R : (p_0, R)\}

with O the orientations of tilt up to a limit about any azimuth and torsion up to another one; the dexterous workspace is the
total-orientation one for all orientations. Orientations are drawn as (tilt cos azimuth, tilt sin azimuth, torsion).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexapod.analysis.requests.abilities import refuse
from flexapod.analysis.requests.arguments import checked
from flexapod.analysis.requests.properties import PROPERTIES
from flexapod.analysis.space.mesh_file import write_mesh
from flexapod.analysis.space.pose_tests import Demands, PoseTests
from flexapod.analysis.space.search_box import search_box
from flexapod.analysis.space.tetrahedra import SurfaceMesh, surface
from flexapod.arrays import Array
from flexapod.errors import InputError
from flexapod.motions.argument_checks import finite_array, positive, rotations
from flexapod.motions.rotations import euler_rotation

if TYPE_CHECKING:
    from flexapod.motions.motion import Motion
    from flexapod.robot.robot import Robot

Inside = Callable[[Array], NDArray[np.bool_]]

KINDS = ("constant-orientation", "orientation", "reachable", "total-orientation", "dexterous")
BLOCK = 16_384
FIRST = 32
"""Cells of the first grid where no region is given; a part of the workspace that lies apart and is thinner may be missed."""

DOUBLED = 2
"""Times that a region that was not given is doubled at most where the workspace reaches its border."""


@dataclass(frozen=True, kw_only=True)
class WorkspaceSolid:
    """A workspace with its surface.

    Args:
        kind: one of the kinds; axes: names and units of the coordinates.
        vertices: (n, 3) points of the surface [m or rad], faces: (m, 3) its triangles, counterclockwise from outside.
        area, volume: of the surface; their errors are the differences to a grid half as fine, which errors of first order reach.
        inside: the test that made it, for points (n, 3).
        poses: how many were examined.
    """

    robot: str
    kind: str
    axes: tuple[str, str, str]
    vertices: Array
    faces: NDArray[np.int64]
    area: float
    area_error: float
    volume: float
    volume_error: float
    low: Array
    high: Array
    inside: Inside
    poses: int

    def save(self, path: str | Path) -> Path:
        """Write the surface as ``.stl`` (binary) or ``.ply``, or its vertices as ``.csv``."""
        return write_mesh(Path(path), self.vertices, self.faces, self.axes, f"{self.kind} workspace of {self.robot}")

    def ball(self) -> tuple[Array, float]:
        """Centre and radius of the largest ball inside the surface. Checked by: tests/analysis/test_workspace_solid.py."""
        from flexapod.analysis.space.inscribed import largest_ball

        return largest_ball(self.vertices, self.faces, self.inside, self.low, self.high)

    def box(self, aspect: ArrayLike = (1.0, 1.0, 1.0)) -> tuple[Array, Array]:
        """Corners of the largest box of given aspect, with sides along the axes, whose samples are all inside."""
        from flexapod.analysis.space.inscribed import largest_box

        return largest_box(self.inside, self.low, self.high, finite_array("aspect", aspect, (3,)))


@checked
def workspace_solid(
    robot: Robot,
    kind: str = "constant-orientation",
    *,
    resolution: int = 40,
    region: Mapping[str, ArrayLike] | None = None,
    orientation: ArrayLike | Mapping[str, ArrayLike] | None = None,
    position: ArrayLike | None = None,
    tilt: float = 0.0,
    torsion: float = 0.0,
    orientations: tuple[int, int, int] | None = None,
    limits: bool = True,
    singularities: bool = True,
    condition: float | None = None,
    clearance: float | None = None,
    force: float | None = None,
    wrench: ArrayLike | None = None,
    along: Motion | None = None,
    stiffness: float | None = None,
    frequency: float | None = None,
    mounting: float | None = None,
    mounting_axes: ArrayLike | None = None,
) -> WorkspaceSolid:
    """The workspace as a solid.

    Args:
        kind: "constant-orientation" (positions at `orientation`), "orientation" (orientations at `position`), "reachable"
            (positions with some orientation of the range), "total-orientation" (with every one), "dexterous" (with all
            orientations).
        resolution: cells of the grid along its longest side.
        region: axis -> (smallest, largest); left out: what the legs can reach, or two characteristic lengths about home, which
            are doubled up to twice where the workspace reaches their border.
        tilt, torsion: the range of orientations [rad], about `orientation`.
        orientations: samples of tilt, azimuth and torsion in that range, (3, 12, 3) if left out; those between them are not
            checked.
        orientation: (3, 3), that of home if left out; position: (3,) [m] of kind "orientation", that of home if left out.
        limits, singularities, condition, clearance, force, wrench, along, stiffness, frequency, mounting, mounting_axes: what
            poses must keep; see `flexapod.analysis.space.pose_tests.Demands`.
    Returns:
        `WorkspaceSolid`: volume [m^3 or rad^3] and area with their errors, and the surface; `save` writes it as STL or PLY.
    Raises:
        InputError: no pose of the grid is inside, the workspace reaches the border of the region, or x, y and z of the platform
            are not independent (planar robots, 3-RPS).

    Checked by: tests/analysis/test_workspace_solid.py.
    """
    refuse(
        robot, "workspace_solid", kind=kind, position=position, clearance=clearance, force=force, wrench=wrench, along=along,
        stiffness=stiffness, frequency=frequency, mounting=mounting, mounting_axes=mounting_axes,
    )  # fmt: skip
    if kind not in KINDS:
        raise InputError(f"kind: expected one of {', '.join(KINDS)}, got {kind!r}")
    if orientations is not None and kind in ("constant-orientation", "orientation"):
        raise InputError(f"orientations: samples a range of orientations, and the kind {kind} has none; leave it out")
    if isinstance(resolution, bool) or int(resolution) != resolution or resolution < 8:
        raise InputError(f"resolution: expected a whole number of at least 8, got {resolution!r}")
    if resolution > FINEST:
        raise InputError(f"resolution: {resolution} cells along a side are more than {FINEST}: the grid would take several GB")
    if kind != "orientation":
        _refuse_dependent(robot)
    demands = Demands(
        limits=limits, singularities=singularities, condition=condition, clearance=clearance, force=force, wrench=wrench,
        along=along, stiffness=stiffness, frequency=frequency, mounting=mounting, mounting_axes=mounting_axes,
    )  # fmt: skip
    tests = PoseTests(robot, demands)
    R = robot.home.rotation if orientation is None else rotations("orientation", orientation, (3, 3))
    p = robot.home.position if position is None else finite_array("position", position, (3,))
    names, inside = ("tilt_x", "tilt_y", "torsion"), partial(_rotated, tests=tests, p=p, R=R)
    if kind != "orientation":
        chosen = _orientations(kind, R, tilt, torsion, _counts(orientations))
        names, inside = ("x", "y", "z"), partial(_placed, tests=tests, kind=kind, chosen=chosen)
    low, high = _region(robot, kind, names, region, R)
    counted = _Counted(inside)
    for larger in range(DOUBLED + 1):
        outer = low, high
        if region is None:
            low, high = _narrowed(counted, low, high)
        fine = _surface(counted, low, high, int(resolution))
        if _touches(fine, low, high) and region is None:  # the first grid missed a thin part
            low, high = outer
            fine = _surface(counted, low, high, int(resolution))
        if region is not None or kind == "orientation" or larger == DOUBLED or not _touches(fine, low, high):
            break
        low, high = 1.5 * low - 0.5 * high, 1.5 * high - 0.5 * low
    coarse = _surface(counted, low, high, max(int(resolution) // 2, 4))
    _refuse(robot, kind, fine, low, high, names)
    return WorkspaceSolid(
        robot=robot.name, kind=kind, axes=names, vertices=fine.vertices, faces=fine.faces, area=fine.area,
        area_error=abs(fine.area - coarse.area), volume=fine.volume, volume_error=abs(fine.volume - coarse.volume),
        low=low, high=high, inside=inside, poses=counted.poses,
    )  # fmt: skip


class _Counted:
    """A test in blocks of bounded memory, which counts the points tested."""

    def __init__(self, inside: Inside) -> None:
        self._inside, self.poses = inside, 0

    def __call__(self, points: Array) -> NDArray[np.bool_]:
        self.poses += len(points)
        parts = [self._inside(points[k : k + BLOCK]) for k in range(0, len(points), BLOCK)]
        return np.concatenate(parts) if parts else np.zeros(0, dtype=bool)


FINEST = 500
"""Cells along the longest side at most: 1.25e8 points of 24 bytes."""

ORIENTATIONS = (3, 12, 3)
"""Samples of tilt, azimuth and torsion where none are given."""


def _counts(given: object) -> tuple[int, int, int]:
    """Samples of tilt, azimuth and torsion."""
    if given is None:
        return ORIENTATIONS
    if not (
        isinstance(given, list | tuple) and len(given) == 3 and all(isinstance(n, int | np.integer) and n >= 1 for n in given)
    ):
        raise InputError(f"orientations: expected three whole numbers above 0 (tilt, azimuth, torsion), got {given!r}")
    return int(given[0]), int(given[1]), int(given[2])


def _rotated(points: Array, *, tests: PoseTests, p: Array, R: Array) -> NDArray[np.bool_]:
    """Whether orientations (n, 3), tilts about x and y and torsion [rad], keep the demands at p."""
    size = np.hypot(points[:, 0], points[:, 1])
    azimuth = np.arctan2(points[:, 1], points[:, 0])
    rotation = euler_rotation("ZYZ", np.column_stack([azimuth, size, points[:, 2] - azimuth]))
    return tests(np.tile(p, (len(points), 1)), rotation @ R) & (size <= np.pi)


def _placed(points: Array, *, tests: PoseTests, kind: str, chosen: Array) -> NDArray[np.bool_]:
    """Whether positions (n, 3) keep the demands with one of the chosen orientations (reachable), or with all."""
    found = np.full(len(points), kind != "reachable")
    for own in chosen:
        open_ = np.flatnonzero(~found if kind == "reachable" else found)
        if len(open_) == 0:
            break
        found[open_] = tests(points[open_], np.broadcast_to(own, (len(open_), 3, 3)))
    return found


def _orientations(kind: str, R: Array, tilt: float, torsion: float, counts: tuple[int, int, int]) -> Array:
    """Orientations of the range: from the middle out, so that most points are decided early."""
    if kind == "constant-orientation":
        if tilt or torsion:
            raise InputError("tilt, torsion: a constant orientation has no range; choose the kind reachable or total-orientation")
        return R[None]
    if kind == "dexterous":
        tilt, torsion = np.pi, np.pi
    if not (tilt or torsion):
        raise InputError(f"tilt, torsion: the kind {kind} needs a range of orientations, for example tilt=0.3")
    tilts = [0.0] if not tilt else np.linspace(0.0, positive("tilt", tilt), max(2, int(counts[0])))
    odd = max(3, int(counts[2]) | 1)  # with the middle
    torsions = [0.0] if not torsion else np.linspace(-positive("torsion", torsion), torsion, odd)
    angles = [(0.0, 0.0, c) for c in torsions]
    for t in tilts[1:]:
        angles += [(az, t, c - az) for az in np.arange(int(counts[1])) * 2 * np.pi / int(counts[1]) for c in torsions]
    return np.asarray(euler_rotation("ZYZ", np.array(angles, dtype=float)) @ R)


def _region(
    robot: Robot, kind: str, names: tuple[str, str, str], region: Mapping[str, ArrayLike] | None, R: Array
) -> tuple[Array, Array]:
    if kind == "orientation":
        known = dict.fromkeys(names, (-np.pi, np.pi))
    elif PROPERTIES["legs without bounds"](robot):
        size = 2 * robot.characteristic_length
        known = {a: (float(x) - size, float(x) + size) for a, x in zip("xyz", robot.home.position, strict=True)}
    else:
        known = search_box(robot, R if kind == "constant-orientation" else False)
    for name in region or {}:
        if name not in names:
            raise InputError(f"region: no axis {name!r}; there are {', '.join(names)}")
    for name, value in (region or {}).items():
        if np.ndim(value) == 0:
            raise InputError(
                f"region: {name} is one number; a solid needs (smallest, largest), pave (flexapod certify) takes slices"
            )
    spans = np.array([finite_array(f"region: {n}", (region or {}).get(n, known[n]), (2,)) for n in names])
    if np.any(spans[:, 0] >= spans[:, 1]):
        raise InputError("region: the first number of an axis must be the smaller one")
    return spans[:, 0], spans[:, 1]


def _surface(inside: Inside, low: Array, high: Array, resolution: int) -> SurfaceMesh:
    """Surface on a grid with a margin of one cell, where nothing is inside."""
    h = (high - low).max() / resolution
    counts = np.maximum(np.ceil((high - low) / h).astype(int), 4)
    axes = tuple(np.linspace(a, b, n + 1) for a, b, n in zip(low, high, counts, strict=True))
    grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)
    values = np.pad(inside(grid.reshape(-1, 3)).reshape(grid.shape[:3]), 1)
    wide = tuple(np.concatenate([[a[0] - (a[1] - a[0])], a, [a[-1] + (a[1] - a[0])]]) for a in axes)

    def bounded(points: Array) -> NDArray[np.bool_]:
        found = np.all((points >= low) & (points <= high), axis=1)
        found[found] = inside(points[found])
        return np.asarray(found)

    return surface(values, (wide[0], wide[1], wide[2]), bounded)


def _narrowed(inside: Inside, low: Array, high: Array) -> tuple[Array, Array]:
    """The part of a region about what a first grid finds; all of it where that finds nothing."""
    mesh = _surface(inside, low, high, FIRST)
    if len(mesh.vertices) == 0:
        return low, high
    cell = (high - low).max() / FIRST
    return np.maximum(low, mesh.vertices.min(axis=0) - 2 * cell), np.minimum(high, mesh.vertices.max(axis=0) + 2 * cell)


def _touches(mesh: SurfaceMesh, low: Array, high: Array) -> bool:
    """The surface reaches the border of a region."""
    return bool(np.any(mesh.vertices < low + 1e-9) or np.any(mesh.vertices > high - 1e-9))


def _refuse_dependent(robot: Robot) -> None:
    """Positions are a solid only where all three of their components are independent."""
    held = [axis for k, axis in enumerate("xyz") if k not in robot.plan.platform_independent]
    if held:
        raise InputError(
            f"{robot.name}: its platform cannot control {' and '.join(held)}, so that its positions are not a solid; pave "
            "(flexapod certify) measures the axes that it can control, and the kind orientation its rotations"
        )


def _refuse(robot: Robot, kind: str, mesh: SurfaceMesh, low: Array, high: Array, names: tuple[str, str, str]) -> None:
    there = ", ".join(f"{name} {a:.4g} to {b:.4g}" for name, a, b in zip(names, low, high, strict=True))
    if len(mesh.faces) == 0:
        raise InputError(
            f"{robot.name}: no pose of the grid is in the {kind} workspace; a finer resolution or another region may find one "
            f"(looked at: {there})"
        )
    if kind != "orientation" and _touches(mesh, low, high):
        raise InputError(f"{robot.name}: the {kind} workspace reaches the border of the region ({there}); give a larger region")
