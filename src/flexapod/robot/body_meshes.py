"""Shapes of bodies from files (STL, OBJ, GLB), as `mesh:` of a body names them, for pictures alone.

A file that is not there or cannot be read is no reason not to draw the robot: it is reported, and the body is drawn without it.
"""

from __future__ import annotations

import io
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from flexapod.arrays import Array
from flexapod.description.check_body import MESHES
from flexapod.description.check_flexible import path_beside
from flexapod.description.mirror import PLANES
from flexapod.description.read import problem_at
from flexapod.description.rotations import rotation_matrix
from flexapod.errors import FileError, FlexapodWarning
from flexapod.files import read_whole

if TYPE_CHECKING:
    from flexapod.description.schema import Mesh
    from flexapod.robot.robot import Robot


LARGEST = 100_000_000
"""Bytes above which a file is not read."""


@dataclass(frozen=True, kw_only=True, eq=False)
class BodyMesh:
    """The shape of one body: vertices (k, 3) [m] in axes of its link and triangles (m, 3).

    Args:
        leg, link: indices; both -1 for the platform.
    """

    leg: int
    link: int
    vertices: Array
    faces: NDArray[np.int64]


def body_meshes(robot: Robot) -> tuple[BodyMesh, ...]:
    """Shapes of all bodies that have a file.

    Checked by: tests/views/test_body_meshes.py.
    """
    return tuple(mesh for mesh in _read_all(robot) if mesh is not None)


def _read_all(robot: Robot) -> list[BodyMesh | None]:
    description = robot.description
    found = [_read(robot, description.file.platform.mesh, ("platform",), np.eye(3), -1, -1)]
    for k, leg in enumerate(robot.legs):
        bodies = description.legs[leg.name].bodies
        for j, link in enumerate(leg.links):
            if link.body is not None and link.body.name in bodies:
                path = ("legs", "each", leg.name, link.body.name)
                found.append(_read(robot, bodies[link.body.name].mesh, path, link.body.body_axes, k, j))
    return found


def _read(robot: Robot, spec: Mesh | None, path: tuple[str, ...], axes: Array, leg: int, link: int) -> BodyMesh | None:
    """The shape that a file's words describe, in axes of the link."""
    if spec is None:
        return None
    try:
        vertices, faces = _surface(robot, spec)
    except FileError as error:
        problem = problem_at(robot.description, (*path, "mesh", "file"), str(error).rstrip("."), "It is drawn without its mesh.")
        warnings.warn(str(problem), FlexapodWarning, stacklevel=5)
        return None
    if spec.mirrored is not None:
        vertices, faces = vertices * np.array(PLANES[spec.mirrored]), faces[:, ::-1]
    own = np.array(spec.position) + (spec.unit * vertices) @ np.array(rotation_matrix(spec.rotation)).T
    return BodyMesh(leg=leg, link=link, vertices=own @ axes.T, faces=faces)


def _surface(robot: Robot, spec: Mesh) -> tuple[Array, NDArray[np.int64]]:
    """Vertices and triangles of a file, in its own unit."""
    import trimesh

    path = robot.description.path
    beside = path_beside(path, spec.file, MESHES) if path is not None else None
    if beside is None:
        raise FileError(f"{spec.file}: a mesh needs a robot file beside it")
    # read by itself: materials and other files that it names are not opened
    content, kind = read_whole(beside, LARGEST), beside.suffix.lower()[1:]
    try:
        whole: Any = trimesh.load(
            io.BytesIO(content), file_type=kind, force="mesh", process=False, skip_materials=True, resolver={}
        )
        vertices, faces = np.asarray(whole.vertices, dtype=np.float64), np.asarray(whole.faces, dtype=np.int64)
    except Exception as error:  # trimesh passes on the errors of its parsers
        raise FileError(f"{spec.file}: is not a readable {kind.upper()} file ({type(error).__name__})") from error
    if not len(faces) or not np.all(np.isfinite(vertices)):
        raise FileError(f"{spec.file}: has no triangles, or vertices that are not finite")
    return vertices, faces
