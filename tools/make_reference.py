"""Write docs/robot-file.md, the reference of the robot file, from its schema; tests/description/test_generated.py checks it."""

from __future__ import annotations

from pathlib import Path

from flexapod.description.reference_page import reference_page

PAGE = Path(__file__).parents[1] / "docs" / "robot-file.md"

if __name__ == "__main__":
    PAGE.write_text(reference_page(), encoding="utf-8")
    print(f"wrote {PAGE.name}")
