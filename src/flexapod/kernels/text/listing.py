"""Listing: a tape as named intermediate variables, the neutral form behind readable Python, C, Markdown and LaTeX.

What is used once stays inside the expression that uses it, as the entries of matrices in Briot 2014 section 4; everything else
gets a name: `p1, p2 ...` in the set-up part, `t1, t2 ...` in the main part. Outputs carry their own names.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from flexapod.kernels.tape.graph import Graph, LoopNode
from flexapod.kernels.tape.signature import Signature
from flexapod.kernels.tape.tape import Tape
from flexapod.kernels.text.statements import Assign, Expr, Repeat, Statement, entries, operators

INLINE = frozenset({"add", "mul", "div"})
LONGEST = 5
"""Operators up to which an expression that is used once is written where it is used."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Listing:
    """Set-up and main part as statements.

    Args:
        signature: boundary of the model.
        parameters: identifier -> dotted path in the robot file, in the order of the signature.
        aliases: name -> entry of an input that it represents, e.g. ``q12`` -> ``joint_position[1]``; those that are read.
        constants: names that the set-up part hands to the main part.
        setup, main: statements in the order of evaluation.
        status: 0 is good.
    """

    signature: Signature
    parameters: dict[str, str]
    aliases: dict[str, str]
    constants: tuple[str, ...]
    setup: tuple[Statement, ...]
    main: tuple[Statement, ...]
    status: Expr


def make_listing(tape: Tape, names: Mapping[str, str] | None = None) -> Listing:
    """Listing of a tape.

    Args:
        names: entry of an input -> short name for it; names that mean something else already are left out.

    Checked by: tests/generator/test_generated_text.py.
    """
    signature = tape.signature
    outputs = [entry for o in signature.outputs for entry in entries(o.name, o.shape)]
    fresh = Fresh({i.name for i in signature.inputs} | {o.name for o in signature.outputs})
    whole = [entry for i in signature.inputs for entry in entries(i.name, i.shape)]
    read = {tape.main.args[k][0] for k, op in enumerate(tape.main.ops) if op == "arg"}
    chosen = {entry: name for entry, name in (names or {}).items() if fresh.take(name)}
    aliases = {chosen[entry]: entry for k, entry in enumerate(whole) if entry in chosen and k in read}
    inputs = [chosen.get(entry, entry) for entry in whole]
    parameters = _identifiers([p.name for p in signature.parameters], fresh)
    first = _Writer(tape.setup, list(parameters), fresh, "p")
    values = first.write()
    constants = [_named(first, value, "p") for value in values]
    second = _Writer(tape.main, [*inputs, *constants], fresh, "t", [*outputs, None])
    *_, status = second.write()
    return Listing(
        signature=signature,
        parameters=parameters,
        aliases=aliases,
        constants=tuple(dict.fromkeys(constants)),
        setup=tuple(first.statements),
        main=tuple(second.statements),
        status=status,
    )


class Fresh:
    """Names that are not taken."""

    def __init__(self, taken: set[str]) -> None:
        self._taken = taken
        self._counts: Counter[str] = Counter()

    def next(self, prefix: str) -> str:
        """The next free name `<prefix><number>`."""
        while True:
            self._counts[prefix] += 1
            name = f"{prefix}{self._counts[prefix]}"
            if self.take(name):
                return name

    def take(self, name: str) -> bool:
        """Take a name; False if it is taken already."""
        free = name not in self._taken
        self._taken.add(name)
        return free


def _identifiers(paths: Sequence[str], fresh: Fresh) -> dict[str, str]:
    """Identifier of every dotted path: `legs.A.rod.mass` is `legs_A_rod_mass`."""
    found = {}
    for path in paths:
        name = base = re.sub(r"\W", "_", path, flags=re.ASCII)
        while not fresh.take(name):
            name = fresh.next(base + "_")
        found[name] = path
    return found


def _named(writer: _Writer, value: Expr, prefix: str) -> str:
    """A name for an expression."""
    return value if isinstance(value, str) else writer.assign(writer.fresh.next(prefix), value)


class _Writer:
    """Statements of one graph."""

    def __init__(
        self, graph: Graph, arguments: Sequence[Expr], fresh: Fresh, prefix: str, targets: Sequence[str | None] = ()
    ) -> None:
        self.statements: list[Statement] = []
        self.fresh = fresh
        self._graph, self._arguments, self._prefix = graph, arguments, prefix
        self._targets = targets or [None] * len(graph.outputs)
        self._uses = Counter(k for node in range(len(graph.ops)) for k in graph.operands(node))
        self._uses.update(ref >> 1 for ref in graph.outputs)
        self._values: dict[int, Expr] = {}
        self._results: dict[int, dict[int, Expr]] = {}

    def assign(self, name: str, value: Expr) -> str:
        """Add a statement; returns the name."""
        self.statements.append(Assign(name=name, value=value))
        return name

    def of(self, ref: int) -> Expr:
        """Expression of a reference."""
        value = self._values[ref >> 1]
        return ("neg", value) if ref & 1 else value

    def write(self) -> list[Expr]:
        """All statements; returns the expressions of the outputs."""
        claimed: dict[int, str] = {}
        for target, ref in zip(self._targets, self._graph.outputs, strict=True):
            if target is not None and not ref & 1 and self._graph.ops[ref >> 1] not in ("const", "arg", "result"):
                claimed.setdefault(ref >> 1, target)
        for node, op in enumerate(self._graph.ops):
            if op == "loop":
                self._loop(node)
            else:
                self._values[node] = self._node(node, op, claimed.get(node))
        outputs = [self.of(ref) for ref in self._graph.outputs]
        for target, value in zip(self._targets, outputs, strict=True):
            if target is not None and value != target:
                self.assign(target, value)
        return outputs

    def _node(self, node: int, op: str, target: str | None) -> Expr:
        args = self._graph.args[node]
        if op == "const":
            return self._graph.values[node]
        if op == "arg":
            return self._arguments[args[0]]
        if op == "result":
            return self._results[args[0]][args[1]]
        if op == "add" and args[1] & 1:
            value: Expr = ("sub", self.of(args[0]), self.of(args[1] ^ 1))
        else:
            value = (op, *[self.of(ref) for ref in args])
        if target is not None:
            return self.assign(target, value)
        if self._uses[node] == 1 and op in INLINE and operators(value) <= LONGEST:
            return value
        return self.assign(self.fresh.next(self._prefix), value)

    def _loop(self, node: int) -> None:
        loop, operands = self._graph.loops[node], self._graph.args[node]
        index = self.fresh.next("i")
        groups = [(self.fresh.next("e"), tuple(self.of(r) for r in loop.each_operands(operands, j))) for j in range(loop.each)]
        carry = [(self.fresh.next("c"), self.of(ref)) for ref in loop.carry_operands(operands)]
        shared = [self.of(ref) for ref in loop.shared_operands(operands)]
        arguments = [index, *(f"{name}[{index}]" for name, _ in groups), *(name for name, _ in carry), *shared]
        body = _Writer(loop.body, arguments, self.fresh, self._prefix)
        outputs = body.write()
        read = {a[1] for a, op in zip(self._graph.args, self._graph.ops, strict=True) if op == "result" and a[0] == node}
        ending = self._until(loop, body, outputs, read) if loop.tolerance is not None else self._stack(loop, body, outputs, index)
        self.statements.append(
            Repeat(
                index=index, count=loop.count, carry=tuple(carry), groups=tuple(groups), body=tuple(body.statements),
                following=tuple(outputs[: loop.carry]), **ending,
            )
        )  # fmt: skip
        last: list[Expr] = [name for name, _ in carry]
        if loop.tolerance is not None:
            last += [ending["converged"] or 0.0, ending["passes"] or 0.0]
        elif ending["stacked"]:
            last += [f"{ending['stacked'][0]}[{k}]" for k in range(loop.stacked * loop.count)]
        self._results[node] = dict(enumerate(last))

    def _until(self, loop: LoopNode, body: _Writer, outputs: list[Expr], read: set[int]) -> dict[str, Any]:
        return {
            "error": body.assign(self.fresh.next("error"), outputs[-1]),
            "tolerance": loop.tolerance,
            "converged": self.fresh.next("converged") if loop.carry in read else None,
            "passes": self.fresh.next("passes") if loop.carry + 1 in read else None,
        }

    def _stack(self, loop: LoopNode, body: _Writer, outputs: list[Expr], index: str) -> dict[str, Any]:
        if not loop.stacked:
            return {"stacked": None}
        name = self.fresh.next("s")
        for k, value in enumerate(outputs[loop.carry :]):
            body.assign(f"{name}[{k * loop.count} + {index}]" if k else f"{name}[{index}]", value)
        return {"stacked": (name, loop.stacked * loop.count)}
