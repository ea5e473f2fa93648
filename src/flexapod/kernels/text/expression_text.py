"""Text of expressions: operators with the fewest parentheses that keep the order of evaluation.

Sums and products are written from left to right. `x + (a + b)` is written `a + b + x`: the same rounding, since + commutes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from flexapod.kernels.text.statements import Expr

_LEVEL = {"add": 1, "sub": 1, "neg": 2, "mul": 3, "div": 3}
_SIGN = {"add": "+", "sub": "-", "mul": "*", "div": "/"}


@dataclass(frozen=True, kw_only=True)
class Style:
    """Notation of one language: names, numbers, signs and functions.

    Args:
        name, number: text of a leaf.
        call: text of any other operation, given the texts of its operands.
        signs: text of + - * /.
        fraction: text of a quotient where it is not a sign between operands.
    """

    name: Callable[[str], str]
    number: Callable[[float], str]
    call: Callable[[str, list[str]], str]
    signs: dict[str, str]
    fraction: Callable[[str, str], str] | None = None


def text(value: Expr, style: Style) -> str:
    """Text of an expression."""
    return _text(value, style)[0]


def _text(value: Expr, style: Style) -> tuple[str, int]:
    """Text and level: 1 sum, 2 negation, 3 product, 4 anything that needs no parentheses."""
    if isinstance(value, str):
        return style.name(value), 4
    if not isinstance(value, tuple):
        return style.number(value), 4 if value >= 0 else 2
    op, *operands = value
    if op == "neg":
        return "-" + _inside(_text(operands[0], style), 3), 2
    if op == "div" and style.fraction is not None:
        return style.fraction(_text(operands[0], style)[0], _text(operands[1], style)[0]), 4
    if op not in _SIGN:
        return style.call(op, [_text(v, style)[0] for v in operands]), 4
    left, right = (_text(v, style) for v in operands)
    level = _LEVEL[op]
    if op in ("add", "mul") and right[1] == level != left[1]:
        left, right = right, left
    return f"{_inside(left, level)} {style.signs[op]} {_inside(right, level + 1)}", level


def _inside(part: tuple[str, int], level: int) -> str:
    return part[0] if part[1] >= level else f"({part[0]})"


def plain_signs() -> dict[str, str]:
    """+ - * / as programming languages write them."""
    return dict(_SIGN)
