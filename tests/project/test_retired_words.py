"""Retired words stay retired: names, messages, comments, docstrings and pages say what a robotics engineer says."""

from __future__ import annotations

import functools
import io
import json
import re
import tokenize
from collections.abc import Container
from pathlib import Path

import pytest
from places import DOCS, ROOT, SRC, modules

RETIRED = {
    "told": "reported, shown, given",
    "untold": "unknown",
    "tell": "report, show, say",
    "tells": "reports, shows, says",
    "ledger": "energy balance",
    "rub": "have friction",
    "rubs": "has friction",
    "rubbed": "with friction",
    "rubbing": "with friction",
    "freedoms": "degrees of freedom",
    "spare": "extra, fallback",
}
"""Word -> what to say instead; in names, texts and comments."""
RETIRED_NAMES = {
    **RETIRED,
    "shares": "contributions, fractions",
    "bent": "deflected, or the joint angle",
    "sense": "sign, direction",
    "stands": "is, supports",
    "serves": "supports, is for",
    "turn": "rotation, revolution",
    "turns": "rotations, revolutions",
    "turned": "rotated",
    "turning": "rotating",
}
"""The same for names alone; some of these words are right in sentences (a leg shares a joint, a motor turns back)."""
IN_TESTS = RETIRED_NAMES.keys() - {"shares", "bent"}
"""Those that names in tests, benchmarks, tools and examples do not have either; names of tests are sentences."""
PHRASES = {
    "no good": "invalid",
    "cannot stand beside": "cannot be given together with",
    "cannot take this pose": "cannot reach this pose",
    "stands still": "is at rest",
    "stand still": "are at rest",
    "as it stands": "as it is",
    "as they stand": "as they are",
    "half a turn": "half a revolution",
    "full turn": "full revolution",
    "take this pose": "reach this pose",
    "is told": "is reported",
    "robots that deform": "flexible robots",
    "robot that deforms": "flexible robot",
}
FORMER = re.compile(r"\bledger_residual\b|\bforce_share\b|\bshares\b|\bshare_figure\b|\bsense\b|\bturns\b")
KEEP_FORMER = {
    "analysis/requests/results.py", "analysis/verbs/inverse_dynamics.py", "views/commands/dynamics.py",
    "views/plots/time_figures.py", "views/figures.py", "motions/paths.py", "motions/papers.py",
}  # fmt: skip
"""Where public names of the last version are still known."""
BENT = ("views/", "equations/homotopy/")
"""Folders that draw bent beams."""


@functools.cache
def parts(name: str) -> list[str]:
    """Words of an identifier: `ledgerResidual`, `ledger_residual` and `LEDGER` have ledger."""
    known = re.sub("turning_points?", "fold", name, flags=re.IGNORECASE)  # a term of kinematics
    return [part.lower() for part in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", known)]


def retired(source: str, names: dict[str, str] = RETIRED_NAMES) -> list[tuple[int, str]]:
    """Lines with retired words, and what to say."""
    found = []
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.NAME:
            own = parts(token.string)
            found += [(token.start[0], f"{token.string}: say {names[p]}") for p in own if p in names]
        elif token.type in (tokenize.STRING, tokenize.COMMENT):
            lower = token.string.lower()
            found += [(token.start[0], f"{w}: say {RETIRED[w]}") for w in re.findall(r"[a-z]+", lower) if w in RETIRED]
            found += [(token.start[0], f"{phrase}: say {PHRASES[phrase]}") for phrase in PHRASES if phrase in lower]
    return found


def may_have(source: str, words: Container[str]) -> bool:
    """Whether a name or a text of a source can have one of the words; to read it token by token takes time."""
    return any(part in words for word in set(re.findall(r"\w+", source)) for part in (*parts(word), *plain(word)))


@functools.cache
def plain(word: str) -> list[str]:
    """Words as texts have them."""
    return re.findall(r"[a-z]+", word.lower())


def test_no_retired_words() -> None:
    wrong = []
    for path in modules():
        name, source = str(path.relative_to(SRC)), Path(path).read_text(encoding="utf-8")
        if not may_have(source, RETIRED_NAMES.keys() | RETIRED) and not any(phrase in source.lower() for phrase in PHRASES):
            continue
        names = {w: s for w, s in RETIRED_NAMES.items() if w != "bent" or not name.startswith(BENT)}
        source = FORMER.sub("former", source) if name in KEEP_FORMER else source
        wrong += [f"{name}:{line}: {text}" for line, text in retired(source, names)]
    assert not wrong, "\n".join(wrong)


def test_no_retired_names_around_the_package() -> None:
    """Names in tests, benchmarks, tools and examples; texts there may speak of the former words."""
    wrong = []
    for folder in ("tests", "benchmarks", "tools", "examples"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            source = path.read_text(encoding="utf-8")
            if path.name in ("test_former_names.py", Path(__file__).name) or not may_have(source, {*RETIRED, *IN_TESTS}):
                continue
            for token in tokenize.generate_tokens(io.StringIO(source).readline):
                banned = RETIRED if token.string.startswith("test_") else IN_TESTS
                name = token.string if token.type == tokenize.NAME else ""
                wrong += [f"{path.relative_to(ROOT)}:{token.start[0]}: {name}" for part in parts(name) if part in banned]
    assert not wrong, "\n".join(wrong)


def text_of(page: Path) -> tuple[str, list[str]]:
    """Text of a page with its code, and its blocks of Python; of a notebook the sources of its cells."""
    text = page.read_text(encoding="utf-8")
    if page.suffix != ".ipynb":
        return text, re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    cells = [(cell["cell_type"], "".join(cell["source"])) for cell in json.loads(text)["cells"]]
    return "\n".join(source for _, source in cells), [source for kind, source in cells if kind == "code"]


def retired_in_text(text: str) -> list[str]:
    """Retired words and phrases of a text, and what to say; parts of names count as words."""
    own = [part for word in re.findall(r"\w+", text) for part in parts(word)]
    found = [f"{word}: say {RETIRED[word]}" for word in own if word in RETIRED]
    return found + [f"{phrase}: say {PHRASES[phrase]}" for phrase in PHRASES if phrase in text.lower()]


def names_in_code(source: str) -> list[str]:
    """Names of a block of Python with retired words, and what to say."""
    names = [token.string for token in tokenize.generate_tokens(io.StringIO(source).readline) if token.type == tokenize.NAME]
    return [f"{name}: say {RETIRED_NAMES[part]}" for name in names for part in parts(name) if part in RETIRED_NAMES]


PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "examples/README.md")),
    *(page for kind in ("*.md", "*.ipynb") for page in DOCS.rglob(kind) if "_build" not in page.parts),
]
"""Pages for people, with the code of their examples."""
FORMER_NAMES = re.compile(r"^### Deprecated$.*?(?=^### )", re.MULTILINE | re.DOTALL)
"""The part of the changelog that lists former names."""


def test_no_retired_words_in_pages() -> None:
    wrong = []
    for page in sorted(PAGES):
        text, blocks = text_of(page)
        text = FORMER_NAMES.sub("", text) if page.name == "CHANGELOG.md" else text
        found = retired_in_text(text) + [said for block in blocks for said in names_in_code(block)]
        wrong += [f"{page.relative_to(ROOT)}: {said}" for said in found]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("text", ["it is told once", "`run.ledger_residual`", "three freedoms", "a robot that deforms"])
def test_the_check_of_pages_can_fail(text: str) -> None:
    assert retired_in_text(text)
    assert names_in_code("bent = 1\n")


def test_other_words_of_pages_are_left_alone() -> None:
    assert not retired_in_text("The crank turns; a stellar satellite with three degrees of freedom.")
    assert not names_in_code("rotated = 1  # about its own line, as the crank turns\n")


@pytest.mark.parametrize(
    "source",
    [
        "ledger = 1",
        "x.ledger_residual",
        "def f(shares): ...",
        "# it is told once",
        "raise E('the pose is no good')",
        "class UntoldError: ...",
        "half_turn = 1",
        "turns_freely(robot)",
    ],
)
def test_the_check_can_fail(source: str) -> None:
    assert retired(source + "\n")


@pytest.mark.parametrize(
    "source",
    [
        "shared = 1",
        "# a leg shares its joint",
        "TURNING_POINT = 1",
        "return 1",
        "# the crank turns",
        "stellar = 'satellite'",
        "x = 'the intolerable rubber'",
    ],
)
def test_other_words_are_left_alone(source: str) -> None:
    assert not retired(source + "\n")
