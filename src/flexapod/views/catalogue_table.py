"""The table of `flexapod robots`: title, mobility, number of actuators and of elastic coordinates of every robot.

To build forty robots takes seconds, so their rows are kept in `robots/catalogue.json`, each with the SHA-256 of its robot file. A
robot whose file differs from that, or that has no row, is built. `python tools/make_catalogue_table.py` writes the rows anew.

Checked by: tests/views/test_catalogue_table.py.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import flexapod as fp

Row = dict[str, str | int]

KEYS = ("name", "mobility", "actuators", "elastic", "title")
FILE = "catalogue.json"
"""Name of the table, beside the robot files."""


def built_row(name: str) -> Row:
    """The row of a robot, from the robot itself."""
    robot = fp.load(name)
    return {
        "name": name, "mobility": robot.mobility.rank, "actuators": len(robot.actuators),
        "elastic": len(robot.elastic_names), "title": robot.title,
    }  # fmt: skip


def digest(path: Path) -> str:
    """SHA-256 of the text of a robot file; how its lines end does not matter."""
    return hashlib.sha256(path.read_bytes().replace(b"\r\n", b"\n")).hexdigest()


def stored_rows(path: Path) -> dict[str, Row]:
    """The rows by the digest of their robot file; none where the table is missing or damaged."""
    try:
        rows = json.loads(path.read_text(encoding="utf-8"))
        return {row["sha256"]: {key: row[key] for key in KEYS} for row in rows}
    except (OSError, ValueError, KeyError, TypeError):
        return {}


def table_text() -> str:
    """Text of the table, made from the robots themselves: one row per line."""
    rows = [json.dumps(built_row(name) | {"sha256": digest(path)}, ensure_ascii=False) for name, path in fp.catalogue().items()]
    return "[\n" + ",\n".join(rows) + "\n]\n"


def catalogue_rows() -> list[Row]:
    """A row per robot of the catalogue, in its order."""
    files = fp.catalogue()
    stored = stored_rows(next(iter(files.values())).with_name(FILE)) if files else {}
    found: list[Row] = []
    for name, path in files.items():
        row = stored.get(digest(path))
        found.append(row if row is not None and row["name"] == name else built_row(name))
    return found
