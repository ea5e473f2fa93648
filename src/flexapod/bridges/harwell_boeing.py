"""Harwell-Boeing matrices as Ansys (HBMAT), Nastran tools and SciPy write them: real, assembled, symmetric or not.

Numbers are in columns of fixed width, which the header gives as Fortran formats. Of a symmetric matrix one triangle is stored.
Ansys writes the node and the degree of freedom of every row into a mapping file beside it (`<name>.mapping`).
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from flexapod.errors import InputError

FORMAT = re.compile(r"\(\s*(?:[+-]?\d+P\s*,?\s*)?(\d*)\s*[IEDFG](\d+)(?:\.\d+)?(?:E\d+)?\s*\)", re.IGNORECASE)
DIRECTIONS = {"UX": 1, "UY": 2, "UZ": 3, "ROTX": 4, "ROTY": 5, "ROTZ": 6}


class HarwellBoeingError(InputError):
    """A file that is not a usable Harwell-Boeing matrix."""


def read_harwell_boeing(path: Path) -> Any:
    """The whole matrix, sparse.

    Source: I. S. Duff, R. G. Grimes, J. G. Lewis, Users' guide for the Harwell-Boeing sparse matrix collection, 1992.
    Checked by: tests/bridges/test_fe.py.
    """
    try:
        lines = path.read_text(encoding="ascii").splitlines()
        cards = [int(lines[1][14 * k : 14 * k + 14] or 0) for k in range(1, 5)]
        kind = lines[2][:3].upper()
        rows, columns, entries = (int(x) for x in lines[2][14:].split()[:3])
        pointer, index, value = _columns(lines[3][:16]), _columns(lines[3][16:32]), _columns(lines[3][32:52])
    except (ValueError, IndexError, UnicodeDecodeError) as error:
        raise HarwellBoeingError(f"{path}: is not a Harwell-Boeing matrix: {error}") from None
    if kind[0] != "R" or kind[1] not in "SU" or kind[2] != "A" or rows != columns:
        raise HarwellBoeingError(f"{path}: has the type {kind} and {rows} x {columns} entries; expected RSA or RUA, square")
    at = 5 if cards[3] > 0 else 4
    try:
        starts = np.array(_numbers(lines[at : at + cards[0]], pointer, columns + 1)).astype(int) - 1
        places = np.array(_numbers(lines[at + cards[0] :], index, entries, cards[1])).astype(int) - 1
        values = np.array(_numbers(lines[at + cards[0] + cards[1] :], value, entries, cards[2]))
        found = sparse.csc_matrix((values, places, starts), shape=(rows, columns))
        found.check_format()
    except ValueError as error:
        raise HarwellBoeingError(f"{path}: does not hold the {entries} entries that its header says: {error}") from None
    return found + found.T - sparse.diags(found.diagonal()) if kind[1] == "S" else found


def _columns(text: str) -> int:
    """Width of a number."""
    found = FORMAT.fullmatch(text.strip())
    if found is None:
        raise ValueError(f"the format {text.strip()!r} is not understood")
    return int(found.group(2))


def _numbers(lines: list[str], width: int, count: int, cards: int | None = None) -> list[float]:
    """Numbers in columns, D being an exponent as E is; between spaces where a writer did not keep its columns (SciPy)."""
    texts = [line.rstrip().upper().replace("D", "E") for line in lines[:cards]]
    try:
        found = [float(line[k : k + width]) for line in texts for k in range(0, len(line), width)]
    except ValueError:
        found = [float(word) for line in texts for word in line.split()]
    if len(found) != count:
        raise ValueError(f"{len(found)} numbers, expected {count}")
    return found


def read_mapping(path: Path) -> list[tuple[int, int]] | None:
    """Node and degree of freedom (1 to 6) of every row, from the mapping file beside a matrix of Ansys; None: there is none.

    Checked by: tests/bridges/test_fe.py.
    """
    beside = path.with_suffix(".mapping")
    if not beside.is_file():
        return None
    labels: dict[int, tuple[int, int]] = {}
    for line in beside.read_text(encoding="utf-8", errors="replace").splitlines():
        words = line.split()
        if len(words) != 3 or not (words[0].isdigit() and words[1].isdigit()):
            continue
        if words[2].upper() not in DIRECTIONS:
            raise HarwellBoeingError(f"{beside}: row {words[0]} is {words[2]}, which is neither a displacement nor a rotation")
        labels[int(words[0])] = (int(words[1]), DIRECTIONS[words[2].upper()])
    if sorted(labels) != list(range(1, len(labels) + 1)):
        raise HarwellBoeingError(f"{beside}: does not number its rows 1, 2, ...; write it with HBMAT,...,ASCII and mapping")
    return [labels[k] for k in sorted(labels)]
