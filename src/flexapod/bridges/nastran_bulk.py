"""Nastran bulk data as pyNastran reads it: its errors in one sentence, its prints left out; displacement axes of grids."""

from __future__ import annotations

import importlib
import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np

from flexapod.arrays import Array
from flexapod.bridges.fe_files import FeFileError, first_line, needed_package

LOST = re.compile(r"KeyError: ['\"](.*?)(?:\\n(?:nids|pids|mids)|['\"]?\n|$)")
"""Message of the reader about a missing card that another one needs."""
TWICE = re.compile(r"[a-z]id=\d+")
"""Message of the reader about two cards with one number."""
SILENT = logging.Logger("pyNastran", logging.CRITICAL + 1)
"""Logger that drops what the reader prints: our error has it already."""


@contextmanager
def quiet_reader() -> Iterator[None]:
    """Run pyNastran without its prints, and without the file `pyNastran_crash.bdf` that it leaves where an INCLUDE is missing."""
    reader = importlib.import_module("pyNastran.bdf.bdf_interface.pybdf").BDFInputPy
    dump = reader._dump_file
    reader._dump_file = lambda *_: None
    try:
        with redirect_stdout(StringIO()):
            yield
    finally:
        reader._dump_file = dump


def bulk_data(path: Path, xref: bool = True) -> Any:
    """The model of a bulk data file, with or without executive and case control.

    Checked by: tests/bridges/test_nastran_mesh.py.
    """
    package = needed_package("pyNastran.bdf.bdf", "a Nastran file")
    if not path.is_file():
        raise FeFileError(f"{path}: there is no such file")
    model = package.BDF(debug=False, log=SILENT)
    text = path.read_text(encoding="utf-8", errors="replace").upper()
    if "\0" in text:
        raise FeFileError(f"{path}: is not Nastran bulk data: it is not text")
    try:
        with quiet_reader():
            model.read_bdf(str(path), xref=xref, punch="BEGIN BULK" not in text)
    except Exception as error:  # the reader raises errors of many kinds, SystemExit not among them
        lost = LOST.search(str(error))
        if lost:
            what = " ".join(lost[1].replace("\\n", " ").split()).replace(" ,", ",").split(" Allowed")[0].rstrip(".")
            raise FeFileError(f"{path}: refers to a card that it does not have: {what}") from error
        if TWICE.fullmatch(first_line(error)):
            raise FeFileError(f"{path}: has two cards with {first_line(error)}; each has its own number") from error
        raise FeFileError(f"{path}: is not Nastran bulk data: {first_line(error)}") from error
    return model


def displacement_axes(path: Path) -> dict[int, Array]:
    """Node -> (3, 3) rows: displacement axes in basic ones, of nodes whose axes are not the basic ones (GRID field CD).

    Checked by: tests/bridges/test_fe_shapes.py, tests/bridges/test_fe_nodes.py.
    """
    found = {}
    for number, node in bulk_data(path).nodes.items():
        if node.cd_ref is None or node.cd_ref.cid == 0:
            continue
        if node.cd_ref.type not in ("CORD1R", "CORD2R"):
            raise FeFileError(
                f"{path}: node {number} has {node.cd_ref.type} as displacement axes; only rectangular ones are supported"
            )
        found[int(number)] = np.asarray(node.cd_ref.beta(), dtype=float)
    return found
