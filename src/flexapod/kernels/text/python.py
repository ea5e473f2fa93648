"""Readable Python of a listing: a function for the set-up part, one for the model, NumPy scalars.

NumPy scalars divide by zero and take roots of negative numbers without raising, as kernels do; `status` says what is wrong.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Mapping, Sequence

from flexapod.kernels.tape.signature import NONFINITE_INPUT, NONFINITE_RESULT
from flexapod.kernels.text.expression_text import Style, plain_signs, text
from flexapod.kernels.text.listing import Listing
from flexapod.kernels.text.statements import Assign, Repeat, Statement

_NUMPY = {
    "asin": "arcsin", "acos": "arccos", "atan": "arctan", "atan2": "arctan2", "asinh": "arcsinh", "acosh": "arccosh",
    "atanh": "arctanh", "min": "fmin", "max": "fmax", "abs": "fabs", "pow": "power",
}  # fmt: skip
_COMPARE = {"lt": "<", "le": "<=", "eq": "==", "ne": "!="}
_RESERVED = frozenset({"array", "empty", "errstate", "float64", "parameters", "constants", "status", "nan", "inf", "numpy"})


def python_text(listing: Listing, about: Sequence[str], values: Mapping[str, float]) -> str:
    """The module's text.

    Args:
        listing: of the model.
        about: lines of its docstring.
        values: of the parameters, by dotted path.

    Checked by: tests/generator/test_generated_text.py.
    """
    style = Style(name=safe, number=number, call=_call, signs=plain_signs())
    lines = ['"""', *[line.rstrip() for line in about], '"""', ""]
    lines += ["import numpy", "from numpy import empty, errstate, float64", ""]
    if listing.parameters:
        lines += ["PARAMETERS = {", *(f"    {path!r}: {number(values[path])}," for path in listing.parameters.values()), "}"]
        lines += ['"""The robot\'s own numbers by dotted path."""', "", "", *_setup(listing, style), ""]
    return "\n".join([*lines, "", JUDGED, "", *_model(listing, style), ""])


JUDGED = f"""def _judged(status, inputs, outputs):
    # where the status is not 0, all outputs are NaN: {NONFINITE_INPUT}, an input is not finite; {NONFINITE_RESULT}, a result
    if not all(numpy.isfinite(x).all() for x in inputs):
        status = {NONFINITE_INPUT}
    elif status == 0 and not all(numpy.isfinite(x).all() for x in outputs.values()):
        status = {NONFINITE_RESULT}
    if status != 0:
        outputs = {{name: numpy.full(numpy.shape(x), numpy.nan)[()] for name, x in outputs.items()}}
    return {{**outputs, 'status': status}}
"""
"""A sample is judged as compiled kernels, C and C++ judge it."""


def safe(name: str) -> str:
    """A name that means nothing else in Python or in the text."""
    base, bracket, rest = name.partition("[")
    return base + ("_" if keyword.iskeyword(base) or base in _RESERVED else "") + bracket + rest


def number(value: float) -> str:
    """A number as Python writes it."""
    return repr(value) if value == value and abs(value) != float("inf") else f"float64('{value}')"


def _call(op: str, operands: list[str]) -> str:
    if op in _COMPARE:
        return f"float64({_wrapped(operands[0])} {_COMPARE[op]} {_wrapped(operands[1])})"
    if op == "not":
        return f"float64({_wrapped(operands[0])} == 0)"
    if op in ("and", "or"):
        return f"float64(({operands[0]}) != 0 {op} ({operands[1]}) != 0)"
    if op == "select":
        return f"({_scalar(operands[1])} if {operands[0]} else {_scalar(operands[2])})"
    return f"numpy.{_NUMPY.get(op, op)}({', '.join(operands)})"


def _scalar(operand: str) -> str:
    """A number by itself as a NumPy scalar: Python's own raises where it is divided by zero."""
    return f"float64({operand})" if re.fullmatch(r"-?\d[\d.e+-]*", operand) else operand


def _wrapped(operand: str) -> str:
    return operand if re.fullmatch(r"[\w.\[\]]+", operand) else f"({operand})"


def _setup(listing: Listing, style: Style) -> list[str]:
    lines = [
        "def setup(parameters=PARAMETERS):",
        '    """Constants of a parameter set, given by dotted paths, the robot\'s own if left out; once per set."""',
    ]
    lines += [f"    {safe(name)} = float64(parameters[{path!r}])" for name, path in listing.parameters.items()]
    lines += ["    with errstate(all='ignore'):", *_statements(listing.setup, style, 2)] if listing.setup else []
    names = ", ".join(map(safe, listing.constants))
    return [*lines, f"    return ({names}{',' if len(listing.constants) == 1 else ''})"]


def _model(listing: Listing, style: Style) -> list[str]:
    s = listing.signature
    arguments = ", ".join([*(safe(i.name) for i in s.inputs), *(["constants"] if listing.parameters else [])])
    lines = [f"def {s.name}({arguments}):", f'    """{", ".join(o.name for o in s.outputs)} and status of one sample."""']
    if listing.parameters and listing.constants:
        lines.append(f"    {', '.join(map(safe, listing.constants))}{',' if len(listing.constants) == 1 else ''} = constants")
    lines += [f"    {safe(name)} = {safe(entry)}" for name, entry in listing.aliases.items()]
    lines += [f"    {safe(o.name)} = empty({o.shape})" for o in s.outputs if o.shape]
    lines += ["    with errstate(all='ignore'):", *_statements(listing.main, style, 2)]
    results = ", ".join(f"{o.name!r}: {safe(o.name)}" for o in s.outputs)
    given = "".join(f"{safe(i.name)}, " for i in s.inputs).rstrip()
    return [
        *lines,
        f"        status = int({text(listing.status, style)})",
        f"    return _judged(status, ({given}), {{{results}}})",
    ]


def _statements(statements: Sequence[Statement], style: Style, depth: int) -> list[str]:
    pad, lines = "    " * depth, []
    for s in statements:
        if isinstance(s, Assign):
            lines.append(f"{pad}{safe(s.name)} = {_scalar(text(s.value, style))}")
        else:
            lines += _repeat(s, style, depth)
    return lines


def _repeat(s: Repeat, style: Style, depth: int) -> list[str]:
    pad = "    " * depth
    lines = [f"{pad}{name} = [{', '.join(_scalar(text(v, style)) for v in values)}]" for name, values in s.groups]
    lines += [f"{pad}{name} = {_scalar(text(value, style))}" for name, value in s.carry]
    lines += [f"{pad}{name} = 0.0" for name in (s.converged, s.passes) if name]
    if s.stacked:
        lines.append(f"{pad}{s.stacked[0]} = empty({s.stacked[1]})")
    lines += [f"{pad}for {s.index} in range({s.count}):", *_statements(s.body, style, depth + 1)]
    pad += "    "
    if s.carry:
        lines.append(f"{pad}{', '.join(n for n, _ in s.carry)} = {', '.join(_scalar(text(v, style)) for v in s.following)}")
    if s.passes:
        lines.append(f"{pad}{s.passes} += 1.0")
    if s.converged:
        lines.append(f"{pad}{s.converged} = float64({s.error} <= {s.tolerance!r})")
    if s.tolerance is not None:
        lines += [f"{pad}if not {s.error} > {s.tolerance!r}:", f"{pad}    break"]
    return lines
