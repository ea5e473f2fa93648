"""Pages that are generated at build time, so that they cannot fall behind what they describe.

A comment line in a page is replaced by Markdown before the page is parsed:

- ``<!-- generated: equations staicu-2009 -->``: the equations of a paper, from ``docs/papers/staicu-2009.yaml``.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml
from sphinx.application import Sphinx

MARK = re.compile(r"^<!-- generated: ([\w-]+)(?: ([\w-]+))? -->$", re.MULTILINE)
PAPERS = Path(__file__).parents[1] / "papers"


def equation_entry(entry: dict[str, Any]) -> list[str]:
    """Return the Markdown of one numbered equation of a paper."""
    numbers = str(entry["equation"])
    lines = [f"### Eq. ({numbers})", "", f"**{entry['subject']}.** {entry['statement'].strip()}", ""]
    if entry.get("latex"):
        lines += ["$$", entry["latex"].strip(), "$$", ""]
    if entry.get("erratum"):
        lines += ["```{admonition} Our reading", entry["erratum"].strip(), "```", ""]
    functions = ", ".join(f"`{name}`" for name in entry["functions"]) or "*not yet implemented*"
    tests = ", ".join(f"`{name}`" for name in entry["tests"]) or "*none yet*"
    return [*lines, f"Implemented by: {functions}. Checked by: {tests}.", ""]


def equation_table(paper: dict[str, Any]) -> list[str]:
    """Return the summary table of a paper's equations: number, subject, function, test, erratum."""
    rows = ["| Eq. | subject | implemented by | checked by | our reading |", "|---|---|---|---|---|"]
    for entry in paper["equations"]:
        number = str(entry["equation"])
        functions = ", ".join(f"`{name}`" for name in entry["functions"]) or "*not yet implemented*"
        tests = ", ".join(f"`{name}`" for name in entry["tests"]) or "*none yet*"
        erratum = "yes" if entry.get("erratum") else ""
        rows.append(f"| [({number})](#eq-{number}) | {entry['subject']} | {functions} | {tests} | {erratum} |")
    return [*rows, ""]


def equations(app: Sphinx, name: str) -> str:
    """Return the Markdown of all numbered equations of a paper: the table, then each with its formula."""
    path = PAPERS / f"{name}.yaml"
    app.env.note_dependency(str(path))
    paper = yaml.safe_load(path.read_text(encoding="utf-8"))
    lines = ["## Equations at a glance", "", *equation_table(paper), "## Each equation", ""]
    for entry in paper["equations"]:
        lines += equation_entry(entry)
    if paper.get("readings"):
        lines += ["## Readings of data and text", ""]
        lines += [f"- {reading.strip()}" for reading in paper["readings"]]
    return "\n".join(lines)


def fill_in(app: Sphinx, _docname: str, source: list[str]) -> None:
    """Replace the marks of a page by what they represent."""

    def markdown(match: re.Match[str]) -> str:
        return {"equations": lambda name: equations(app, name)}[match[1]](match[2])

    source[0] = MARK.sub(markdown, source[0])


def setup(app: Sphinx) -> dict[str, Any]:
    """Hook into the reading of pages."""
    app.connect("source-read", fill_in)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
