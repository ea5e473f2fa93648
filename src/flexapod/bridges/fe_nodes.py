"""Nodes of finite element programs: numbers, positions, and axes of single nodes in which a solver writes its matrices."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from flexapod.arrays import Array
from flexapod.bridges.fe_files import FeFileError, needed_package, reading
from flexapod.files import is_number

BULK = (".bdf", ".dat", ".nas")
FLAT = "write a flat input file with all nodes in global axes"
NOT_TAKEN = {
    "*SYSTEM": f"its nodes are in a system of their own; {FLAT}",
    "*TRANSFORM": "its nodes have axes of their own, in which the matrices are written; leave the transformation out",
    "*INCLUDE": f"nodes of other files are not read; {FLAT}",
    "*NGEN": f"it generates nodes; {FLAT}",
    "*NFILL": f"it generates nodes; {FLAT}",
    "*NCOPY": f"it generates nodes; {FLAT}",
    "*NMAP": f"it moves nodes; {FLAT}",
}
"""Keywords of Abaqus that say more of nodes than `*NODE` does -> why they are refused."""


def read_nodes(path: Path) -> tuple[list[int], Array]:
    """Numbers and positions (n, 3) of nodes, in the file's units.

    Checked by: tests/bridges/test_fe.py, tests/bridges/test_fe_nodes.py.
    """
    with reading(path, "nodes"):
        numbers, places = _nodes(path, path.suffix.lower())
    if places.ndim != 2 or places.shape[1] != 3 or len(numbers) != len(places) or not len(numbers):
        raise FeFileError(f"{path}: expected a node number and three coordinates per node, at least one")
    if not np.isfinite(places).all():
        raise FeFileError(f"{path}: node {numbers[int(np.argmin(np.isfinite(places).all(axis=1)))]:g} has no finite place")
    whole = [int(k) for k in numbers]
    wrong = next((k for k, n in zip(numbers, whole, strict=True) if k != n), None)
    if wrong is not None:
        raise FeFileError(f"{path}: {wrong:g} is not a node number; the columns are node, x, y, z")
    repeated = next((k for k, count in Counter(whole).items() if count > 1), None)
    if repeated is not None:
        raise FeFileError(f"{path}: node {repeated} occurs {Counter(whole)[repeated]} times; each node has its own number")
    return whole, places


def node_axes(path: Path) -> dict[int, Array]:
    """Node -> (3, 3) rows: the axes in which the solver writes its matrices, of nodes where they are not the global ones.

    Checked by: tests/bridges/test_fe_nodes.py.
    """
    suffix = path.suffix.lower()
    if suffix in BULK:
        from flexapod.bridges.nastran_bulk import displacement_axes

        return displacement_axes(path)
    if suffix in (".cdb", ".arch"):
        archive = _archive(path)
        angles = np.asarray(archive.node_angles, dtype=float).reshape(len(archive.nnum), -1)
        rotated = np.flatnonzero(angles.any(axis=1))
        if len(rotated):
            raise FeFileError(
                f"{path}: node {archive.nnum[rotated[0]]} has axes of its own (NROTAT), in which Ansys writes the matrices; "
                "rotate them back (NMODIF) before the matrices are written"
            )
    return {}


def _nodes(path: Path, suffix: str) -> tuple[Sequence[float], Array]:
    if suffix in BULK:
        from flexapod.bridges.nastran_bulk import bulk_data

        model = bulk_data(path)
        numbers = sorted(model.nodes)
        return numbers, np.array([model.nodes[k].get_position() for k in numbers])
    if suffix in (".cdb", ".arch"):
        archive = _archive(path)
        return [int(k) for k in archive.nnum], np.asarray(archive.nodes, dtype=float)[:, :3]
    if suffix == ".inp":
        rows = _abaqus(path)
    elif suffix == ".npz":
        with np.load(path) as found:
            return _npz(path, dict(found))
    elif suffix == ".csv":
        rows = _csv(path)
    else:
        raise FeFileError(f"{path}: is not a supported file of nodes; expected .bdf, .cdb, .inp, .csv (node,x,y,z), .npz")
    if rows.ndim != 2 or rows.shape[1] != 4:
        raise FeFileError(f"{path}: expected a node number and three coordinates per line")
    return rows[:, 0].tolist(), rows[:, 1:]


def _archive(path: Path) -> Any:
    return needed_package("mapdl_archive", "an Ansys archive").Archive(str(path), parse_vtk=False)


def _npz(path: Path, found: Mapping[str, Array]) -> tuple[Sequence[float], Array]:
    if "nodes" not in found:
        raise FeFileError(f"{path}: holds {', '.join(found)}; `nodes` (n, 3) is missing")
    places = np.asarray(found["nodes"], dtype=float)
    return np.ravel(found.get("numbers", np.arange(1, len(places) + 1))).tolist(), places


def _csv(path: Path) -> Array:
    """Rows node, x, y, z; a header line may name the columns in another order, and may be left out."""
    lines = [line for line in path.read_text(encoding="utf-8-sig").splitlines() if line.strip() and not line.startswith("#")]
    first = [word.strip().strip('"').lower() for word in lines[0].split(",")] if lines else []
    header = not all(is_number(word) for word in first)
    order = list(range(len(first)))
    if header:
        if len(first) != 4:
            raise FeFileError(f"{path}: the first line is {lines[0][:60]!r}; expected node,x,y,z")
        if not set("xyz") <= set(first):
            raise FeFileError(f"{path}: the first line names the columns {', '.join(first)}; expected node,x,y,z")
        order = [next(k for k, word in enumerate(first) if word not in ("x", "y", "z")), *(first.index(axis) for axis in "xyz")]
    rows = np.loadtxt(lines[1 if header else 0 :], delimiter=",", ndmin=2)
    return rows[:, order] if rows.size else rows


def _abaqus(path: Path) -> Array:
    """Lines below *NODE of an Abaqus input file; coordinates that a line leaves out are zero, numbers behind z are normals."""
    rows: list[list[float]] = []
    instances = 0
    for keyword, data in _blocks(path):
        name = " ".join(keyword[0].split())
        if name in NOT_TAKEN:
            raise FeFileError(f"{path}: has {name}: {NOT_TAKEN[name]}")
        if name == "*INSTANCE":
            instances += 1
            if instances > 1 or any(_floats(line) != [0.0] * len(_floats(line)) for line in data):
                raise FeFileError(f"{path}: has several or moved instances of parts; {FLAT}")
        if name != "*NODE":
            continue
        options = dict(word.partition("=")[::2] for word in keyword[1:])
        if "INPUT" in options or options.get("SYSTEM", "R") != "R":
            raise FeFileError(f"{path}: has {','.join(keyword)}; {FLAT}")
        rows += [[*_floats(line), 0.0, 0.0, 0.0][:4] for line in data]
    return np.array(rows)


def _blocks(path: Path) -> Iterator[tuple[list[str], list[str]]]:
    """Keyword line as words in capitals, and the data lines below it, without comments."""
    keyword: list[str] = []
    data: list[str] = []
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        if line.startswith("**") or not line.strip():
            continue
        if line.startswith("*"):
            if keyword:
                yield keyword, data
            keyword, data = [word.strip().upper() for word in line.replace(" =", "=").replace("= ", "=").split(",")], []
        else:
            data.append(line)
    if keyword:
        yield keyword, data


def _floats(line: str) -> list[float]:
    """Numbers between commas; an empty place is zero."""
    return [float(word) if word.strip() else 0.0 for word in line.split(",")]
