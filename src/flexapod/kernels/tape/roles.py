"""Interfaces that equations are written against: a program, the body of a loop, or a substitute for one.

A function that says what it needs can be written into all of them: closing a leg takes checks and Newton's method, and no
inputs or outputs of a program.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from flexapod.arrays import SX
    from flexapod.kernels.tape.control_flow import Each, ParameterRows


class TakesChecks(Protocol):
    """Program part that takes checks, by which samples can fail."""

    def fail_if(self, condition: SX, message: str, **fields: object) -> object:
        """See `Builder.fail_if`."""


class Iterates(TakesChecks, Protocol):
    """Program part in which Newton's method can run."""

    def iterate(
        self,
        fn: Callable[..., tuple[Sequence[SX], SX]],
        *,
        start: Sequence[SX],
        shared: Sequence[SX] = (),
        limit: int,
        tolerance: float,
    ) -> tuple[tuple[SX, ...], SX, SX]:
        """See `Builder.iterate`."""


class Loops(Iterates, Protocol):
    """Program part in which loops over alike parts can be written."""

    def map(
        self,
        fn: Callable[..., Sequence[SX]],
        count: int,
        *,
        each: Sequence[Each] = (),
        shared: Sequence[SX] = (),
        unroll: bool | None = None,
    ) -> tuple[SX, ...]:
        """See `Builder.map`."""

    def scan(
        self,
        fn: Callable[..., tuple[Sequence[SX], Sequence[SX]]],
        count: int,
        *,
        carry: Sequence[SX] = (),
        each: Sequence[Each] = (),
        shared: Sequence[SX] = (),
    ) -> tuple[tuple[SX, ...], tuple[SX, ...]]:
        """See `Builder.scan`."""


class Declares(TakesChecks, Protocol):
    """The robot's numbers can be read there."""

    def parameter(self, name: str, *, unit: str = "", doc: str = "") -> SX:
        """See `Program.parameter`."""

    def parameter_rows(self, names: Sequence[str], count: int, *, unit: str = "", doc: str = "") -> ParameterRows:
        """See `Program.parameter_rows`."""


class Equations(Iterates, Declares, Protocol):
    """Program part in which whole equations can be written."""
