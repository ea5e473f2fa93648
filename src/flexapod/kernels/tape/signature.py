"""Signature of a kernel: names, shapes and units at its boundary, and the statuses it may return.

Arrays at the boundary are C-contiguous (row-major) float64; the batch axis comes first and is not part of
a shape.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

OK = 0
NONFINITE_INPUT = -1
NONFINITE_RESULT = -2


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """One scalar parameter of a kernel, shared by all samples of a batch."""

    name: str
    unit: str = ""
    doc: str = ""


@dataclass(frozen=True, kw_only=True)
class Named:
    """One named array per sample."""

    name: str
    shape: tuple[int, ...] = ()
    unit: str = ""
    doc: str = ""

    @property
    def size(self) -> int:
        """Number of scalars per sample."""
        return math.prod(self.shape)


@dataclass(frozen=True, kw_only=True)
class Input(Named):
    """An array that is given."""


@dataclass(frozen=True, kw_only=True)
class Output(Named):
    """An array that is returned, with the names of its dimensions."""

    dims: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Status:
    """Meaning of one status code: a message template and the fields that fill it."""

    message: str
    fields: Mapping[str, Any] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """The message with its fields filled in."""
        return self.message.format_map(_Fields(self.fields))


class _Fields(dict[str, Any]):
    def __missing__(self, key: str) -> str:
        return "{" + key + "}"


RESERVED = {
    OK: Status(message="evaluated"),
    NONFINITE_INPUT: Status(message="an input is not a finite number"),
    NONFINITE_RESULT: Status(message="the result is not a finite number"),
}


@dataclass(frozen=True, kw_only=True)
class Signature:
    """Inputs, parameters, outputs and statuses of a kernel."""

    name: str
    inputs: tuple[Input, ...]
    parameters: tuple[Parameter, ...]
    outputs: tuple[Output, ...]
    statuses: Mapping[int, Status]

    def status(self, code: int) -> Status:
        """Meaning of a status code, reserved ones included."""
        known = self.statuses.get(code) or RESERVED.get(code)
        return known or Status(message=f"unknown status {code}")

    def __str__(self) -> str:
        """Readable table."""
        rows: list[tuple[str, str, str, str, str]] = []
        rows += [("input", i.name, _shape(i.shape), i.unit, i.doc) for i in self.inputs]
        rows += [("output", o.name, _shape(o.shape), o.unit, o.doc) for o in self.outputs]
        rows += [("parameter", p.name, _shape(()), p.unit, p.doc) for p in self.parameters]
        widths = [max((len(row[k]) for row in rows), default=0) for k in range(4)]
        lines = [self.name]
        for row in rows:
            cells = [cell.ljust(width) for cell, width in zip(row[:4], widths, strict=True)]
            lines.append(("  " + "  ".join([*cells, row[4]])).rstrip())
        lines += [f"  status {code}: {status.text}" for code, status in sorted(self.statuses.items())]
        return "\n".join(lines)

    def to_data(self) -> dict[str, Any]:
        """Plain data for the cache; `from_data` is the inverse."""
        return {
            "name": self.name,
            "inputs": [dict(vars(i)) for i in self.inputs],
            "parameters": [[getattr(p, key) for p in self.parameters] for key in ("name", "unit", "doc")],
            "outputs": [dict(vars(o)) for o in self.outputs],
            "statuses": [[c, s.message, dict(s.fields)] for c, s in sorted(self.statuses.items())],
        }

    @staticmethod
    def from_data(data: Mapping[str, Any]) -> Signature:
        """Signature from the data that `to_data` wrote."""

        def tuples(row: Mapping[str, Any]) -> dict[str, Any]:
            return {key: tuple(value) if isinstance(value, list) else value for key, value in row.items()}

        return Signature(
            name=data["name"],
            inputs=tuple(Input(**tuples(row)) for row in data["inputs"]),
            parameters=tuple(
                Parameter(name=name, unit=unit, doc=doc) for name, unit, doc in zip(*data["parameters"], strict=True)
            ),
            outputs=tuple(Output(**tuples(row)) for row in data["outputs"]),
            statuses={int(c): Status(message=m, fields=f) for c, m, f in data["statuses"]},
        )


def _shape(shape: tuple[int, ...]) -> str:
    return "scalar" if not shape else "(" + ", ".join(map(str, shape)) + ("," if len(shape) == 1 else "") + ")"
