"""Fenced code blocks of Markdown pages."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

FENCE = re.compile(r"^(?P<tick>`{3,})(?P<info>[^\n`]*)\n(?P<body>.*?)^(?P=tick)[ \t]*$", re.MULTILINE | re.DOTALL)
RUN = "<!-- run -->"
SAVE = re.compile(r"<!-- file: (?P<name>[\w.-]+) -->$")


@dataclass(frozen=True, kw_only=True)
class Block:
    """A fenced block: language, text, first line of the text in its page, and what the line above says: run it, or save it."""

    language: str
    text: str
    line: int
    run: bool
    file: str = ""


def blocks(page: Path) -> list[Block]:
    """Every fenced block of a page, in order."""
    text = page.read_text(encoding="utf-8")
    return [
        Block(
            language=match["info"].strip(),
            text=match["body"],
            line=text.count("\n", 0, match.start()) + 2,
            run=text[: match.start()].rstrip("\n").endswith(RUN),
            file=saved["name"] if (saved := SAVE.search(text[: match.start()].rstrip("\n"))) else "",
        )
        for match in FENCE.finditer(text)
    ]
