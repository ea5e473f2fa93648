"""Each bridge has a page of at most a screen with an example that runs; "Use it from ..." links them all."""

from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"
SCREEN = 60
"""Lines of a page, the example included."""
PAGES = sorted((DOCS / "use-it-from").glob("*.md"))
EXPORTS = ("casadi", "code", "control", "finite-elements", "fmi", "mujoco", "stepper", "urdf")


def test_every_bridge_has_its_page() -> None:
    assert tuple(page.stem for page in PAGES) == EXPORTS
    overview = (DOCS / "use-it-from.md").read_text(encoding="utf-8")
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        assert len(text.splitlines()) <= SCREEN, page.name
        assert "```python" in text, f"{page.name} has no example that runs"
        assert f"(use-it-from/{page.name})" in overview
    for other in ("motions.md", "files.md"):
        assert f"({other})" in overview
