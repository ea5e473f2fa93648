"""Flexible bodies on disk: meshes and modes are computed once per content.

One npz file per body, named by the hash of everything it depends on (arguments, the source of this folder, library
versions), with a digest of its arrays inside. Files appear whole by an atomic rename; a damaged or foreign file is
rebuilt; a folder that cannot be written, or that others can write, means no cache, never an error.
"""

from __future__ import annotations

import functools
import hashlib
import io
import json
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from flexapod.errors import FlexapodError
from flexapod.flexible.body import FlexibleBody, Interface
from flexapod.flexible.checked_arrays import Floats, Integers
from flexapod.flexible.shape_integrals import Nodes
from flexapod.private_files import cache_folder, read_private, write_private

SUFFIX = ".flexible.npz"
CONSTANTS = ("MS_r", "MS_de", "beta", "lambda_", "I_rr", "I_re", "I_ee", "M_ee", "K_ee", "D_ee")
STIFFENING = ("T_ee", "stretch")
NODES = ("r0", "mass", "Phi_d", "Phi_r", "spread", "triangles")
SHAPES = ("Phi_d", "Phi_r")
Arrays = dict[str, "np.ndarray[Any, Any]"]


def cached_body(kind: str, arguments: Mapping[str, object], make: Callable[[], FlexibleBody]) -> FlexibleBody:
    """The body from disk, or made and stored.

    Args:
        kind: name of the source, part of the key.
        arguments: everything the body depends on, as numbers, strings, None and lists of these.
        make: called if the file is not there or damaged.

    Checked by: tests/flexible/test_flexible_cache.py.
    """
    name = _key(kind, arguments) + SUFFIX
    found = _read(name)
    if found is not None:
        return found
    body = make()
    _write(name, body)
    return body


def _key(kind: str, arguments: Mapping[str, object]) -> str:
    text = json.dumps([kind, _fingerprint(), dict(arguments)], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


@functools.cache
def _fingerprint() -> str:
    """Hash of the source of this folder and the versions of the libraries that make the numbers."""
    from importlib.metadata import version

    digest = hashlib.sha256()
    for path in sorted(Path(__file__).resolve().parent.glob("*.py")):
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    for library in ("numpy", "scipy", "scikit-fem"):
        digest.update(f"{library} {version(library)}\0".encode())
    return digest.hexdigest()


def pack(body: FlexibleBody) -> Arrays:
    """A body as plain arrays. Checked by: tests/flexible/test_flexible_cache.py::test_a_body_survives_packing."""
    arrays: Arrays = {name: getattr(body, name) for name in CONSTANTS}
    arrays["body_mass"] = np.array(body.mass)
    arrays["names"] = np.array(body.names, dtype=np.str_)
    arrays["interface_names"] = np.array(list(body.interfaces), dtype=np.str_)
    for number, point in enumerate(body.interfaces.values()):
        arrays |= {f"interface{number}_r0": point.r0, f"interface{number}_Phi_d": point.Phi_d}
        if point.Phi_r is not None:
            arrays[f"interface{number}_Phi_r"] = point.Phi_r
        if point.Q is not None:
            arrays[f"interface{number}_Q"] = point.Q
        if point.Q_r is not None:
            arrays[f"interface{number}_Q_r"] = point.Q_r
    arrays |= {name: getattr(body, name) for name in STIFFENING if getattr(body, name) is not None}
    if body.nodes is not None:
        parts = {name: getattr(body.nodes, name) for name in NODES}
        arrays |= {f"nodes_{name}": value for name, value in parts.items() if value is not None}
        arrays |= {f"nodes_{name}": value for kind in SHAPES for name, value in _moving_axes(kind, parts[kind]).items()}
    return arrays


def _moving_axes(kind: str, shapes: Floats | None) -> Arrays:
    """Shapes (n, 3, N) with only the axes that some node moves along: a plate has half of them, and its file half the size."""
    if shapes is None:
        return {}
    axes = np.flatnonzero([shapes[:, a].any() for a in range(3)])
    return {kind: shapes if len(axes) == 3 else shapes[:, axes], f"{kind}_axes": axes}


def _all_axes(shapes: Floats, axes: Integers) -> Floats:
    """The inverse of `_moving_axes`."""
    if len(axes) == 3:
        return shapes
    whole = np.zeros((len(shapes), 3, shapes.shape[2]))
    whole[:, axes] = shapes
    whole.setflags(write=False)
    return whole


def unpack(arrays: Arrays) -> FlexibleBody:
    """A body from the arrays of `pack`."""
    points = {
        str(name): Interface(
            r0=arrays[f"interface{k}_r0"],
            Phi_d=arrays[f"interface{k}_Phi_d"],
            Phi_r=arrays.get(f"interface{k}_Phi_r"),
            Q=arrays.get(f"interface{k}_Q"),
            Q_r=arrays.get(f"interface{k}_Q_r"),
        )
        for k, name in enumerate(arrays["interface_names"])
    }
    nodes = {name: arrays[f"nodes_{name}"] for name in NODES if f"nodes_{name}" in arrays}
    nodes |= {kind: _all_axes(nodes[kind], arrays[f"nodes_{kind}_axes"]) for kind in SHAPES if kind in nodes}
    return FlexibleBody(
        mass=float(arrays["body_mass"]),
        interfaces=points,
        names=tuple(str(name) for name in arrays["names"]),
        nodes=Nodes(**nodes) if nodes else None,
        T_ee=arrays.get("T_ee"),
        stretch=arrays.get("stretch"),
        **{name: arrays[name] for name in CONSTANTS},
    )


def _digest(arrays: Mapping[str, ArrayLike]) -> str:
    digest = hashlib.sha256()
    for name in sorted(arrays):
        value = np.ascontiguousarray(arrays[name])
        digest.update(f"{name} {value.dtype.str} {value.shape}\0".encode())
        digest.update(value.reshape(-1).view(np.uint8).data)
    return digest.hexdigest()


def _read(name: str) -> FlexibleBody | None:
    data = read_private(cache_folder(), name)
    if data is None:
        return None
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        if str(arrays.pop("digest")) != _digest(arrays):
            return None
        return unpack(arrays)
    except (OSError, ValueError, LookupError, TypeError, EOFError, zipfile.BadZipFile, FlexapodError):
        return None


def _write(name: str, body: FlexibleBody) -> None:
    arrays = pack(body)
    data = io.BytesIO()
    np.savez(data, digest=np.array(_digest(arrays)), **arrays)  # type: ignore[arg-type]  # NumPy 1.26 has no allow_pickle
    write_private(cache_folder(), name, data.getbuffer())
