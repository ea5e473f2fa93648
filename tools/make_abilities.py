"""Write docs/abilities.md from the tables of abilities and of fast paths; tests/docs/test_abilities_page.py checks it."""

from __future__ import annotations

import re
from pathlib import Path

from flexapod.analysis.requests.abilities import ABILITIES, ANY
from flexapod.analysis.requests.fast_paths import FAST_PATHS, GENERAL

PAGE = Path(__file__).parents[1] / "docs" / "abilities.md"
HEAD = """# What works for which robot

Every verb takes every robot. What has no meaning, or is not known yet, is refused with its reason; no option is ignored. This
page is written from the two tables that decide: `flexapod.analysis.requests.abilities.ABILITIES` (what is refused, and why) and
`flexapod.analysis.requests.fast_paths.FAST_PATHS` (which derivation answers). `python tools/make_abilities.py` writes it anew.

## Which derivation answers

The first one that applies is taken. The last, *general*, takes every robot; the others are faster and are compared with it in
the tests (tests/analysis/test_fast_paths.py). `formulation="general"` of `inverse_dynamics` and `forward_dynamics` asks for it
by name.

| verb | derivations, in the order in which they are tried |
|---|---|
"""
MIDDLE = """
## What is refused

A row is a property of the robot, or of the request, under which an option has no result. Words in braces are filled in for the
robot at hand. Options without a row work for every robot.

| verb | option | where | reason |
|---|---|---|---|
"""


def cell(text: str) -> str:
    """Text that keeps a table in one piece, named after no robot in particular."""
    return re.sub(r"\s+", " ", text).replace("|", "\\|").replace("{", "\\{").replace("}", "\\}")


def abilities_page() -> str:
    """The page."""
    lines = [HEAD.rstrip("\n")]
    for verb, paths in FAST_PATHS.items():
        names = [path.name if path.name != GENERAL else f"*{GENERAL}*" for path in paths]
        lines.append(f"| `{verb}` | {'; '.join(names)} |")
    lines.append(MIDDLE.rstrip("\n"))
    for verb, rows in ABILITIES.items():
        for option, conditions in rows.items():
            shown = f"`{option}`" if option != ANY else ""
            lines += [f"| `{verb}` | {shown} | {cell(where)} | {cell(why)} |" for where, why in conditions.items()]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    PAGE.write_text(abilities_page(), encoding="utf-8")
    print(f"wrote {PAGE.name}")
