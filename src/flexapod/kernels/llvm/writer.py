"""Text of one LLVM function under construction: names, blocks, stack memory, vectors of 4 samples."""

from __future__ import annotations

import struct
from collections.abc import Sequence

from flexapod.kernels.passes import basic_blocks

LANES = 4
V = f"<{LANES} x double>"
M = f"<{LANES} x i1>"
COPY = "call void @llvm.memcpy.p0.p0.i64"


def number(value: float) -> str:
    """A double as LLVM writes it."""
    return f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"


def splat(value: float) -> str:
    """A constant vector."""
    return vector_of([value] * LANES)


def vector_of(values: Sequence[float]) -> str:
    """A constant vector of different numbers."""
    return "<" + ", ".join(f"double {number(value)}" for value in values) + ">"


def lanes(places: Sequence[int]) -> str:
    """The last operand of a shufflevector: lanes of its vectors, those of the second one from LANES on."""
    return f"<{len(places)} x i32> <{', '.join(f'i32 {place}' for place in places)}>"


class Writer:
    """Text of one function under construction."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.entry: list[str] = []
        self.globals: list[str] = []
        self.declared: set[str] = set()
        self.label = "entry"
        self._start = 0
        self._names = 0

    def name(self, prefix: str = "v") -> str:
        """A fresh name, without its % sign."""
        self._names += 1
        return f"{prefix}{self._names}"

    def let(self, text: str) -> str:
        """Emit an instruction with a result."""
        name = "%" + self.name()
        self.lines.append(f"  {name} = {text}")
        return name

    def do(self, text: str) -> None:
        """Emit an instruction without a result."""
        self.lines.append("  " + text)

    def start_block(self, label: str) -> None:
        """Begin a basic block."""
        self.lines.append(f"{label}:")
        self.label = label
        self._start = len(self.lines)

    def end_part(self) -> None:
        """Go on in a new basic block if this one is long; the condition, never met, keeps LLVM from joining them."""
        if len(self.lines) - self._start < basic_blocks.PART:
            return
        label = self.name("part")
        self.do(f"br i1 %never, label %leave, label %{label}")
        self.start_block(label)

    def stack(self, kind: str, align: int = 32) -> str:
        """Memory of the function, allocated once."""
        name = "%" + self.name("m")
        self.entry.append(f"  {name} = alloca {kind}, align {align}")
        return name

    def declare(self, text: str) -> None:
        """Declare an external function, once."""
        self.declared.add("declare " + text)

    def broadcast(self, scalar: str) -> str:
        """A vector with the same double in all lanes."""
        one = self.let(f"insertelement {V} poison, double {scalar}, i32 0")
        return self.let(f"shufflevector {V} {one}, {V} poison, <{LANES} x i32> zeroinitializer")

    def load_vector(self, base: str, index: str) -> str:
        """Vector number `index` of an array on the stack."""
        place = self.let(f"getelementptr inbounds {V}, ptr {base}, i64 {index}")
        return self.let(f"load {V}, ptr {place}, align 32")

    def store_vector(self, value: str, base: str, index: str) -> None:
        """Write vector number `index` of an array on the stack."""
        place = self.let(f"getelementptr inbounds {V}, ptr {base}, i64 {index}")
        self.do(f"store {V} {value}, ptr {place}, align 32")
