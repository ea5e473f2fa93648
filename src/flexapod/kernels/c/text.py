"""C99 text of a graph: one sample, doubles, loops as loops, no allocation."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence

from flexapod.kernels.tape.graph import Graph, LoopNode
from flexapod.kernels.tape.strides import progression

_INFIX = {"mul": "*", "div": "/", "lt": "<", "le": "<=", "eq": "==", "ne": "!="}
_CALL = {"abs": "fabs", "min": "fmin", "max": "fmax"}


def number(value: float) -> str:
    """A double as C writes it."""
    if math.isnan(value):
        return "NAN"
    if math.isinf(value):
        return "INFINITY" if value > 0 else "(-INFINITY)"
    return repr(value) if value >= 0 else f"({value!r})"


class Names:
    """Lines of one function, and fresh names in it."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.depth = 1
        self._count = 0

    def fresh(self, prefix: str) -> str:
        """A name that was not used before."""
        self._count += 1
        return f"{prefix}{self._count}"

    def line(self, text: str) -> None:
        """Emit a line at the present depth."""
        self.lines.append("    " * self.depth + text)


class GraphText:
    """Emits the nodes of one graph.

    `argument(i)` is the C expression of an argument; arguments from `first_constant` on lie in the array `constants`.
    `places`: where outputs are to be, by number; an iteration writes there at once what none of its passes reads.
    """

    def __init__(
        self,
        names: Names,
        graph: Graph,
        argument: Callable[[int], str],
        first_constant: int | None = None,
        constants: str = "constants",
        places: Sequence[str] = (),
    ) -> None:
        self._n = names
        self._graph = graph
        self._argument = argument
        self._first_constant = first_constant
        self._constants = constants
        self._values: dict[int, str] = {}
        self._finals: dict[int, list[str]] = {}
        self._arrays: dict[int, str] = {}
        self._groups: dict[tuple[str, ...], str] = {}
        self._places = {graph.args[ref >> 1]: place for ref, place in zip(graph.outputs, places, strict=False)
                        if graph.ops[ref >> 1] == "result" and not ref & 1}  # fmt: skip

    def emit(self) -> list[str]:
        """Emit everything; returns the expressions of the outputs."""
        for node, op in enumerate(self._graph.ops):
            args = self._graph.args[node]
            if op == "const":
                self._values[node] = number(self._graph.values[node])
            elif op == "arg":
                self._values[node] = self._argument(args[0])
            elif op == "result":
                self._values[node] = self._result(*args)
            elif op == "loop":
                self._loop(node)
            else:
                name = self._n.fresh("v")
                self._n.line(f"const double {name} = {self._operation(op, args)};")
                self._values[node] = name
        return [self.value(ref) for ref in self._graph.outputs]

    def value(self, ref: int) -> str:
        """C expression of a reference."""
        return f"(-{self._values[ref >> 1]})" if ref & 1 else self._values[ref >> 1]

    def _result(self, loop_node: int, position: int) -> str:
        finals = self._finals[loop_node]
        if position < len(finals):
            return finals[position]
        return f"{self._arrays[loop_node]}[{position - len(finals)}]"

    def _operation(self, op: str, args: tuple[int, ...]) -> str:
        if op == "add" and args[1] & 1:
            return f"{self.value(args[0])} - {self.value(args[1] ^ 1)}"
        values = [self.value(ref) for ref in args]
        if op == "add":
            return f"{values[0]} + {values[1]}"
        if op in _INFIX:
            return f"{values[0]} {_INFIX[op]} {values[1]}"
        if op == "not":
            return f"{values[0]} == 0.0"
        if op in ("and", "or"):
            return f"({values[0]} != 0.0) {'&&' if op == 'and' else '||'} ({values[1]} != 0.0)"
        if op == "select":
            return f"{values[0]} != 0.0 ? {values[1]} : {values[2]}"
        if op == "sign":
            return f"{values[0]} > 0.0 ? 1.0 : {values[0]} < 0.0 ? -1.0 : {values[0]}"
        return f"{_CALL.get(op, op)}({', '.join(values)})"

    def _loop(self, node: int) -> None:
        loop, operands, n = self._graph.loops[node], self._graph.args[node], self._n
        each = [self._each(loop.each_operands(operands, j)) for j in range(loop.each)]
        unread = set() if loop.tolerance is None else _unread(loop)
        carry = [self._places.get((node, j), "") if j in unread else "" for j in range(loop.carry)]
        for j, ref in enumerate(loop.carry_operands(operands)):
            if not carry[j]:
                carry[j] = n.fresh("c")
                n.line(f"double {carry[j]};" if j in unread else f"double {carry[j]} = {self.value(ref)};")
        shared = [self.value(ref) for ref in loop.shared_operands(operands)]
        used = {a[1] for a, op in zip(self._graph.args, self._graph.ops, strict=True) if op == "result" and a[0] == node}
        if loop.tolerance is None:
            self._arrays[node] = n.fresh("s")
            if loop.stacked:
                n.line(f"double {self._arrays[node]}[{loop.stacked * loop.count}];")
            _counted(n, loop, each, carry, shared, self._arrays[node])
            self._finals[node] = carry
        else:
            self._finals[node] = [*carry, *_until(n, loop, carry, shared, used)]

    def _each(self, refs: Sequence[int]) -> Callable[[str], str]:
        """C expression of a group of operands by index, without copying where they already lie at equal distances."""
        if all(ref & 1 for ref in refs):
            opposite = self._each([ref ^ 1 for ref in refs])
            return lambda index: f"(-{opposite(index)})"
        ops, args = self._graph.ops, self._graph.args
        nodes = [ref >> 1 for ref in refs]
        kinds = {ops[k] for k in nodes}
        plain = not any(ref & 1 for ref in refs)
        if plain and kinds == {"arg"} and self._first_constant is not None:
            row = progression([args[k][0] - self._first_constant for k in nodes])
            if row is not None and row[0] >= 0 and row[1] > 0:
                return _indexed(self._constants, *row)
        if plain and kinds == {"result"} and len({args[k][0] for k in nodes}) == 1:
            source = args[nodes[0]][0]
            positions = [args[k][1] - len(self._finals[source]) for k in nodes]
            if positions[0] >= 0 and positions == list(range(positions[0], positions[0] + len(refs))):
                return _indexed(self._arrays[source], positions[0])
        values = tuple(self.value(ref) for ref in refs)
        found = _side_by_side(values)
        if found is not None:
            return found
        if values not in self._groups:
            self._groups[values] = self._n.fresh("e")
            kind = "static const double" if kinds == {"const"} else "const double"
            self._n.line(f"{kind} {self._groups[values]}[{len(refs)}] = {{{', '.join(values)}}};")
        return _indexed(self._groups[values], 0)


def _unread(loop: LoopNode) -> set[int]:
    """Numbers of carried values that no pass of an iteration reads."""
    body, first = loop.body, 1 + loop.each
    read = {k for node in range(len(body.ops)) for k in body.operands(node)} | {ref >> 1 for ref in body.outputs}
    return set(range(loop.carry)) - {body.args[k][0] - first for k in read if body.ops[k] == "arg"}


def _side_by_side(values: Sequence[str]) -> Callable[[str], str] | None:
    """C expression of neighbours in one array of the function or of a loop around; None where they are not."""
    matches = [_ENTRY.fullmatch(value) for value in values]
    if len(values) < 2 or not all(matches):
        return None
    parts = [match.groups() for match in matches if match]
    array, places = parts[0][0], [int(place) for _, place in parts]
    if any(other != array for other, _ in parts) or places != list(range(places[0], places[0] + len(values))):
        return None
    return _indexed(array, places[0])


def _indexed(array: str, offset: int, stride: int = 1) -> Callable[[str], str]:
    def at(index: str) -> str:
        index = index if stride == 1 else f"{stride} * {index}"
        return f"{array}[{offset} + {index}]" if offset else f"{array}[{index}]"

    return at


def _body(
    n: Names,
    loop: LoopNode,
    index: str,
    each: Sequence[Callable[[str], str]],
    carry: list[str],
    shared: list[str],
) -> list[str]:
    """Emit one pass; returns its outputs, safe against the change of the carry."""
    values = [*carry, *shared]

    def argument(i: int) -> str:
        if i == 0:
            return f"(double){index}"
        return each[i - 1](index) if i <= loop.each else values[i - 1 - loop.each]

    outputs = GraphText(n, loop.body, argument).emit()
    safe = []
    for value in outputs:
        safe.append(n.fresh("n"))
        n.line(f"const double {safe[-1]} = {value};")
    return safe


def _counted(n: Names, loop: LoopNode, each: list[Callable[[str], str]], carry: list[str], shared: list[str], array: str) -> None:
    index = n.fresh("i")
    n.line(f"for (int {index} = 0; {index} < {loop.count}; ++{index}) {{")
    n.depth += 1
    outputs = _body(n, loop, index, each, carry, shared)
    for name, value in zip(carry, outputs, strict=False):
        n.line(f"{name} = {value};")
    for k, value in enumerate(outputs[loop.carry :]):
        n.line(f"{array}[{k * loop.count} + {index}] = {value};")
    n.depth -= 1
    n.line("}")


def _until(n: Names, loop: LoopNode, carry: list[str], shared: list[str], used: set[int]) -> list[str]:
    assert loop.tolerance is not None
    converged, passes, index = n.fresh("converged"), n.fresh("passes"), n.fresh("i")
    if loop.carry in used:
        n.line(f"double {converged} = 0.0;")
    if loop.carry + 1 in used:
        n.line(f"double {passes} = 0.0;")
    n.line(f"int {index} = 0;")
    n.line("do {")
    n.depth += 1
    *following, error = _body(n, loop, index, [], carry, shared)
    for name, value in zip(carry, following, strict=True):
        n.line(f"{name} = {value};")
    if loop.carry + 1 in used:
        n.line(f"{passes} += 1.0;")
    if loop.carry in used:
        n.line(f"if ({error} <= {number(loop.tolerance)}) {converged} = 1.0;")
    n.line(f"if (!({error} > {number(loop.tolerance)})) break;")
    n.depth -= 1
    n.line(f"}} while (++{index} < {loop.count});")
    return [converged, passes]


_ENTRY = re.compile(r"([A-Za-z_]\w*)\[([0-9]+)\]")
_KEYWORDS = frozenset({  # C99
    "auto", "break", "case", "char", "const", "continue", "default", "do", "double", "else", "enum", "extern",
    "float", "for", "goto", "if", "inline", "int", "long", "register", "restrict", "return", "short",
    "signed", "sizeof", "static", "struct", "switch", "typedef", "union", "unsigned", "void", "volatile",
    "while"
})  # fmt: skip
_FUNCTIONS = frozenset({  # used by our text
    "main", "printf", "all_finite", "isfinite", "isnan", "isinf", "signbit", "fabs", "fmin", "fmax", "sqrt", "floor",
    "ceil", "copysign", "sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "asinh",
    "acosh", "atanh", "exp", "log", "expm1", "log1p", "pow", "fmod", "hypot", "NAN", "INFINITY"
})  # fmt: skip
_VARIABLES = frozenset({  # used by our text
    "parameters", "constants", "status", "expected_status", "failures", "i", "k"
})  # fmt: skip
_LOCAL = re.compile(r"(v|c|s|e|n|i|converged|passes)[0-9]+|(in|golden|a)_.*|_.*")


def c_name(prefix: str, name: str) -> str:
    """Name of an input or output in the export called `prefix`."""
    taken = name in _KEYWORDS | _FUNCTIONS | _VARIABLES or _LOCAL.fullmatch(name) or name.startswith(prefix)
    return f"a_{name}" if taken else name


def main_text(names: Names, graph: Graph, places: Sequence[str], targets: Sequence[str]) -> list[str]:
    """Emit the main graph of a tape, its inputs at `places`, its constants in their array; returns the outputs.

    `targets`: where outputs are to be; those that are returned as such are there already."""
    n = len(places)
    return GraphText(names, graph, lambda i: places[i] if i < n else f"constants[{i - n}]", n, places=targets).emit()
