"""A runner of the command line in a folder of its own, and a real browser."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from typer import rich_utils
from typer.testing import CliRunner

from flexapod.views.cli import app
from support.patience import PATIENCE
from support.webgl import DRAWING_LATER

Run = Callable[..., Any]
LOOKED = 50
"""Milliseconds between two looks whether all figures are there; Playwright looks at every frame."""


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """`run("show", "hexapod")`: result with exit_code, stdout, stderr; the working folder is the test's own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COLUMNS", raising=False)
    runner = CliRunner()

    def call(*words: str, input: str | None = None) -> Any:
        return runner.invoke(app, list(words), input=input)

    return call


@pytest.fixture
def wide(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """`wide(80)`: help for a terminal of 80 columns; Typer reads the environment only once, when it is imported."""

    def columns(count: int) -> None:
        monkeypatch.setattr(rich_utils, "MAX_WIDTH", count)
        monkeypatch.setenv("COLUMNS", str(count))

    return columns


@pytest.fixture
def opened(browser: Any) -> Iterator[Callable[[Path], tuple[Any, list[str]]]]:
    """Open a page without a network, its scenes not drawn: (page, errors of its console and scripts, requests that left it)."""
    contexts = []

    def open_page(path: Path) -> tuple[Any, list[str]]:
        context = browser.new_context(offline=True, viewport={"width": 1120, "height": 900})
        context.add_init_script(DRAWING_LATER)
        contexts.append(context)
        page, errors = context.new_page(), []
        page.on("console", lambda m: errors.append(m.text) if m.type == "error" else None)
        page.on("pageerror", lambda e: errors.append(str(e)))
        page.on("request", lambda r: errors.append(f"request {r.url}") if r.url.startswith("http") else None)
        page.goto(path.resolve().as_uri(), timeout=1000 * PATIENCE)
        page.wait_for_function(
            "[...document.querySelectorAll('.plotly-graph-div')].every(d => d.querySelector('.main-svg'))",
            polling=LOOKED, timeout=1000 * PATIENCE,
        )  # fmt: skip
        return page, errors

    yield open_page
    for context in contexts:
        context.close()
