"""Items that several papers have: parameters beside those of the robot that all results use, and claims of efficiency, judged by
operation counts of our kernels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from numpy.typing import ArrayLike

import flexapod as fp
from flexapod.views.papers.items import AGREES, DIFFERS, INPUT, PARTLY, Item
from flexapod.views.reports.html import HtmlTable

Printed = Mapping[str, tuple[ArrayLike, str]]
"""Name and unit -> printed value (a number, or a tuple of numbers), and its path in the robot file."""

LAST_DIGIT = 1e-12
"""Relative: printed numbers are in the file as they are; derived ones differ by rounding."""

FAR = 0.5
"""Share of the other method's operations below which a method is called far more efficient (chosen: half)."""

METHODS = {
    "virtual work (the paper's)": ("virtual_work", {}, "actuator forces"),
    "Newton-Euler": ("newton_euler", {"friction": False}, "actuator forces and all joint reactions"),
    "virtual power": ("virtual_power", {}, "actuator forces and powers"),
    "minimal equations of flexapod": ("minimal_inverse_dynamics", {}, "actuator forces"),
}


def parameter_item(
    robot: fp.Robot, where: str, printed: Printed, derived: Sequence[tuple[str, ArrayLike, ArrayLike]] = (), says: str = ""
) -> Item:
    """The parameters read back.

    Args:
        derived: (name, printed value, value of ours) of what the file holds in another form.
    """
    rows = [(name, value, robot.parameter(path)) for name, (value, path) in printed.items()] + list(derived)
    wrong = [name for name, value, ours in rows if not _equal(value, ours)]
    count = len(rows)
    return Item(
        where=where,
        title="parameters of the robot (input)",
        says=says or "Dimensions, masses and inertias.",
        ours=f"Not equal: {', '.join(wrong)}."
        if wrong
        else f"All {count} are those of {robot.name}, which all results here use.",
        verdict=DIFFERS if wrong else INPUT,
        check=f"{count} printed values read back from the robot",
        parts=[HtmlTable(head=("parameter", "paper", "robot"), rows=[[name, _text(a), _text(b)] for name, a, b in rows])],
    )


def diagonal(name: str, path: str, values: tuple[float, float, float]) -> dict[str, tuple[ArrayLike, str]]:
    """Rows of a diagonal tensor [kg m^2]."""
    return {f"{name} {k}{k} [kg m²]": (value, f"{path}.inertia.{k}{k}") for k, value in zip("xyz", values, strict=True)}


def _numbers(value: ArrayLike) -> tuple[float, ...]:
    import numpy as np

    return tuple(float(x) for x in np.ravel(np.asarray(value, dtype=np.float64)))


def _equal(first: ArrayLike, second: ArrayLike) -> bool:
    a, b = _numbers(first), _numbers(second)
    size = max(1e-300, *(abs(x) for x in a))
    return len(a) == len(b) and all(abs(x - y) <= LAST_DIGIT * size for x, y in zip(a, b, strict=True))


def _text(value: ArrayLike) -> str:
    return ", ".join(f"{x:.6g}" for x in _numbers(value))


def efficiency(robot: fp.Robot) -> Item:
    """The claim that the method is far more efficient than Newton-Euler."""
    counts = {label: fp.kernel(robot, name, **options).operations.total for label, (name, options, _) in METHODS.items()}
    ours, other, least = counts["virtual work (the paper's)"], counts["Newton-Euler"], min(counts.values())
    rows = [[label, METHODS[label][2], str(n), f"{n / other:.2f}"] for label, n in counts.items()]
    head = ("method", "gives", "operations per sample", "of Newton-Euler")
    return Item(
        where="Section 5",
        title="efficiency of the method",
        says="The approach by virtual work is far more efficient than Newton-Euler, which has unknown forces in the joints, and "
        "reduces the number of computation operations significantly. No count is printed.",
        ours=f"{ours} operations against {other} by Newton-Euler, which gives the joint reactions as well: {ours / other:.2f} of "
        f"it. Fewer, but not by far; other equations of the same robot need {least}.",
        verdict=AGREES if ours < FAR * other else PARTLY if ours < other else DIFFERS,
        check=f"operation counts of our kernels, {ours} against {other}; no count is printed",
        parts=[HtmlTable(head=head, rows=rows, text=2)],
    )
