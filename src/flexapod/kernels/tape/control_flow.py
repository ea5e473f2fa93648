"""Structured control flow on CasADi expressions: map, scan, iterate and checks.

Each structured operation traces its body once with fresh symbols and returns fresh symbols that represent its
results, as JAX's `scan` does. Symbols of an outer scope that a body uses are captured as shared inputs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TypeVar

import casadi as ca

from flexapod.arrays import SX
from flexapod.kernels.errors import ProgramError
from flexapod.kernels.tape.checks import Check, Message, PerInstance, first_failing, has_instances, of_instance, plain, shift
from flexapod.kernels.tape.shapes import check_each, columns, flat, positive, same_shapes

T = TypeVar("T")

STRAIGHT_LINE = 12_000  # operations up to which straight-line code is faster than loops (measured)


@dataclass(frozen=True, kw_only=True, eq=False)
class ParameterRows:
    """Parameters by name as rows that a loop reads, (k x count): thousands of them need no symbols.

    `names` go row by row; `symbols` makes the expression (k x count), where one is needed.
    """

    names: Sequence[str]
    count: int
    symbols: Callable[[], SX]

    @property
    def shape(self) -> tuple[int, int]:
        """Shape, as of an expression."""
        return len(self.names) // self.count, self.count


Each = SX | ParameterRows
"""Operand that a loop reads column by column."""


@dataclass(frozen=True, kw_only=True, eq=False)
class LoopBody:
    """Inside of a loop: argument symbols, nested loops, next carry and outputs (or error) as one column."""

    index: SX
    each: SX
    carry: SX
    shared: SX
    steps: tuple[LoopStep, ...]
    outputs: SX


@dataclass(frozen=True, kw_only=True, eq=False)
class LoopStep:
    """One loop: operands, body and result symbols. `each` are (k x count), one below the other, the others are columns."""

    count: int
    tolerance: float | None
    each: tuple[Each, ...]
    carry: SX
    shared: SX
    body: LoopBody
    final: SX
    stacked: SX

    @property
    def expressions(self) -> SX:
        """All operands but rows of parameters, as one column; `each` row by row."""
        return ca.vertcat(*[ca.vec(e.T) for e in self.each if not isinstance(e, ParameterRows)], self.carry, self.shared)

    def operands(self, expressions: Sequence[T], parameters: Mapping[str, T]) -> list[T]:
        """All operands in order, from what `expressions` and the names of parameters stand for."""
        found, rest = list[T](), iter(expressions)
        for e in self.each:
            if isinstance(e, ParameterRows):
                found += [parameters[name] for name in e.names]
            else:
                found += islice(rest, e.numel())
        return [*found, *rest]


class Builder:
    """Records the structured operations and checks of one scope."""

    def __init__(self, parent: Builder | None = None, *, instances: int | None = None) -> None:
        self._root: Builder = parent._root if parent is not None else self
        self._instances = instances
        self._steps: list[LoopStep] = []
        self._checks: list[Check] = []
        self._messages: list[Message] = []
        self._symbols = 0
        self._size = 0

    # -- public ---------------------------------------------------------------------------------------
    def map(
        self,
        fn: Callable[..., Sequence[SX]],
        count: int,
        *,
        each: Sequence[Each] = (),
        shared: Sequence[SX] = (),
        unroll: bool | None = None,
    ) -> tuple[SX, ...]:
        """Evaluate `fn(b, each..., shared...)` for every column of `each`.

        Args:
            fn: returns a tuple of columns.
            count: number of instances, at least 1.
            each: (k x count) expressions; instance i gets column i.
            shared: expressions that every instance gets whole.
            unroll: True repeats the code, False makes a loop, None decides by size.
        Returns:
            One (k_out x count) expression per output of `fn`.
        """
        each, shared = self._readable(each, symbols=unroll is not False), [ca.SX(s) for s in shared]
        check_each(each, count)
        if unroll is None:
            probe = Builder(self, instances=count)
            outputs = columns(fn(probe, *[self._fresh("each", e.shape[0]) for e in each], *shared), "map")
            size = count * _size(probe._steps, ca.vertcat(*outputs))
            unroll = self._root._size + size <= STRAIGHT_LINE
            self._root._size += size if unroll else size // count
        if not unroll:
            _, stacked = self.scan(lambda b, i, *rest: ((), fn(b, *rest)), count, each=each, shared=shared)
            return stacked
        children, results = [], []
        for i in range(count):
            children.append(Builder(self, instances=count))
            own = [e[:, i] for e in each if not isinstance(e, ParameterRows)]  # all are expressions here
            results.append(columns(fn(children[i], *own, *shared), "map"))
        self._inline(children, count)
        return tuple(ca.horzcat(*column) for column in zip(*results, strict=True))

    def scan(
        self,
        fn: Callable[..., tuple[Sequence[SX], Sequence[SX]]],
        count: int,
        *,
        carry: Sequence[SX] = (),
        each: Sequence[Each] = (),
        shared: Sequence[SX] = (),
    ) -> tuple[tuple[SX, ...], tuple[SX, ...]]:
        """Counted loop: `fn(b, i, carry..., each..., shared...)` gives (next carry, outputs of this step).

        Returns:
            The final carry, and one (k_out x count) expression per output.
        """
        shared, carry = [[ca.SX(x) for x in group] for group in (shared, carry)]
        each = self._readable(each)
        check_each(each, count)
        child = Builder(self, instances=count)
        index = self._fresh("index", 1)
        a_each = [self._fresh("each", e.shape[0]) for e in each]
        a_carry = [self._fresh("carry", c.shape) for c in carry]
        a_shared = [self._fresh("shared", s.shape) for s in shared]
        following, outputs = fn(child, index, *a_carry, *a_each, *a_shared)
        following = same_shapes(following, carry, "scan")
        outputs = columns(outputs, "scan")
        status_in, status_out = self._status_carry(child, count, index)
        final = [self._fresh("final", c.shape) for c in carry]
        stacked = [self._fresh("stacked", (o.shape[0], count)) for o in outputs]
        status = self._fresh("status", status_in.shape)
        self._steps.append(
            LoopStep(
                count=count, tolerance=None, each=tuple(each),
                carry=flat([*carry, ca.SX.zeros(status_in.shape)]), shared=flat(shared),
                body=LoopBody(
                    index=index, each=flat(a_each), carry=flat([*a_carry, status_in]),
                    shared=flat(a_shared), steps=tuple(child._steps),
                    outputs=flat([*following, status_out, *outputs]),
                ),
                final=flat([*final, status]), stacked=ca.vertcat(*stacked) if stacked else ca.SX(0, count),
            )
        )  # fmt: skip
        self._absorb(status)
        return tuple(final), tuple(stacked)

    def iterate(
        self,
        fn: Callable[..., tuple[Sequence[SX], SX]],
        *,
        start: Sequence[SX],
        shared: Sequence[SX] = (),
        limit: int,
        tolerance: float,
    ) -> tuple[tuple[SX, ...], SX, SX]:
        """Repeat `fn(b, carry..., shared...) -> (next carry, error)` until error <= tolerance.

        At most `limit` passes. A sample stops for itself: its result does not depend on other samples. An
        error that is not a number stops the sample as not converged, as does a failing check in the body.

        Returns:
            The last carry, converged (1 or 0), and the number of passes.
        """
        positive(limit, "limit")
        start, shared = [ca.SX(x) for x in start], [ca.SX(s) for s in shared]
        child = Builder(self, instances=self._instances)
        a_carry = [self._fresh("carry", c.shape) for c in start]
        a_shared = [self._fresh("shared", s.shape) for s in shared]
        following, error = fn(child, *a_carry, *a_shared)
        following = same_shapes(following, start, "iterate")
        if ca.SX(error).shape != (1, 1):
            raise ProgramError(f"iterate: the error must be a scalar, got shape {ca.SX(error).shape}")
        status_in, status_out = self._status_carry(child, None, None)
        if status_in.numel():
            error = ca.if_else(status_out != 0, ca.SX.nan(), error)
        final = [self._fresh("final", c.shape) for c in start]
        ended = self._fresh("ended", 2)
        status = self._fresh("status", status_in.shape)
        self._steps.append(
            LoopStep(
                count=limit, tolerance=float(tolerance), each=(),
                carry=flat([*start, ca.SX.zeros(status_in.shape)]), shared=flat(shared),
                body=LoopBody(
                    index=self._fresh("index", 1), each=ca.SX(0, 1), carry=flat([*a_carry, status_in]),
                    shared=flat(a_shared), steps=tuple(child._steps),
                    outputs=flat([*following, status_out, error]),
                ),
                final=flat([*final, status]), stacked=ended,
            )
        )  # fmt: skip
        self._absorb(status)
        return tuple(final), ended[0], ended[1]

    def fail_if(self, condition: SX, message: str, **fields: object) -> int:
        """Give the sample a status where the condition holds; the first check that fails decides.

        Args:
            condition: scalar, 0 is false.
            message: text with `{field}` places; `{index}` is the instance of the enclosing map or scan.
            fields: values for the places; inside a map or scan a list gives one value per instance.
        Returns:
            The status code, as numbered in this scope (final at the top level).
        """
        condition = ca.SX(condition)
        if condition.shape != (1, 1):
            raise ProgramError(f"fail_if {message!r}: the condition must be a scalar, got {condition.shape}")
        if self._instances is not None:
            if "{index}" in message and "index" not in fields:
                fields["index"] = range(self._instances)
            fields = {name: self._per_instance(message, name, value) for name, value in fields.items()}
        self._messages.append((message, {name: plain(value) for name, value in fields.items()}))
        self._checks.append(Check(condition=condition, code=ca.SX(len(self._messages))))
        return len(self._messages)

    # -- statuses -------------------------------------------------------------------------------------
    def _per_instance(self, message: str, name: str, value: object) -> object:
        if not isinstance(value, list | tuple | range):
            return value
        if len(value) != self._instances:
            raise ProgramError(f"fail_if {message!r}: field {name!r} has {len(value)} values, expected {self._instances}")
        return PerInstance(values=tuple(value))

    def _status_carry(self, child: Builder, count: int | None, index: SX | None) -> tuple[SX, SX]:
        """Carry symbol and next value for the first failing check of a body; empty where it has no checks."""
        if not child._checks:
            return ca.SX(0, 1), ca.SX(0, 1)
        offset, stride = len(self._messages), 0
        if count is not None and index is not None and has_instances(child._messages):
            stride = len(child._messages)
            for i in range(count):
                self._messages += of_instance(child._messages, i)
        else:
            self._messages += child._messages
        before = self._fresh("status", 1)
        local = first_failing(child._checks)
        code = local + offset + (index * stride if index is not None and stride else 0)
        return before, ca.if_else(before != 0, before, ca.if_else(local != 0, code, 0))

    def _absorb(self, status: SX) -> None:
        if status.numel():
            self._checks.append(Check(condition=None, code=status))

    def _inline(self, children: Sequence[Builder], count: int) -> None:
        """Take over what unrolled instances recorded, with the codes that a loop would give them."""
        for i, child in enumerate(children):
            self._steps += child._steps
            offset = len(self._messages)
            if has_instances(child._messages):
                self._messages += of_instance(child._messages, i)
            elif i == 0:
                self._messages += child._messages
            else:
                offset -= len(child._messages)
            for check in child._checks:
                code = check.code + offset if check.condition is not None else shift(check.code, offset)
                self._checks.append(Check(condition=check.condition, code=code))

    def _readable(self, each: Sequence[Each], *, symbols: bool = False) -> list[Each]:
        """Arguments as a loop of this scope reads them: bodies capture symbols, so that rows of parameters stay rows at the
        root alone."""
        rows = self is self._root and not symbols
        return [(e if rows else e.symbols()) if isinstance(e, ParameterRows) else ca.SX(e) for e in each]

    def _fresh(self, name: str, shape: int | tuple[int, int]) -> SX:
        self._root._symbols += 1
        rows, columns = (shape, 1) if isinstance(shape, int) else shape
        return ca.SX.sym(f"{name}#{self._root._symbols}", rows, columns)


def _size(steps: Sequence[LoopStep], outputs: SX) -> int:
    """Number of expression nodes of a scope, loops counted once."""
    operands = [step.expressions for step in steps]
    inner = sum(_size(step.body.steps, step.body.outputs) for step in steps)
    return int(ca.n_nodes(ca.vertcat(outputs, *operands))) + inner
