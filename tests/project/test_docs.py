"""The site builds without a warning, and what the pages show runs.

Every ```python block of README and docs is executed: the blocks of one page share a namespace and run in order, in
an empty folder. A block with `<!-- file: name -->` on the line above is saved there first. A ```console block with `<!-- run -->`
on the line above is executed too: each line `$ flexapod ...` is a command that must succeed (or end with the code that a comment
`# exit 1` behind it says), and the lines below it must appear in its output in this order; `...` represents anything. The first
command of README runs as a process of its own, as a user starts it; all others in this one, which has everything loaded.
"""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from fences import Block, blocks
from places import DOCS, ROOT, pages
from typer.testing import CliRunner

from flexapod.views.cli import app

RUN_PAGES = [page for page in pages() if any(b.language == "python" or b.run for b in blocks(page))]


def name(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, subprocess.CompletedProcess[str]]:
    """The site's folder, and how its build ended."""
    folder = tmp_path_factory.mktemp("site")
    options = ["-W", "--keep-going", "-n", "-q", "-d", str(folder / "doctrees")]
    command = [sys.executable, "-m", "sphinx", *options, str(DOCS), str(folder / "html")]
    return folder / "html", subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def test_site_builds_without_warnings(site: tuple[Path, subprocess.CompletedProcess[str]]) -> None:
    html, result = site
    assert result.returncode == 0, result.stdout + result.stderr
    page = (html / "theory" / "legs.html").read_text(encoding="utf-8")
    assert "<math" in page
    assert 'class="eqno">(1)' in page
    assert not re.findall(r'<(?:script|link)[^>]*"https?://[^>]*>', page), "the pages must work without a network"


SIDEWAYS = """() => [document.documentElement, ...document.querySelectorAll('.content, .content *')]
  .filter((e) => e.checkVisibility() && e.scrollWidth > e.clientWidth + 1 && e.clientWidth > 0
    && (e === document.documentElement || ['auto', 'scroll'].includes(getComputedStyle(e).overflowX)))
  .map((e) => `${e.tagName.toLowerCase()}.${e.className}: ${e.scrollWidth} of ${e.clientWidth}`)"""
"""Parts of a page that scroll sideways, and the page itself."""


@pytest.mark.parametrize("width", [1280, 375])
def test_landing_page_opens_with_a_picture_and_nothing_scrolls_sideways(
    site: tuple[Path, subprocess.CompletedProcess[str]], browser: Any, width: int
) -> None:
    """On a desk and on a telephone."""
    page = browser.new_page(viewport={"width": width, "height": 800})
    page.goto((site[0] / "index.html").as_uri())
    assert page.evaluate(SIDEWAYS) == []
    picture = page.locator("img[src*='studio.png']").bounding_box()
    assert picture is not None
    assert picture["y"] < 800, "it begins on the first screen"
    assert picture["x"] + picture["width"] <= width
    page.set_content(f"<div class='content'><pre style='overflow-x:auto'>{'x' * 1000}</pre></div>")
    assert len(page.evaluate(SIDEWAYS)) == 1, "the check sees what scrolls"
    page.close()


def test_languages_of_blocks_are_known() -> None:
    """A misspelt language would silently keep a block from running."""
    known = {"python", "console", "bash", "text", "yaml", "c", "json", "{toctree}", "{admonition}", "{figure}", "{list-table}"}
    known |= {"{literalinclude}"}
    unknown = [
        f"{name(page)}:{block.line}: {block.language!r}"
        for page in pages()
        for block in blocks(page)
        if block.language.split(" ")[0] not in known
    ]
    assert not unknown, "\n".join(unknown)


@pytest.mark.parametrize("page", RUN_PAGES, ids=name)
def test_blocks_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, object] = {"__name__": "__page__"}
    for block in blocks(page):
        if block.file:
            (tmp_path / block.file).write_text(block.text, encoding="utf-8")
        elif block.run:
            for k, (command, expected) in enumerate(commands(block)):
                check_command(command, expected, tmp_path, own_process=page.name == "README.md" and k == 0)
        elif block.language == "python":
            source = "\n" * (block.line - 1) + block.text  # so that a traceback shows the page's own line
            exec(compile(source, name(page), "exec"), namespace)


def commands(block: Block) -> list[tuple[str, list[str]]]:
    """Commands of a block, each with the output lines shown below it."""
    assert block.language == "console", f"only console blocks run, this one is {block.language!r}"
    result: list[tuple[str, list[str]]] = []
    for line in block.text.splitlines():
        if line.startswith("$ "):
            result.append((line[2:], []))
        elif line.strip() and result:
            result[-1][1].append(line.strip())
    return result


def check_command(command: str, expected: list[str], folder: Path, own_process: bool = True) -> None:
    command, _, code = command.partition("# exit ")
    words = shlex.split(command)
    assert words[0] in {"flexapod", "python"}, f"only flexapod and python commands run in pages: {command}"
    terminal = {"COLUMNS": "120", "NO_COLOR": "1"}
    if own_process or words[0] == "python":
        tools = Path(sys.executable).parent
        environment = os.environ | terminal | {"PATH": f"{tools}{os.pathsep}{os.environ['PATH']}"}
        done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, check=False)
        ended, out, err = done.returncode, done.stdout, done.stderr
    else:
        here = CliRunner().invoke(app, words[1:], env=terminal)
        ended, out, err = here.exit_code, here.stdout, here.stderr
    assert ended == int(code or 0), f"$ {command}\n{out}{err}"
    output = iter([line.strip() for line in (out + err * bool(code)).splitlines()])
    for line in expected:
        if line != "...":
            assert any(found == line for found in output), f"$ {command}\nmissing line: {line}\n{out}"


def test_console_checker_finds_a_wrong_line(tmp_path: Path) -> None:
    check_command("python -c 'print(1); print(2); print(3)'", ["1", "...", "3"], tmp_path)
    with pytest.raises(AssertionError, match="missing line: 4"):
        check_command("python -c 'print(1)'", ["4"], tmp_path)


def test_console_checker_wants_the_exit_code(tmp_path: Path) -> None:
    check_command("python -c 'import sys; print(7, file=sys.stderr); sys.exit(3)'  # exit 3", ["7"], tmp_path)
    for wrong in ("python -c 'import sys; sys.exit(3)'", "python -c 'print(1)'  # exit 1"):
        with pytest.raises(AssertionError):
            check_command(wrong, [], tmp_path)


def test_saved_blocks_are_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("<!-- file: a.yaml -->\n```yaml\nx: 1\n```\n\n```yaml\ny: 2\n```\n", encoding="utf-8")
    assert [(block.file, block.text) for block in blocks(page)] == [("a.yaml", "x: 1\n"), ("", "y: 2\n")]
