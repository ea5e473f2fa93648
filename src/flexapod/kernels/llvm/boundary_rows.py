"""LLVM text of the boundary: rows of 4 samples in memory become vectors over samples, and back.

Samples are rows of `size` doubles. Four columns at a time are transposed with shuffles; the last four
columns overlap the ones before where `size` is not a multiple of 4, and rows of 1 to 3 doubles are
shuffled whole. Columns are written as soon as four of them are known, so that few values wait for the end.
"""

from __future__ import annotations

from collections.abc import Sequence

from flexapod.kernels.llvm.writer import LANES, V, Writer


class Rows:
    """Four rows of an array in memory, read column by column on demand."""

    def __init__(self, writer: Writer, base: str, size: int) -> None:
        self._w = writer
        self._base = base
        self._size = size
        self._columns: dict[int, str] = {}

    def column(self, k: int) -> str:
        """Vector of entry k of the four rows."""
        if k not in self._columns:
            if self._size < LANES:
                self._columns |= self._narrow()
            else:
                first = min(k - k % LANES, self._size - LANES)
                rows = [load(self._w, self._base, r * self._size + first) for r in range(LANES)]
                for i, value in enumerate(transpose(self._w, rows)):
                    self._columns.setdefault(first + i, value)
        return self._columns[k]

    def _narrow(self) -> dict[int, str]:
        size = self._size
        whole = f"<{LANES * size} x double>"
        value = self._w.let(f"load {whole}, ptr {self._base}, align 8")
        if size == 1:
            return {0: value}
        return {k: shuffle(self._w, whole, value, value, range(k, LANES * size, size)) for k in range(size)}


class RowStores:
    """Some columns, one after the other, of four rows of `size` doubles in memory, written as they become known."""

    def __init__(self, writer: Writer, base: str, size: int, columns: range) -> None:
        self._w = writer
        self._base = base
        self._size = size
        self._values: dict[int, str] = {}
        self._starts: dict[int, list[int]] = {k: [] for k in columns}  # blocks of four that a column is part of
        self._missing: dict[int, int] = {}
        if len(columns) >= LANES:
            for start in columns[::LANES]:
                first = min(start, columns.stop - LANES)
                self._missing[first] = LANES
                for k in range(first, first + LANES):
                    self._starts[k].append(first)

    def put(self, k: int, value: str) -> None:
        """Column k; every column is given once."""
        self._values[k] = value
        for first in self._starts[k]:
            self._missing[first] -= 1
            if not self._missing[first]:
                columns = [self._values[first + i] for i in range(LANES)]
                for r, row in enumerate(transpose(self._w, columns)):
                    store(self._w, V, row, self._base, r * self._size + first)
        if self._starts[k]:
            return
        if self._size >= LANES:
            _store_single(self._w, self._base, self._size, k, value)
        elif len(self._values) == self._size:
            _store_narrow(self._w, self._base, [self._values[i] for i in range(self._size)])


def _store_single(w: Writer, base: str, size: int, k: int, value: str) -> None:
    for lane in range(LANES):
        store(w, "double", w.let(f"extractelement {V} {value}, i32 {lane}"), base, lane * size + k)


def _store_narrow(w: Writer, base: str, columns: Sequence[str]) -> None:
    """Write four rows of 1 to 3 doubles."""
    size = len(columns)
    if size == 1:
        store(w, V, columns[0], base, 0)
        return
    pair = f"<{2 * LANES} x double>"
    both = shuffle(w, V, columns[0], columns[1], range(2 * LANES))
    if size == 2:
        rows = shuffle(w, pair, both, both, [lane + LANES * k for lane in range(LANES) for k in range(2)])
        store(w, pair, rows, base, 0)
        return
    third = shuffle(w, V, columns[2], columns[2], [0, 1, 2, 3, 0, 1, 2, 3])
    order = [lane + LANES * k for lane in range(LANES) for k in range(3)]
    store(w, f"<{3 * LANES} x double>", shuffle(w, pair, both, third, order), base, 0)


def transpose(w: Writer, rows: Sequence[str]) -> list[str]:
    """Transpose a 4x4 block."""
    a, b, c, d = rows
    low0, high0 = shuffle(w, V, a, b, (0, 4, 2, 6)), shuffle(w, V, a, b, (1, 5, 3, 7))
    low1, high1 = shuffle(w, V, c, d, (0, 4, 2, 6)), shuffle(w, V, c, d, (1, 5, 3, 7))
    first, second = (0, 1, 4, 5), (2, 3, 6, 7)
    return [
        shuffle(w, V, low0, low1, first),
        shuffle(w, V, high0, high1, first),
        shuffle(w, V, low0, low1, second),
        shuffle(w, V, high0, high1, second),
    ]


def row_base(w: Writer, arrays: str, k: int, size: int) -> str:
    """Address of the first of the four rows of array number k."""
    place = w.let(f"getelementptr inbounds ptr, ptr {arrays}, i64 {k}")
    base = w.let(f"load ptr, ptr {place}, align 8")
    offset = w.let(f"mul i64 %row, {size}")
    return w.let(f"getelementptr inbounds double, ptr {base}, i64 {offset}")


def gather(w: Writer, base: str, index: str, size: int) -> str:
    """Column `index`, a number that a loop counts, of four rows."""
    value = "poison"
    for lane in range(LANES):
        offset = w.let(f"add i64 {index}, {lane * size}")
        place = w.let(f"getelementptr inbounds double, ptr {base}, i64 {offset}")
        value = w.let(f"insertelement {V} {value}, double {w.let(f'load double, ptr {place}, align 8')}, i32 {lane}")
    return value


def store_indexed(w: Writer, array: str, first: int, index: str, target: tuple[str, int, int]) -> str:
    """Write entry `first + index` of an array of vectors into rows, base, size and column given; returns the vector."""
    base, size, column = target
    value = w.load_vector(array, w.let(f"add i64 {index}, {first}"))
    place = w.let(f"add i64 {index}, {column}")
    for lane in range(LANES):
        at = w.let(f"getelementptr inbounds double, ptr {base}, i64 {w.let(f'add i64 {place}, {lane * size}')}")
        w.do(f"store double {w.let(f'extractelement {V} {value}, i32 {lane}')}, ptr {at}, align 8")
    return value


def shuffle(w: Writer, kind: str, a: str, b: str, order: Sequence[int]) -> str:
    """Pick lanes of two vectors."""
    mask = ", ".join(f"i32 {k}" for k in order)
    return w.let(f"shufflevector {kind} {a}, {kind} {b}, <{len(order)} x i32> <{mask}>")


def load(w: Writer, base: str, offset: int) -> str:
    """Four doubles in a row."""
    place = w.let(f"getelementptr inbounds double, ptr {base}, i64 {offset}")
    return w.let(f"load {V}, ptr {place}, align 8")


def store(w: Writer, kind: str, value: str, base: str, offset: int) -> None:
    """Write doubles in a row."""
    place = w.let(f"getelementptr inbounds double, ptr {base}, i64 {offset}")
    w.do(f"store {kind} {value}, ptr {place}, align 8")
