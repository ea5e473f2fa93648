"""Modal files: a flexible body from nodes, nodal masses and shapes, as finite element programs give them.

An npz file, SI units, body axes; n nodes, N modes, a interface points:

| key | shape | content |
|---|---|---|
| `r0` | (n, 3) | nodes |
| `mass` | (n,) | nodal masses, not negative |
| `phi_d` | (n, 3, N) | displacement shapes (node, axis, mode) |
| `phi_r` | (n, 3, N) | rotation shapes; optional |
| `spread` | (n, 3, 3) | second moments of each node's mass about the node, per unit mass; optional, needs `phi_r` |
| `omega` | (N,) | angular frequencies [rad/s] |
| `K` | (N,) or (N, N) | modal stiffness; optional, omega^2 times the modal mass otherwise |
| `D` | (N,) or (N, N) | modal damping; optional, none otherwise |
| `attach_idx`, `attach_r`, `attach_phi` | (a,), (a, 3), (a, 3, N) | interface points: node, its position and shapes again |
| `attach_names` | (a,) | their names; optional, 1, 2, ... otherwise |
| `triangles` | (m, 3) | surface for pictures; optional |

Position and shapes of the interface points are given twice on purpose: they show when nodes were put into another order.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from flexapod.flexible.arrays import Floats, floats
from flexapod.flexible.body import FlexibleBody, Interface, body_from_integrals
from flexapod.flexible.cache import write_whole
from flexapod.flexible.errors import FlexibleBodyError
from flexapod.flexible.shape_integrals import Nodes, ShapeIntegrals, shape_integrals

SAME_POINT = 1e-6
"""Interface points agree with their nodes to this part of the body's size: files are often written with seven digits."""

SAME_FREQUENCY = 1e-4
"""omega, K and the masses agree to this: the lumped masses of a file must be those its modes were computed with."""

REQUIRED = ("r0", "mass", "phi_d", "omega")


def from_modes(path: str | Path, *, interfaces: Mapping[str, Sequence[float]] | None = None) -> FlexibleBody:
    """A flexible body from a modal file.

    Args:
        path: the npz file; see the head of this module.
        interfaces: name to position (3,) of a node [m]; by default the interface points of the file.

    Raises:
        FlexibleBodyError: keys missing, wrong shapes, values not finite, negative masses, masses that do not fit the modes,
            nodes in another order than the interface points.

    Source: Long 2014, below Eq. (34). Checked by: tests/flexible/test_modal_file.py.
    """
    data = _read(Path(path))
    try:
        nodes = _nodes(data)
        integrals = shape_integrals(nodes)
        K, D = _stiffness_and_damping(data, integrals)
        points = _attached(data, nodes) if interfaces is None else _chosen(interfaces, nodes)
        return body_from_integrals(integrals, K_ee=K, D_ee=D, interfaces=points, nodes=nodes)
    except FlexibleBodyError as problem:
        raise FlexibleBodyError(f"{path}: {problem}") from None


def save_modes(body: FlexibleBody, path: str | Path) -> None:
    """Write a body's nodes, masses and shapes as a modal file; `from_modes` gives the same body back.

    Interfaces that are not nodes become nodes without mass. Checked by: tests/flexible/test_modal_file.py::test_save_and_load.
    """
    if body.nodes is None:
        raise FlexibleBodyError("The body has no nodes, so it cannot be written as a modal file.")
    old, N = body.nodes, len(body.M_ee)
    points = list(body.interfaces.values())
    rotations = old.Phi_r is not None
    arrays: dict[str, Any] = {
        "r0": np.concatenate([old.r0, *(p.r0[None] for p in points)]),
        "mass": np.concatenate([old.mass, np.zeros(len(points))]),
        "phi_d": np.concatenate([old.Phi_d, *(p.Phi_d[None] for p in points)]),
        "omega": np.sqrt(np.clip(np.diag(body.K_ee) / np.diag(body.M_ee), 0.0, None)),
        "K": body.K_ee,
        "D": body.D_ee,
        "attach_idx": np.arange(len(old.r0), len(old.r0) + len(points)),
        "attach_r": np.array([p.r0 for p in points]).reshape(-1, 3),
        "attach_phi": np.array([p.Phi_d for p in points]).reshape(-1, 3, N),
        "attach_names": np.array(list(body.interfaces), dtype=np.str_),
    }
    if old.Phi_r is not None:
        own = [np.zeros((3, N)) if p.Phi_r is None else p.Phi_r for p in points]
        arrays["phi_r"] = np.concatenate([old.Phi_r, *(r[None] for r in own)])
    if rotations and old.spread is not None:
        arrays["spread"] = np.concatenate([old.spread, np.zeros((len(points), 3, 3))])
    if old.triangles is not None:
        arrays["triangles"] = old.triangles
    stream = io.BytesIO()
    np.savez_compressed(stream, allow_pickle=False, **arrays)
    if not write_whole(Path(path), stream.getvalue()):
        raise FlexibleBodyError(f"{path} cannot be written.")


def _read(path: Path) -> dict[str, Any]:
    try:
        file = np.load(path, allow_pickle=False)
        if isinstance(file, np.ndarray):
            raise FlexibleBodyError(f"{path} must be an npz file with several arrays, is a single array.")
        with file:
            data = {name: file[name] for name in file.files}
    except (OSError, ValueError, EOFError, zipfile.BadZipFile) as problem:
        raise FlexibleBodyError(f"{path} cannot be read as an npz file of plain arrays: {problem}.") from None
    missing = [key for key in REQUIRED if key not in data]
    if missing:
        raise FlexibleBodyError(f"{path}: the modal file has no {', '.join(missing)}; it needs {', '.join(REQUIRED)}.")
    return data


def _nodes(data: Mapping[str, Any]) -> Nodes:
    """The file's nodes; the shapes of the arrays name the file's keys."""
    r0 = floats("r0", data["r0"], (None, 3))
    n = len(r0)
    mass = floats("mass", data["mass"], (n,))
    if mass.min(initial=0.0) < 0.0:
        raise FlexibleBodyError(f"mass must not be negative, but node {int(mass.argmin())} has {mass.min():g} kg.")
    phi_d = floats("phi_d", data["phi_d"], (n, 3, None))
    phi_r = floats("phi_r", data["phi_r"], phi_d.shape) if "phi_r" in data else None
    spread = floats("spread", data["spread"], (n, 3, 3)) if "spread" in data else None
    return Nodes(r0=r0, mass=mass, Phi_d=phi_d, Phi_r=phi_r, spread=spread, triangles=data.get("triangles"))


def _stiffness_and_damping(data: Mapping[str, Any], integrals: ShapeIntegrals) -> tuple[Floats, Floats]:
    """K and D as matrices; K must give the file's frequencies with the nodal masses."""
    N = len(integrals.M_ee)
    omega = floats("omega", data["omega"], (N,))
    if omega.min(initial=0.0) < 0.0:
        raise FlexibleBodyError(f"omega must not be negative, but mode {int(omega.argmin()) + 1} has {omega.min():g} rad/s.")
    modal_mass = np.diag(integrals.M_ee)
    K = _matrix("K", data["K"], N) if "K" in data else np.diag(omega**2 * modal_mass)
    D = _matrix("D", data["D"], N) if "D" in data else np.zeros((N, N))
    found = np.sqrt(np.clip(np.diag(K), 0.0, None) / modal_mass)
    error = np.abs(found - omega)
    if (error > SAME_FREQUENCY * omega.max(initial=0.0)).any():
        k = int(error.argmax())
        raise FlexibleBodyError(
            f"mass, phi_d and K do not fit omega: mode {k + 1} has omega = {omega[k]:.6g} rad/s, but K and the nodal masses give "
            f"{found[k]:.6g} rad/s. Look for masses in another unit or nodes in another order."
        )
    return K, D


def _matrix(name: str, value: Any, N: int) -> Floats:
    """A vector as a diagonal matrix, or a matrix."""
    if np.ndim(value) == 1:
        return np.diag(floats(name, value, (N,)))
    return floats(name, value, (N, N))


def _attached(data: Mapping[str, Any], nodes: Nodes) -> dict[str, Interface]:
    """The interface points of the file, checked against their nodes."""
    if "attach_idx" not in data:
        return {}
    numbers = np.asarray(data["attach_idx"])
    n, N = len(nodes.r0), nodes.Phi_d.shape[2]
    if numbers.ndim != 1 or numbers.dtype.kind not in "iu" or (len(numbers) and not 0 <= numbers.min() <= numbers.max() < n):
        raise FlexibleBodyError(f"attach_idx must be whole numbers of nodes from 0 to {n - 1}.")
    a = len(numbers)
    size = float(np.ptp(nodes.r0, axis=0).max())
    if "attach_r" in data:
        far = np.linalg.norm(floats("attach_r", data["attach_r"], (a, 3)) - nodes.r0[numbers], axis=1)
        _refuse_order("attach_r", far, SAME_POINT * size, numbers)
    if "attach_phi" in data:
        far = np.abs(floats("attach_phi", data["attach_phi"], (a, 3, N)) - nodes.Phi_d[numbers]).max(axis=(1, 2), initial=0.0)
        _refuse_order("attach_phi", far, SAME_POINT * float(np.abs(nodes.Phi_d).max(initial=0.0)), numbers)
    names = [str(name) for name in data["attach_names"]] if "attach_names" in data else [str(k + 1) for k in range(a)]
    if len(names) != a or len(set(names)) != a:
        raise FlexibleBodyError(f"attach_names must be {a} different names, is {names}.")
    return {name: _interface(nodes, int(k)) for name, k in zip(names, numbers, strict=True)}


def _refuse_order(key: str, far: Floats, limit: float, numbers: Any) -> None:
    if (far > limit).any():
        k = int(far.argmax())
        raise FlexibleBodyError(
            f"{key} does not match node {int(numbers[k])} of attach_idx (entry {k}, off by {far[k]:.3g}): "
            "the nodes are in another order than the interface points."
        )


def _chosen(interfaces: Mapping[str, Sequence[float]], nodes: Nodes) -> dict[str, Interface]:
    """Interfaces at given positions; each must be a node."""
    size = float(np.ptp(nodes.r0, axis=0).max())
    found = {}
    for name, place in interfaces.items():
        far = np.linalg.norm(nodes.r0 - floats(f"interface {name}", place, (3,)), axis=1)
        k = int(far.argmin())
        if far[k] > SAME_POINT * size:
            raise FlexibleBodyError(f"interface {name} must be at a node, but the nearest is {far[k]:.3g} m away.")
        found[str(name)] = _interface(nodes, k)
    return found


def _interface(nodes: Nodes, k: int) -> Interface:
    return Interface(r0=nodes.r0[k], Phi_d=nodes.Phi_d[k], Phi_r=None if nodes.Phi_r is None else nodes.Phi_r[k])
