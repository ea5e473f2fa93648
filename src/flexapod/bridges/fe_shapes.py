"""Modes of a solver: eigenvectors and frequencies from Nastran's binary results (OP2) and punch files (pch).

Displacements are in the file's units and in the basic axes; grids with displacement axes of their own are rotated.
"""

from __future__ import annotations

import re
from contextlib import redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np

from flexapod.arrays import Array
from flexapod.bridges.fe_files import FeFileError, first_line, needed_package
from flexapod.bridges.nastran_bulk import SILENT

EIGENVALUE = re.compile(r"\$EIGENVALUE\s*=\s*([-+.\dEeDd]+)\s+MODE\s*=\s*(\d+)")


@dataclass(frozen=True, kw_only=True, eq=False)
class Shapes:
    """Eigenvectors of a solver.

    Args:
        numbers: of the nodes.
        eigenvalue: (N,) omega^2, in the file's time unit.
        Phi: (n, 6, N) translations and rotations.
    """

    numbers: list[int]
    eigenvalue: Array
    Phi: Array


def read_shapes(path: Path) -> Shapes:
    """Modes from an OP2 or punch file.

    Checked by: tests/bridges/test_fe_shapes.py.
    """
    if not path.is_file():
        raise FeFileError(f"{path}: there is no such file")
    suffix = path.suffix.lower()
    if suffix == ".op2":
        return _op2(path)
    if suffix in (".pch", ".pun"):
        return _punch(path)
    raise FeFileError(f"{path}: is not a supported file of modes; expected .op2 or .pch of Nastran")


def op2_package() -> Any:
    """pyNastran's reader. Its modules import `numpy.in1d`, which NumPy 2.4 has no more; `isin` is the same, for the import."""
    missing = not hasattr(np, "in1d")
    if missing:
        np.in1d = np.isin  # type: ignore[attr-defined]
    try:
        return needed_package("pyNastran.op2.op2", "an OP2 file")
    finally:
        if missing:
            del np.in1d  # type: ignore[attr-defined]


def _op2(path: Path) -> Shapes:
    model = op2_package().OP2(debug=False, log=SILENT)
    try:
        with redirect_stdout(StringIO()):
            model.read_op2(str(path), build_dataframe=False)
    except Exception as error:  # the reader raises errors of many kinds
        raise FeFileError(f"{path}: cannot be read as OP2: {first_line(error)}") from error
    tables: list[Any] = list(model.eigenvectors.values())
    if len(tables) != 1:
        raise FeFileError(f"{path}: holds {len(tables)} tables of eigenvectors, expected one; write DISPLACEMENT(PLOT) = ALL")
    table = tables[0]
    numbers = [int(k) for k in table.node_gridtype[:, 0]]
    values = np.asarray(table.eigns, dtype=float)
    return Shapes(numbers=numbers, eigenvalue=values, Phi=np.moveaxis(np.asarray(table.data, dtype=float), 0, 2))


def _punch(path: Path) -> Shapes:
    """Blocks below $EIGENVECTOR; a node's six numbers are on a line and its continuation."""
    values: list[float] = []
    blocks: list[dict[int, list[float]]] = []
    modes: set[int] = set()
    node, inside = 0, False
    for number, raw in enumerate(path.read_text(encoding="ascii", errors="replace").splitlines(), 1):
        line = raw[:72]
        if line.startswith("$"):
            inside = inside or line.startswith("$EIGENVECTOR")
            inside = inside and not line.startswith(("$DISPLACEMENTS", "$ELEMENT", "$SPCF", "$STRESS"))
            if inside and (found := EIGENVALUE.match(line)):
                if int(found.group(2)) in modes:
                    raise FeFileError(f"{path}: has mode {int(found.group(2))} twice; write the modes of one subcase")
                modes.add(int(found.group(2)))
                values.append(float(found.group(1).replace("D", "E")))
                blocks.append({})
            continue
        if not inside or not blocks:
            continue
        try:
            if line.startswith("-CONT-"):
                blocks[-1][node] += [float(x) for x in line[6:].split()]
            else:
                words = line.split()
                node = int(words[0])
                blocks[-1][node] = [float(x) for x in words[2:]]
        except (ValueError, KeyError, IndexError):
            raise FeFileError(f"{path}: line {number} is not a line of an eigenvector: {line.strip()[:60]!r}") from None
    if not blocks:
        raise FeFileError(f"{path}: holds no eigenvectors; write DISPLACEMENT(PUNCH, SORT1) = ALL")
    numbers = sorted(blocks[0])
    if any(sorted(block) != numbers or any(len(row) != 6 for row in block.values()) for block in blocks):
        raise FeFileError(f"{path}: its modes have different nodes, or nodes without six numbers")
    Phi = np.array([[block[k] for k in numbers] for block in blocks])
    return Shapes(numbers=numbers, eigenvalue=np.array(values), Phi=np.moveaxis(Phi, 0, 2))


def in_basic_axes(shapes: Shapes, axes: dict[int, Array]) -> Shapes:
    """Eigenvectors with the displacement axes of their grids (3 x 3, rows in basic axes) rotated away."""
    Phi = shapes.Phi.copy()
    for k, number in enumerate(shapes.numbers):
        if number in axes:
            Phi[k, :3], Phi[k, 3:] = axes[number].T @ Phi[k, :3], axes[number].T @ Phi[k, 3:]
    return Shapes(numbers=shapes.numbers, eigenvalue=shapes.eigenvalue, Phi=Phi)
