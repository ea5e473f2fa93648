"""Surfaces as files: binary STL, PLY and tables of vertices."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from flexapod.arrays import Array
from flexapod.errors import InputError


def write_mesh(path: Path, vertices: Array, faces: NDArray[np.int64], axes: tuple[str, ...], title: str) -> Path:
    """Write a surface; the suffix decides: ``.stl``, ``.ply`` or ``.csv``. Checked by: tests/analysis/test_workspace_solid.py."""
    writers = {".stl": _stl, ".ply": _ply, ".csv": _csv}
    if path.suffix.lower() not in writers:
        raise InputError(f"{path.name}: a surface is written as .stl, .ply or .csv")
    if not path.parent.is_dir():
        raise InputError(f"{path}: the folder {path.parent} does not exist")
    writers[path.suffix.lower()](path, vertices, faces, axes, title)
    return path


def _stl(path: Path, vertices: Array, faces: NDArray[np.int64], axes: tuple[str, ...], title: str) -> None:
    """Binary STL: 80 bytes of header, the number of triangles, then normal and corners of each in single precision."""
    corners = vertices[faces].astype("<f4")
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normal /= np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-30)
    record = np.zeros(len(faces), dtype=[("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("extra", "<u2")])
    record["normal"], record["corners"] = normal, corners
    with path.open("wb") as file:
        file.write(f"flexapod: {title}".encode("ascii", "replace")[:80].ljust(80))
        file.write(np.uint32(len(faces)).astype("<u4").tobytes())
        file.write(record.tobytes())


def _ply(path: Path, vertices: Array, faces: NDArray[np.int64], axes: tuple[str, ...], title: str) -> None:
    head = ["ply", "format ascii 1.0", f"comment flexapod: {title}", f"comment axes {' '.join(axes)}"]
    head += [f"element vertex {len(vertices)}", *(f"property double {k}" for k in "xyz")]
    head += [f"element face {len(faces)}", "property list uchar int vertex_indices", "end_header"]
    rows = [" ".join(f"{x:.17g}" for x in row) for row in vertices] + [f"3 {a} {b} {c}" for a, b, c in faces]
    path.write_text("\n".join([*head, *rows, ""]), encoding="ascii")


def _csv(path: Path, vertices: Array, faces: NDArray[np.int64], axes: tuple[str, ...], title: str) -> None:
    rows = [",".join(f"{x:.17g}" for x in row) for row in vertices]
    path.write_text("\n".join([",".join(axes), *rows, ""]), encoding="ascii")
