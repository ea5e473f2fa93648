"""Growth with elements, modes, legs and samples: time, compile time, memory, exponents.

    python benchmarks/growth.py [--quick]

Each size is a process of its own with an empty kernel cache (benchmarks/growth_cases.py).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from reporting import Effort, counted, exponents, growth, joined, print_section, shown, table

ELEMENTS, LEG_ELEMENTS, MODES, LEGS = (1, 2, 4, 8, 16, 32, 64), 8, (5, 10, 20, 40, 80, 160), (3, 6, 12, 24)
GOAL_MODES, GOAL_FIRST = 80, 5.0
"""Modes of a plate whose first result, cold, takes at most so many seconds."""
SAMPLES = tuple(10**k for k in range(9))
Rows = dict[int, dict[str, float]]


def measured(case: str, sizes: tuple[int, ...], effort: Effort) -> Rows:
    """What `growth_cases` finds for each size."""
    found = {}
    for size in sizes:
        command = [sys.executable, str(Path(__file__).with_name("growth_cases.py")), case, str(size), *["--quick"] * effort.quick]
        with tempfile.TemporaryDirectory() as cache:
            env = {**os.environ, "FLEXAPOD_CACHE": cache, "PYTHONWARNINGS": "ignore"}
            found[size] = json.loads(subprocess.run(command, env=env, check=True, capture_output=True, text=True).stdout)
    return found


def column(rows: Rows, name: str) -> list[float]:
    return [row[name] for row in rows.values()]


def elements(effort: Effort) -> str:
    """DualEMPS over the elements of its links, and six legs of spatial elements."""
    rows = measured("elements", effort.size(ELEMENTS, (1, 2)), effort)

    def cells(r: dict[str, float]) -> tuple[object, ...]:
        return r["coordinates"], shown(r["first"]), shown(r["once"]), f"{r['memory']:.0f} MB"

    lines: list[tuple[object, ...]] = [(n, *cells(r)) for n, r in rows.items()]
    if not effort.quick:
        more = measured("leg_elements", (LEG_ELEMENTS,), effort)
        lines += [(f"{LEG_ELEMENTS} in each leg of `gough-stewart-flexible-legs`", *cells(r)) for r in more.values()]
    head = ["elements per link", "coordinates", "first result, cold", "one evaluation", "memory"]
    costs = {"first result": column(rows, "first"), "one evaluation": column(rows, "once"), "memory": column(rows, "memory")}
    return joined(ABOUT_ELEMENTS, table(head, lines), growth("elements", list(rows), costs))


def kernels(rows: Rows, size: str, also: Rows | None = None) -> str:
    """Tables of kernels by size: operations, time, compile time, memory; exponents of both quantities."""
    kinds = ("direct", "inverse")
    head = [
        size,
        *(f"{kind}: {what}" for kind in kinds for what in ("operations", "time per sample", "compiled in")),
        "robot ready after",
        "memory",
    ]
    lines = []
    for n, r in {**(also or {}), **rows}.items():
        cells = [
            cell for kind in kinds
            for cell in ((int(r[f"{kind} operations"]), shown(r[f"{kind} sample"]), shown(r[f"{kind} compiled"]))
                         if f"{kind} sample" in r else (None, None, None))
        ]  # fmt: skip
        lines.append((n or "rigid", *cells, shown(r["built"]), f"{r['memory']:.0f} MB"))
    parts = [table(head, lines)]
    for kind in kinds:
        having = {n: r for n, r in rows.items() if f"{kind} sample" in r}
        words = {"operations": "operations", "sample": "time", "compiled": "compile time"}
        costs = {f"{kind} dynamics, {text}": column(having, f"{kind} {what}") for what, text in words.items()}
        costs["memory"] = column(having, "memory")
        if len(having) > 1:
            parts.append(growth(size, list(having), costs))
    return joined(*parts)


def modes(effort: Effort) -> str:
    """The flexible platform over its modes, against the rigid robot."""
    rows = measured("modes", effort.size(MODES, (5, 10)), effort)
    rigid = measured("modes", (0,), effort)
    ten = rows[10]["direct sample"] / rigid[0]["direct sample"]
    last = exponents(list(rows), column(rows, "direct sample"))[-1]
    said = (f"Direct dynamics with ten modes takes {ten:.2f} times as long as that of the rigid robot by virtual power. "
            f"Between the last two sizes its time grows with the power {last:.2f} of the modes.")  # fmt: skip
    return joined(ABOUT_MODES, kernels(rows, "modes", rigid), said, WHY_MODES, first_results(effort))


def first_results(effort: Effort) -> str:
    """The first accelerations of a new process over the modes, against the goal."""
    rows = measured("first_modes", effort.size(MODES, (5, 10)), effort)
    lines = [(n, shown(r["first"]), f"{r['memory']:.0f} MB") for n, r in rows.items()]
    goal = rows.get(GOAL_MODES)
    reached = "" if goal is None else (
        f"With {GOAL_MODES} modes it takes {shown(goal['first'])}; the goal is at most {shown(GOAL_FIRST)}."
    )  # fmt: skip
    costs = {"first result": column(rows, "first"), "memory": column(rows, "memory")}
    head = ["modes", "first result, cold", "memory"]
    return joined(ABOUT_FIRST, table(head, lines), growth("modes", list(rows), costs), reached)


def legs(effort: Effort) -> str:
    """UPS legs on circles."""
    virtual_power = measured("legs", effort.size(LEGS, (3, 6)), effort)
    link_axes = measured("link_legs", effort.size(LEGS[1:], (6,)), effort)
    return joined(ABOUT_LEGS, kernels(virtual_power, "legs"), IN_LINK_AXES, kernels(link_axes, "legs"))


def samples(effort: Effort) -> str:
    """A batch over its size."""
    rows = measured("samples", effort.size(SAMPLES, (1, 10)), effort)
    lines = [
        (counted(n), shown(r["kernel"]), shown(r["kernel"] / n), shown(r["verb"]), shown(r["verb"] / n), f"{r['memory']:.0f} MB")
        for n, r in rows.items()
    ]
    head = ["samples", "kernel", "per sample", "verb", "per sample", "memory"]
    costs = {"kernel": column(rows, "kernel"), "verb": column(rows, "verb"), "memory": column(rows, "memory")}
    return joined(ABOUT_SAMPLES, table(head, lines), growth("samples", list(rows), costs))


def section(effort: Effort) -> str:
    """Four growing things."""
    return joined(ABOUT, elements(effort), modes(effort), legs(effort), samples(effort))


ABOUT = """## Growth

Every row is a process of its own with an empty kernel cache, on one core; memory is the peak of the whole process, Python and
compiler included, and a robot is ready after import, loading and, with modes, the finite elements of its plate. The exponent
between two sizes is p in cost ~ size^p.
"""
ABOUT_ELEMENTS = """### Beam elements

DualEMPS with n elements in each of its three flexible links, from `import flexapod` to its first accelerations, the static
deflection before them included; one evaluation is that of mass matrix, forces and closing rows. Beyond 24 coordinates kernels
go through the elements in loops, so that code and compile time hardly grow; what grows is work per element and, in one
evaluation of the whole mass matrix, its size.
"""
ABOUT_MODES = """### Modes of a plate

`gough-stewart` with modes of the plate of `gough-stewart-flexible`, all second-order terms kept; without modes it is the
rigid robot (virtual power).
"""
WHY_MODES = """
For few modes the cost grows more slowly than the modes, because the legs are most of it; the solve goes through the joints
and is linear in the modes. What pairs of modes do to the inertia is quadratic, so that the exponent rises towards 2.
Parameters of pairs are copied and read in loops.
"""
ABOUT_FIRST = """From `import flexapod` to the first accelerations of the same robot: finite elements of the plate, static
deflection and direct dynamics, both kernels derived and compiled (processor time):
"""
ABOUT_LEGS = """### Legs

A platform on n UPS legs between two circles (benchmarks/ups_robots.py), by virtual power; redundantly driven beyond six,
where inverse dynamics has the forces of least norm. With fewer than six, inverse dynamics has no answer.
"""
IN_LINK_AXES = "The same in axes of the links, the route that inverse dynamics takes beyond six legs:"
ABOUT_SAMPLES = """### Samples

Inverse dynamics of `bench-6ups`, in blocks of a million samples beyond that: the kernel alone, and the verb with its labelled
result.
"""

if __name__ == "__main__":
    print_section(section, __doc__)
