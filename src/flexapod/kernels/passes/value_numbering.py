"""Value numbering: builds a graph in which equal values are one node, and folds constants on the way.

Canonical forms carry the sign outside (`-(y - x)` is the node of `x - y`), order commutative operands by
node number, and write `x - y` as `x + (-y)`, `x^2` as `x * x`, `x + x` as `2 * x`. Zeros are structural:
`0 * x` is 0.

The sign of a zero is not kept (-0 and 0 are one constant, and -(y - x) may be x - y): `copysign` and `atan2` may take the
other side where their argument is exactly zero.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence

from flexapod.kernels.tape.graph import COMPARISONS, Graph, LoopNode

ODD = frozenset({"sin", "tan", "asin", "atan", "sinh", "tanh", "asinh", "atanh", "sign"})
EVEN = frozenset({"cos", "cosh", "abs"})


class Numbering:
    """Graph under construction."""

    def __init__(self) -> None:
        self.graph = Graph(arity=0)
        self._constants: dict[float | None, int] = {}
        self._arguments: dict[int, int] = {}
        self._tables: defaultdict[str, dict[tuple[int, ...], int]] = defaultdict(dict)
        self._sums, self._products = self._tables["add"], self._tables["mul"]

    # -- leaves ---------------------------------------------------------------------------------------
    def const(self, value: float) -> int:
        """Reference of a constant."""
        value = float(value)
        magnitude = abs(value)
        key = None if math.isnan(value) else magnitude
        node = self._constants.get(key)
        if node is None:
            node = self._constants[key] = self._append("const", ())
            self.graph.values[node] = magnitude
        return 2 * node + (1 if value < 0 else 0)

    def arg(self, index: int) -> int:
        """Reference of an argument of the graph."""
        node = self._arguments.get(index)
        if node is None:
            graph = self.graph
            node = self._arguments[index] = len(graph.ops)
            graph.ops.append("arg")
            graph.args.append((index,))
            if index >= graph.arity:
                graph.arity = index + 1
        return 2 * node

    def arguments(self, indices: Sequence[int]) -> list[int]:
        """References of arguments of the graph, thousands in one step where they are new."""
        if not self._arguments.keys().isdisjoint(indices):
            return [self.arg(index) for index in indices]
        graph, first = self.graph, len(self.graph.ops)
        self._arguments.update(zip(indices, range(first, first + len(indices)), strict=True))
        graph.ops += ["arg"] * len(indices)
        graph.args += [(index,) for index in indices]
        graph.arity = max(graph.arity, max(indices, default=-1) + 1)
        return list(range(2 * first, 2 * (first + len(indices)), 2))

    def loop(self, loop: LoopNode, operands: Sequence[int]) -> int:
        """Node (not reference) of a loop."""
        node = self._append("loop", tuple(operands))
        self.graph.loops[node] = loop
        return node

    def result(self, loop_node: int, position: int) -> int:
        """Reference of a result of a loop."""
        return 2 * self._node("result", (loop_node, position))

    # -- questions ------------------------------------------------------------------------------------
    def value(self, ref: int) -> float | None:
        """The number behind a reference, if it is a constant."""
        magnitude = self.graph.values.get(ref >> 1)
        return None if magnitude is None else (-magnitude if ref & 1 else magnitude)

    def neg(self, ref: int) -> int:
        """Negative of a reference; the negative of zero is zero."""
        node, values = ref >> 1, self.graph.values
        return ref if node in values and values[node] == 0.0 else ref ^ 1

    def renumbered(self, refs: Sequence[int] | Mapping[int, int], old: Sequence[int]) -> list[int]:
        """References of another graph as references of this one; `refs`: reference here of every node there."""
        return [self.neg(refs[ref >> 1]) if ref & 1 else refs[ref >> 1] for ref in old]

    # -- operations -----------------------------------------------------------------------------------
    def make(self, op: str, *refs: int) -> int:
        """Reference of an operation on references."""
        values = self.graph.values
        if refs[0] >> 1 in values and op != "select" and all([ref >> 1 in values for ref in refs]):
            folded = fold(op, [-values[ref >> 1] if ref & 1 else values[ref >> 1] for ref in refs])
            if folded is not None:
                return self.const(folded)
        special = _SPECIAL.get(op)
        if special is not None:
            return special(self, *refs)
        if op in ODD and refs[0] & 1:
            return self.neg(2 * self._node(op, (refs[0] ^ 1,)))
        if op in EVEN:
            return 2 * self._node(op, (refs[0] & ~1,))
        return 2 * self._node(op, refs)

    def remake(self, op: str, refs: Sequence[int] | Mapping[int, int], old: Sequence[int]) -> int:
        """`make(op, *renumbered(refs, old))`, an operation of another graph in this one; short for sums and products."""
        if op != "mul" and op != "add":
            return self.make(op, *self.renumbered(refs, old))
        values, (x, y) = self.graph.values, old
        a, b = refs[x >> 1], refs[y >> 1]
        if x & 1:
            a = self.neg(a) if a >> 1 in values else a ^ 1
        if y & 1:
            b = self.neg(b) if b >> 1 in values else b ^ 1
        if a >> 1 in values and b >> 1 in values:
            return self.make(op, a, b)
        return self.mul(a, b) if op == "mul" else self.add(a, b)

    def add(self, a: int, b: int) -> int:
        """Sum; a difference is the sum with a negative reference."""
        graph, i, j = self.graph, a >> 1, b >> 1
        ops, values = graph.ops, graph.values
        if i in values and values[i] == 0.0:
            return b
        if j in values and values[j] == 0.0:
            return a
        if i == j:
            return self.mul(self.const(2.0), a) if a == b else self.const(0.0)
        if ops[i] == "select" or ops[j] == "select":
            merged = self._merge_selects(a, b)
            if merged is not None:
                return merged
        if i > j:
            a, b = b, a
        sign = a & 1
        args = (a ^ 1, b ^ 1) if sign else (a, b)
        node = self._sums.get(args)  # `_node`, written out: half of all nodes of every pass are made here and in `mul`
        if node is None:
            node = self._sums[args] = len(ops)
            ops.append("add")
            graph.args.append(args)
        return 2 * node + sign

    def mul(self, a: int, b: int) -> int:
        """Product; the sign is carried outside."""
        graph, sign = self.graph, (a ^ b) & 1
        args = (a & ~1, b & ~1) if a >> 1 <= b >> 1 else (b & ~1, a & ~1)
        if a >> 1 in graph.values or b >> 1 in graph.values:
            return self._multiple(*args, sign)
        node = self._products.get(args)
        if node is None:
            node = self._products[args] = len(graph.ops)
            graph.ops.append("mul")
            graph.args.append(args)
        return 2 * node + sign

    def _multiple(self, a: int, b: int, sign: int) -> int:
        """Product of which one factor is a number; the number comes first."""
        values = self.graph.values
        if a >> 1 not in values:
            a, b = b, a
        x = values[a >> 1]
        if x in (0.0, 1.0):
            return self.const(0.0) if x == 0.0 else self.neg(b) if sign else b
        inner = self.graph.args[b >> 1] if self.graph.ops[b >> 1] == "mul" else ()
        if inner and (z := self.value(inner[0])) is not None and math.isfinite(x * z):
            folded = self.mul(self.const(x * z), inner[1])
            return self.neg(folded) if sign else folded
        return 2 * self._node("mul", (a, b)) + sign

    def div(self, a: int, b: int) -> int:
        """Quotient; division by a constant becomes multiplication."""
        sign = (a ^ b) & 1
        a, b = a & ~1, b & ~1
        if self.value(a) == 0.0:
            return self.const(0.0)
        y = self.value(b)
        if y is not None and y != 0.0 and math.isfinite(1.0 / y):
            ref = self.mul(a, self.const(1.0 / y))
        elif self.graph.ops[b >> 1] == "div" and self.value(self.graph.args[b >> 1][0]) == 1.0:
            ref = self.mul(a, self.graph.args[b >> 1][1])
        else:
            ref = 2 * self._node("div", (a, b))
        return self.neg(ref) if sign else ref

    def select(self, condition: int, a: int, b: int) -> int:
        """`a` where the condition holds, else `b`; the branch not taken never matters."""
        condition &= ~1
        truth = self.value(condition)
        if truth is not None:
            return a if truth != 0.0 else b
        if a == b:
            return a
        while self.graph.ops[condition >> 1] == "not":
            condition, a, b = self.graph.args[condition >> 1][0] & ~1, b, a
        condition = self._bare_truth(condition)
        if a == condition and self.value(b) == 0.0:
            return a  # x where x is not 0, else 0
        if a & 1:
            return 2 * self._node("select", (condition, self.neg(a), self.neg(b))) ^ 1
        return 2 * self._node("select", (condition, a, b))

    def compare(self, op: str, a: int, b: int) -> int:
        """`lt`, `le`, `eq`, `ne`, in the form with fewest negations."""
        if op in ("eq", "ne") and a > b:
            a, b = b, a
        if a & 1 and self.value(a) is None:
            a, b = (self.neg(a), self.neg(b)) if op in ("eq", "ne") else (self.neg(b), self.neg(a))
        return 2 * self._node(op, (a, b))

    def logic(self, op: str, a: int, b: int) -> int:
        """`and`, `or`; signs do not matter to truth."""
        a, b = sorted((a & ~1, b & ~1))
        for x, y in ((a, b), (b, a)):
            truth = self.value(x)
            if truth is not None and (truth != 0.0) == (op == "or"):
                return self.const(float(op == "or"))
            if (truth is not None or a == b) and self.graph.ops[y >> 1] in COMPARISONS:
                return y
        return 2 * self._node(op, (a, b))

    def commute(self, op: str, a: int, b: int) -> int:
        """Other commutative operations."""
        return a if a == b and op != "hypot" else 2 * self._node(op, (min(a, b), max(a, b)))

    # -- inside ---------------------------------------------------------------------------------------
    def _merge_selects(self, a: int, b: int) -> int | None:
        """`select(c, x, 0) + select(c, 0, y)` is `select(c, x, y)`: how CasADi writes if-else."""
        ops, args = self.graph.ops, self.graph.args
        for x, y in ((a, b), (b, a)):
            if ops[y >> 1] == "select" and args[y >> 1][0] == x & ~1 and self.value(args[y >> 1][1]) == 0.0:
                other = args[y >> 1][2]  # x + select(x, 0, y) is select(x, x, y)
                return self.select(x, x, self.neg(other) if y & 1 else other)
        if ops[a >> 1] != "select" or ops[b >> 1] != "select" or args[a >> 1][0] != args[b >> 1][0]:
            return None
        condition, ax, ay = args[a >> 1]
        _, bx, by = args[b >> 1]
        if a & 1:
            ax, ay = self.neg(ax), self.neg(ay)
        if b & 1:
            bx, by = self.neg(bx), self.neg(by)
        if self.value(ay) == 0.0 and self.value(bx) == 0.0:
            return self.select(condition, ax, by)
        if self.value(ax) == 0.0 and self.value(by) == 0.0:
            return self.select(condition, bx, ay)
        return None

    def _bare_truth(self, condition: int) -> int:
        """`x != 0` holds where `x` does."""
        args = self.graph.args[condition >> 1]
        if self.graph.ops[condition >> 1] == "ne":
            for x, y in (args, args[::-1]):
                if self.value(x) == 0.0:
                    return y & ~1
        return condition

    def _node(self, op: str, args: tuple[int, ...]) -> int:
        table = self._tables[op]
        node = table.get(args)
        if node is None:
            node = table[args] = self._append(op, args)
        return node

    def _append(self, op: str, args: tuple[int, ...]) -> int:
        self.graph.ops.append(op)
        self.graph.args.append(args)
        return len(self.graph.ops) - 1


def _not(n: Numbering, a: int) -> int:
    a &= ~1
    inner = n.graph.args[a >> 1]
    if n.graph.ops[a >> 1] == "not" and n.graph.ops[inner[0] >> 1] in COMPARISONS:
        return inner[0]
    return 2 * n._node("not", (a,))


_SPECIAL: dict[str, Callable[..., int]] = {
    "add": Numbering.add, "mul": Numbering.mul, "div": Numbering.div, "select": Numbering.select, "not": _not,
    "lt": lambda n, a, b: n.compare("lt", a, b), "le": lambda n, a, b: n.compare("le", a, b),
    "eq": lambda n, a, b: n.compare("eq", a, b), "ne": lambda n, a, b: n.compare("ne", a, b),
    "and": lambda n, a, b: n.logic("and", a, b), "or": lambda n, a, b: n.logic("or", a, b),
    "min": lambda n, a, b: n.commute("min", a, b), "max": lambda n, a, b: n.commute("max", a, b),
    "hypot": lambda n, a, b: n.commute("hypot", a & ~1, b & ~1),
}  # fmt: skip


def _sign(x: float) -> float:
    return float((x > 0) - (x < 0))


FOLD: dict[str, Callable[..., float]] = {
    "add": lambda x, y: x + y, "mul": lambda x, y: x * y, "div": lambda x, y: x / y, "sqrt": math.sqrt,
    "sin": math.sin, "cos": math.cos, "tan": math.tan, "asin": math.asin, "acos": math.acos,
    "atan": math.atan, "atan2": math.atan2, "sinh": math.sinh, "cosh": math.cosh, "tanh": math.tanh, "asinh": math.asinh,
    "acosh": math.acosh, "atanh": math.atanh, "exp": math.exp, "log": math.log, "expm1": math.expm1,
    "log1p": math.log1p, "pow": math.pow, "fmod": math.fmod, "hypot": math.hypot, "floor": math.floor,
    "ceil": math.ceil, "abs": abs, "sign": _sign, "copysign": math.copysign, "min": min, "max": max,
    "lt": lambda x, y: x < y, "le": lambda x, y: x <= y, "eq": lambda x, y: x == y, "ne": lambda x, y: x != y,
    "not": lambda x: x == 0, "and": lambda x, y: x != 0 and y != 0, "or": lambda x, y: x != 0 or y != 0,
}  # fmt: skip


def fold(op: str, numbers: list[float]) -> float | None:
    """Result of an operation, or None where it is not a finite number."""
    try:
        value = float(FOLD[op](*numbers))
    except (ValueError, OverflowError, ZeroDivisionError):
        return None
    return value if math.isfinite(value) else None
