"""Where things are in the project, for the tests of the project itself."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]
SRC = ROOT / "src" / "flexapod"
DOCS = ROOT / "docs"


def modules() -> list[Path]:
    """Every Python module of the package."""
    return sorted(SRC.rglob("*.py"))


def pages() -> list[Path]:
    """README and every documentation page."""
    return [ROOT / "README.md", *sorted(p for p in DOCS.rglob("*.md") if "_build" not in p.parts)]


def tracked_files() -> list[Path]:
    """Files under version control; without git, everything outside hidden and built folders."""
    git = shutil.which("git")
    listing = subprocess.run([git, "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False) if git else None
    if listing is not None and listing.returncode == 0 and listing.stdout:
        return [path for name in listing.stdout.split("\0") if name and (path := ROOT / name).is_file()]
    built = {"build", "dist", "out", "_build", "__pycache__"}
    return [p for p in ROOT.rglob("*") if p.is_file() and not any(s in built or s.startswith(".") for s in p.parts)]


def dotted(module: Path) -> str:
    """Dotted name of a module of the package."""
    parts = ["flexapod", *module.relative_to(SRC).with_suffix("").parts]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
