"""Parting: where straight-line code is cut into basic blocks.

The time that LLVM takes for a block grows faster than the block (scheduling, allocation of registers), so that thousands of
operations are compiled in parts. A cut never comes between a product and the only sum that reads it, nor between a comparison
and the selections that do: the code of both sides stays what it was.
"""

from __future__ import annotations

from .graph import COMPARISONS, Graph

PART = 2000
"""Nodes of a part: larger ones take longer to compile, smaller ones run slower (measured)."""


def cuts(graph: Graph, part: int = PART) -> set[int]:
    """Nodes before which a new part begins.

    Checked by: tests/kernels/test_parting.py.
    """
    if len(graph.ops) < 2 * part:
        return set()
    held = _held(graph)
    found: set[int] = set()
    pending, size = 0, 0
    for node in range(len(graph.ops)):
        if size >= part and not pending:
            found.add(node)
            size = 0
        pending += held[node]
        size += 1
    return found


def _held(graph: Graph) -> list[int]:
    """Change, at each node, of the number of values that must not meet a cut."""
    uses, last = [0] * len(graph.ops), [-1] * len(graph.ops)
    for node in range(len(graph.ops)):
        for k in graph.operands(node):
            uses[k] += 1
            last[k] = node
    change = [0] * len(graph.ops)
    for node, op in enumerate(graph.ops):
        fuses = op == "mul" and uses[node] == 1 and graph.ops[last[node]] == "add"
        if fuses or (op in COMPARISONS and uses[node]):
            change[node] += 1
            change[last[node]] -= 1
    return change
