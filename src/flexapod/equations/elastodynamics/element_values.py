"""Numbers of equal elements or legs as columns of a loop; the first one's names are read for all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import casadi as ca

from flexapod.arrays import SX
from flexapod.equations.values import Values
from flexapod.kernels.tape.control_flow import Builder
from flexapod.kernels.tape.program import Program

Looped = TypeVar("Looped")
"""Result of a loop over elements."""


class ElementValues(Values):
    """Values inside the body of a loop.

    Args:
        values: of what is around the loop, below ``legs.<name>.`` of the first element.
        prefixes: what paths of the first element begin with.
        found: path -> symbol of the body; asked for what is not in it, it gets a fresh symbol.
    """

    def __init__(self, values: Values, prefixes: Sequence[str], found: dict[str, SX], prefix: str | None = None) -> None:
        super().__init__(values.program, values.prefix if prefix is None else prefix)
        self._outer, self._prefixes, self._found = values, tuple(prefixes), found

    def of(self, prefix: str) -> ElementValues:
        """Values below a prefix."""
        return ElementValues(self._outer, self._prefixes, self._found, f"{self.prefix}{prefix}.")

    def at(self, path: str) -> SX:
        """One number by its whole path: the element's own, or one that all share."""
        if not path.startswith(self._prefixes):
            return self._outer.at(path)
        if path not in self._found:
            self._found[path] = ca.SX.sym(path)
        return self._found[path]


def element_map(
    b: Builder,
    values: Sequence[Values],
    prefixes: Sequence[Sequence[str]],
    each: Sequence[SX],
    body: Callable[..., Sequence[SX]],
    loop: Callable[[Callable[..., Sequence[SX]], list[SX]], Looped],
) -> Looped:
    """Run `body(b, values, *columns)` over elements that are alike, in the loop that `loop(body, each)` makes.

    Args:
        values: per element, below ``legs.<name>.``.
        prefixes: per element, what its own paths begin with, in the same order for all.
        each: (k x count) expressions.
        loop: gets a function of (builder, own numbers, *arguments) and all columns, the numbers of the elements first.

    The body is traced twice: first to see which numbers it reads. Numbers that all elements share are no columns.
    """
    paths = _read(values[0], prefixes[0], [e[:, 0] for e in each], body)
    alike = all(own == prefixes[0] for own in prefixes)
    columns = [] if alike else [[_other(path, prefixes[0], own) for path in paths] for own in prefixes]
    numbers = [ca.vertcat(*[v.at(path) for path in own]) for v, own in zip(values, columns, strict=False)]
    common = {path: values[0].at(path) for path in paths} if alike else {}

    def traced(builder: Builder, own: SX, *arguments: SX) -> Sequence[SX]:
        found = common or {path: own[k] for k, path in enumerate(paths)}
        return body(builder, ElementValues(values[0], prefixes[0], found), *arguments)

    return loop(traced, [ca.SX(0, len(prefixes)) if alike else ca.horzcat(*numbers), *each])


def _read(values: Values, prefixes: Sequence[str], arguments: Sequence[SX], body: Callable[..., Sequence[SX]]) -> list[str]:
    """Paths of the first element that a body reads."""
    found: dict[str, SX] = {}
    body(Program("read"), ElementValues(values, prefixes, found), *arguments)
    return list(found)


def _other(path: str, first: Sequence[str], own: Sequence[str]) -> str:
    """The path of another element that corresponds to `path` of the first."""
    for a, c in zip(first, own, strict=True):
        if path.startswith(a):
            return c + path.removeprefix(a)
    raise KeyError(path)
