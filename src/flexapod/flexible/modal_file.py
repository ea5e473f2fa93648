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
| `attach_phi_r`, `attach_turned` | (b, 3, N), (b,) | rotation shapes of those interface points; optional, `phi_r` otherwise |
| `attach_geometric` | (a, 3, N, N) | geometric stiffness per newton at each interface point; optional |
| `attach_geometric_moment` | (a, 3, N, N) | the same per newton metre; optional: of links of legs |
| `spin_geometric`, `stretch` | (N, N, 3, 3), (R, N, N) | of spin, and stretching; see `FlexibleBody.with_stiffening`; optional |
| `triangles` | (m, 3) | surface for pictures; optional |
| `names` | (N,) | names of the coordinates; optional, mode1, mode2, ... otherwise |
| `own_nodes` | () | the nodes from this number on represent interface points alone; optional |

Position and shapes of the interface points are given twice on purpose: they show when nodes were put into another order.

The shape integrals are sums over the nodes. Those of a consistent mass matrix are not, so a file may hold them besides: `MS_r`,
`MS_de`, `beta`, `lambda_`, `I_rr`, `I_re`, `I_ee`, `M_ee` with the names and shapes of `FlexibleBody`, `total_mass`, and
`integrals_of`, a digest of the nodes that they belong to. `save_modes` writes them.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexapod.arrays import Array
from flexapod.calls import check_mapping, check_path, checked
from flexapod.errors import FileError
from flexapod.files import write_whole
from flexapod.flexible.body import FlexibleBody, Interface, body_from_integrals, check_body
from flexapod.flexible.checked_arrays import Floats, floats
from flexapod.flexible.errors import FlexibleBodyError
from flexapod.flexible.npz_reader import read_npz
from flexapod.flexible.shape_integrals import Nodes, ShapeIntegrals, shape_integrals

SAME_POINT = 1e-6
"""Interface points agree with their nodes to this part of the body's size: files are often written with seven digits."""

SAME_FREQUENCY = 1e-4
"""omega, K and the masses agree to this: the lumped masses of a file must be those its modes were computed with."""

REQUIRED = ("r0", "mass", "phi_d", "omega")
NODES = ("r0", "mass", "phi_d", "phi_r", "spread")
INTEGRALS = ("MS_r", "MS_de", "beta", "lambda_", "I_rr", "I_re", "I_ee", "M_ee")
KEYS = {
    *REQUIRED, *NODES, *INTEGRALS, "K", "D", "attach_idx", "attach_r", "attach_phi", "attach_names", "attach_phi_r",
    "attach_turned", "triangles", "names", "own_nodes", "total_mass", "integrals_of",
    "attach_geometric", "attach_geometric_moment", "spin_geometric", "stretch",
}  # fmt: skip


@checked(path=check_path, interfaces=check_mapping)
def from_modes(path: str | Path, *, interfaces: Mapping[str, Sequence[float]] | None = None) -> FlexibleBody:
    """A flexible body from a modal file.

    Args:
        path: the npz file; `flexapod.flexible.modal_file` describes its arrays.
        interfaces: name to position (3,) of a node [m]; by default the interface points of the file.
    Returns:
        `FlexibleBody` for `Robot.with_flexible_body`.

    Raises:
        FlexibleBodyError: keys missing, wrong shapes, values not finite, negative masses, masses that do not fit the modes,
            nodes in another order than the interface points.

    Source: Long 2014, below Eq. (34). Checked by: tests/flexible/test_modal_file.py.
    """
    data = read_npz(Path(path), KEYS)
    missing = [key for key in REQUIRED if key not in data]
    if missing:
        raise FlexibleBodyError(f"{path}: the modal file has no {', '.join(missing)}; it needs {', '.join(REQUIRED)}.")
    try:
        nodes = _nodes(data)
        integrals = _integrals(data, nodes)
        K, D = _stiffness_and_damping(data, integrals)
        points = _attached(data, nodes) if interfaces is None else _chosen(interfaces, nodes)
        names = _names("names", data["names"], nodes.Phi_d.shape[2]) if "names" in data else ()
        body = body_from_integrals(integrals, K_ee=K, D_ee=D, interfaces=points, names=names, nodes=_own_nodes(data, nodes))
        return _with_stiffening(body, data, interfaces is None)
    except FlexibleBodyError as problem:
        raise FlexibleBodyError(f"{path}: {problem}") from None


def _with_stiffening(body: FlexibleBody, data: Mapping[str, Array], own: bool) -> FlexibleBody:
    """The body with the geometric stiffness of the file, if it has any; `own`: its interfaces are those of the file."""
    if "attach_geometric" not in data:
        for key in ("attach_geometric_moment", "spin_geometric", "stretch"):
            if key in data:
                raise FlexibleBodyError(f"{key} needs attach_geometric: forces at the interface points stiffen the body as well.")
        return body
    if not own:
        raise FlexibleBodyError("attach_geometric belongs to the interface points of the file: leave out `interfaces`.")
    N = len(body.M_ee)
    each = floats("attach_geometric", data["attach_geometric"], (len(body.interfaces), 3, N, N))
    moments = None
    if "attach_geometric_moment" in data:
        rotated = floats("attach_geometric_moment", data["attach_geometric_moment"], each.shape)
        moments = dict(zip(body.interfaces, rotated, strict=True))
    forces = dict(zip(body.interfaces, each, strict=True))
    return body.with_stiffening(forces, data.get("spin_geometric"), data.get("stretch"), moments)


@checked(body=check_body, path=check_path)
def save_modes(body: FlexibleBody, path: str | Path) -> None:
    """Write a body's nodes, shapes and integrals as a modal file; `from_modes` gives the same body back.

    Interfaces become nodes without mass behind the others.

    Args:
        body: with nodes.
        path: of the npz file.
    Raises:
        FlexibleBodyError: a body without nodes, names that are not printable, a file that cannot be written.

    Checked by: tests/flexible/test_modal_file.py, tests/robot/test_files_of_modes.py.
    """
    if body.nodes is None:
        raise FlexibleBodyError("The body has no nodes, so it cannot be written as a modal file.")
    old, N = body.nodes, len(body.M_ee)
    points = list(body.interfaces.values())
    rotated = [k for k, p in enumerate(points) if p.Phi_r is not None]
    rotations = [p.Phi_r for p in points if p.Phi_r is not None]
    arrays: dict[str, Any] = {
        "r0": np.concatenate([old.r0, *(p.r0[None] for p in points)]),
        "mass": np.concatenate([old.mass, np.zeros(len(points))]),
        "phi_d": np.concatenate([old.Phi_d, *(p.Phi_d[None] for p in points)]),
        "omega": np.sqrt(np.clip(np.diag(body.K_ee) / np.diag(body.M_ee), 0.0, None)),
        "K": body.K_ee,
        "D": body.D_ee,
        "attach_idx": np.arange(len(old.r0), len(old.r0) + len(points)),
        "attach_r": np.array([p.r0 for p in points]).reshape(-1, 3),
        "attach_phi": np.array([p.Phi_d for p in points]).reshape(len(points), 3, N),
        "attach_names": np.array(_names("interfaces", list(body.interfaces), len(points)), dtype=np.str_),
        "attach_phi_r": np.array(rotations).reshape(len(rotations), 3, N),
        "attach_turned": np.array(rotated, dtype=np.int64),
        "names": np.array(_names("names", body.names, N), dtype=np.str_),
        "own_nodes": np.array(len(old.r0)),
        "total_mass": np.array(body.mass),
        **{name: getattr(body, name) for name in INTEGRALS},
    }
    if body.T_ee is not None:
        curving = [-p.Q for p in points if p.Q is not None]
        arrays |= {"attach_geometric": np.array(curving).reshape(-1, 3, N, N), "spin_geometric": -body.T_ee}
        arrays |= {} if body.stretch is None else {"stretch": body.stretch}
        rotating = [-p.Q_r for p in points if p.Q_r is not None]
        if points and len(rotating) == len(points):
            arrays["attach_geometric_moment"] = np.array(rotating)
    if old.Phi_r is not None:
        own = [np.zeros((3, N)) if p.Phi_r is None else p.Phi_r for p in points]
        arrays["phi_r"] = np.concatenate([old.Phi_r, *(r[None] for r in own)])
    if old.spread is not None:
        arrays["spread"] = np.concatenate([old.spread, np.zeros((len(points), 3, 3))])
    if old.triangles is not None:
        arrays["triangles"] = old.triangles
    arrays["integrals_of"] = np.array(_digest(arrays))
    stream = io.BytesIO()
    np.savez_compressed(stream, **arrays)
    try:
        write_whole({Path(path): stream.getvalue()})
    except FileError as problem:
        raise FlexibleBodyError(str(problem)) from None


def _digest(data: Mapping[str, Array]) -> str:
    """Digest of the arrays that make the nodes, as float64."""
    digest = hashlib.sha256()
    for name in NODES:
        if name in data:
            value = np.ascontiguousarray(data[name], dtype=np.float64)
            digest.update(f"{name} {value.shape}\0".encode() + value.tobytes())
    return digest.hexdigest()


def _integrals(data: Mapping[str, Array], nodes: Nodes) -> ShapeIntegrals:
    """The integrals of the file where it holds them, else those of the nodes."""
    given = [key for key in (*INTEGRALS, "total_mass", "integrals_of") if key in data]
    if not given:
        return shape_integrals(nodes)
    missing = [key for key in (*INTEGRALS, "total_mass", "integrals_of") if key not in data]
    if missing:
        raise FlexibleBodyError(f"the file has {given[0]} but no {', '.join(missing)}: give all shape integrals or none.")
    if str(data["integrals_of"]) != _digest(data):
        raise FlexibleBodyError(
            "the shape integrals of the file belong to other nodes: r0, mass, phi_d, phi_r or spread were changed after it was "
            f"saved. Save the body again, or remove {', '.join(INTEGRALS)}, total_mass and integrals_of."
        )
    N = nodes.Phi_d.shape[2]
    shapes = {"MS_r": (3,), "MS_de": (3, N), "beta": (3, N), "lambda_": (N, N, 3), "I_rr": (3, 3), "I_re": (N, 3, 3)}
    shapes |= {"I_ee": (N, N, 3, 3), "M_ee": (N, N)}
    mass = float(floats("total_mass", data["total_mass"], ()))
    return ShapeIntegrals(mass=mass, **{name: floats(name, data[name], shape) for name, shape in shapes.items()})


def _own_nodes(data: Mapping[str, Array], nodes: Nodes) -> Nodes:
    """The nodes without those that represent interface points alone."""
    if "own_nodes" not in data:
        return nodes
    n = np.asarray(data["own_nodes"])
    if n.shape != () or n.dtype.kind not in "iu" or not 0 <= n <= len(nodes.r0) or nodes.mass[int(n) :].any():
        raise FlexibleBodyError(
            f"own_nodes must be a whole number up to {len(nodes.r0)}, with no mass at the nodes from there on."
        )
    own = slice(int(n))
    return Nodes(
        r0=nodes.r0[own], mass=nodes.mass[own], Phi_d=nodes.Phi_d[own], triangles=nodes.triangles,
        Phi_r=None if nodes.Phi_r is None else nodes.Phi_r[own], spread=None if nodes.spread is None else nodes.spread[own],
    )  # fmt: skip


def _names(key: str, given: Sequence[str] | NDArray[np.generic], count: int) -> list[str]:
    """Different, printable names."""
    array = np.asarray(given)
    names = [str(name) for name in array.ravel()] if array.dtype.kind == "U" or array.size == 0 else []
    if array.ndim != 1 or len(names) != count or len(set(names)) != count:
        raise FlexibleBodyError(f"{key} must be {count} different names, is {names or given!r}.")
    wrong = [name for name in map(str, given) if not name.isprintable() or not name.strip()]
    if wrong:
        raise FlexibleBodyError(f"{key} must be printable, but {wrong[0]!r} is not.")
    return names


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


def _stiffness_and_damping(data: Mapping[str, Array], integrals: ShapeIntegrals) -> tuple[Floats, Floats]:
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


def _matrix(name: str, value: ArrayLike, N: int) -> Floats:
    """A vector as a diagonal matrix, or a matrix."""
    if np.ndim(value) == 1:
        return np.diag(floats(name, value, (N,)))
    return floats(name, value, (N, N))


def _attached(data: Mapping[str, Array], nodes: Nodes) -> dict[str, Interface]:
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
    names = _names("attach_names", data["attach_names"], a) if "attach_names" in data else [str(k + 1) for k in range(a)]
    found = {name: _interface(nodes, int(k)) for name, k in zip(names, numbers, strict=True)}
    return _with_rotations(data, found, N) if "attach_turned" in data else found


def _with_rotations(data: Mapping[str, Array], points: dict[str, Interface], N: int) -> dict[str, Interface]:
    """Interface points with the rotation shapes that the file gives for some of them, and none for the others."""
    numbers = np.asarray(data["attach_turned"])
    fits = numbers.ndim == 1 and numbers.dtype.kind in "iu" and set(numbers.tolist()) <= set(range(len(points)))
    if not fits or len(set(numbers.tolist())) != len(numbers) or "attach_phi_r" not in data:
        raise FlexibleBodyError(f"attach_turned must be different whole numbers below {len(points)}, with their attach_phi_r.")
    rotations = dict(zip(numbers.tolist(), floats("attach_phi_r", data["attach_phi_r"], (len(numbers), 3, N)), strict=True))
    return {name: Interface(r0=p.r0, Phi_d=p.Phi_d, Phi_r=rotations.get(k)) for k, (name, p) in enumerate(points.items())}


def _refuse_order(key: str, far: Floats, limit: float, numbers: NDArray[np.generic]) -> None:
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
