"""LLVM text of a graph: every value is a vector of 4 samples, loops are loops, arrays are on the stack.

Products and sums carry the `contract` flag, which lets them fuse and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from flexapod.kernels.llvm.boundary_rows import gather
from flexapod.kernels.llvm.functions import function_text
from flexapod.kernels.llvm.loops import counted, emit_counted, emit_until
from flexapod.kernels.llvm.writer import LANES, M, V, Writer, lanes, number, splat, vector_of
from flexapod.kernels.passes.basic_blocks import places
from flexapod.kernels.tape.graph import COMPARISONS, Graph, LoopNode
from flexapod.kernels.tape.strides import SHORTEST, Source, progression, segments

_INTRINSICS = {
    "sqrt": "sqrt", "abs": "fabs", "floor": "floor", "ceil": "ceil", "copysign": "copysign", "min": "minnum",
    "max": "maxnum",
}  # fmt: skip
_COMPARE = {"lt": "olt", "le": "ole", "eq": "oeq", "ne": "une"}
LIBM = frozenset({
    "sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh",
    "exp", "log", "expm1", "log1p", "pow", "fmod", "hypot",
})  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Constants:
    """Arguments that lie in an array in memory.

    `numbers(i)` is the place of argument i, or None; `load` reads one by its place. `reload`: loops read a single one anew in
    every pass rather than keep it, which costs no more and keeps registers free.
    """

    numbers: Callable[[int], int | None]
    load: Callable[[str], str]
    reload: bool


@dataclass(frozen=True, kw_only=True)
class MemoryPlace:
    """Place of an argument in memory: column `column` of four rows of `size` doubles that begin at `base`."""

    base: str
    size: int
    column: int


class GraphWriter:
    """Emits the nodes of one graph; nested bodies get a writer of their own.

    `argument(i)` gives the vector of an argument on first use; `constants` says which arguments lie in the array of constants,
    `inputs(i)` where an argument lies in rows of samples; `alike`: all lanes are the same sample, so that the instances of a
    short map may take their places.
    """

    def __init__(
        self, writer: Writer, graph: Graph, argument: Callable[[int], str], constants: Constants,
        inputs: Callable[[int], MemoryPlace | None] = lambda i: None, *, alike: bool = False,
    ) -> None:  # fmt: skip
        self._alike = alike
        self._lanes: dict[int, list[str]] = {}
        self.w = writer
        self.graph = graph
        self._argument = argument
        self._constants = constants
        self._inputs = inputs
        self._values: dict[int, str] = {}
        self._masks: dict[int, str] = {}
        self._negatives: dict[int, str] = {}
        self._arrays: dict[int, str] = {}
        self._finals: dict[int, list[str]] = {}
        self._pairs: dict[int, str] = {}

    def emit(self, ready: Callable[[int], None] | None = None) -> list[str]:
        """Emit everything; returns the vectors of the outputs, or reports the number of each one as soon as it is known."""
        waiting: dict[int, list[int]] = {}
        for k, ref in enumerate(self.graph.outputs):
            waiting.setdefault(ref >> 1, []).append(k)
        whole = places(self.graph)
        for node, op in enumerate(self.graph.ops):
            if op not in ("const", "arg", "result"):
                if node in whole:
                    self.w.end_part()
                if op == "loop":
                    self._loop(node)
                elif op in COMPARISONS:
                    self._masks[node] = self._comparison(node, op)
                else:
                    self._values[node] = self._operation(node, op)
            if ready is not None and node in waiting:
                for k in waiting[node]:
                    ready(k)
                    if node + 1 in whole:
                        self.w.end_part()
        return [self.vector(ref) for ref in self.graph.outputs] if ready is None else []

    def output(self, k: int) -> str:
        """Vector of output k, once it is ready."""
        return self.vector(self.graph.outputs[k])

    # -- values ---------------------------------------------------------------------------------------
    def vector(self, ref: int) -> str:
        """Vector of a reference."""
        node = ref >> 1
        if self.graph.ops[node] == "const":
            return splat(-self.graph.values[node] if ref & 1 else self.graph.values[node])
        value = self._positive(node)
        if not ref & 1:
            return value
        if node not in self._negatives:
            self._negatives[node] = self.w.let(f"fneg {V} {value}")
        return self._negatives[node]

    def _positive(self, node: int) -> str:
        if node not in self._values:
            op, args = self.graph.ops[node], self.graph.args[node]
            if op == "arg":
                value = self._argument(args[0])
            elif op == "result":
                value = self._result(*args)
            else:
                value = self.w.let(f"select {M} {self._masks[node]}, {V} {splat(1.0)}, {V} {splat(0.0)}")
            self._values[node] = value
        return self._values[node]

    def _result(self, loop_node: int, position: int) -> str:
        if loop_node in self._lanes:
            k, instance = divmod(position, self.graph.loops[loop_node].count)
            return self.w.let(f"shufflevector {V} {self._lanes[loop_node][k]}, {V} poison, {lanes([instance] * LANES)}")
        finals = self._finals[loop_node]
        if position < len(finals):
            return finals[position]
        return self.w.load_vector(self._arrays[loop_node], str(position - len(finals)))

    def mask(self, ref: int) -> str:
        """Truth of a reference."""
        node = ref >> 1
        if node not in self._masks:
            self._masks[node] = self.w.let(f"fcmp une {V} {self.vector(node * 2)}, {splat(0.0)}")
        return self._masks[node]

    def _comparison(self, node: int, op: str) -> str:
        args = self.graph.args[node]
        if op in _COMPARE:
            return self.w.let(f"fcmp {_COMPARE[op]} {V} {self.vector(args[0])}, {self.vector(args[1])}")
        masks = [self.mask(ref) for ref in args]
        if op == "not":
            return self.w.let(f"xor {M} {masks[0]}, <{', '.join(['i1 1'] * LANES)}>")
        return self.w.let(f"{op} {M} {masks[0]}, {masks[1]}")

    def _operation(self, node: int, op: str) -> str:
        args = self.graph.args[node]
        if op == "add" and args[1] & 1:
            return self.w.let(f"fsub contract {V} {self.vector(args[0])}, {self.vector(args[1] ^ 1)}")
        if op == "select":
            mask = self.mask(args[0])
            return self.w.let(f"select {M} {mask}, {V} {self.vector(args[1])}, {V} {self.vector(args[2])}")
        values = [self.vector(ref) for ref in args]
        if op in ("add", "mul"):
            return self.w.let(f"f{op} contract {V} {values[0]}, {values[1]}")
        if op == "div":
            return self.w.let(f"fdiv {V} {values[0]}, {values[1]}")
        if op == "sign":
            return self._sign(values[0])
        if op in _INTRINSICS:
            return self._intrinsic(_INTRINSICS[op], values)
        if op in ("sin", "cos"):
            return self._sine_or_cosine(op, args[0])
        if op == "tanh":
            self.w.declared |= function_text(op)
            return self.w.let(f"call {V} @flexapod.tanh({V} {values[0]})")
        return self._libm(op, values)

    def _sine_or_cosine(self, op: str, ref: int) -> str:
        """Both of an argument come from one call."""
        pair = f"{{ {V}, {V} }}"
        if ref not in self._pairs:
            self.w.declared |= function_text(op)
            self._pairs[ref] = self.w.let(f"call {pair} @flexapod.sincos({V} {self.vector(ref)})")
        return self.w.let(f"extractvalue {pair} {self._pairs[ref]}, {int(op == 'cos')}")

    def _sign(self, x: str) -> str:
        positive = self.w.let(f"fcmp ogt {V} {x}, {splat(0.0)}")
        negative = self.w.let(f"fcmp olt {V} {x}, {splat(0.0)}")
        below = self.w.let(f"select {M} {negative}, {V} {splat(-1.0)}, {V} {x}")
        return self.w.let(f"select {M} {positive}, {V} {splat(1.0)}, {V} {below}")

    def _intrinsic(self, name: str, values: list[str]) -> str:
        function = f"@llvm.{name}.v{LANES}f64"
        self.w.declare(f"{V} {function}({', '.join([V] * len(values))})")
        return self.w.let(f"call {V} {function}({', '.join(f'{V} {x}' for x in values)})")

    def _libm(self, name: str, values: list[str]) -> str:
        self.w.declare(f"double @{name}({', '.join(['double'] * len(values))})")
        result = "poison"
        for lane in range(LANES):
            scalars = [self.w.let(f"extractelement {V} {x}, i32 {lane}") for x in values]
            y = self.w.let(f"call double @{name}({', '.join(f'double {x}' for x in scalars)})")
            result = self.w.let(f"insertelement {V} {result}, double {y}, i32 {lane}")
        return result

    # -- loops ----------------------------------------------------------------------------------------
    def _loop(self, node: int) -> None:
        loop, operands = self.graph.loops[node], self.graph.args[node]
        if self._alike and loop.tolerance is None and not loop.carry and 1 < loop.count <= LANES:
            self._lanes[node] = self._side_by_side(loop, operands)
            return
        loaders = [self._each(loop.each_operands(operands, j)) for j in range(loop.each)]
        start = [self.vector(ref) for ref in loop.carry_operands(operands)]
        numbers = [self._constant(ref) for ref in loop.shared_operands(operands)]
        reload = self._constants.reload
        shared = [
            self.vector(ref) if number is None or not reload else ""
            for ref, number in zip(loop.shared_operands(operands), numbers, strict=True)
        ]
        constants = replace(self._constants, numbers=dict(enumerate(numbers, start=1 + loop.each + loop.carry)).get)
        if loop.stacked:
            self._arrays[node] = self.w.stack(f"[{loop.stacked * loop.count} x {V}]")

        def body(index: str, carry: list[str]) -> list[str]:
            values = [*carry, *shared]

            def argument(i: int) -> str:
                if i == 0:
                    return self.w.broadcast(self.w.let(f"sitofp i64 {index} to double"))
                if i <= loop.each:
                    return loaders[i - 1](index)
                return values[i - 1 - loop.each] or constants.load(str(constants.numbers(i)))

            return GraphWriter(self.w, loop.body, argument, constants, alike=self._alike).emit()

        emit = emit_counted if loop.tolerance is None else emit_until
        self._finals[node] = emit(self.w, loop, body, start, self._arrays.get(node, ""))

    def _side_by_side(self, loop: LoopNode, operands: Sequence[int]) -> list[str]:
        """Outputs of a map whose instances are the lanes; lanes beyond their number repeat the last one."""
        shared = loop.shared_operands(operands)

        def argument(i: int) -> str:
            if i == 0:
                return vector_of([float(min(k, loop.count - 1)) for k in range(LANES)])
            if i > loop.each:
                return self.vector(shared[i - 1 - loop.each])
            first, *others = (self.vector(ref) for ref in loop.each_operands(operands, i - 1))
            for k, other in enumerate(others, start=1):
                mixed = lanes([lane if lane < k else LANES + lane for lane in range(LANES)])
                first = self.w.let(f"shufflevector {V} {first}, {V} {other}, {mixed}")
            return first

        constants = replace(self._constants, numbers=lambda _: None)
        return GraphWriter(self.w, loop.body, argument, constants).emit()

    def _each(self, refs: Sequence[int]) -> Callable[[str], str]:
        """Loader of a group of operands by index, without copying where they already lie at equal distances."""
        if {self.graph.ops[ref >> 1] for ref in refs} == {"const"}:
            return self._literal([-self.graph.values[r >> 1] if r & 1 else self.graph.values[r >> 1] for r in refs])
        sources = [self._source(ref) for ref in refs]
        parts = list(segments(sources))
        if len(parts) == 1 and sources[0] is not None:
            return self._loader(sources)
        array = self.w.stack(f"[{len(refs)} x {V}]")
        for part in parts:
            if len(part) >= SHORTEST:
                self._fill(array, part, self._loader([sources[i] for i in part]))
                continue
            for i in part:
                self.w.store_vector(self.vector(refs[i]), array, str(i))
        return lambda index: self.w.load_vector(array, index)

    def _source(self, ref: int) -> Source | None:
        """Place in memory of a reference; None where it is computed."""
        node = ref >> 1
        if ref & 1:
            return None
        number_ = self._constant(ref)
        if number_ is not None:
            return ("constants", 0), number_
        if self.graph.ops[node] == "arg":
            place = self._inputs(self.graph.args[node][0])
            return None if place is None else ((place.base, place.size), place.column)
        found = self.stacked(ref)
        return None if found is None else ((found[0], 0), found[1])

    def _loader(self, sources: Sequence[Source | None]) -> Callable[[str], str]:
        """Loader of what lies at equal distances in one place."""
        known = [source for source in sources if source is not None]
        row = progression([position for _, position in known])
        assert row is not None
        (first, stride), (base, size) = row, known[0][0]

        def at(index: str) -> str:
            index = index if stride == 1 else self.w.let(f"mul i64 {index}, {stride}")
            place = index if first == 0 else self.w.let(f"add i64 {index}, {first}")
            if base == "constants":
                return self._constants.load(place)
            return gather(self.w, base, place, size) if size else self.w.load_vector(base, place)

        return at

    def _fill(self, array: str, part: range, value: Callable[[str], str]) -> None:
        """Copy a part of a group of operands into its array, in a loop."""
        counted(self.w, len(part), lambda index: self.w.store_vector(
            value(index), array, self.w.let(f"add i64 {index}, {part.start}")
        ))  # fmt: skip

    def _constant(self, ref: int) -> int | None:
        """Place of a reference in the array of constants, if it is nothing else."""
        node = ref >> 1
        return None if ref & 1 or self.graph.ops[node] != "arg" else self._constants.numbers(self.graph.args[node][0])

    def stacked(self, ref: int) -> tuple[str, int] | None:
        """Array on the stack and place in it of what a loop gave in one of its passes; None for other references."""
        node = ref >> 1
        if ref & 1 or self.graph.ops[node] != "result":
            return None
        source, position = self.graph.args[node]
        if source in self._lanes:
            return None
        position -= len(self._finals[source])
        return (self._arrays[source], position) if position >= 0 else None

    def _literal(self, values: list[float]) -> Callable[[str], str]:
        name = "@" + self.w.name("data")
        numbers = ", ".join(f"double {number(value)}" for value in values)
        self.w.globals.append(f"{name} = private unnamed_addr constant [{len(values)} x double] [{numbers}], align 32")

        def load(index: str) -> str:
            place = self.w.let(f"getelementptr inbounds double, ptr {name}, i64 {index}")
            return self.w.broadcast(self.w.let(f"load double, ptr {place}, align 8"))

        return load
