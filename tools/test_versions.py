"""Run the quick tests in an environment of its own: with the lowest versions of pyproject.toml, or with another Python.

    python tools/test_versions.py --lowest                       # every lower bound is really installed and tested
    python tools/test_versions.py --python python3.13            # the pinned versions under another interpreter

The environment is kept in out/versions/ and used again; arguments after `--` go to pytest instead of the quick selection.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
TOOLS = ("hypothesis", "mypy", "psutil", "pytest", "pytest-xdist", "ruff", "setuptools")
"""What the quick tests themselves need; their versions are those of requirements.txt."""
PEERS = ("exudyn", "mpmath", "mujoco", "playwright")
"""What test modules import; with the lowest versions pip takes the newest release that works with them."""
LOWER = re.compile(r"^(?P<name>[\w.-]+)\s*>=\s*(?P<version>[\w.]+)")


def lowest() -> list[str]:
    """`name==version` for every lower bound of the dependencies and of all extras."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    bounds = [*project["dependencies"], *(one for extra in project["optional-dependencies"].values() for one in extra)]
    found = dict.fromkeys(bounds)
    unbound = [text for text in found if LOWER.match(text) is None]
    if unbound:
        raise SystemExit(f"pyproject.toml: no lower bound of {', '.join(unbound)}")
    return [f"{match['name']}=={match['version']}" for text in found if (match := LOWER.match(text))]


def pinned(names: tuple[str, ...]) -> list[str]:
    """Lines of requirements.txt with these names."""
    lines = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line.partition("==")[0].lower() in names]


def environment(python: str, low: bool) -> Path:
    """Interpreter of an environment with the wanted versions and the package itself."""
    version = subprocess.run([python, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"], capture_output=True, text=True)
    if version.returncode:
        raise SystemExit(f"{python} does not start: {version.stderr.strip()}")
    folder = ROOT / "out" / "versions" / f"{version.stdout.strip()}-{'lowest' if low else 'pinned'}"
    subprocess.run([python, "-m", "venv", str(folder)], check=True)
    ours = folder / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    wanted = [*lowest(), *pinned(TOOLS), *PEERS] if low else ["-r", str(ROOT / "requirements.txt")]
    pip = [str(ours), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, *wanted], check=True)
    subprocess.run([*pip, "--no-deps", "--no-build-isolation", "--editable", str(ROOT)], check=True)
    return ours


def main() -> int:
    """Install, then test; the exit code is that of pytest."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", default=sys.executable, help="interpreter of the environment (default: this one)")
    parser.add_argument("--lowest", action="store_true", help="the lower bounds of pyproject.toml instead of requirements.txt")
    parser.add_argument("pytest", nargs="*", help="arguments of pytest (default: the quick tests)")
    chosen = parser.parse_args()
    ours = environment(chosen.python, chosen.lowest)
    asked = chosen.pytest or ["-n", "2", "--dist", "worksteal", "-m", "quick and not full", "tests"]
    return subprocess.run([str(ours), "-m", "pytest", *asked], cwd=ROOT).returncode


if __name__ == "__main__":
    raise SystemExit(main())
