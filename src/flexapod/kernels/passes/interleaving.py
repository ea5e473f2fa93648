"""Interleaving: list scheduling that keeps the units of a processor busy during latencies.

`scheduling` goes depth first, so that an operation often reads what the one before it gives and waits for it. Here operations are
issued cycle by cycle, `ISSUED` at a time, each as soon as its operands are known; of those that may be issued the first in the
order given, and none that is further ahead of the first that waits than `window` allows: more would be alive at a time, and each
value beyond the registers is a store and a load. A product that only one sum reads is issued with that sum, and fuses with it.

The order is for machine code alone; every result stays what it was.
"""

from __future__ import annotations

from heapq import heappop, heappush

from flexapod.kernels.passes.scheduling import renumbered
from flexapod.kernels.tape.graph import Graph

ISSUED = 2
"""Operations of a cycle: processors of today have two units for fused operations."""
WINDOW = 200
"""Measured on six kernels of 800 to 5000 operations: less hides less of the latency, more spills more (AVX2 and AVX-512)."""
CACHED = 2000
"""Sums (with their products) whose code the first instruction cache holds. Longer code waits for its instructions rather than for
results, and fewer of them count. Measured on 4000 sums: 200 places ahead 291 ns, 100 283 ns, 50 275 ns, 20 268 ns."""
LATENCY = {"add": 3, "mul": 3, "div": 13, "sqrt": 21}
FUSED = 4
OTHERS = 2
"""Cycles until a result is known: Zen 3 and 4, and about the same on processors of Intel."""


def interleave(graph: Graph) -> Graph:
    """The same nodes in an order with short waits; bodies of loops too.

    Checked by: tests/kernels/test_interleaving.py.
    """
    own = _own_products(graph)
    units = [n for n, op in enumerate(graph.ops) if op not in ("const", "arg", "result") and n not in own]
    order: list[int] = []
    done: set[int] = set()

    def put(node: int) -> None:
        """Place a node behind what it reads: all that is no unit comes with its first reader."""
        if node not in done:
            done.add(node)
            for k in graph.operands(node):
                if graph.ops[k] != "arg":
                    put(k)
                elif k not in done:
                    done.add(k)
                    order.append(k)
            order.append(node)

    for k in _issued(_read_units(graph, units), [_latency(graph, node, own) for node in units]):
        put(units[k])
    for ref in graph.outputs:
        put(ref >> 1)
    return renumbered(graph, order, interleave)


def window(units: int) -> int:
    """Number of operations that may be issued ahead: the longer the code, the fewer."""
    return int(WINDOW * min(1.0, CACHED / max(units, 1)) ** 2)


def _own_products(graph: Graph) -> dict[int, int]:
    """Product -> the sum that alone reads it."""
    reader: dict[int, int] = {}
    uses = [0] * len(graph.ops)
    for node in range(len(graph.ops)):
        for k in graph.operands(node):
            uses[k] += 1
            reader[k] = node
    for ref in graph.outputs:
        uses[ref >> 1] += 1
    return {
        k: node for k, node in reader.items() if graph.ops[k] == "mul" and uses[k] == 1 and graph.ops[node] == "add"
    }  # fmt: skip


def _read_units(graph: Graph, units: list[int]) -> list[set[int]]:
    """Numbers of the units that each unit waits for."""
    number = {node: k for k, node in enumerate(units)}

    def read(node: int) -> set[int]:
        found: set[int] = set()
        for k in graph.operands(node):
            if k in number:
                found.add(number[k])
            elif graph.ops[k] not in ("arg", "const"):
                found |= read(k)
        return found

    return [read(node) for node in units]


def _latency(graph: Graph, node: int, own: dict[int, int]) -> int:
    products = sum(k in own for k in graph.operands(node)) if graph.ops[node] == "add" else 0
    return FUSED + (products - 1) * LATENCY["mul"] if products else LATENCY.get(graph.ops[node], OTHERS)


def _issued(reads: list[set[int]], latency: list[int]) -> list[int]:
    """Numbers of the units in the order in which they are issued."""
    readers: list[list[int]] = [[] for _ in reads]
    for k, read in enumerate(reads):
        for operand in read:
            readers[operand].append(k)
    ahead = window(len(reads))
    missing, known = [len(read) for read in reads], [0] * len(reads)  # operands not issued; cycle in which a result is known
    ready = [k for k, count in enumerate(missing) if not count]
    coming: list[tuple[int, int]] = []
    waiting, order, taken, cycle = 0, list[int](), [False] * len(reads), 0
    while len(order) < len(reads):
        while coming and coming[0][0] <= cycle:
            heappush(ready, heappop(coming)[1])
        for _ in range(ISSUED):
            if not ready or ready[0] >= waiting + ahead:
                break
            k = heappop(ready)
            order.append(k)
            taken[k], known[k] = True, cycle + latency[k]
            for reader in readers[k]:
                missing[reader] -= 1
                if not missing[reader]:
                    heappush(coming, (max(known[operand] for operand in reads[reader]), reader))
        while waiting < len(reads) and taken[waiting]:
            waiting += 1
        cycle += 1
    return order
