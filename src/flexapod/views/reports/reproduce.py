"""`flexapod reproduce`: tables and figures of the five papers, computed now, on one self-contained page.

Checked by: tests/views/test_pages.py.
"""

from __future__ import annotations

import html
import time
from collections.abc import Callable, Sequence
from typing import Any

import flexapod as fp
from flexapod.errors import did_you_mean
from flexapod.views.papers.items import AGREES, DIFFERS, Item, Paper
from flexapod.views.reports.html import HtmlTable, Raw, bullets, heading, html_page, paragraph

NAMES = ("staicu", "sinatra", "kim", "long", "briot")
LEAD = (
    "Curves of the papers are known as pictures only: verdicts concern statements of their text and printed numbers, "
    "and follow from what was computed for this page."
)


def reproduce(only: Sequence[str] = (), progress: bool = False) -> tuple[str, str]:
    """The page, and a summary in text.

    Args:
        only: papers by name; all if left out.
        progress: a bar on the error stream.
    """
    for name in only:
        if name not in NAMES:
            hint = did_you_mean(name, NAMES, f"known are {', '.join(NAMES)}")
            raise fp.InputError(f"--only {name}: there is no such paper; {hint}")
    chosen = [name for name in NAMES if not only or name in only]
    papers, seconds = _computed(chosen, progress)
    sections: list[tuple[str, Sequence[Any]]] = [("Summary", _summary(papers, seconds))]
    sections += [(TITLES[paper.key], paper_parts(paper)) for paper in papers]
    lead = f"Computed by flexapod {fp.__version__} in {sum(seconds.values()):.0f} s. {LEAD}"
    return html_page("The five papers, reproduced", sections, lead), summary_text(papers)


TITLES = {
    "staicu": "Staicu 2009",
    "sinatra": "Sinatra, Xi, Staicu 2009",
    "kim": "Kim, Ryu 2002",
    "long": "Long, Khalil, Martinet 2014",
    "briot": "Briot, Khalil 2014",
}


def maker(name: str) -> Callable[[], Paper]:
    """The function that computes a paper."""
    import importlib

    function: Callable[[], Paper] = getattr(importlib.import_module(f"flexapod.views.papers.{name}"), name)
    return function


def _computed(names: Sequence[str], progress: bool) -> tuple[list[Paper], dict[str, float]]:
    from rich.console import Console
    from rich.progress import Progress

    papers, seconds = [], {}
    with Progress(console=Console(stderr=True), disable=not progress, transient=True) as bar:
        task = bar.add_task("papers", total=len(names))
        for name in names:
            bar.update(task, description=TITLES[name])
            start = time.perf_counter()
            papers.append(maker(name)())
            seconds[name] = time.perf_counter() - start
            bar.advance(task)
    return papers, seconds


def summary_text(papers: Sequence[Paper]) -> str:
    """One line per table and figure."""
    lines = [f"{TITLES[p.key]:28} {item.where:12} {item.line}" for p in papers for item in p.items]
    lines += [f"{TITLES[p.key]:28} not computed: {text}" for p in papers for text in p.missing]
    return "\n".join(lines)


def _summary(papers: Sequence[Paper], seconds: dict[str, float]) -> list[Any]:
    rows = []
    for paper in papers:
        agree = sum(item.verdict == AGREES for item in paper.items)
        others: dict[str, list[str]] = {}
        for item in paper.items:
            if item.verdict != AGREES:
                others.setdefault(item.verdict, []).append(item.where)
        label = ". ".join(f"{', '.join(names)}: {verdict}" for verdict, names in others.items())
        rows.append([TITLES[paper.key], paper.robot, label, str(len(paper.items)), str(agree), f"{seconds[paper.key]:.1f}"])
    head = ("paper", "robot", "what does not simply agree", "tables and figures", "agree", "seconds")
    return [HtmlTable(head=head, rows=rows, text=3)]


def paper_parts(paper: Paper) -> list[Any]:
    """Everything about one paper, for the page."""
    parts: list[Any] = [paragraph(paper.source, "note")]
    for item in paper.items:
        parts += [heading(f"{item.where}: {item.title}"), _verdict_block(item), *item.parts]
    if paper.missing:
        parts += [heading("Not computed"), bullets(paper.missing)]
    return [*parts, heading("How the paper was read"), bullets(paper.readings), heading("Errata"), bullets(paper.errata)]


def _verdict_block(item: Item) -> Raw:
    """The paper's statement beside our result, and the verdict."""
    kind = "warning" if DIFFERS in item.verdict else "good" if item.verdict == AGREES else "note"
    return Raw(
        html=f"<div class='pair'><div><b>The paper.</b> {html.escape(item.says)}</div>"
        f"<div><b>Here.</b> {html.escape(item.ours)}</div></div>"
        f"<p class='{kind}'>Verdict: <span class='verdict'>{html.escape(item.verdict)}</span>. "
        f"Check: {html.escape(item.check)}.</p>"
    )
