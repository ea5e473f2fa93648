"""Markdown and LaTeX of a listing: one numbered line per intermediate variable, names as in the robot file.

In Markdown parameters are written by their dotted paths; the lines can be read back and evaluated. In LaTeX the numbered lines
refer to symbols that a table explains.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence

from flexapod.kernels.text.expression_text import Style, plain_signs, text
from flexapod.kernels.text.listing import Listing
from flexapod.kernels.text.statements import Assign, Repeat, Statement

_COMPARE = {"lt": "<", "le": "<=", "eq": "==", "ne": "!="}
_FUNCTIONS = frozenset({"sin", "cos", "tan", "sinh", "cosh", "tanh", "exp", "min", "max"})


def markdown_text(listing: Listing, about: Sequence[str], meanings: Mapping[str, str]) -> str:
    """The page.

    Args:
        listing: of the model.
        about: its first lines: title, then sentences.
        meanings: what entries of inputs and outputs represent, e.g. ``force[0]`` -> ``leg A``.

    Checked by: tests/generator/test_markdown_listing.py.
    """
    style = Style(name=lambda n: listing.parameters.get(n, n), number=_plain_number, call=_plain_call, signs=plain_signs())
    title, *rest = about
    lines = [f"# {title}", "", *rest, "", "## Boundary", "", *_boundary(listing, meanings), ""]
    if listing.aliases:
        lines += ["## Names", "", *[_named(name, entry, meanings) for name, entry in listing.aliases.items()], ""]
    if listing.setup:
        lines += ["## Once per parameter set", "", *_items(listing.setup, style, ""), ""]
    lines += ["## Per sample", "", *_items(listing.main, style, "")]
    return "\n".join([*lines, f"{len(listing.main) + 1}. `status = {text(listing.status, style)}`", ""])


def _boundary(listing: Listing, meanings: Mapping[str, str]) -> list[str]:
    lines = ["| name | kind | shape | unit | |", "|---|---|---|---|---|"]
    short = set(listing.aliases.values())
    for kind, group in (("input", listing.signature.inputs), ("output", listing.signature.outputs)):
        for a in group:
            notes = "; ".join(f"{n} {m}" for n, m in meanings.items() if n.partition("[")[0] == a.name and n not in short)
            shape = " x ".join(map(str, a.shape)) or "scalar"
            lines.append(f"| `{a.name}` | {kind} | {shape} | {a.unit} | {'. '.join(x for x in (a.doc, notes) if x)} |")
    lines += [f"| `{p.name}` | parameter | scalar | {p.unit} | {p.doc} |" for p in listing.signature.parameters]
    return lines


def _named(name: str, entry: str, meanings: Mapping[str, str]) -> str:
    return f"- `{name}` is `{entry}`" + (f", {meanings[entry]} in the robot file" if entry in meanings else "")


def _plain_number(value: float) -> str:
    return repr(value)


def _plain_call(op: str, operands: list[str]) -> str:
    return f"{op}({', '.join(operands)})"


def _items(statements: Sequence[Statement], style: Style, pad: str) -> list[str]:
    lines: list[str] = []
    for k, s in enumerate(statements, 1):
        if isinstance(s, Assign):
            lines.append(f"{pad}{k}. `{s.name} = {text(s.value, style)}`")
        else:
            lines += _repeat(s, style, pad, k)
    return lines


def _repeat(s: Repeat, style: Style, pad: str, number: int) -> list[str]:
    starts = [f"`{name} = {text(value, style)}`" for name, value in s.carry]
    starts += [f"`{name} = [{', '.join(text(v, style) for v in values)}]`" for name, values in s.groups]
    until = f", until `{s.error} <= {s.tolerance!r}`" if s.tolerance is not None else ""
    flags = [f"`{name}` {what}" for name, what in ((s.converged, "is 1 if it ended so, else 0"), (s.passes, "counts")) if name]
    words = "at most " if s.tolerance is not None else ""
    lines = [f"{pad}{number}. Repeat {words}{s.count} times, `{s.index}` = 0, 1, ...{until}"]
    lines[0] += "".join(f"; {f}" for f in flags) + (f". Start: {', '.join(starts)}" if starts else "") + "."
    inner = pad + "    "
    lines += _items(s.body, style, inner)
    if s.carry:
        after = f"{', '.join(n for n, _ in s.carry)} = {', '.join(text(v, style) for v in s.following)}"
        lines.append(f"{inner}{len(s.body) + 1}. `{after}`")
    return lines


def latex_text(listing: Listing, about: Sequence[str], meanings: Mapping[str, str]) -> str:
    r"""A document: one numbered equation per intermediate variable, symbols explained in a table.

    Args and source as `markdown_text`. Loops are refused: write them as Python, C or Markdown.

    Checked by: tests/generator/test_markdown_listing.py.
    """
    symbols = _symbols(listing)
    style = Style(
        name=lambda n: symbols.get(n) or _symbol(n), number=_latex_number, call=_latex_call,
        signs={"add": "+", "sub": "-", "mul": r"\,", "div": "/"}, fraction=lambda a, b: rf"\frac{{{a}}}{{{b}}}",
    )  # fmt: skip
    title, *rest = (_escaped(line) for line in about)
    head = [r"\documentclass{article}", r"\usepackage{amsmath,longtable}", r"\allowdisplaybreaks", r"\begin{document}"]
    head += [rf"\section*{{{title}}}", *rest, "", r"\begin{longtable}{ll}"]
    head += [rf"${symbols[name]}$ & \texttt{{{_escaped(path)}}} \\" for name, path in listing.parameters.items()]
    head += [rf"${_symbol(name)}$ & \texttt{{{_escaped(entry)}}} \\" for name, entry in listing.aliases.items()]
    shown = {name: m for name, m in meanings.items() if name not in listing.aliases.values()}
    head += [rf"${_symbol(name)}$ & {_escaped(meaning)} \\" for name, meaning in shown.items()]
    rows = [rf"{style.name(s.name)} &= {text(s.value, style)}" for s in [*listing.setup, *listing.main] if isinstance(s, Assign)]
    body = [r"\end{longtable}", r"\begin{align}", " \\\\\n".join(rows), r"\end{align}", r"\end{document}", ""]
    return "\n".join([*head, *body])


def _symbols(listing: Listing) -> dict[str, str]:
    return {name: rf"a_{{{k}}}" for k, name in enumerate(listing.parameters, 1)}


def _symbol(name: str) -> str:
    """`t12` is t_{12}, `force[0]` is \\mathrm{force}_{0}, `rotation[0][1]` is \\mathrm{rotation}_{01}."""
    base, *places = re.split(r"[\[\]]+", name.rstrip("]"))
    short = re.fullmatch(r"([A-Za-z])(\d+)", base)
    if short and not places:
        return f"{short[1]}_{{{short[2]}}}"
    return rf"\mathrm{{{_escaped(base)}}}" + (f"_{{{','.join(places)}}}" if places else "")


def _escaped(words: str) -> str:
    return re.sub(r"([_%&#$])", r"\\\1", words)


def _latex_number(value: float) -> str:
    if not math.isfinite(value):
        return r"\infty"
    digits, _, power = repr(value).partition("e")
    return digits.removesuffix(".0") + (rf" \cdot 10^{{{int(power)}}}" if power else "")


def _latex_call(op: str, operands: list[str]) -> str:
    if op == "sqrt":
        return rf"\sqrt{{{operands[0]}}}"
    if op in _COMPARE:
        sign = {"<=": r"\le", "==": "=", "!=": r"\ne"}.get(_COMPARE[op], "<")
        return rf"\left[{operands[0]} {sign} {operands[1]}\right]"
    name = rf"\{op}" if op in _FUNCTIONS else rf"\operatorname{{{op}}}"
    return rf"{name}\left({', '.join(operands)}\right)"
