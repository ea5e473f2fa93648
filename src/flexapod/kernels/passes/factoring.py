r"""Factoring: sums and products used only once are rearranged with fewer operations.

.. math:: c_1 (x\,(c_2\,y)) \to (c_1 c_2)\,(x\,y),\qquad x a + x b - x d \to x\,(a + b - d)

A product or partial sum with two readers stays whole: taking it apart would compute it twice. The factor that occurs in most
terms of a sum goes out first, then the same within the bracket and among the rest.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from flexapod.kernels.passes.dependence import FIXED, body_arguments
from flexapod.kernels.passes.invariants import simplify
from flexapod.kernels.passes.value_numbering import Numbering
from flexapod.kernels.tape.graph import Graph


def factored(graph: Graph, classes: Sequence[int], cost: Callable[[Graph], int], rounds: int = 4) -> Graph:
    """Equivalent graph of at most the same cost; repeated while it helps.

    Args:
        classes: dependence classes of the arguments; factors that do not vary are multiplied first, so that their product
            can leave the main part.
        cost: what is to become small, e.g. the number of operations of the main part.

    Checked by: tests/generator/test_factoring.py.
    """
    best, least = graph, cost(graph)
    for _ in range(rounds):
        found = simplify(_Factoring(best, classes).run())
        now = cost(found)
        if now >= least:
            break
        best, least = found, now
    return best


@dataclass(frozen=True)
class _Term:
    """number * product of factors; factors are positive references of the new graph."""

    number: float
    factors: tuple[int, ...]


class _Factoring:
    """Copies a graph; roots of sums and products are rebuilt from their terms."""

    def __init__(self, graph: Graph, classes: Sequence[int]) -> None:
        self._graph, self._arguments = graph, classes
        self._classes: dict[int, int] = {}
        self._n = Numbering()
        self._refs: dict[int, int] = {}
        self._uses = Counter(k for node in range(len(graph.ops)) for k in graph.operands(node))
        self._uses.update(ref >> 1 for ref in graph.outputs)
        self._inside = self._absorbed()

    def run(self) -> Graph:
        """The new graph."""
        graph, n = self._graph, self._n
        for node, op in enumerate(graph.ops):
            args = graph.args[node]
            if op == "const":
                self._refs[node] = n.const(graph.values[node])
            elif op == "arg":
                self._refs[node] = n.arg(args[0])
            elif op == "loop":
                loop = graph.loops[node]
                inside = body_arguments(loop, [self._class(self._new(ref)) for ref in args])
                body = _Factoring(loop.body, inside).run()
                body.arity = loop.body.arity
                self._refs[node] = n.loop(replace(loop, body=body), [self._new(ref) for ref in args])
            elif op == "result":
                self._refs[node] = n.result(self._refs[args[0]], args[1])
            elif node in self._inside:
                continue
            elif op == "add":
                self._refs[node] = self._sum([self._term(ref) for ref in self._summands(2 * node)])
            elif op == "mul":
                self._refs[node] = self._product(self._term(2 * node))
            else:
                self._refs[node] = n.make(op, *[self._new(ref) for ref in args])
        n.graph.outputs = [self._new(ref) for ref in graph.outputs]
        n.graph.arity = graph.arity
        return n.graph

    def _new(self, ref: int) -> int:
        made = self._refs[ref >> 1]
        return self._n.neg(made) if ref & 1 else made

    def _class(self, ref: int) -> int:
        """Dependence class of a reference of the new graph."""
        node, made = ref >> 1, self._n.graph
        if node not in self._classes:
            if made.ops[node] == "arg":
                self._classes[node] = self._arguments[made.args[node][0]]
            else:
                self._classes[node] = max((self._class(2 * k) for k in made.operands(node)), default=FIXED)
        return self._classes[node]

    def _absorbed(self) -> set[int]:
        """Nodes with one reader that takes them apart: sums in sums, products in sums and products."""
        inside: set[int] = set()
        for node, op in enumerate(self._graph.ops):
            if op in ("add", "mul"):
                for ref in self._graph.args[node]:
                    kind = self._graph.ops[ref >> 1]
                    if self._uses[ref >> 1] == 1 and (kind == "mul" or kind == op == "add"):
                        inside.add(ref >> 1)
        return inside

    def _summands(self, ref: int) -> list[int]:
        """References whose sum this is."""
        node = ref >> 1
        parts: list[int] = []
        for part in self._graph.args[node]:
            signed = part ^ (ref & 1)
            if part >> 1 in self._inside and self._graph.ops[part >> 1] == "add":
                parts += self._summands(signed)
            else:
                parts.append(signed)
        return parts

    def _term(self, ref: int) -> _Term:
        """A product taken apart; anything else is its own factor."""
        number, factors, open_ = 1.0, list[int](), [ref]
        first = True
        while open_:
            part = open_.pop()
            node = part >> 1
            if part & 1:
                number = -number
            apart = self._graph.ops[node] == "mul" and (node in self._inside or first)
            first = False
            if apart:
                open_ += self._graph.args[node]
                continue
            made = self._refs[node]
            value = self._n.value(made)
            if value is not None and math.isfinite(number * value):
                number *= value
            else:
                number, made = (-number, made ^ 1) if made & 1 else (number, made)
                factors.append(made)
        return _Term(number, tuple(sorted(factors, key=lambda ref: (self._class(ref), ref))))

    def _product(self, term: _Term) -> int:
        """x y z with the number last, so that equal products of factors are found again."""
        n = self._n
        if not term.factors:
            return n.const(term.number)
        value = term.factors[0]
        for factor in term.factors[1:]:
            value = n.mul(value, factor)
        made = n.mul(n.const(abs(term.number)), value)
        return n.neg(made) if term.number < 0 else made

    def _sum(self, terms: Sequence[_Term]) -> int:
        """Sum of terms, the most frequent factor taken out first."""
        n = self._n
        common = self._most_frequent(terms)
        if common is None:
            value = n.const(0.0)
            for term in terms:
                value = n.add(value, self._product(term))
            return value
        number, factor = common
        inner, rest = [], []
        for term in terms:
            if factor is not None and factor in term.factors:
                left = list(term.factors)
                left.remove(factor)
                inner.append(_Term(term.number, tuple(left)))
            elif factor is None and abs(term.number) == number and term.factors:
                inner.append(_Term(math.copysign(1.0, term.number), term.factors))
            else:
                rest.append(term)
        outer = n.const(number) if factor is None else factor
        value = n.mul(outer, self._sum(inner))
        return n.add(value, self._sum(rest)) if rest else value

    def _most_frequent(self, terms: Sequence[_Term]) -> tuple[float, int | None] | None:
        """A factor, or a number other than one, that two or more terms share."""
        counts: Counter[tuple[float, int | None]] = Counter()
        for term in terms:
            counts.update({(1.0, f) for f in term.factors})
            if abs(term.number) != 1.0 and term.factors:
                counts[abs(term.number), None] += 1
        best = max(counts.items(), key=lambda item: (item[1], item[0][1] is not None), default=None)
        return best[0] if best is not None and best[1] > 1 else None
