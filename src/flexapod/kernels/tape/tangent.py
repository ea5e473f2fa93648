r"""Tangent of a tape: results together with their directional derivative, exact, loops and iterations included.

.. math:: (y, \dot y) = \Big(f(x, c),\ \frac{\partial f}{\partial x}\,\dot x\Big)

Every value gets a second one, its derivative along the given direction (forward mode). A loop carries both. Newton's method
carries the derivative of its iterate: it is exact one pass after the iterate is, so that a converged start suffices. Constants
of the parameters have no derivative.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from flexapod.kernels.passes.dependence import UNIFORM, VARYING
from flexapod.kernels.passes.scheduling import schedule
from flexapod.kernels.passes.value_numbering import Numbering
from flexapod.kernels.tape.graph import COMPARISONS, Graph, LoopNode
from flexapod.kernels.tape.signature import Signature
from flexapod.kernels.tape.tape import Tape, improve
from flexapod.kernels.tape.walking import walk

SUFFIX = "_dot"
Pair = tuple[int, int]
"""References of a value and of its derivative."""

FLAT = COMPARISONS | {"floor", "ceil", "sign"}
"""Operations whose derivative is zero wherever it exists."""


def tangent(tape: Tape) -> Tape:
    """The tape with inputs `<name>_dot` (direction) behind its own, and outputs `<name>_dot` behind its own.

    Checked by: tests/kernels/test_tangent.py.
    """
    s, inputs, constants = tape.signature, tape.inputs, tape.constants
    n = Numbering()
    arguments: list[Pair] = [(n.arg(i), n.arg(inputs + i)) for i in range(inputs)]
    arguments += [(n.arg(2 * inputs + k), n.const(0.0)) for k in range(constants)]
    n.graph.arity = 2 * inputs + constants
    *pairs, status = _copied(n, tape.main, arguments)
    n.graph.outputs = [*(a for a, _ in pairs), *(b for _, b in pairs), status[0]]
    graph = improve(n.graph, [VARYING] * (2 * inputs) + [UNIFORM] * constants)
    graph.arity = 2 * inputs + constants
    return Tape(signature=_doubled(s), zeros=tape.zeros, setup=tape.setup, main=schedule(graph))


def parameter_tangent(tape: Tape) -> Tape:
    """The tape with parameters `<name>_dot` (direction) behind its own, and outputs `<name>_dot` behind its own.

    The set-up part gives its constants and their derivatives; inputs have none.

    Checked by: tests/kernels/test_tangent.py.
    """
    s, inputs, constants, count = tape.signature, tape.inputs, tape.constants, len(tape.signature.parameters)
    first = Numbering()
    pairs = _copied(first, tape.setup, [(first.arg(k), first.arg(count + k)) for k in range(count)])
    first.graph.outputs = _split(pairs)
    first.graph.arity = 2 * count
    setup = improve(first.graph, [UNIFORM] * (2 * count))
    n = Numbering()
    arguments: list[Pair] = [(n.arg(i), n.const(0.0)) for i in range(inputs)]
    arguments += [(n.arg(inputs + k), n.arg(inputs + constants + k)) for k in range(constants)]
    *pairs, status = _copied(n, tape.main, arguments)
    n.graph.outputs = [*_split(pairs), status[0]]
    n.graph.arity = inputs + 2 * constants
    main = improve(n.graph, [VARYING] * inputs + [UNIFORM] * (2 * constants))
    for graph, arity in ((setup, 2 * count), (main, inputs + 2 * constants)):
        graph.arity = arity
    outputs = _doubled(s).outputs
    dots = tuple(replace(p, name=p.name + SUFFIX, doc="direction") for p in s.parameters)
    signature = replace(s, name=s.name + "_parameter_tangent", parameters=(*s.parameters, *dots), outputs=outputs)
    zeros = (*tape.zeros, *(name + SUFFIX for name in tape.zeros))
    return Tape(signature=signature, zeros=zeros, setup=schedule(setup), main=schedule(main))


def _doubled(s: Signature) -> Signature:
    dots = tuple(replace(i, name=i.name + SUFFIX, doc="direction") for i in s.inputs)
    outs = tuple(replace(o, name=o.name + SUFFIX, doc="derivative along the direction") for o in s.outputs)
    return replace(s, name=s.name + "_tangent", inputs=(*s.inputs, *dots), outputs=(*s.outputs, *outs))


def _copied(n: Numbering, graph: Graph, arguments: Sequence[Pair]) -> list[Pair]:
    """Add a graph's operations and their derivatives to another one; returns the outputs."""

    def apply(op: str, given: list[Pair]) -> Pair:
        value = n.make(op, *[a for a, _ in given])
        return value, _derivative(n, op, value, given)

    return walk(
        graph, arguments, const=lambda x: (n.const(x), n.const(0.0)), neg=lambda pair: (n.neg(pair[0]), n.neg(pair[1])),
        apply=apply, loop=lambda loop, operands: _loop(n, loop, operands),
    )  # fmt: skip


def _loop(n: Numbering, loop: LoopNode, operands: list[Pair]) -> list[Pair]:
    """Results of a loop that carries every value with its derivative."""
    body = Numbering()
    first_carry, first_shared = 1 + 2 * loop.each, 1 + 2 * loop.each + 2 * loop.carry
    arguments: list[Pair] = [(body.arg(0), body.const(0.0))]
    for first, size in ((1, loop.each), (first_carry, loop.carry), (first_shared, loop.shared)):
        arguments += [(body.arg(first + k), body.arg(first + size + k)) for k in range(size)]
    outputs = _copied(body, loop.body, arguments)
    carry, rest = outputs[: loop.carry], outputs[loop.carry :]
    body.graph.arity = first_shared + 2 * loop.shared
    until = loop.tolerance is not None
    body.graph.outputs = [*_split(carry), *([rest[0][0]] if until else _split(rest))]
    each = operands[: loop.each * loop.count]
    both = [*_split(each), *_split(loop.carry_operands(operands)), *_split(loop.shared_operands(operands))]
    doubled = replace(
        loop, each=2 * loop.each, carry=2 * loop.carry, shared=2 * loop.shared, stacked=(1 if until else 2) * loop.stacked,
        body=body.graph,
    )  # fmt: skip
    node, c, groups = n.loop(doubled, both), loop.carry, loop.stacked * loop.count
    found: list[Pair] = [(n.result(node, k), n.result(node, c + k)) for k in range(c)]
    if until:
        return [*found, (n.result(node, 2 * c), n.const(0.0)), (n.result(node, 2 * c + 1), n.const(0.0))]
    return found + [(n.result(node, 2 * c + k), n.result(node, 2 * c + groups + k)) for k in range(groups)]


def _split(pairs: Sequence[Pair]) -> list[int]:
    """All values, then all derivatives."""
    return [a for a, _ in pairs] + [b for _, b in pairs]


def _derivative(n: Numbering, op: str, value: int, given: list[Pair]) -> int:
    """Derivative of an operation."""
    if op in FLAT:
        return n.const(0.0)
    if op == "select":
        condition, (_, da), (_, db) = given[0][0], given[1], given[2]
        return n.select(condition, da, db)
    if all(n.value(d) == 0.0 for _, d in given):
        return n.const(0.0)
    if len(given) == 1:
        (x, dx), one = given[0], n.const(1.0)
        return n.mul(_UNARY[op](n, x, value, one), dx)
    return _BINARY[op](n, value, *given)


def _square(n: Numbering, x: int) -> int:
    return n.mul(x, x)


def _less(n: Numbering, a: int, b: int) -> int:
    return n.add(a, n.neg(b))


_UNARY: dict[str, Callable[[Numbering, int, int, int], int]] = {
    "sqrt": lambda n, x, y, one: n.div(n.const(0.5), y),
    "sin": lambda n, x, y, one: n.make("cos", x),
    "cos": lambda n, x, y, one: n.neg(n.make("sin", x)),
    "tan": lambda n, x, y, one: n.add(one, _square(n, y)),
    "asin": lambda n, x, y, one: n.div(one, n.make("sqrt", _less(n, one, _square(n, x)))),
    "acos": lambda n, x, y, one: n.neg(n.div(one, n.make("sqrt", _less(n, one, _square(n, x))))),
    "atan": lambda n, x, y, one: n.div(one, n.add(one, _square(n, x))),
    "sinh": lambda n, x, y, one: n.make("cosh", x),
    "cosh": lambda n, x, y, one: n.make("sinh", x),
    "tanh": lambda n, x, y, one: _less(n, one, _square(n, y)),
    "asinh": lambda n, x, y, one: n.div(one, n.make("sqrt", n.add(one, _square(n, x)))),
    "acosh": lambda n, x, y, one: n.div(one, n.make("sqrt", _less(n, _square(n, x), one))),
    "atanh": lambda n, x, y, one: n.div(one, _less(n, one, _square(n, x))),
    "exp": lambda n, x, y, one: y,
    "log": lambda n, x, y, one: n.div(one, x),
    "expm1": lambda n, x, y, one: n.add(one, y),
    "log1p": lambda n, x, y, one: n.div(one, n.add(one, x)),
    "abs": lambda n, x, y, one: n.make("sign", x),
}


def _product(n: Numbering, y: int, a: Pair, b: Pair) -> int:
    return n.add(n.mul(a[1], b[0]), n.mul(a[0], b[1]))


def _quotient(n: Numbering, y: int, a: Pair, b: Pair) -> int:
    return n.div(_less(n, a[1], n.mul(y, b[1])), b[0])


def _atan2(n: Numbering, y: int, a: Pair, b: Pair) -> int:
    right = n.add(_square(n, a[0]), _square(n, b[0]))
    return n.div(_less(n, n.mul(b[0], a[1]), n.mul(a[0], b[1])), right)


def _power(n: Numbering, y: int, a: Pair, b: Pair) -> int:
    base = n.mul(n.mul(b[0], n.make("pow", a[0], _less(n, b[0], n.const(1.0)))), a[1])
    if n.value(b[1]) == 0.0:
        return base
    return n.add(base, n.mul(n.mul(y, n.make("log", a[0])), b[1]))


def _hypot(n: Numbering, y: int, a: Pair, b: Pair) -> int:
    return n.div(n.add(n.mul(a[0], a[1]), n.mul(b[0], b[1])), y)


def _modulo(n: Numbering, y: int, a: Pair, b: Pair) -> int:
    return _less(n, a[1], n.mul(n.div(_less(n, a[0], y), b[0]), b[1]))


def _copysign(n: Numbering, y: int, a: Pair, b: Pair) -> int:
    return n.mul(n.mul(n.make("sign", a[0]), n.make("sign", y)), a[1])


_BINARY: dict[str, Callable[[Numbering, int, Pair, Pair], int]] = {
    "add": lambda n, y, a, b: n.add(a[1], b[1]),
    "mul": _product, "div": _quotient, "atan2": _atan2, "pow": _power, "hypot": _hypot, "fmod": _modulo, "copysign": _copysign,
    "min": lambda n, y, a, b: n.select(n.compare("le", a[0], b[0]), a[1], b[1]),
    "max": lambda n, y, a, b: n.select(n.compare("le", b[0], a[0]), a[1], b[1]),
}  # fmt: skip
