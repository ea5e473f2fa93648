"""The Markdown listing read back line by line and evaluated gives what the kernel gives; the LaTeX one has the same lines."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
import pytest
from generated_models import CASES, ROUNDING, expected

import flexapod as fp
from flexapod.analysis.model.kernels import parameter_values

ITEM = re.compile(r"( *)\d+\. (.*)")
NAME = re.compile(r"(?<![\w.])[A-Za-z_][\w.]*(?:\[[^\]]*\])*(?!\w|\()")
FUNCTIONS: dict[str, Any] = {
    "sqrt": lambda x: math.sqrt(x) if x >= 0 else math.nan, "sin": math.sin, "cos": math.cos, "atan2": math.atan2,
    "abs": abs, "floor": math.floor, "min": min, "max": max, "lt": lambda a, b: float(a < b), "le": lambda a, b: float(a <= b),
    "eq": lambda a, b: float(a == b), "ne": lambda a, b: float(a != b), "not_": lambda a: float(a == 0),
    "and_": lambda a, b: float(a != 0 and b != 0), "or_": lambda a, b: float(a != 0 or b != 0),
    "select": lambda c, a, b: a if c != 0 else b,
}  # fmt: skip


class Page:
    """An interpreter of the page: its numbered lines, nested where a loop is."""

    def __init__(self, text: str, values: dict[str, float]) -> None:
        self.values = {"nan": math.nan, "inf": math.inf, **values}
        self.values |= {name: values[entry] for name, entry in re.findall(r"^- `(\w+)` is `([^`]+)`", text, re.MULTILINE)}
        self.lines = [(len(m[1]), m[2]) for line in text.splitlines() if (m := ITEM.fullmatch(line))]
        self.run(0, len(self.lines), 0)

    def evaluate(self, expression: str) -> float:
        words = re.sub(r"\b(and|or|not)\(", r"\1_(", expression)
        found: list[float] = []

        def put(match: re.Match[str]) -> str:
            if match[0] in FUNCTIONS:
                return match[0]
            found.append(self.values[match[0]])
            return f"V[{len(found) - 1}]"

        code = NAME.sub(put, words)
        try:
            return float(eval(code, {"__builtins__": {}, **FUNCTIONS}, {"V": [np.float64(v) for v in found]}))
        except ZeroDivisionError:
            return math.nan

    def run(self, start: int, stop: int, depth: int) -> None:
        at = start
        while at < stop:
            indent, line = self.lines[at]
            assert indent == depth
            end = next((k for k in range(at + 1, stop) if self.lines[k][0] <= depth), stop)
            if line.startswith("Repeat"):
                self.repeat(line, at + 1, end, depth + 4)
            else:
                self.assign(line.strip("`"))
            at = end

    def assign(self, line: str) -> None:
        left, _, right = line.partition(" = ")
        names = left.split(", ")
        parts = [right] if len(names) == 1 else split(right)
        values = [self.evaluate(part) for part in parts]
        self.values.update(zip(names, values, strict=True))

    def repeat(self, line: str, start: int, stop: int, depth: int) -> None:
        head = re.match(r"Repeat at most (\d+) times, `\w+` = 0, 1, ..., until `(\w+) <= ([^`]+)`", line)
        assert head
        converged = re.search(r"`(converged\d+)`", line)
        for first in re.findall(r"`(c\d+ = [^`]*)`", line):
            self.assign(first)
        with np.errstate(all="ignore"):
            for _ in range(int(head[1])):
                self.run(start, stop, depth)
                done = self.values[head[2]] <= float(head[3])
                if converged:
                    self.values[converged[1]] = float(done)
                if done:
                    return


def split(words: str) -> list[str]:
    """Parts between commas outside parentheses."""
    parts, depth, last = [], 0, 0
    for k, c in enumerate(words):
        depth += (c == "(") - (c == ")")
        if c == "," and not depth:
            parts.append(words[last:k])
            last = k + 1
    return [*parts, words[last:]]


def scalars(name: str, array: np.ndarray) -> dict[str, float]:
    return {name + "".join(f"[{k}]" for k in at): float(v) for at, v in np.ndenumerate(array)}


@pytest.mark.parametrize("constants", ["inputs", "numbers"])
@pytest.mark.parametrize("case", CASES, ids="-".join)
def test_page_read_back_equals_the_kernel(case: tuple, constants: str) -> None:
    name, quantity, formulation = case
    robot = fp.load(name)
    inputs, outputs = expected(*case)
    page = fp.generate(robot, quantity, formulation=formulation or None, constants=constants, form="markdown")
    values: dict[str, float] = {}
    for key, array in inputs.items():
        values |= scalars(key, array[1])
    if constants == "inputs":
        names = [p.name for p in page.signature.parameters]
        values |= dict(zip(names, parameter_values(robot, page.signature), strict=True))
    found = Page(page.text, values).values
    assert found["status"] == 0
    for key, wanted in outputs.items():
        largest = max(np.abs(wanted).max(), 1e-6)
        for entry, value in scalars(key, wanted[1]).items():
            assert abs(found[entry] - value) <= ROUNDING * largest, entry


def test_names_are_those_of_the_robot_file() -> None:
    text = fp.generate(fp.load("stewart-3-3"), "inverse_dynamics", formulation="virtual_power", form="markdown").text
    assert "* platform.mass" in text or "platform.mass *" in text
    assert "force[0] A" in text
    assert "| `position` | input | 3 | m |" in text


def test_latex_has_a_line_per_variable() -> None:
    """As many numbered lines as the Markdown page, balanced braces, no character that LaTeX would stumble over."""
    robot = fp.load("stewart-3-3")
    markdown, latex = (fp.generate(robot, "inverse_kinematics", form=f) for f in ("markdown", "latex"))
    rows = latex.text.split(r"\begin{align}")[1].split(r"\end{align}")[0].split("\\\\\n")
    status = 1
    assert len(rows) == len([line for line in markdown.text.splitlines() if ITEM.fullmatch(line)]) - status
    for row in rows:
        assert row.count("{") == row.count("}")
        assert row.count("&") == 1
        assert not re.search(r"(?<!\\)[%#]", row)
    assert r"\sqrt{" in latex.text
    assert r"\mathrm{actuator\_position}_{0}" in latex.text
