"""Numbers and names of imported files: every mistake is one `ImportedModelError` with file, element and attribute."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING
from xml.etree.ElementTree import Element

import numpy as np
from numpy.typing import NDArray

from flexapod.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path


class ImportedModelError(InputError):
    """A model of another program that cannot be read as a parallel robot."""


def label(element: Element) -> str:
    """An element as messages call it: ``<joint 'left'>``."""
    name = element.get("name")
    return f"<{element.tag}>" if name is None else f"<{element.tag} {name!r}>"


def word(element: Element | None, key: str, where: str) -> str:
    """An attribute that must be there; `where`: file and element, for messages."""
    found = None if element is None else element.get(key)
    if found is None:
        raise ImportedModelError(f"{where}: {key} is missing")
    return found


def values(a: Mapping[str, str], key: str, where: str, count: int | None = None, default: str | None = None) -> list[float]:
    """Numbers of an attribute; `count`: how many, any number if left out."""
    text = a.get(key, default)
    if text is None:
        raise ImportedModelError(f"{where}: {key} is missing; expected {_expected(count)}")
    try:
        found = [float(part) for part in text.split()]
    except ValueError:
        found = []
    if not found or (count is not None and len(found) != count) or not np.isfinite(found).all():
        raise ImportedModelError(f"{where}: {key} is {text!r}; expected {_expected(count)}")
    return found


def value(a: Mapping[str, str], key: str, where: str, default: str | None = None) -> float:
    """The number of an attribute."""
    return values(a, key, where, 1, default)[0]


def vector(given: object, count: int, where: str) -> NDArray[np.float64]:
    """Numbers of a YAML list."""
    try:
        found = np.array(given, dtype=float)
    except (TypeError, ValueError):
        found = np.zeros(0)
    if found.shape != (count,) or not np.isfinite(found).all():
        raise ImportedModelError(f"{where}: expected {_expected(count)}, got {given!r}")
    return found


def number(given: object, where: str) -> float:
    """A number of a YAML file."""
    return float(vector([given], 1, where)[0])


def unit_axis(a: Mapping[str, str], key: str, where: str, count: int, default: str | None = None) -> NDArray[np.float64]:
    """Numbers of an attribute as a unit vector."""
    found = np.array(values(a, key, where, count, default))
    size = float(np.linalg.norm(found))
    if size == 0.0:
        raise ImportedModelError(f"{where}: {key} is zero; expected a direction")
    return found / size


def no_doubles(names: list[str], what: str, file: Path) -> None:
    """Refuse two things of one name."""
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ImportedModelError(f"{file}: two {what} have the name {twice!r}; give each its own")


def no_strangers(names: Iterable[str], known: Iterable[str], what: str) -> None:
    """Refuse names of joints that the model does not have."""
    stranger = next((name for name in names if name not in known), None)
    if stranger is not None:
        raise ImportedModelError(f"{what} names the joint {stranger!r}, which does not exist; joints: {', '.join(known)}")


def _expected(count: int | None) -> str:
    return "numbers" if count is None else "a number" if count == 1 else f"{count} numbers"
