"""Claims of efficiency, judged by operation counts of our kernels: virtual work, the papers' method, against Newton-Euler."""

from __future__ import annotations

import flexapod as fp
from flexapod.views.html import HtmlTable
from flexapod.views.papers.items import AGREES, DIFFERS, PARTLY, Item

FAR = 0.5
"""Share of the other method's operations below which a method is called far more efficient (chosen: half)."""

METHODS = {
    "virtual work (the paper's)": ("virtual_work", {}, "actuator forces"),
    "Newton-Euler": ("newton_euler", {"friction": False}, "actuator forces and all joint reactions"),
    "virtual power": ("virtual_power", {}, "actuator forces and powers"),
    "minimal equations of flexapod": ("minimal_inverse_dynamics", {}, "actuator forces"),
}


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
