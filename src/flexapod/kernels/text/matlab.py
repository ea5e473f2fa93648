"""MATLAB of a listing, run by GNU Octave as well: one function file, parameters as a vector, scalars throughout."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from flexapod.kernels.tape.signature import NONFINITE_INPUT, NONFINITE_RESULT, Input, Output, Signature
from flexapod.kernels.text.expression_text import Style, plain_signs, text
from flexapod.kernels.text.listing import Listing
from flexapod.kernels.text.statements import Assign, Repeat, Statement

_NAMES = {"pow": "power", "fmod": "rem", "copysign": "copysign_"}
_COMPARE = {"lt": "<", "le": "<=", "eq": "==", "ne": "~="}
_RESERVED = frozenset({
    "break", "case", "catch", "continue", "else", "elseif", "end", "for", "function", "global", "if", "otherwise", "persistent",
    "return", "switch", "try", "while", "parameters", "status", "zeros", "all", "isfinite",
    "e", "i", "j", "pi", "eps", "inf", "nan", "NaN", "Inf",
})  # fmt: skip
_COMPLEX = ("sqrt", "asin", "acos", "log", "log1p", "acosh", "atanh", "pow")
"""Operations that leave the real numbers in MATLAB where they are NaN elsewhere."""
HELPERS = """
function r = real_(a)
  r = a;
  if ~isreal(a)
    r = NaN;
  end
end

function r = select_(c, a, b)
  if c ~= 0
    r = a;
  else
    r = b;
  end
end

function r = copysign_(a, b)
  r = abs(a);
  if b < 0
    r = -r;
  end
end
"""


def matlab_text(listing: Listing, about: Sequence[str], values: Mapping[str, float]) -> str:
    """The text of a function file; its name is that of the model, until `renamed` gives it another.

    Args:
        listing: of the model.
        about: lines of its help.
        values: of the parameters, by dotted path; the function has them where its last argument is left out.

    Checked by: tests/generator/test_matlab_and_cpp.py.
    """
    s, style = listing.signature, Style(name=safe, number=number, call=_call, signs=plain_signs())
    outputs = ", ".join([*(safe(o.name) for o in s.outputs), "status"])
    inputs = ", ".join([*(safe(i.name) for i in s.inputs), *(["parameters"] if listing.parameters else [])])
    lines = [f"function [{outputs}] = {s.name}({inputs})", *(f"% {line}".rstrip() for line in about), "%"]
    lines += [_described("input", i) for i in s.inputs] + [_described("output", o) for o in s.outputs]
    if listing.parameters:
        lines.append("% parameters: vector of these numbers; left out: the robot's own, own_parameters_() below")
        lines += [f"%   {k + 1}: {path}" for k, path in enumerate(listing.parameters.values())]
        lines += [f"  if nargin < {len(s.inputs) + 1}", "    parameters = own_parameters_();", "  end"]
    lines += [f"  {safe(name)} = parameters({k + 1});" for k, name in enumerate(listing.parameters)]
    lines += _statements(listing.setup, style, 1)
    lines += [f"  {safe(name)} = {safe(entry)};" for name, entry in listing.aliases.items()]
    lines += [f"  {safe(o.name)} = zeros({_size(o.shape)});" for o in s.outputs if o.shape]
    lines += [*_statements(listing.main, style, 1), f"  status = {text(listing.status, style)};", *_judged(s), "end"]
    return "\n".join(lines) + "\n" + (_own_parameters(listing, values) if listing.parameters else "") + HELPERS


def _judged(s: Signature) -> list[str]:
    """Status of numbers that are not finite, and outputs that are NaN where it is not 0, as compiled kernels have them."""
    given, found = ("; ".join(f"{safe(a.name)}(:)" for a in arrays) for arrays in (s.inputs, s.outputs))
    return [
        f"  if ~all(isfinite([{given}]))", f"    status = {NONFINITE_INPUT};",
        f"  elseif status == 0 && ~all(isfinite([{found}]))", f"    status = {NONFINITE_RESULT};", "  end",
        "  if status ~= 0", *(f"    {safe(o.name)}(:) = NaN;" for o in s.outputs), "  end",
    ]  # fmt: skip


def renamed(text: str, name: str) -> str | None:
    """The text as the function file `name.m`; None where that is no name of a function, or means something inside the text."""
    code = re.sub(r"%.*", "", text)
    old = re.match(r"function \[.*\] = (\w+)\(", code)
    assert old is not None
    if name == old[1]:
        return text
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]{0,62}", name) or name in _RESERVED or re.search(rf"\b{name}\b", code):
        return None
    return text.replace(f" = {old[1]}(", f" = {name}(", 1)


def _own_parameters(listing: Listing, values: Mapping[str, float]) -> str:
    rows = [f"    {number(values[path])} % {path}" for path in listing.parameters.values()]
    return "\n".join(["", "function r = own_parameters_()", "  r = [", *rows, "  ];", "end", ""])


def _described(kind: str, array: Input | Output) -> str:
    size = "scalar" if not array.shape else " x ".join(map(str, array.shape)) + (" x 1" if len(array.shape) == 1 else "")
    return f"% {kind} {array.name}: {size} {f'[{array.unit}]' if array.unit else ''} {array.doc}".rstrip()


def _size(shape: Sequence[int]) -> str:
    return f"{shape[0]}, 1" if len(shape) == 1 else ", ".join(map(str, shape))


def safe(name: str) -> str:
    """A name that means nothing else; indices count from one, several of them in one pair of brackets."""
    base, *indices = re.split(r"[\[\]]+", name.rstrip("]"))
    base = f"{base}_" if base in _RESERVED else base
    if not indices:
        return base
    counted = [str(int(k) + 1) if k.strip().isdigit() else f"{k} + 1" for k in indices]
    return f"{base}({', '.join(counted)})"


def number(value: float) -> str:
    """A number as MATLAB writes it."""
    if value != value:
        return "NaN"
    return repr(value) if abs(value) != float("inf") else "Inf" if value > 0 else "-Inf"


def _call(op: str, operands: list[str]) -> str:
    if op in _COMPARE:
        return f"double(({operands[0]}) {_COMPARE[op]} ({operands[1]}))"
    if op == "not":
        return f"double(({operands[0]}) == 0)"
    if op in ("and", "or"):
        return f"double(({operands[0]}) ~= 0 {'&&' if op == 'and' else '||'} ({operands[1]}) ~= 0)"
    if op == "select":
        return f"select_({', '.join(operands)})"
    found = f"{_NAMES.get(op, op)}({', '.join(operands)})"
    return f"real_({found})" if op in _COMPLEX else found


def _statements(statements: Sequence[Statement], style: Style, depth: int) -> list[str]:
    pad, lines = "  " * depth, []
    for s in statements:
        if isinstance(s, Assign):
            lines.append(f"{pad}{safe(s.name)} = {text(s.value, style)};")
        else:
            lines += _repeat(s, style, depth)
    return lines


def _repeat(s: Repeat, style: Style, depth: int) -> list[str]:
    pad = "  " * depth
    lines = [f"{pad}{name} = [{', '.join(text(v, style) for v in values)}];" for name, values in s.groups]
    lines += [f"{pad}{safe(name)} = {text(value, style)};" for name, value in s.carry]
    lines += [f"{pad}{name} = 0;" for name in (s.converged, s.passes) if name]
    if s.stacked:
        lines.append(f"{pad}{s.stacked[0]} = zeros({s.stacked[1]}, 1);")
    lines += [f"{pad}for {safe(s.index)} = 0:{s.count - 1}", *_statements(s.body, style, depth + 1)]
    pad += "  "
    following = [f"next{k}_" for k in range(len(s.carry))]  # all at once: none may see another's new value
    lines += [f"{pad}{new} = {text(v, style)};" for new, v in zip(following, s.following, strict=False)]
    lines += [f"{pad}{safe(n)} = {new};" for (n, _), new in zip(s.carry, following, strict=True)]
    if s.passes:
        lines.append(f"{pad}{s.passes} = {s.passes} + 1;")
    if s.converged:
        lines.append(f"{pad}{s.converged} = double({safe(s.error)} <= {s.tolerance!r});")
    if s.tolerance is not None:
        lines += [f"{pad}if ~({safe(s.error)} > {s.tolerance!r})", f"{pad}  break", f"{pad}end"]
    return [*lines, f"{'  ' * depth}end"]
