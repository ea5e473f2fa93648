"""Run the quick tests and those of the extras in an environment of its own: with the lowest versions of pyproject.toml, or with
another Python.

    python tools/test_versions.py --lowest                       # every lower bound is really installed and tested
    python tools/test_versions.py --python python3.13            # the pinned versions under another interpreter

The environment is kept in out/versions/ and used again; arguments after `--` go to pytest instead of this selection.
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
EXTRAS = {
    "cluster": ("design/test_study_cluster.py",),
    "control": ("analysis/test_linearize.py",),
    "design": ("design/test_optimise.py",),
    "fe": ("bridges/test_fe.py", "bridges/test_fe_shapes.py", "bridges/test_nastran_mesh.py", "bridges/test_ansys_mesh.py"),
    "files": ("simulation/test_store.py", "motions/test_motion_file_forms.py"),
    "fmu": ("bridges/test_fmu.py",),
    "identification": ("identification/test_identify.py",),
    "pictures": ("views/test_cli_results.py",),
}
"""Extra -> test modules that use what it brings, in tests/."""
QUICK = ["-n", "2", "--dist", "worksteal", "-m", "quick and not full", "tests"]
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
    """Install, then test; the exit code is the worse one of pytest."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", default=sys.executable, help="interpreter of the environment (default: this one)")
    parser.add_argument("--lowest", action="store_true", help="the lower bounds of pyproject.toml instead of requirements.txt")
    parser.add_argument("pytest", nargs="*", help="arguments of pytest (default: the quick tests, then those of the extras)")
    chosen = parser.parse_args()
    ours = environment(chosen.python, chosen.lowest)
    extras = ["-n", "2", "--dist", "worksteal", *(f"tests/{file}" for files in EXTRAS.values() for file in files)]
    runs = [chosen.pytest] if chosen.pytest else [QUICK, extras]
    return max(subprocess.run([str(ours), "-m", "pytest", *asked], cwd=ROOT).returncode for asked in runs)


if __name__ == "__main__":
    raise SystemExit(main())
