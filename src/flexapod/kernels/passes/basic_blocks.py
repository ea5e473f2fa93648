"""Basic blocks: where straight-line code may be cut.

The time that LLVM takes for a block grows faster than the block (scheduling, allocation of registers), so that thousands of
operations are compiled in parts. A cut never comes between a product and the only sum that reads it, nor between a comparison
and the selections that do: the code of both sides stays what it was, and so does every result.
"""

from __future__ import annotations

from flexapod.kernels.tape.graph import COMPARISONS, Graph

PART = 2000
"""Lines of LLVM text from which a part may end: more take longer to compile, fewer run slower (measured)."""


def places(graph: Graph) -> set[int]:
    """Nodes before which code may be cut; the number behind the last node counts as well.

    Checked by: tests/kernels/test_basic_blocks.py.
    """
    change = _held(graph)
    found, pending = set(range(graph.front)), 0
    for node in range(graph.front, len(graph.ops)):
        if not pending:
            found.add(node)
        pending += change[node]
    return found | {len(graph.ops)}


def _held(graph: Graph) -> list[int]:
    """Change, at each node, of the number of values that must not meet a cut."""
    uses, last = [0] * len(graph.ops), [-1] * len(graph.ops)
    for node in range(graph.front, len(graph.ops)):
        for k in graph.operands(node):
            uses[k] += 1
            last[k] = node
    change = [0] * len(graph.ops)
    for node in range(graph.front, len(graph.ops)):
        op = graph.ops[node]
        fuses = op == "mul" and uses[node] == 1 and graph.ops[last[node]] == "add"
        if fuses or (op in COMPARISONS and uses[node]):
            change[node] += 1
            change[last[node]] -= 1
    return change
