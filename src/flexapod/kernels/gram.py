r"""Gram matrix of many rows, :math:`G = \sum_k s_{k \bmod a}^2\,(Y_k, r_k)^T (Y_k, r_k)`, :math:`r_k = y_k - Y_k\beta_0`, with
half the products.

Rows are copied, scaled and padded, 64 at a time into a small buffer, their residuals found on the way; tiles of 4 x 12 sums
stay in registers. Only tiles on and above the diagonal are computed.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from flexapod.arrays import Array
from flexapod.kernels.kernel import choose_backend

ROWS, HIGH, WIDE = 64, 4, 12
"""Rows of the buffer; rows and columns of a tile: 12 sums of 4 numbers, 3 loads and one broadcast fit 16 registers."""
WORTH = 5_000_000
"""Products per block from which the compiled code is worth its 0.1 s of compilation; below, NumPy."""
V = "<4 x double>"
_ATTRIBUTES = 'attributes #0 = { nounwind "prefer-vector-width"="256" }'


class Gram:
    """The sum over blocks of rows (Y, y - Y about); rows of each of `a` actuators are multiplied by its scale.

    Args:
        P: columns of Y; a: rows per sample.
        scale: (a,); about: (P,), zero where not given.

    Checked by: tests/kernels/test_gram.py.
    """

    def __init__(self, P: int, a: int, scale: Array, about: Array | None = None) -> None:
        self.P, self.a = P, a
        self._given = np.concatenate([scale, np.zeros(P) if about is None else about])
        self._sums = np.zeros((_padded(P), _padded(P)))
        self._compiled = choose_backend() == "llvm"

    def add(self, Y: Array, y: Array) -> None:
        """Add samples Y (n, a, P), y (n, a)."""
        n, a, P = len(Y), self.a, self.P
        if n * a * P**2 < WORTH or not self._compiled:
            left = y.reshape(n * a) - Y.reshape(n * a, P) @ self._given[a:]
            flat = np.concatenate([Y, left.reshape(n, a, 1)], axis=2) * self._given[:a, None]
            flat = flat.reshape(n * a, P + 1)
            self._sums[: P + 1, : P + 1] += flat.T @ flat
            return
        arrays = [np.ascontiguousarray(x, dtype=np.float64) for x in (Y, y, self._given)]
        _compiled(P, a)[0](n * a, *(x.ctypes.data for x in arrays), self._sums.ctypes.data)

    def matrix(self) -> Array:
        """(P + 1, P + 1), symmetric; y - Y about is the last column."""
        upper = np.triu(self._sums[: self.P + 1, : self.P + 1])
        return np.asarray(upper + np.triu(upper, 1).T)


def _padded(P: int) -> int:
    """Columns of the buffer: the next multiple of a tile above P + 1."""
    return -(-(P + 1) // WIDE) * WIDE


@functools.cache
def _compiled(P: int, a: int) -> tuple[Callable[..., None], Any]:
    """The function of rows, Y, y, (scale, about) and G, and the library that keeps it alive."""
    from flexapod.kernels.llvm.jit import Library, compile_text

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


def copied_text(P: int, a: int) -> str:
    """Copies a row times its factor, and behind it the factor times y less the product of the row with `about`.

    The product has four partial sums of vectors, so that none waits for the one before.
    """
    lines, sums = [], ["zeroinitializer"] * 4
    for k, c in enumerate(range(0, P - P % 4, 4)):
        lines += [f"  %f{c} = getelementptr double, ptr %from, i64 {c}", f"  %v{c} = load {V}, ptr %f{c}, align 8"]
        lines += [f"  %a{c} = getelementptr double, ptr %given, i64 {a + c}", f"  %b{c} = load {V}, ptr %a{c}, align 8"]
        lines += [f"  %m{c} = fmul contract {V} %v{c}, %b{c}", f"  %s{c} = fadd contract {V} {sums[k % 4]}, %m{c}"]
        lines += [f"  %w{c} = fmul {V} %v{c}, %wide", f"  %p{c} = getelementptr double, ptr %to, i64 {c}"]
        lines.append(f"  store {V} %w{c}, ptr %p{c}, align 8")
        sums[k % 4] = f"%s{c}"
    lines += [f"  %s.01 = fadd {V} {sums[0]}, {sums[1]}", f"  %s.23 = fadd {V} {sums[2]}, {sums[3]}"]
    lines.append(f"  %s.all = fadd {V} %s.01, %s.23")
    lines += [f"  %e{k} = extractelement {V} %s.all, i32 {k}" for k in range(4)]
    lines += ["  %e.01 = fadd double %e0, %e1", "  %e.23 = fadd double %e2, %e3", "  %dot.0 = fadd double %e.01, %e.23"]
    for k, c in enumerate(range(P - P % 4, P)):
        lines += [f"  %f{c} = getelementptr double, ptr %from, i64 {c}", f"  %v{c} = load double, ptr %f{c}, align 8"]
        lines += [f"  %a{c} = getelementptr double, ptr %given, i64 {a + c}", f"  %b{c} = load double, ptr %a{c}, align 8"]
        lines += [f"  %m{c} = fmul contract double %v{c}, %b{c}", f"  %dot.{k + 1} = fadd contract double %dot.{k}, %m{c}"]
        lines += [f"  %w{c} = fmul double %v{c}, %factor", f"  %p{c} = getelementptr double, ptr %to, i64 {c}"]
        lines.append(f"  store double %w{c}, ptr %p{c}, align 8")
    lines += ["  %f.y = getelementptr double, ptr %y, i64 %line", "  %v.y = load double, ptr %f.y, align 8"]
    lines += [f"  %left = fsub double %v.y, %dot.{P % 4}", "  %w.y = fmul double %left, %factor"]
    lines += [f"  %p.y = getelementptr double, ptr %to, i64 {P}", "  store double %w.y, ptr %p.y, align 8"]
    return "\n".join(lines)


def gram_text(P: int, a: int) -> str:
    """Packs 64 rows at a time and visits the tiles on and above the diagonal."""
    Q = _padded(P)
    return f"""define void @gram(i64 %n, ptr %Y, ptr %y, ptr %given, ptr %G) #0 {{
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
  %place = getelementptr double, ptr %given, i64 %own
  %factor = load double, ptr %place, align 8
  %one = insertelement {V} poison, double %factor, i32 0
  %wide = shufflevector {V} %one, {V} poison, <4 x i32> zeroinitializer
{copied_text(P, a)}
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
