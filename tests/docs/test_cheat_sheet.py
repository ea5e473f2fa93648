"""The cheat sheet fits on one sheet of paper, names the commands, and every public name on the new user's pages exists."""

import re
from pathlib import Path
from typing import Any

import pytest

import flexapod as fp
from flexapod.views import cli
from flexapod.views.commands.guard import EXAMPLES
from support.patience import PATIENCE

DOCS = Path(__file__).parents[2] / "docs"
STYLE = (
    "@page{size:A4;margin:12mm}"
    "body{font:8pt sans-serif;line-height:1.25} pre,code{font:7.2pt monospace} pre{white-space:pre-wrap;margin:3pt 0}"
    "table{border-collapse:collapse;width:100%} td,th{border:.4pt solid #999;padding:1.2pt 3pt;text-align:left}"
    "h1{font-size:13pt;margin:0} h2{font-size:10pt;margin:6pt 0 2pt} p{margin:3pt 0}"
)


def pages_of(body: str, browser: Any) -> int:
    """A4 pages of a text as a browser prints it."""
    page = browser.new_page()
    try:
        page.set_content(f"<meta charset='utf-8'><style>{STYLE}</style>{body}", timeout=1000 * PATIENCE)
        printed = page.pdf(prefer_css_page_size=True)
    finally:
        page.close()
    return len(re.findall(rb"/Type\s*/Page\b", printed))


def test_two_pages(browser: Any) -> None:
    from markdown_it import MarkdownIt

    body = MarkdownIt().enable("table").render((DOCS / "cheat-sheet.md").read_text(encoding="utf-8"))
    assert pages_of(body, browser) <= 2
    assert pages_of(body * 3, browser) > 2  # the count can fail


def test_commands_of_the_sheet() -> None:
    text = (DOCS / "cheat-sheet.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`flexapod ([a-z][a-z-]+)\b", text))
    assert cli.app is not None
    assert named <= set(EXAMPLES), named - set(EXAMPLES)
    daily = {
        "robots",
        "motions",
        "new",
        "check",
        "show",
        "kinematics",
        "workspace",
        "inverse-dynamics",
        "simulate",
        "frequencies",
    }
    assert daily | {"report", "export-c"} <= named


@pytest.mark.parametrize("page", ["cheat-sheet.md", "words.md", "figures.md", "tutorial-design-your-own-hexapod.md"])
def test_public_names_exist(page: str) -> None:
    text = (DOCS / page).read_text(encoding="utf-8")
    names = set(re.findall(r"\bfp\.((?:figures\.|motions\.)?[A-Za-z_]\w*)", text)) - {"figures", "motions"}
    assert names
    for name in names:
        owner, _, last = name.rpartition(".")
        assert hasattr(getattr(fp, owner) if owner else fp, last), f"{page}: fp.{name}"
