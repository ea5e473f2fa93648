"""A payload as text on the command line: `500 kg at 0,0,0.4`, and the robot that carries it."""

from __future__ import annotations

import re
from dataclasses import dataclass

import flexapod as fp

_PARTS, _BODY = re.compile(r"\s+(on|at|inertia)\s+"), re.compile(r"[\w.-]+", re.ASCII)
_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?(\s*[A-Za-z][^,]*)?", re.IGNORECASE | re.ASCII)
EXPECTED = "expected a mass in kg and where it is, e.g. '12', '500 kg at 0,0,0.4' or '2 kg on left.tool at 0,0,0.1 inertia 1,1,2'"
Value = float | str
"""A number in SI, or a text with a unit, which the robot file's schema reads."""


@dataclass(frozen=True, kw_only=True)
class CarriedMass:
    """Mass [kg], centre (3,) in the body frame [m], principal moments about it [kg m^2] or None, and the body."""

    mass: Value
    at: tuple[Value, ...] = (0.0, 0.0, 0.0)
    inertia: tuple[Value, ...] | None = None
    body: str = "platform"

    def __str__(self) -> str:
        mass = self.mass if isinstance(self.mass, str) else f"{self.mass:g} kg"
        return f"{mass} at ({', '.join(x if isinstance(x, str) else f'{x:g}' for x in self.at)}) m of the {self.body}"


def payload_of(text: str) -> CarriedMass:
    """`12`, `12 kg at 0,0,0.1`, `12 kg on left.tool at 0,0,0.1 inertia 0.1,0.1,0.2` (in any order), or `12,0,0,0.1` for short.

    Raises:
        InputError: another form. Units and signs are checked with the robot.

    Checked by: tests/views/test_payload_option.py.
    """
    try:
        short = "," in text and not re.search(r"\s(on|at|inertia)\s", text)
        mass, at = text.split(",", 1) if short else (text, None)
        mass, *rest = _PARTS.split(mass.strip())
        found = dict(zip(rest[::2], rest[1::2], strict=True))
        body = found.get("on", "platform").strip()
        if len(found) < len(rest) // 2 or _BODY.fullmatch(body) is None:
            raise ValueError
        return CarriedMass(
            mass=_value(mass),
            at=_three(at or found.get("at")) or (0.0, 0.0, 0.0),
            inertia=_three(found.get("inertia")),
            body=body,
        )
    except ValueError:
        raise fp.InputError(f"--payload {text}: {EXPECTED}") from None


def _value(text: str) -> Value:
    if _NUMBER.fullmatch(text.strip()) is None:
        raise ValueError
    try:
        return float(text)
    except ValueError:
        return text.strip()


def _three(text: str | None) -> tuple[Value, ...] | None:
    if text is None:
        return None
    x, y, z = text.split(",")
    return _value(x), _value(y), _value(z)


def with_payloads(robot: fp.Robot, payloads: list[str]) -> fp.Robot:
    """The robot with the payloads of the command line."""
    for text in payloads:
        one = payload_of(text)
        robot = robot.with_payload(one.mass, com=one.at, inertia=one.inertia, body=one.body)
    return robot
