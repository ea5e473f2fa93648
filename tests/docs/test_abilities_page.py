"""The page of abilities says what the tables say."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from flexapod.analysis.requests.abilities import ABILITIES

ROOT = Path(__file__).parents[2]


def test_page_is_up_to_date() -> None:
    spec = importlib.util.spec_from_file_location("make_abilities", ROOT / "tools" / "make_abilities.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    page = module.abilities_page()
    assert module.PAGE.read_text(encoding="utf-8") == page, "run: python tools/make_abilities.py"
    assert all(f"`{verb}`" in page for verb, rows in ABILITIES.items() if any(rows.values()))
