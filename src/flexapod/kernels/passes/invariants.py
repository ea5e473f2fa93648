"""Invariants: values that do not change in a loop move out of it; unused values are removed.

`simplify` copies a graph through value numbering. On the way it drops dead nodes, dead carries and dead
outputs of loops, passes constants into bodies, and computes invariant nodes in the enclosing graph.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field

from flexapod.kernels.passes.value_numbering import Numbering
from flexapod.kernels.tape.graph import Graph, LoopNode


def simplify(graph: Graph) -> Graph:
    """Equivalent graph without dead or invariant work in loops."""
    target = Numbering()
    scope = _Scope(inner=target, outer=target, argument=lambda i: (True, target.arg(i)))
    scope.copy(graph, graph.live())
    target.graph.outputs = [scope.lowered(ref) for ref in graph.outputs]
    target.graph.arity = graph.arity
    return target.graph


_Value = tuple[bool, int]  # (lives in the enclosing graph, reference)


@dataclass(kw_only=True, eq=False)
class _Scope:
    """Copy of one body: values live inside, or in the enclosing graph where they do not vary."""

    inner: Numbering
    outer: Numbering
    argument: Callable[[int], _Value]
    first_shared: int = 0
    outside: list[bool] = field(default_factory=list)
    refs: list[int] = field(default_factory=list)
    shared: dict[int, int] = field(default_factory=dict)
    loops: dict[int, tuple[bool, dict[int, int]]] = field(default_factory=dict)

    def of(self, ref: int) -> _Value:
        """Value of a reference of the old graph."""
        is_outer, new = self.outside[ref >> 1], self.refs[ref >> 1]
        return is_outer, ((self.outer if is_outer else self.inner).neg(new) if ref & 1 else new)

    def lowered(self, ref: int) -> int:
        """Value of a reference of the old graph, as a reference of the inner graph."""
        is_outer, new = self.of(ref)
        if not is_outer or self.inner is self.outer:
            return new
        constant = self.outer.value(new)
        if constant is not None:
            return self.inner.const(constant)
        slot = self.shared.setdefault(new >> 1, len(self.shared))
        return self.inner.arg(self.first_shared + slot) ^ (new & 1)

    def copy(self, graph: Graph, live: list[bool]) -> None:
        """Copy the live nodes of a graph."""
        self.outside, self.refs = [True] * len(graph.ops), [0] * len(graph.ops)
        outside, refs, inner, outer, top = self.outside, self.refs, self.inner, self.outer, self.inner is self.outer
        used: dict[int, set[int]] = {node: set() for node in graph.loops}
        for op, args, needed in zip(graph.ops, graph.args, live, strict=True):
            if needed and op == "result":
                used[args[0]].add(args[1])
        front = [node for node, needed in enumerate(live[: graph.front if top else 0]) if needed]
        for node, ref in zip(front, outer.arguments([graph.args[node][0] for node in front]), strict=True):
            refs[node] = ref
        for node in range(graph.front if top else 0, len(graph.ops)):
            if not live[node]:
                continue
            op, args = graph.ops[node], graph.args[node]
            if op == "const":
                refs[node] = outer.const(graph.values[node])
            elif op == "arg":
                outside[node], refs[node] = self.argument(args[0])
            elif op == "result":
                outside[node], results = self.loops[args[0]]
                refs[node] = results[args[1]]
            elif op == "loop":
                self._copy_loop(graph, node, used[node])
            elif top or all([outside[ref >> 1] for ref in args]):
                refs[node] = outer.remake(op, refs, args)
            else:
                outside[node], refs[node] = False, inner.make(op, *[self.lowered(ref) for ref in args])

    def _copy_loop(self, graph: Graph, node: int, used: Collection[int]) -> None:
        args = graph.args[node]
        if self.inner is self.outer or all([self.outside[ref >> 1] for ref in args]):
            operands, is_outer, target = self.outer.renumbered(self.refs, args), True, self.outer
        else:
            operands, is_outer, target = [self.lowered(ref) for ref in args], False, self.inner
        self.loops[node] = is_outer, _copy_loop(graph.loops[node], operands, used, target)


def _copy_loop(loop: LoopNode, operands: list[int], used: Collection[int], target: Numbering) -> dict[int, int]:
    """Make the loop in `target`; returns the references of the used results by position."""
    body, count = loop.body, loop.count
    first_carry, first_shared = 1 + loop.each, 1 + loop.each + loop.carry
    start, shared = loop.carry_operands(operands), loop.shared_operands(operands)
    fixed = {k for k in range(loop.carry) if _is_argument(body, body.outputs[k], first_carry + k)}
    carry, stacked, live = _needed(loop, used, fixed)
    inner = Numbering()

    def argument(i: int) -> _Value:
        if i >= first_shared:
            return True, shared[i - first_shared]
        if i >= first_carry:
            return (True, start[i - first_carry]) if i - first_carry in fixed else (False, inner.arg(i))
        if i >= 1:
            refs = set(loop.each_operands(operands, i - 1))
            return (True, refs.pop()) if len(refs) == 1 else (False, inner.arg(i))
        return (True, target.const(0.0)) if count == 1 else (False, inner.arg(0))

    scope = _Scope(inner=inner, outer=target, argument=argument, first_shared=first_shared)
    scope.copy(body, live)
    results = {k: start[k] for k in fixed}
    kept_stacked = []
    for s in stacked:
        is_outer, ref = scope.of(body.outputs[loop.carry + s])
        group = _known_group(loop, operands, target, inner, is_outer, ref)
        if group is None:
            kept_stacked.append(s)
        else:
            results |= {loop.carry + s * count + i: group[i] for i in range(count)}
    if not carry and not kept_stacked and loop.tolerance is None:
        return results
    kept = [
        *carry,
        *(loop.carry + s for s in kept_stacked),
        *([loop.carry] if loop.tolerance is not None else []),
    ]
    inner.graph.outputs = [scope.lowered(body.outputs[k]) for k in kept]
    return results | _make_loop(loop, operands, target, scope, carry, kept_stacked)


def _make_loop(
    loop: LoopNode, operands: list[int], target: Numbering, scope: _Scope, carry: list[int], stacked: list[int]
) -> dict[int, int]:
    """Add the loop with its remaining nodes; returns the references of its results by old position."""
    graph, start = scope.inner.graph, loop.carry_operands(operands)
    each = _renumber_arguments(graph, loop, carry, scope)
    new_operands = [ref for j in each for ref in loop.each_operands(operands, j)]
    new_operands += [start[k] for k in carry] + [2 * n for n in scope.shared]
    new = LoopNode(
        count=loop.count, each=len(each), carry=len(carry), shared=len(scope.shared), stacked=len(stacked),
        tolerance=loop.tolerance, body=graph,
    )  # fmt: skip
    node = target.loop(new, new_operands)
    positions = list(carry)
    if loop.tolerance is None:
        positions += [loop.carry + s * loop.count + i for s in stacked for i in range(loop.count)]
    else:
        positions += [loop.carry, loop.carry + 1]
    return {old: target.result(node, position) for position, old in enumerate(positions)}


def _is_argument(graph: Graph, ref: int, index: int) -> bool:
    return not ref & 1 and graph.ops[ref >> 1] == "arg" and graph.args[ref >> 1][0] == index


def _needed(loop: LoopNode, used: Collection[int], fixed: Collection[int]) -> tuple[list[int], list[int], list[bool]]:
    """Carries and stacked outputs that matter, and the nodes of the body that they need."""
    body = loop.body
    carry = {k for k in used if k < loop.carry} - set(fixed)
    stacked = sorted({(k - loop.carry) // loop.count for k in used if k >= loop.carry}) if loop.tolerance is None else []
    outputs = list(body.outputs)
    while True:
        kept = [
            *carry,
            *(loop.carry + s for s in stacked),
            *([loop.carry] if loop.tolerance is not None else []),
        ]
        body.outputs = [outputs[k] for k in kept]
        live = body.live()
        body.outputs = outputs
        reads = {
            body.args[n][0] - 1 - loop.each
            for n, op in enumerate(body.ops)
            if live[n] and op == "arg" and 1 + loop.each <= body.args[n][0] < 1 + loop.each + loop.carry
        }
        if reads - set(fixed) <= carry:
            return sorted(carry), stacked, live
        carry |= reads - set(fixed)


def _known_group(
    loop: LoopNode, operands: list[int], target: Numbering, inner: Numbering, is_outer: bool, ref: int
) -> list[int] | None:
    """References of a stacked output known without the loop: invariant, or an argument passed through."""
    if is_outer:
        return [ref] * loop.count
    if inner.graph.ops[ref >> 1] == "arg" and 1 <= inner.graph.args[ref >> 1][0] <= loop.each:
        group = loop.each_operands(operands, inner.graph.args[ref >> 1][0] - 1)
        return [target.neg(r) for r in group] if ref & 1 else list(group)
    return None


def _renumber_arguments(graph: Graph, loop: LoopNode, carry: list[int], scope: _Scope) -> list[int]:
    """Close the gaps between argument numbers; returns the `each` arguments that are left."""
    nodes = [n for n, op in enumerate(graph.ops) if op == "arg"]
    each = sorted({graph.args[n][0] - 1 for n in nodes if 1 <= graph.args[n][0] <= loop.each})
    new = {0: 0} | {1 + j: 1 + k for k, j in enumerate(each)}
    new |= {1 + loop.each + j: 1 + len(each) + k for k, j in enumerate(carry)}
    new |= {scope.first_shared + k: 1 + len(each) + len(carry) + k for k in range(len(scope.shared))}
    for n in nodes:
        graph.args[n] = (new[graph.args[n][0]],)
    graph.arity = 1 + len(each) + len(carry) + len(scope.shared)
    return each
