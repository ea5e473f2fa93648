r"""Gram matrix of many rows, :math:`G = \sum_k s_{k \bmod a}^2\,(Y_k, y_k)^T (Y_k, y_k)`, with half the products.

Rows are copied, scaled and padded, 64 at a time into a small buffer; tiles of 4 x 12 sums stay in
registers. Only tiles on and above the diagonal are computed.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .kernel import choose_backend

Array = NDArray[np.float64]
ROWS, HIGH, WIDE = 64, 4, 12
"""Rows of the buffer; rows and columns of a tile: 12 sums of 4 numbers, 3 loads and one broadcast fit 16 registers."""
WORTH = 5_000_000
"""Products per block from which the compiled code is worth its 0.1 s of compilation; below, NumPy."""
V = "<4 x double>"
_ATTRIBUTES = 'attributes #0 = { nounwind "prefer-vector-width"="256" }'


class Gram:
    """The sum over blocks of rows (Y, y); rows of each of `a` actuators are multiplied by its scale.

    Args:
        P: columns of Y; a: rows per sample.

    Checked by: tests/kernels/test_gram.py.
    """

    def __init__(self, P: int, a: int) -> None:
        self.P, self.a = P, a
        self._sums = np.zeros((_padded(P), _padded(P)))

    def add(self, Y: Array, y: Array, scale: Array) -> None:
        """Add samples Y (n, a, P), y (n, a), scale (a,)."""
        n = len(Y)
        if n * self.a * self.P**2 < WORTH or choose_backend() != "llvm":
            flat = (np.concatenate([Y, y[:, :, None]], axis=2) * scale[:, None]).reshape(n * self.a, self.P + 1)
            self._sums[: self.P + 1, : self.P + 1] += flat.T @ flat
            return
        arrays = [np.ascontiguousarray(x, dtype=np.float64) for x in (Y, y, scale)]
        _compiled(self.P, self.a)[0](n * self.a, *(x.ctypes.data for x in arrays), self._sums.ctypes.data)

    def matrix(self) -> Array:
        """(P + 1, P + 1), symmetric; y is the last column."""
        upper = np.triu(self._sums[: self.P + 1, : self.P + 1])
        return np.asarray(upper + np.triu(upper, 1).T)


def _padded(P: int) -> int:
    """Columns of the buffer: the next multiple of a tile above P + 1."""
    return -(-(P + 1) // WIDE) * WIDE


@functools.cache
def _compiled(P: int, a: int) -> tuple[Callable[..., None], Any]:
    """The function of rows, Y, y, scale and G, and the library that keeps it alive."""
    from .jit import Library, compile_text

    library = Library(compile_text("\n".join([tile_text(_padded(P)), gram_text(P, a), _ATTRIBUTES])))
    return library.function("gram"), library


def tile_text(Q: int) -> str:
    """Adds the products of 4 by 12 columns of the buffer to a tile of G."""
    sums = [(i, j) for i in range(HIGH) for j in range(WIDE // 4)]
    lines = ["define internal void @tile(ptr %I, ptr %J, ptr %G) noinline #0 {", "entry:", "  br label %row", "row:"]
    lines.append("  %k = phi i64 [ 0, %entry ], [ %next, %row ]")
    lines += [f"  %s{i}{j} = phi {V} [ zeroinitializer, %entry ], [ %t{i}{j}, %row ]" for i, j in sums]
    lines.append(f"  %at = mul i64 %k, {Q}")
    for j in range(WIDE // 4):
        lines += [f"  %jo{j} = add i64 %at, {4 * j}", f"  %jp{j} = getelementptr double, ptr %J, i64 %jo{j}"]
        lines.append(f"  %j{j} = load {V}, ptr %jp{j}, align 8")
    for i in range(HIGH):
        lines += [f"  %io{i} = add i64 %at, {i}", f"  %ip{i} = getelementptr double, ptr %I, i64 %io{i}"]
        lines += [f"  %i{i} = load double, ptr %ip{i}, align 8", f"  %b{i} = insertelement {V} poison, double %i{i}, i32 0"]
        lines.append(f"  %x{i} = shufflevector {V} %b{i}, {V} poison, <4 x i32> zeroinitializer")
    for i, j in sums:
        lines.append(f"  %m{i}{j} = fmul contract {V} %x{i}, %j{j}")
        lines.append(f"  %t{i}{j} = fadd contract {V} %s{i}{j}, %m{i}{j}")
    lines += ["  %next = add i64 %k, 1", f"  %more = icmp slt i64 %next, {ROWS}", "  br i1 %more, label %row, label %end", "end:"]
    for i, j in sums:
        lines.append(f"  %g{i}{j} = getelementptr double, ptr %G, i64 {i * Q + 4 * j}")
        lines += [f"  %o{i}{j} = load {V}, ptr %g{i}{j}, align 8", f"  %n{i}{j} = fadd {V} %o{i}{j}, %t{i}{j}"]
        lines.append(f"  store {V} %n{i}{j}, ptr %g{i}{j}, align 8")
    return "\n".join([*lines, "  ret void", "}", ""])


def gram_text(P: int, a: int) -> str:
    """Packs 64 rows at a time and visits the tiles on and above the diagonal."""
    Q = _padded(P)
    copied = []
    for c in range(0, P + 1):
        kind = V if c % 4 == 0 and c + 4 <= P else "double" if c >= P - P % 4 else ""
        if not kind:
            continue
        source = f"getelementptr double, ptr %from, i64 {c}" if c < P else "getelementptr double, ptr %y, i64 %line"
        factor = "%wide" if kind == V else "%factor"
        copied += [f"  %f{c} = {source}", f"  %v{c} = load {kind}, ptr %f{c}, align 8"]
        copied += [f"  %w{c} = fmul {kind} %v{c}, {factor}", f"  %p{c} = getelementptr double, ptr %to, i64 {c}"]
        copied.append(f"  store {kind} %w{c}, ptr %p{c}, align 8")
    return f"""define void @gram(i64 %n, ptr %Y, ptr %y, ptr %scale, ptr %G) #0 {{
entry:
  %buffer = alloca [{ROWS * Q} x double], align 64
  call void @llvm.memset.p0.i64(ptr %buffer, i8 0, i64 {8 * ROWS * Q}, i1 false)
  %some = icmp sgt i64 %n, 0
  br i1 %some, label %chunk, label %leave
chunk:
  %start = phi i64 [ 0, %entry ], [ %after, %columns.end ]
  br label %pack
pack:
  %r = phi i64 [ 0, %chunk ], [ %r.next, %packed ]
  %line = add i64 %start, %r
  %out = mul i64 %r, {Q}
  %to = getelementptr double, ptr %buffer, i64 %out
  %inside = icmp slt i64 %line, %n
  br i1 %inside, label %copy, label %clear
copy:
  %in = mul i64 %line, {P}
  %from = getelementptr double, ptr %Y, i64 %in
  %own = urem i64 %line, {a}
  %place = getelementptr double, ptr %scale, i64 %own
  %factor = load double, ptr %place, align 8
  %one = insertelement {V} poison, double %factor, i32 0
  %wide = shufflevector {V} %one, {V} poison, <4 x i32> zeroinitializer
{chr(10).join(copied)}
  br label %packed
clear:
  call void @llvm.memset.p0.i64(ptr %to, i8 0, i64 {8 * Q}, i1 false)
  br label %packed
packed:
  %r.next = add i64 %r, 1
  %r.more = icmp slt i64 %r.next, {ROWS}
  br i1 %r.more, label %pack, label %columns
columns:
  %j = phi i64 [ 0, %packed ], [ %j.next, %column.end ]
  %j.place = getelementptr double, ptr %buffer, i64 %j
  %top = add i64 %j, {WIDE}
  br label %tiles
tiles:
  %i = phi i64 [ 0, %columns ], [ %i.next, %tiles ]
  %i.place = getelementptr double, ptr %buffer, i64 %i
  %g.row = mul i64 %i, {Q}
  %g.at = add i64 %g.row, %j
  %g.place = getelementptr double, ptr %G, i64 %g.at
  call void @tile(ptr %i.place, ptr %j.place, ptr %g.place)
  %i.next = add i64 %i, {HIGH}
  %i.more = icmp slt i64 %i.next, %top
  br i1 %i.more, label %tiles, label %column.end
column.end:
  %j.next = add i64 %j, {WIDE}
  %j.more = icmp slt i64 %j.next, {Q}
  br i1 %j.more, label %columns, label %columns.end
columns.end:
  %after = add i64 %start, {ROWS}
  %again = icmp slt i64 %after, %n
  br i1 %again, label %chunk, label %leave
leave:
  ret void
}}
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
"""
