"""Flexible platform: cost of direct and inverse dynamics over the number of modes, against the rigid robot, and compile times.

    python benchmarks/flexible.py [--modes 0 5 10 20 40] [--samples 20000] [--out out/benchmarks]

One core, batch. 0 modes is the rigid robot of the same legs. Times are processor seconds, so that other work on the machine
counts less: of evaluation the best of many batches, of compilation without any cache. Nothing is asserted; ratios and times are
printed beside what they should be. Writes flexible.json, flexible.md (the tables of the docs), flexible.html and, where a browser
can draw it, flexible.png.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import tempfile
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

RATIO = 3.5
"""Direct dynamics with ten modes, of the rigid robot's: at most."""
COMPILE = {10: 3.0, 40: 10.0}
"""Seconds to compile, by modes: at most."""
NAMES = {"direct": "direct dynamics", "inverse": "inverse dynamics"}
QUANTITIES = {
    "direct": ("forward_dynamics", "flexible_forward_dynamics"),
    "inverse": ("virtual_power", "flexible_inverse_dynamics"),
}
"""Kernel of the rigid robot, and with modes."""

Rows = dict[int, dict[str, dict[str, float]]]


def robot_with(modes: int) -> Any:
    """`gough-stewart` with so many modes of the plate of `gough-stewart-flexible`; rigid for none."""
    import flexapod as fp

    rigid = fp.load("gough-stewart")
    if modes == 0:
        return rigid
    body = fp.flexible.plate(
        outline=fp.flexible.regular_outline(6, 0.5), thickness=0.015, young=2e10, poisson=0.3, density=7500.0, modes=modes,
        interfaces={leg.name: tuple(leg.closing.on_platform.position) for leg in rigid.legs}, damping=0.4,
    )  # fmt: skip
    return rigid.with_flexible_body("platform", body)


def inputs_of(bound: Any, samples: int) -> dict[str, np.ndarray]:
    """Random states, forces and small deflections."""
    import flexapod as fp
    from flexapod.analysis.verbs.sampling import random_states

    random, N = np.random.default_rng(1), len(bound.robot.elastic_names)
    states = random_states(fp.load("gough-stewart"), 500, 1)
    rows = np.arange(samples) % 500
    known = {name: values[rows] for name, values in states.items()}
    known |= {"force": random.normal(size=(samples, 6)) * 100.0, "wrench": np.zeros((samples, 6))}
    known |= {"elastic": random.normal(size=(samples, N)) * 0.01, "elastic_velocity": random.normal(size=(samples, N)) * 0.1}
    known["elastic_load"] = np.zeros((samples, N))
    return {i.name: np.ascontiguousarray(known[i.name]) for i in bound.signature.inputs}


def measure(robot: Any, quantity: str, samples: int, rounds: int = 25) -> dict[str, float]:
    """Nanoseconds per sample (best of the rounds), operations, seconds to compile."""
    import flexapod as fp

    start = time.process_time()
    bound = fp.kernel(robot, quantity)
    compiled = time.process_time() - start
    inputs = inputs_of(bound, samples)
    out = bound.batch(inputs).outputs
    best = math.inf
    for _ in range(rounds):
        start = time.process_time()
        bound.batch(inputs, out=out)
        best = min(best, time.process_time() - start)
    return {"ns": best / samples * 1e9, "operations": bound.operations.total, "compile_s": compiled}


def exponents(rows: Rows, kind: str, what: str) -> dict[str, float]:
    """Growth between consecutive numbers of modes: p in cost ~ modes^p."""
    counts = [n for n in sorted(rows) if n]
    cost = {n: rows[n][kind][what] for n in counts}
    return {f"{a}-{b}": math.log(cost[b] / cost[a]) / math.log(b / a) for a, b in pairwise(counts)}


def report(rows: Rows) -> str:
    """Tables of the docs."""
    direct = ("operations", "time per sample", "of the rigid robot", "compiled in")
    inverse = ("operations", "time per sample", "compiled in")
    head = ["modes", *(f"direct: {x}" for x in direct), *(f"inverse: {x}" for x in inverse)]
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    for modes, row in rows.items():
        d, i = row["direct"], row["inverse"]
        ratio = d["ns"] / rows[0]["direct"]["ns"]
        lines.append(
            f"| {modes or 'rigid'} | {d['operations']:.0f} | {d['ns']:.0f} ns | {ratio:.2f} | {d['compile_s']:.1f} s "
            f"| {i['operations']:.0f} | {i['ns']:.0f} ns | {i['compile_s']:.1f} s |"
        )
    spans = list(exponents(rows, "direct", "ns"))
    lines += ["", "| growth, exponent between | " + " | ".join(spans) + " modes |", "|---" * (len(spans) + 1) + "|"]
    for kind, name in NAMES.items():
        for what, unit in (("operations", "operations"), ("ns", "time"), ("compile_s", "compile time")):
            grown = exponents(rows, kind, what).values()
            lines.append(f"| {name}, {unit} | " + " | ".join(f"{p:.2f}" for p in grown) + " |")
    return "\n".join(lines) + "\n"


def figure_of(rows: Rows) -> Any:
    """Time per sample, operations and compile time over the number of modes."""
    from plotly.subplots import make_subplots

    from flexapod.views.plot import line_style, styled

    panels = (("ns", "time per sample [ns]"), ("operations", "operations"), ("compile_s", "compile time [s]"))
    figure = make_subplots(rows=1, cols=3, horizontal_spacing=0.12)
    counts = list(rows)
    for column, (what, label) in enumerate(panels, start=1):
        for k, (kind, name) in enumerate(NAMES.items()):
            values = [rows[n][kind][what] for n in counts]
            figure.add_scatter(
                x=counts, y=values, name=name, line=line_style(k), mode="lines+markers", legendgroup=name, showlegend=column == 1,
                row=1, col=column,
            )  # fmt: skip
        figure.update_yaxes(title_text=label, rangemode="tozero", row=1, col=column)
        figure.update_xaxes(title_text="modes of the platform", row=1, col=column)
    styled(figure, "Flexible platform: cost over the number of modes", height=430)
    return figure.update_layout(width=1250, legend={"orientation": "h", "x": 0.0, "y": 1.12})


def write(rows: Rows, out: Path) -> None:
    """Files of the run."""
    import flexapod as fp

    out.mkdir(parents=True, exist_ok=True)
    grown = {kind: {what: exponents(rows, kind, what) for what in ("ns", "operations", "compile_s")} for kind in NAMES}
    data = {"modes": {str(n): row for n, row in rows.items()}, "exponents": grown}
    (out / "flexible.json").write_text(json.dumps(data, indent=1), encoding="utf-8")
    (out / "flexible.md").write_text(report(rows), encoding="utf-8")
    figure = figure_of(rows)
    fp.figures.save_figure(figure, out / "flexible.html")
    try:
        fp.figures.save_figure(figure, out / "flexible.png")
    except fp.FlexapodError as error:
        print(f"no flexible.png: {error}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--modes", type=int, nargs="+", default=[0, 5, 10, 20, 40])
    parser.add_argument("--samples", type=int, default=20_000)
    parser.add_argument("--out", type=Path, default=Path("out/benchmarks"))
    options = parser.parse_args()
    rows: Rows = {}
    with tempfile.TemporaryDirectory() as cache:
        os.environ["FLEXAPOD_CACHE"] = cache
        for modes in sorted({0, *options.modes}):
            robot = robot_with(modes)
            rows[modes] = {kind: measure(robot, names[modes > 0], options.samples) for kind, names in QUANTITIES.items()}
            shown = "{} {:6.0f} ns {:6.0f} operations, compiled in {:4.1f} s"
            line = "; ".join(shown.format(k, v["ns"], v["operations"], v["compile_s"]) for k, v in rows[modes].items())
            ratio = rows[modes]["direct"]["ns"] / rows[0]["direct"]["ns"]
            limit = f" (at most {RATIO})" if modes == 10 else ""
            wanted = f"; compile at most {COMPILE[modes]:g} s" if modes in COMPILE else ""
            print(f"{modes:3d} modes: {line}; direct to rigid {ratio:5.2f}{limit}{wanted}", flush=True)
    print(report(rows))
    write(rows, options.out)


if __name__ == "__main__":
    main()
