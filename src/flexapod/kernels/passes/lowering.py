"""Lowering: CasADi expressions and structured steps become a graph.

Parameters that are structural zeros become the constant 0 here, so that value numbering folds what they
touch.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import casadi as ca

from flexapod.arrays import SX, entries
from flexapod.kernels.errors import ProgramError
from flexapod.kernels.passes.value_numbering import Numbering
from flexapod.kernels.tape.control_flow import LoopStep
from flexapod.kernels.tape.graph import Graph, LoopNode
from flexapod.kernels.tape.program import Program

_PLAIN = {
    ca.OP_ADD: "add", ca.OP_MUL: "mul", ca.OP_DIV: "div", ca.OP_SQRT: "sqrt", ca.OP_SIN: "sin",
    ca.OP_COS: "cos", ca.OP_TAN: "tan", ca.OP_ASIN: "asin", ca.OP_ACOS: "acos", ca.OP_ATAN: "atan", ca.OP_ATAN2: "atan2",
    ca.OP_SINH: "sinh", ca.OP_COSH: "cosh", ca.OP_TANH: "tanh", ca.OP_ASINH: "asinh", ca.OP_ACOSH: "acosh",
    ca.OP_ATANH: "atanh", ca.OP_EXP: "exp", ca.OP_LOG: "log", ca.OP_EXPM1: "expm1", ca.OP_LOG1P: "log1p",
    ca.OP_FMOD: "fmod", ca.OP_HYPOT: "hypot", ca.OP_FLOOR: "floor", ca.OP_CEIL: "ceil",
    ca.OP_FABS: "abs", ca.OP_SIGN: "sign", ca.OP_COPYSIGN: "copysign", ca.OP_FMIN: "min", ca.OP_FMAX: "max",
    ca.OP_LT: "lt", ca.OP_LE: "le", ca.OP_EQ: "eq", ca.OP_NE: "ne", ca.OP_NOT: "not", ca.OP_AND: "and",
    ca.OP_OR: "or",
}  # fmt: skip

_INPUT, _CONST, _OUTPUT, _SUB, _NEG, _SQ = ca.OP_INPUT, ca.OP_CONST, ca.OP_OUTPUT, ca.OP_SUB, ca.OP_NEG, ca.OP_SQ
_LARGEST_POWER = 16


def lower(program: Program, zeros: Collection[str] = ()) -> Graph:
    """Graph of a program; arguments are all inputs, then all parameters; outputs as `Program.results`."""
    numbering, zeros = Numbering(), frozenset(zeros)
    inputs, names = entries(program.input_symbols), [p.name for p in program.signature.parameters]
    refs = numbering.arguments(range(len(inputs) + len(names)))
    known = {symbol.element_hash(): ref for symbol, ref in zip(inputs, refs, strict=False)}
    named = dict(zip(names, refs[len(inputs) :], strict=True))
    named |= dict.fromkeys(zeros & named.keys(), numbering.const(0.0)) if zeros else {}
    known |= {key: named[name] for name, key in program.parameter_hashes.items() if name in named}
    numbering.graph.outputs = _lower_scope(numbering, known, program._steps, program.results, named)
    return numbering.graph


def _lower_scope(
    numbering: Numbering, known: dict[int, int], steps: Sequence[LoopStep], outputs: SX, named: Mapping[str, int]
) -> list[int]:
    """References of the outputs of a scope, whose loops are lowered first; `named`: of parameters, at the root."""
    for step in steps:
        operands = step.operands(_lower_column(numbering, known, step.expressions), named)
        loop, captured = _lower_body(step, known)
        node = numbering.loop(loop, [*operands, *captured])
        results = entries(ca.vertcat(step.final, ca.vec(step.stacked.T)))
        for position, symbol in enumerate(results):
            known[symbol.element_hash()] = numbering.result(node, position)
    return _lower_column(numbering, known, outputs)


def _lower_body(step: LoopStep, outer: dict[int, int]) -> tuple[LoopNode, list[int]]:
    """Loop of a step, and the references of the enclosing scope that its body captures."""
    body, numbering = step.body, Numbering()
    known: dict[int, int] = {}
    for symbol in entries(ca.vertcat(body.index, body.each, body.carry, body.shared)):
        known[symbol.element_hash()] = numbering.arg(len(known))
    captured: list[int] = []
    for symbol in _free_symbols(body.steps, body.outputs):
        key = symbol.element_hash()
        if key not in known and key in outer:
            known[key] = numbering.arg(1 + body.each.numel() + body.carry.numel() + body.shared.numel() + len(captured))
            captured.append(outer[key])
    numbering.graph.outputs = _lower_scope(numbering, known, body.steps, body.outputs, {})
    carry = body.carry.numel()
    loop = LoopNode(
        count=step.count,
        each=body.each.numel(),
        carry=carry,
        shared=body.shared.numel() + len(captured),
        stacked=0 if step.tolerance is not None else body.outputs.numel() - carry,
        tolerance=step.tolerance,
        body=numbering.graph,
    )
    return loop, captured


def _free_symbols(steps: Sequence[LoopStep], outputs: SX) -> list[SX]:
    """Symbols that a scope mentions, nested bodies included."""
    symbols = list(ca.symvar(ca.vertcat(outputs, *[step.expressions for step in steps])))
    for step in steps:
        symbols += _free_symbols(step.body.steps, step.body.outputs)
    return symbols


def _lower_column(numbering: Numbering, known: dict[int, int], column: SX) -> list[int]:
    """References of the entries of a column of expressions; symbols as they are: loops over many modes read thousands."""
    column = ca.densify(column)
    outputs = [known.get(entry.element_hash(), -1) for entry in entries(column)]
    rest = [place for place, ref in enumerate(outputs) if ref < 0]
    for place, ref in zip(rest, _lower_expressions(numbering, known, column[rest]) if rest else (), strict=True):
        outputs[place] = ref
    return outputs


def _lower_expressions(numbering: Numbering, known: dict[int, int], column: SX) -> list[int]:
    """References of the entries of a dense column."""
    symbols = ca.symvar(column)
    keys = [symbol.element_hash() for symbol in symbols]
    for symbol, key in zip(symbols, keys, strict=True):
        if key not in known:
            raise ProgramError(f"the symbol {symbol} is not an input, a parameter or a result of this scope")
    arguments = [known[key] for key in keys]
    f = ca.Function("f", [ca.vertcat(*symbols)] if symbols else [], [column], {"cse": False})
    work: dict[int, int] = {}
    outputs = [0] * column.numel()
    number_of, written_by, read_by = f.instruction_id, f.instruction_output, f.instruction_input
    for k in range(f.n_instructions()):
        op, out = number_of(k), written_by(k)
        plain = _PLAIN.get(op)
        if plain is not None:
            work[out[0]] = numbering.make(plain, *[work[i] for i in read_by(k)])
        elif op == _INPUT:
            work[out[0]] = arguments[read_by(k)[1]]
        elif op == _CONST:
            work[out[0]] = numbering.const(f.instruction_constant(k))
        elif op == _OUTPUT:
            outputs[out[1]] = work[read_by(k)[0]]
        else:
            work[out[0]] = _lower_operation(numbering, op, [work[i] for i in read_by(k)])
    return outputs


def _lower_operation(n: Numbering, op: int, refs: list[int]) -> int:
    """Reference of an operation that the graph writes in another way."""
    if op == _SUB:
        return n.make("add", refs[0], n.neg(refs[1]))
    if op == _NEG:
        return n.neg(refs[0])
    if op == _SQ:
        return n.make("mul", refs[0], refs[0])
    if op in (ca.OP_CONSTPOW, ca.OP_POW):
        return _power(n, refs[0], refs[1])
    if op == ca.OP_TWICE:
        return n.make("mul", n.const(2.0), refs[0])
    if op == ca.OP_INV:
        return n.make("div", n.const(1.0), refs[0])
    if op == ca.OP_IF_ELSE_ZERO:
        return n.make("select", refs[0], refs[1], n.const(0.0))
    if op == ca.OP_ASSIGN:
        return refs[0]
    raise ProgramError(f"CasADi operation number {op} is not supported in kernels")


def _power(n: Numbering, base: int, exponent: int) -> int:
    """Power; small whole exponents by repeated squaring."""
    power = n.value(exponent)
    if power is None or not 0 < abs(power) <= _LARGEST_POWER or power != int(power):
        return n.const(1.0) if power == 0.0 else n.make("pow", base, exponent)
    result, square, left = None, base, int(abs(power))
    while left:
        if left & 1:
            result = square if result is None else n.make("mul", result, square)
        left >>= 1
        if left:
            square = n.make("mul", square, square)
    assert result is not None
    return n.make("div", n.const(1.0), result) if power < 0 else result
