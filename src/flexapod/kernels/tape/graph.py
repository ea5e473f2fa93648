"""Graph: straight-line code in static single assignment form, with loops as nodes that hold a graph.

A *reference* is `2 * node + sign`: the value of a node or its negative, so that negation costs nothing.
Nodes are numbered in an order in which they can be evaluated. Operations are the words of `ARITY`, and

- `const`: `values[node]`, never negative;  `arg`: argument number `args[node][0]` of the graph;
- `loop`: see `LoopNode`; `args[node]` are its operands;  `result`: `args[node] = (loop node, position)`.

Truth is a number: 0 is false, everything else true, and comparisons give 0 or 1.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

T = TypeVar("T")

ARITY = {
    "add": 2, "mul": 2, "div": 2, "sqrt": 1,
    "sin": 1, "cos": 1, "tan": 1, "asin": 1, "acos": 1, "atan": 1, "atan2": 2,
    "sinh": 1, "cosh": 1, "tanh": 1, "asinh": 1, "acosh": 1, "atanh": 1,
    "exp": 1, "log": 1, "expm1": 1, "log1p": 1, "pow": 2, "fmod": 2, "hypot": 2,
    "floor": 1, "ceil": 1, "abs": 1, "sign": 1, "copysign": 2, "min": 2, "max": 2,
    "lt": 2, "le": 2, "eq": 2, "ne": 2, "not": 1, "and": 2, "or": 2, "select": 3,
}  # fmt: skip

BLOCK = 1024
"""Nodes that are looked at in one step."""

COMPARISONS = frozenset({"lt", "le", "eq", "ne", "not", "and", "or"})


@dataclass(eq=False)
class Graph:
    """Nodes in evaluation order, and the references that are returned."""

    arity: int
    ops: list[str] = field(default_factory=list)
    args: list[tuple[int, ...]] = field(default_factory=list)
    values: dict[int, float] = field(default_factory=dict)
    loops: dict[int, LoopNode] = field(default_factory=dict)
    outputs: list[int] = field(default_factory=list)

    def operands(self, node: int) -> Iterator[int]:
        """Nodes that a node reads."""
        op = self.ops[node]
        if op == "result":
            yield self.args[node][0]
        elif op not in ("arg", "const"):
            for ref in self.args[node]:
                yield ref >> 1

    @property
    def front(self) -> int:
        """Number of arguments that stand before all other nodes: thousands in kernels of many modes, copied in one step."""
        ops, end = self.ops, 0
        while ops[end : end + BLOCK].count("arg") == BLOCK:
            end += BLOCK
        return next((node for node in range(end, len(ops)) if ops[node] != "arg"), len(ops))

    def live(self) -> list[bool]:
        """Whether each node reaches an output."""
        ops, args = self.ops, self.args
        mark = [False] * len(ops)
        for ref in self.outputs:
            mark[ref >> 1] = True
        for node in range(len(ops) - 1, self.front - 1, -1):
            if mark[node]:  # `operands`, written out, since this loop visits every node of every pass
                op = ops[node]
                if op == "result":
                    mark[args[node][0]] = True
                elif op not in ("arg", "const"):
                    for ref in args[node]:
                        mark[ref >> 1] = True
        return mark

    def to_data(self) -> dict[str, Any]:
        """Plain data for the cache; `from_data` is the inverse."""
        return {
            "arity": self.arity,
            "ops": self.ops,
            "args": [list(a) for a in self.args],
            "values": [[node, value] for node, value in self.values.items()],
            "loops": [[node, loop.to_data()] for node, loop in self.loops.items()],
            "outputs": self.outputs,
        }

    @staticmethod
    def from_data(data: Mapping[str, Any]) -> Graph:
        """Graph from the data that `to_data` wrote."""
        return Graph(
            arity=data["arity"],
            ops=list(data["ops"]),
            args=[tuple(a) for a in data["args"]],
            values={node: float(value) for node, value in data["values"]},
            loops={node: LoopNode.from_data(loop) for node, loop in data["loops"]},
            outputs=list(data["outputs"]),
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class LoopNode:
    """A counted loop (`tolerance is None`) or iterate-until.

    Operands: `each` groups of `count` references, then `carry` start values, then `shared` values.
    Body arguments: index, each..., carry..., shared...
    Body outputs: next carry..., then `stacked` values (counted) or the error (until).
    Results: final carry..., then `stacked` groups of `count` values (counted), or converged and passes.
    """

    count: int
    each: int
    carry: int
    shared: int
    stacked: int
    tolerance: float | None
    body: Graph

    def each_operands(self, operands: Sequence[T], j: int) -> Sequence[T]:
        """References that instances 0, 1, ... get as their `each` argument j."""
        return operands[j * self.count : (j + 1) * self.count]

    def carry_operands(self, operands: Sequence[T]) -> Sequence[T]:
        """Start values."""
        start = self.each * self.count
        return operands[start : start + self.carry]

    def shared_operands(self, operands: Sequence[T]) -> Sequence[T]:
        """Values that all instances read."""
        return operands[self.each * self.count + self.carry :]

    def to_data(self) -> dict[str, Any]:
        """Plain data for the cache."""
        names = ("count", "each", "carry", "shared", "stacked", "tolerance")
        return {name: getattr(self, name) for name in names} | {"body": self.body.to_data()}

    @staticmethod
    def from_data(data: Mapping[str, Any]) -> LoopNode:
        """Loop from the data that `to_data` wrote."""
        return LoopNode(**{**data, "body": Graph.from_data(data["body"])})
