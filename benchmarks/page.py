"""docs/benchmarks.md from one run: every script of this folder in a process of its own, one after another.

    python benchmarks/page.py [--quick] [--only dynamics kernels] [--out page.md]

With --only the sections named are written to --out, or printed; otherwise the page of the docs is written. Each section is kept
in out/benchmarks as well. A script that fails is named, and no page is written.
"""

from __future__ import annotations

import argparse
import ast
import os
import platform
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

from reporting import joined

HERE = Path(__file__).resolve().parent
PAGE, KEPT = HERE.parent / "docs" / "benchmarks.md", Path("out/benchmarks")
SECTIONS = (
    "dynamics", "casadi_c", "kernels", "whole_calls", "simulation", "growth", "c_steps", "flexible_simulation", "flexible_legs",
    "kinematics", "poses", "space", "identification", "design", "studio",
)  # fmt: skip
"""Scripts in the order of the page."""
ONE = ("FLEXAPOD_THREADS", "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
"""Threads where a script does not ask for more."""
QUIET = 0.5
"""Load average below which a machine counts as quiet."""
HEAD = """
How fast it is, against what, and how that was measured. This page is written by `make bench` (`python benchmarks/page.py`), all
of it in one run, peers included; statements about figures are computed from it.
"""
TIMES = """
Times are CPU time of the process, the best of many short measurements, on one core unless noted. Absolute figures
vary by some percent from run to run and more from machine to machine; compare ratios. A script prints its section when it is
run by itself:
"""
END = """## Count the operations yourself

```python
import flexapod as fp

robot = fp.load("bench-6ups")
for quantity in ("minimal_inverse_dynamics", "virtual_power", "minimal_forward_dynamics", "forward_dynamics"):
    print(f"{quantity:26} {fp.kernel(robot, quantity).operations}")
```
"""


def main() -> int:
    """Run the scripts and write the page; 1 if one of them failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=SECTIONS, default=SECTIONS, metavar="NAME", help="sections, by script")
    parser.add_argument("--quick", action="store_true", help="smallest sizes, measured once")
    parser.add_argument("--out", type=Path, help="page to write; docs/benchmarks.md for a whole run")
    options = parser.parse_args()
    facts = machine(os.getloadavg()[0])
    sections = {name: measured(name, options.quick) for name in SECTIONS if name in options.only}
    failed = [name for name, text in sections.items() if text is None]
    if failed:
        print(f"no page written: {', '.join(failed)} failed", file=sys.stderr)
        return 1
    page = "\n".join([head(facts, list(sections)), *(text for text in sections.values() if text), END])
    whole = set(sections) == set(SECTIONS) and not options.quick
    if options.out is None and not whole:
        print(page, end="")
    else:
        (options.out or PAGE).write_text(page, encoding="utf-8")
    return 0


def measured(name: str, quick: bool) -> str | None:
    """Section of a script, or None if it failed."""
    env = {**os.environ, **dict.fromkeys(ONE, "1"), "PYTHONWARNINGS": "ignore"}
    start = time.perf_counter()
    command = [sys.executable, str(HERE / f"{name}.py"), *(["--quick"] if quick else [])]
    done = subprocess.run(command, env=env, stdout=subprocess.PIPE, text=True, check=False)
    print(
        f"{name:20} {time.perf_counter() - start:6.0f} s{'' if done.returncode == 0 else '   failed'}",
        file=sys.stderr,
        flush=True,
    )
    if done.returncode != 0:
        return None
    KEPT.mkdir(parents=True, exist_ok=True)
    (KEPT / f"{name}.md").write_text(done.stdout, encoding="utf-8")
    return done.stdout


def machine(load: float) -> list[str]:
    """Facts that the figures depend on; a warning where the machine was not quiet at the start."""
    system = f"{platform.system()}, Python {platform.python_version()}"
    facts = [
        f"{datetime.now(UTC):%Y-%m-%d}, {processor()}, {os.cpu_count()} cores, {system}.",
        f"Load of the machine before the start: {load:.2f}.",
    ]
    if load > QUIET:
        facts.append(f"**The machine was busy (load above {QUIET:g}): times are too long, and ratios uncertain.**")
    return facts


def processor() -> str:
    """Name of the processor."""
    try:
        rows = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        rows = []
    names = [row.split(":", 1)[1].strip() for row in rows if row.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def head(facts: list[str], names: list[str]) -> str:
    """Title, how it was measured, and the scripts with what they measure."""
    width = max(map(len, names))
    scripts = "\n".join(f"python benchmarks/{name + '.py':{width + 3}}  # {about(name)}" for name in names)
    return joined("# Benchmarks", HEAD, " ".join(facts), TIMES) + f"\n```text\n{scripts}\n```\n"


def about(name: str) -> str:
    """First line of a script's docstring, without its full stop."""
    text = ast.get_docstring(ast.parse((HERE / f"{name}.py").read_text(encoding="utf-8"))) or ""
    return text.splitlines()[0].rstrip(".")


if __name__ == "__main__":
    sys.exit(main())
