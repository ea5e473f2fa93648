"""Retired words stay retired: names, messages, comments and docstrings of the package say what a robotics engineer says."""

from __future__ import annotations

import io
import re
import tokenize
from pathlib import Path

import pytest
from places import SRC, modules

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
}
"""The same for names alone; some of these words are right in sentences (a leg shares a joint)."""
PHRASES = {
    "no good": "invalid",
    "cannot stand beside": "cannot be given together with",
    "cannot take this pose": "cannot reach this pose",
    "stands still": "is at rest",
    "stand still": "are at rest",
    "as it stands": "as it is",
    "as they stand": "as they are",
    "half a turn": "half a revolution",
}
FORMER = re.compile(r"\bledger_residual\b|\bforce_share\b|\bshares\b|\bshare_figure\b|\bsense\b")
KEEP_FORMER = {
    "analysis/requests/results.py", "analysis/verbs/inverse_dynamics.py", "views/commands/dynamics.py", "views/plot_time.py",
    "views/figures.py", "motions/paths.py",
}  # fmt: skip
"""Where public names of the last version are still known."""
BENT = ("views/", "equations/homotopy/")
"""Folders that draw bent beams."""


def parts(name: str) -> list[str]:
    """Words of an identifier: `ledgerResidual`, `ledger_residual` and `LEDGER` have ledger."""
    return [part.lower() for part in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name)]


def retired(source: str, names: dict[str, str] = RETIRED_NAMES) -> list[tuple[int, str]]:
    """Lines with retired words, and what to say."""
    found = []
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.NAME:
            found += [(token.start[0], f"{token.string}: say {names[p]}") for p in parts(token.string) if p in names]
        elif token.type in (tokenize.STRING, tokenize.COMMENT):
            lower = token.string.lower()
            found += [(token.start[0], f"{w}: say {RETIRED[w]}") for w in re.findall(r"[a-z]+", lower) if w in RETIRED]
            found += [(token.start[0], f"{phrase}: say {PHRASES[phrase]}") for phrase in PHRASES if phrase in lower]
    return found


ANY = re.compile("|".join([*RETIRED_NAMES, *PHRASES]))
"""Only a file with one of these letters can have one of the words; reading a file word by word takes time."""


def test_no_retired_words() -> None:
    wrong = []
    for path in modules():
        name, source = str(path.relative_to(SRC)), Path(path).read_text(encoding="utf-8")
        if not ANY.search(source.lower()):
            continue
        names = {w: s for w, s in RETIRED_NAMES.items() if w != "bent" or not name.startswith(BENT)}
        source = FORMER.sub("former", source) if name in KEEP_FORMER else source
        wrong += [f"{name}:{line}: {text}" for line, text in retired(source, names)]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(
    "source",
    [
        "ledger = 1",
        "x.ledger_residual",
        "def f(shares): ...",
        "# it is told once",
        "raise E('the pose is no good')",
        "class UntoldError: ...",
    ],
)
def test_the_check_can_fail(source: str) -> None:
    assert retired(source + "\n")


@pytest.mark.parametrize(
    "source", ["shared = 1", "# a leg shares its joint", "stellar = 'satellite'", "x = 'the intolerable rubber'"]
)
def test_other_words_are_left_alone(source: str) -> None:
    assert not retired(source + "\n")
