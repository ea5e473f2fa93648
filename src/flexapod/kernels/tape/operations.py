"""Operation counts: one +, -, x, /, root or function call each; negation and copies are free.

A fused multiply-add counts two. Loops count body times passes; iterate-until counts one pass of its body.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass

from flexapod.kernels.tape.graph import COMPARISONS, Graph

_KIND = {"add": "add", "mul": "multiply", "div": "divide", "sqrt": "root", "select": "select"}
_LEAVES = frozenset({"arg", "const", "loop", "result"})


@dataclass(frozen=True, kw_only=True)
class Operations:
    """Number of operations by kind."""

    add: int = 0
    multiply: int = 0
    divide: int = 0
    root: int = 0
    function: int = 0
    select: int = 0  # comparisons and selections, not part of the total
    variables: int = 0  # intermediate values, each loop body once
    iterations: int = 0  # operations of one pass of the iterate-until bodies, part of the total

    @property
    def total(self) -> int:
        """All operations except comparisons and selections."""
        return self.add + self.multiply + self.divide + self.root + self.function

    def __str__(self) -> str:
        """The counts in one line."""
        text = (
            f"{self.total} operations: {self.add} +/-, {self.multiply} x, {self.divide} /, "
            f"{self.root} roots, {self.function} functions; {self.select} selections, {self.variables} variables"
        )
        return text + (f"; {self.iterations} of them in one pass of the iterations" if self.iterations else "")


def count_operations(graph: Graph) -> Operations:
    """Operations of a graph without dead nodes."""
    counts = dict.fromkeys(asdict(Operations()), 0)
    for node, op in enumerate(graph.ops):
        if op == "loop":
            loop = graph.loops[node]
            passes = loop.count if loop.tolerance is None else 1
            body = count_operations(loop.body)
            for kind, number in asdict(body).items():
                counts[kind] += number if kind == "variables" else passes * number
            if loop.tolerance is not None:
                counts["iterations"] += body.total - body.iterations
        elif op not in _LEAVES:
            counts["variables"] += 1
            counts["select" if op in COMPARISONS else _KIND.get(op, "function")] += 1
    return Operations(**counts)
