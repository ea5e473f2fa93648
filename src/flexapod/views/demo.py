"""`make demo`: the catalogue, a first robot through the whole pipe, and the five papers on one page."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import flexapod as fp
from flexapod.views.output import write_data, write_text
from flexapod.views.plots.robot_figures import page, robot_figure
from flexapod.views.plots.time_figures import actuator_figure
from flexapod.views.reports.reproduce import reproduce

NEXT = """
next, a hexapod of your own, changed, with figures for a meeting:
  .venv/bin/flexapod new my-hexapod.yaml --kind 6-ups
  .venv/bin/flexapod report my-hexapod.yaml --out report.html
  .venv/bin/flexapod inverse-dynamics my-hexapod.yaml --set platform.mass=40 --plot change.html --figure change
and everything else: .venv/bin/flexapod --help, docs/start.md, examples/README.md"""


def catalogue_table() -> str:
    """Every robot of the catalogue: kind and mobility."""
    names = fp.catalogue()
    width = max(map(len, names))
    lines = [f"{'robot':{width}} {'mobility':>8} {'actuators':>9}  title"]
    for name in names:
        robot = fp.load(name)
        lines.append(f"{name:{width}} {robot.mobility.rank:8d} {len(robot.actuators):9d}  {robot.title}")
    return "\n".join(lines)


def first_robot(folder: Path, table: str) -> Path:
    """Inverse kinematics of the 3-3 Stewart platform: numbers, C code and a page with pictures."""
    robot = fp.load("stewart-3-3")
    legs = fp.inverse_kinematics(robot, fp.motions.staicu_motion("vertical-z", samples=301))
    kernel = fp.kernel(robot, "inverse_kinematics")
    files = fp.export_c(robot, "inverse_kinematics", folder / "c")
    write_data(folder / "stewart-3-3_legs.csv", legs)
    figures = [
        robot_figure(robot),
        actuator_figure(legs, "actuator_position", "Leg extension, vertical motion", "extension"),
        actuator_figure(legs, "actuator_velocity", "Leg rates, vertical motion", "rate"),
    ]
    text = f"{table}\n\n{robot.loops}\n\n{kernel!r}: {kernel.operations}"
    reach = legs.actuator_position
    print(f"stewart-3-3, vertical motion: legs between {float(reach.min()):+.4f} and {float(reach.max()):+.4f} m of 5 m")
    print(f"kernel: {kernel.operations}")
    print(f"C code: {files['source']}")
    return write_text(folder / "demo.html", page(figures, "flexapod demo: stewart-3-3", text))


def main() -> None:
    """Run the demo."""
    parser = argparse.ArgumentParser(description="flexapod: from a robot file to results, and the five papers reproduced")
    parser.add_argument("--out", type=Path, default=Path("out"), help="folder for the results")
    parser.add_argument("--only", nargs="+", default=[], metavar="PAPER", help="papers to reproduce; all if left out")
    asked = parser.parse_args()
    folder = asked.out
    folder.mkdir(parents=True, exist_ok=True)
    table = catalogue_table()
    print(table, end="\n\n")
    first = first_robot(folder, table)
    print(f"\nReproducing {', '.join(asked.only) or 'the five papers'} ...", flush=True)
    start = time.perf_counter()
    text, summary = reproduce(asked.only, progress=sys.stderr.isatty())
    papers = write_text(folder / "papers.html", text)
    print(f"{summary}\n({time.perf_counter() - start:.0f} s)\n")
    print(f"picture and plots: {first.resolve()}")
    print(f"the five papers:   {papers.resolve()}")
    print(NEXT)


if __name__ == "__main__":
    main()
