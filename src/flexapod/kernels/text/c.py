"""Readable C99 of a listing: one file with a set-up function and the model, the same names as the other forms.

For controllers `export_c` writes the same operations with header, status texts and self-test.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence

from flexapod.kernels.c.text import c_name, number
from flexapod.kernels.tape.signature import NONFINITE_INPUT, NONFINITE_RESULT, Signature
from flexapod.kernels.text.expression_text import Style, plain_signs, text
from flexapod.kernels.text.listing import Listing
from flexapod.kernels.text.statements import Assign, Expr, Repeat, Statement

_CALL = {"abs": "fabs", "min": "fmin", "max": "fmax"}
_COMPARE = {"lt": "<", "le": "<=", "eq": "==", "ne": "!="}


def c_listing(listing: Listing, about: Sequence[str], values: Mapping[str, float]) -> str:
    """The file's text.

    Args:
        listing: of the model.
        about: lines of its first comment.
        values: of the parameters, by dotted path.

    Checked by: tests/generator/test_generated_text.py.
    """
    boundary = _boundary(listing)

    def name(name: str) -> str:
        base, bracket, rest = name.partition("[")
        return boundary.get(base, base) + bracket + rest

    style = Style(name=name, number=number, call=_call, signs=plain_signs())
    comment = "\n".join(f" * {line}".rstrip() for line in _ascii(about))
    parts = [f"/*\n{comment}\n */", "#include <math.h>"]
    if listing.parameters:
        parts += [_own_parameters(listing, values), _setup(listing, style)]
    return "\n\n".join([*parts, _model(listing, style)]) + "\n"


def _ascii(lines: Sequence[str]) -> list[str]:
    return [line.encode("ascii", "replace").decode().replace("*/", "* /").replace("/*", "/ *") for line in lines]


def _boundary(listing: Listing) -> dict[str, str]:
    """Inputs and outputs in C, where their name may mean something else; scalar outputs are behind a pointer."""
    s = listing.signature
    inside = {i.name: c_name(s.name, i.name) for i in s.inputs}
    return inside | {o.name: c_name(s.name, o.name) if o.shape else f"(*{c_name(s.name, o.name)})" for o in s.outputs}


def _call(op: str, operands: list[str]) -> str:
    if op in _COMPARE:
        return f"(double)(({operands[0]}) {_COMPARE[op]} ({operands[1]}))"
    if op == "not":
        return f"(double)(({operands[0]}) == 0.0)"
    if op in ("and", "or"):
        return f"(double)((({operands[0]}) != 0.0) {'&&' if op == 'and' else '||'} (({operands[1]}) != 0.0))"
    if op == "select":
        return f"(({operands[0]}) != 0.0 ? {operands[1]} : {operands[2]})"
    if op == "sign":
        return f"(({operands[0]}) > 0.0 ? 1.0 : ({operands[0]}) < 0.0 ? -1.0 : ({operands[0]}))"
    return f"{_CALL.get(op, op)}({', '.join(operands)})"


def _own_parameters(listing: Listing, values: Mapping[str, float]) -> str:
    paths = listing.parameters.values()
    rows = [f"    {number(values[path])}, /* {_ascii([path])[0]} */" for path in paths]
    head = f"const double {listing.signature.name}_parameters[{len(paths)}] = {{"
    return "\n".join(["/* The robot's own numbers, for the set-up. */", head, *rows, "};"])


def _setup(listing: Listing, style: Style) -> str:
    used = _mentioned([*listing.setup]) | set(listing.constants)
    head = f"/* Once per parameter set: {len(listing.parameters)} doubles in, {len(listing.constants)} doubles out. */\n"
    lines = [
        f"    const double {name} = parameters[{k}]; /* {_ascii([path])[0]} */"
        for k, (name, path) in enumerate(listing.parameters.items())
        if name in used
    ]
    lines += _statements(listing.setup, style, 1)
    lines += [f"    constants[{k}] = {name};" for k, name in enumerate(listing.constants)]
    lines += [] if listing.constants else ["    (void)parameters;", "    (void)constants;"]
    name = listing.signature.name
    return head + "\n".join(
        [f"void {name}_setup(const double *restrict parameters, double *restrict constants)", "{", *lines, "}"]
    )


def _model(listing: Listing, style: Style) -> str:
    s = listing.signature
    arguments = [f"const double {_array(c_name(s.name, i.name), i.shape)}" for i in s.inputs]
    arguments += ["const double *restrict constants"] if listing.parameters else []
    arguments += [f"double {_array(c_name(s.name, o.name), o.shape, out=True)}" for o in s.outputs]
    used = _mentioned([*listing.main, Assign(name="status", value=listing.status)])
    lines = [f"    const double {name} = constants[{k}];" for k, name in enumerate(listing.constants) if name in used]
    lines += [f"    const double {name} = {style.name(entry)};" for name, entry in listing.aliases.items()]
    used |= {entry.partition("[")[0] for entry in listing.aliases.values()}
    lines += _statements(listing.main, style, 1)
    lines += [f"    (void){c_name(s.name, i.name)};" for i in s.inputs if i.name not in used]
    lines += ["    (void)constants;"] if listing.parameters and not used & set(listing.constants) else []
    lines += [f"    int status = (int)({text(listing.status, style)});", *_judged(s), "    return status;"]
    about = f"returns the status, 0 is good; else all outputs are NAN ({NONFINITE_INPUT}: an input is not finite, "
    about += f"{NONFINITE_RESULT}: a result)"
    head = f"/* One sample; {about}. */\nint {s.name}(\n    " + ",\n    ".join(arguments) + ")"
    return "\n".join([head, "{", *lines, "}"])


def _judged(s: Signature) -> list[str]:
    """Status of numbers that are not finite, and outputs that are NAN where it is not 0."""

    def over(name: str, shape: Sequence[int], do: str) -> str:
        if not shape:
            return f"    {do.format(name)}"
        entry = f"(&{name}{'[0]' * len(shape)})[k]"
        return f"    for (int k = 0; k < {math.prod(shape)}; ++k) {do.format(entry)}"

    outputs = [(c_name(s.name, o.name) if o.shape else f"*{c_name(s.name, o.name)}", o.shape) for o in s.outputs]
    lines = [over(c_name(s.name, i.name), i.shape, f"if (!isfinite({{}})) status = {NONFINITE_INPUT};") for i in s.inputs]
    lines += [over(*o, f"if (status == 0 && !isfinite({{}})) status = {NONFINITE_RESULT};") for o in outputs]
    return lines + [over(*o, "if (status != 0) {} = NAN;") for o in outputs]


def _array(name: str, shape: Sequence[int], out: bool = False) -> str:
    if not shape:
        return f"*restrict {name}" if out else name
    first, *rest = shape
    return f"{name}[restrict {first}]" + "".join(f"[{n}]" for n in rest)


def _mentioned(statements: Sequence[Statement]) -> set[str]:
    """Names, without index, that statements read."""
    found: set[str] = set()
    for s in statements:
        if isinstance(s, Repeat):
            values = [v for _, v in s.carry] + [v for _, group in s.groups for v in group] + list(s.following)
            found |= _mentioned(s.body).union(*[_names(v) for v in values])
        else:
            found |= _names(s.value)
    return found


def _names(value: Expr) -> set[str]:
    if isinstance(value, str):
        return {re.split(r"\[", value, maxsplit=1)[0]}
    return set().union(*[_names(v) for v in value[1:]]) if isinstance(value, tuple) else set()


def _statements(statements: Sequence[Statement], style: Style, depth: int) -> list[str]:
    pad, lines = "    " * depth, []
    for s in statements:
        if isinstance(s, Repeat):
            lines += _repeat(s, style, depth)
        else:
            name = style.name(s.name)
            declare = "" if "[" in name or "*" in name else "const double "
            lines.append(f"{pad}{declare}{name} = {text(s.value, style)};")
    return lines


def _repeat(s: Repeat, style: Style, depth: int) -> list[str]:
    pad = "    " * depth
    lines = [f"{pad}const double {n}[{len(v)}] = {{{', '.join(text(x, style) for x in v)}}};" for n, v in s.groups]
    lines += [f"{pad}double {name} = {text(value, style)};" for name, value in s.carry]
    lines += [f"{pad}double {name} = 0.0;" for name in (s.converged, s.passes) if name]
    if s.stacked:
        lines.append(f"{pad}double {s.stacked[0]}[{s.stacked[1]}];")
    lines += [f"{pad}for (int {s.index} = 0; {s.index} < {s.count}; ++{s.index}) {{", *_statements(s.body, style, depth + 1)]
    inner = pad + "    "
    for (name, _), value in zip(s.carry, s.following, strict=True):
        lines.append(f"{inner}const double next_{name} = {text(value, style)};")
    lines += [f"{inner}{name} = next_{name};" for name, _ in s.carry]
    if s.passes:
        lines.append(f"{inner}{s.passes} += 1.0;")
    if s.converged:
        lines.append(f"{inner}{s.converged} = (double)({s.error} <= {number(s.tolerance or 0.0)});")
    if s.tolerance is not None:
        lines.append(f"{inner}if (!({s.error} > {number(s.tolerance)})) break;")
    return [*lines, f"{pad}}}"]
