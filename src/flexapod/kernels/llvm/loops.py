"""LLVM text of loops: counted, and iterate-until with lanes that stop one by one."""

from __future__ import annotations

from collections.abc import Callable

from flexapod.kernels.llvm.writer import LANES, M, V, Writer, splat
from flexapod.kernels.tape.graph import LoopNode

Body = Callable[[str, list[str]], list[str]]  # index and carry to next carry and outputs


def _open(w: Writer, starts: list[tuple[str, str]]) -> tuple[str, list[str], int]:
    """Begin a loop block whose variables start at (type, value); returns label, names, line of the first."""
    label, before = w.name("loop"), w.label
    w.do(f"br label %{label}")
    w.start_block(label)
    names = ["%" + w.name("p") for _ in starts]
    line = len(w.lines)
    for name, (kind, value) in zip(names, starts, strict=True):
        w.lines.append(f"  {name} = phi {kind} [ {value}, %{before} ]")
    return label, names, line


def _close(w: Writer, label: str, line: int, following: list[str], again: str) -> None:
    """End a loop block: next values of its variables, and the condition to go on."""
    for k, value in enumerate(following):
        w.lines[line + k] += f", [ {value}, %{w.label} ]"
    after = w.name("after")
    w.do(f"br i1 {again}, label %{label}, label %{after}")
    w.start_block(after)


def counted(w: Writer, count: int, body: Callable[[str], None]) -> None:
    """Loop over 0 ... count - 1."""
    label, (index,), line = _open(w, [("i64", "0")])
    body(index)
    following = w.let(f"add i64 {index}, 1")
    _close(w, label, line, [following], w.let(f"icmp slt i64 {following}, {count}"))


def emit_counted(w: Writer, loop: LoopNode, body: Body, start: list[str], array: str) -> list[str]:
    """Counted loop; returns the final carry."""
    label, (index, *carry), line = _open(w, [("i64", "0"), *((V, x) for x in start)])
    outputs = body(index, carry)
    for k, value in enumerate(outputs[loop.carry :]):
        w.store_vector(value, array, w.let(f"add i64 {index}, {k * loop.count}"))
    following = w.let(f"add i64 {index}, 1")
    again = w.let(f"icmp slt i64 {following}, {loop.count}")
    _close(w, label, line, [following, *outputs[: loop.carry]], again)
    return outputs[: loop.carry]


def emit_until(w: Writer, loop: LoopNode, body: Body, start: list[str], array: str) -> list[str]:
    """Iterate until every lane has converged or failed; returns final carry, converged, number of passes."""
    assert loop.tolerance is not None
    true, zero = f"<{', '.join(['i1 1'] * LANES)}>", splat(0.0)
    variables = [("i64", "0"), (M, true), (V, zero), (V, zero), *((V, x) for x in start)]
    label, (index, active, converged, passes, *carry), line = _open(w, variables)
    *following, error = body(index, carry)
    kept = [w.let(f"select {M} {active}, {V} {x}, {V} {old}") for x, old in zip(following, carry, strict=True)]
    counted = w.let(f"fadd {V} {passes}, {splat(1.0)}")
    passes = w.let(f"select {M} {active}, {V} {counted}, {V} {passes}")
    done = w.let(f"fcmp ole {V} {error}, {splat(loop.tolerance)}")
    newly = w.let(f"and {M} {active}, {done}")
    converged = w.let(f"select {M} {newly}, {V} {splat(1.0)}, {V} {converged}")
    open_ = w.let(f"fcmp ogt {V} {error}, {splat(loop.tolerance)}")
    active = w.let(f"and {M} {active}, {open_}")
    bits = w.let(f"bitcast {M} {active} to i{LANES}")
    some = w.let(f"icmp ne i{LANES} {bits}, 0")
    after = w.let(f"add i64 {index}, 1")
    below = w.let(f"icmp slt i64 {after}, {loop.count}")
    again = w.let(f"and i1 {some}, {below}")
    _close(w, label, line, [after, active, converged, passes, *kept], again)
    return [*kept, converged, passes]
