"""Checks of a program: conditions, their status codes, and messages that may differ per instance of a loop."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from flexapod.arrays import SX
from flexapod.kernels.tape.signature import Status

Message = tuple[str, Mapping[str, Any]]  # template and fields


@dataclass(frozen=True, kw_only=True)
class PerInstance:
    """Values of a status field, one per instance of the enclosing map or scan."""

    values: tuple[Any, ...]


@dataclass(frozen=True, kw_only=True, eq=False)
class Check:
    """Code of the sample where the condition holds; without condition, the code itself says it."""

    condition: SX | None
    code: SX


def first_failing(checks: Sequence[Check]) -> SX:
    """Code of the first check that fails, or 0."""
    status = ca.SX(0)
    for check in reversed(checks):
        condition = check.code != 0 if check.condition is None else check.condition
        status = ca.if_else(condition, check.code, status)
    return status


def statuses(messages: Sequence[Message]) -> dict[int, Status]:
    """Statuses by code."""
    return {code: Status(message=m, fields=dict(f)) for code, (m, f) in enumerate(messages, start=1)}


def plain(value: object) -> Any:
    """Field value that can be stored as text: a string, a number, or its printed form."""
    if isinstance(value, PerInstance):
        return PerInstance(values=tuple(plain(v) for v in value.values))
    value = value.item() if isinstance(value, np.generic) else value
    return value if isinstance(value, str | int | float) else str(value)


def shift(code: SX, offset: int) -> SX:
    """Code of an enclosing scope; 0 stays 0."""
    return ca.if_else(code != 0, code + offset, 0) if offset else code


def has_instances(messages: Sequence[Message]) -> bool:
    """Whether some message differs per instance."""
    return any(isinstance(value, PerInstance) for _, fields in messages for value in fields.values())


def of_instance(messages: Sequence[Message], i: int) -> list[Message]:
    """Messages of instance i."""

    def at(value: object) -> Any:
        return value.values[i] if isinstance(value, PerInstance) else value

    return [(message, {name: at(value) for name, value in fields.items()}) for message, fields in messages]
