"""Map of one function over many instances in loops of plain arithmetic, which compilers of C turn into vector instructions.

A loop with a square root (which may set errno), a function or a selection stays scalar. So a body is cut into layers: sums,
products and quotients in loops, everything else between the loops, instance by instance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca

from flexapod.arrays import SX
from flexapod.kernels.tape.control_flow import Builder

PLAIN = frozenset({ca.OP_ADD, ca.OP_SUB, ca.OP_MUL, ca.OP_DIV, ca.OP_NEG, ca.OP_SQ, ca.OP_TWICE, ca.OP_INV, ca.OP_ASSIGN})
"""Operations of loops."""

COMMUTATIVE = frozenset({ca.OP_ADD, ca.OP_MUL})


@dataclass
class LayerNode:
    """One operation.

    Args:
        op: of CasADi; args: numbers of nodes; value: of inputs and constants, and of what all instances have in common.
        layer: loops before it; common: the same for all instances.
    """

    op: int
    args: tuple[int, ...]
    layer: int = 0
    common: bool = False
    value: SX | None = None


def map_in_layers(
    b: Builder, outputs: Sequence[SX], count: int, *, each: Sequence[tuple[SX, SX]], shared: Sequence[tuple[SX, SX]] = ()
) -> tuple[SX, ...]:
    """Columns `outputs` of symbols for many instances, (k x count) each, in layers.

    Args:
        each: columns of symbols, with their values (k x count).
        shared: columns of symbols, with their values for all instances.

    Checked by: tests/kernels/test_arithmetic_loops.py.
    """
    own, common = (ca.vertcat(*[symbols for symbols, _ in group]) for group in (each, shared))
    values = [ca.vertcat(*[x for _, x in group]) for group in (each, shared)]
    nodes, results = _nodes(ca.Function("body", [own, common], [ca.vertcat(*[ca.densify(x) for x in outputs])]), *values)
    rows = _rows(b, nodes, results, count)
    found, at = [], 0
    for out in outputs:
        picked = [rows[k] for k in results[at : at + out.numel()]]
        found.append(ca.vertcat(*[row if row.numel() == count else ca.repmat(row, 1, count) for row in picked]))
        at += out.numel()
    return tuple(found)


def _nodes(f: ca.Function, each: SX, shared: SX) -> tuple[list[LayerNode], list[int]]:
    """Operations of a function with their layers, and the numbers of its results."""
    nodes: list[LayerNode] = []
    slots: dict[int, int] = {}
    results: dict[int, int] = {}
    known: dict[tuple[float, ...], int] = {}
    for k in range(f.n_instructions()):
        op, given, written = f.instruction_id(k), f.instruction_input(k), f.instruction_output(k)
        if op == ca.OP_OUTPUT:
            results[written[1]] = slots[given[0]]
            continue
        if op == ca.OP_CONST:
            node = LayerNode(op=op, args=(), common=True, value=ca.SX(f.instruction_constant(k)))
        elif op == ca.OP_INPUT:
            node = LayerNode(op=op, args=(), common=given[0] == 1, value=shared[given[1]] if given[0] else each[given[1], :])
        else:
            args = tuple(slots[x] for x in given)
            node = _operation(op, tuple(sorted(args)) if op in COMMUTATIVE else args, nodes)
        constant = [f.instruction_constant(k)] if op == ca.OP_CONST else []
        key: tuple[float, ...] = (op, *node.args) if node.args else (op, *given, *constant)
        if key not in known:
            known[key] = len(nodes)
            nodes.append(node)
        slots[written[0]] = known[key]
    return nodes, [results[k] for k in range(len(results))]


def _operation(op: int, args: tuple[int, ...], nodes: Sequence[LayerNode]) -> LayerNode:
    """An operation after its arguments; one that is not plain starts a new layer."""
    if all(nodes[k].common for k in args):
        known = [x for k in args if (x := nodes[k].value) is not None]
        return LayerNode(op=op, args=args, common=True, value=_applied(op, known))
    layer = max(nodes[k].layer for k in args)
    return LayerNode(op=op, args=args, layer=layer if op in PLAIN else layer + 1)


def _applied(op: int, args: Sequence[SX]) -> SX:
    """An operation of expressions, entry by entry."""
    return ca.SX.unary(op, args[0]) if len(args) == 1 else ca.SX.binary(op, *args)


def _rows(b: Builder, nodes: Sequence[LayerNode], results: Sequence[int], count: int) -> dict[int, SX]:
    """Rows (1, count) of the values that cross layers, by number; scalars of those that all instances share."""
    rows: dict[int, SX] = {k: node.value for k, node in enumerate(nodes) if node.value is not None}
    inside = {k for k, node in enumerate(nodes) if node.value is None and node.op in PLAIN}
    kept = set(results)
    for k, node in enumerate(nodes):
        kept |= {x for x in node.args if k not in inside or nodes[x].layer != node.layer}
    for layer in range(max(node.layer for node in nodes) + 1):
        for k, node in enumerate(nodes):
            if k not in inside and node.layer == layer and node.value is None:
                rows[k] = _applied(node.op, [rows[x] for x in node.args])
        own = [k for k in sorted(inside) if nodes[k].layer == layer]
        rows |= _loop(b, nodes, own, [k for k in own if k in kept], (rows, count))
    return rows


def _loop(
    b: Builder, nodes: Sequence[LayerNode], own: Sequence[int], kept: Sequence[int], before: tuple[dict[int, SX], int]
) -> dict[int, SX]:
    """Rows of one loop, from those before and the number of instances."""
    rows, count = before
    if not kept:
        return {}
    taken = sorted({x for k in own for x in nodes[k].args} - set(own))
    varying, same = [x for x in taken if not nodes[x].common], [x for x in taken if nodes[x].common]
    constant = {x: rows[x] for x in same if rows[x].is_constant()}
    same = [x for x in same if x not in constant]

    def body(_: SX, column: SX, *shared: SX) -> list[SX]:
        values = constant | {x: column[i] for i, x in enumerate(varying)}
        values |= {x: shared[0][i] for i, x in enumerate(same)}
        for k in own:
            values[k] = _applied(nodes[k].op, [values[x] for x in nodes[k].args])
        return [ca.vertcat(*[values[k] for k in kept])]

    shared = [ca.vertcat(*[rows[x] for x in same])] if same else []
    (found,) = b.map(body, count, each=[ca.vertcat(*[rows[x] for x in varying])], shared=shared, unroll=False)
    return {k: found[i, :] for i, k in enumerate(kept)}
