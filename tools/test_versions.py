"""Run the tests in an environment of its own: with the lowest versions of pyproject.toml, or with another Python.

    python tools/test_versions.py --lowest --tests usual         # every lower bound is really installed, and what make test runs
    python tools/test_versions.py --python python3.13            # the pinned versions under another interpreter, quick tests
    python tools/test_versions.py --lowest -- -n 0 tests/views   # arguments of pytest instead

The folders of make test are run one after another, with a line for each. Environment, kernels and results are kept in
out/versions/<name>/ (`make clean` removes them). A run that was stopped goes on with `--continue`, which leaves out what passed.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import time
import tomllib
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).parents[1]
TOOLS = ("hypothesis", "mypy", "psutil", "pytest", "pytest-xdist", "ruff", "setuptools")
"""What the quick tests themselves need; their versions are those of requirements.txt."""
PEERS = ("exudyn", "gymnasium", "mpmath", "mujoco", "playwright", "toppra")
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
MARKS = {"quick": "quick and not full", "usual": "not full"}
"""Choice of tests -> marks: of make test-quick, with the modules of EXTRAS beside, and of make test."""
NOTHING = 5
"""Exit code of pytest where no test has the marks."""
ENDED = (0, 1, NOTHING)
"""Exit codes of pytest that came to its end, whether tests failed or not."""
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
    """Folder of an environment with the wanted versions and the package itself; one that has them stays as it is."""
    version = subprocess.run([python, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"], capture_output=True, text=True)
    if version.returncode:
        raise SystemExit(f"{python} does not start: {version.stderr.strip()}")
    folder = ROOT / "out" / "versions" / f"{version.stdout.strip()}-{'lowest' if low else 'pinned'}"
    wanted = [*lowest(), *pinned(TOOLS), *PEERS] if low else (ROOT / "requirements.txt").read_text(encoding="utf-8").split()
    installed = folder / "installed.txt"
    if installed.exists() and installed.read_text(encoding="utf-8").split() == wanted:
        return folder
    print(f"installing into {folder.relative_to(ROOT)}", flush=True)
    installed.unlink(missing_ok=True)
    subprocess.run([python, "-m", "venv", "--clear", str(folder)], check=True)
    pip = [str(interpreter(folder)), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, *wanted], check=True)
    subprocess.run([*pip, "--no-deps", "--no-build-isolation", "--editable", str(ROOT)], check=True)
    installed.write_text("\n".join(wanted), encoding="utf-8")
    return folder


def interpreter(folder: Path) -> Path:
    """Python of an environment."""
    return folder / ("Scripts" if sys.platform == "win32" else "bin") / "python"


def pytest(folder: Path, asked: list[str]) -> int:
    """Exit code of pytest there, with a cache of kernels of its own: what was derived with other versions does not count."""
    surroundings = os.environ | {"FLEXAPOD_CACHE": str(folder / "cache")}
    return subprocess.run([str(interpreter(folder)), "-m", "pytest", *asked], cwd=ROOT, env=surroundings).returncode


def parts(tests: str) -> dict[str, list[str]]:
    """Name of a part of the tests -> its arguments of pytest: quick tests and extras, or every folder."""
    if tests == "quick":
        extras = [f"tests/{file}" for files in EXTRAS.values() for file in files]
        return {"tests": ["-m", MARKS["quick"], "tests"], "extras": ["-m", MARKS["usual"], *extras]}
    folders = sorted({path.relative_to(ROOT / "tests").parts[0] for path in (ROOT / "tests").glob("*/test_*.py")})
    return {name: ["-m", MARKS[tests], f"tests/{name}"] for name in folders}


def counts(results: Path) -> dict[str, int]:
    """How many tests of a file of results passed, failed and were skipped."""
    suite = ElementTree.parse(results).getroot()[0]
    all_of, failed, errors, skipped = (int(suite.get(name, 0)) for name in ("tests", "failures", "errors", "skipped"))
    return {"passed": all_of - failed - errors - skipped, "failed": failed + errors, "skipped": skipped}


def run(folder: Path, tests: str, workers: str, go_on: bool) -> int:
    """Run every part that has no results or, unless the run goes on, every part; say how each ended."""
    total, worst = {"passed": 0, "failed": 0, "skipped": 0}, 0
    for name, asked in parts(tests).items():
        results, begun, code = folder / "results" / f"{tests}-{name}.xml", time.monotonic(), 0
        if not (go_on and results.exists() and not counts(results)["failed"]):
            results.unlink(missing_ok=True)
            partial = results.with_suffix(".part")  # an interrupted run leaves one that lacks tests
            code = pytest(folder, ["-q", "-n", workers, "--dist", "worksteal", f"--junitxml={partial}", *asked])
            if code in ENDED:
                partial.rename(results)
        worst = max(worst, 0 if code == NOTHING else code)
        if results.exists():
            got = counts(results)
            total = {key: total[key] + got[key] for key in total}
            text = ", ".join(f"{number} {key}" for key, number in got.items())
            print(f"== {folder.name} {tests} {name}: {text}, {time.monotonic() - begun:.0f} s", flush=True)
    print(f"== {folder.name} {tests}: {', '.join(f'{number} {key}' for key, number in total.items())}", flush=True)
    return worst


def main() -> int:
    """Install, then test; the exit code is the worst one of pytest."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", default=sys.executable, help="interpreter of the environment (default: this one)")
    parser.add_argument("--lowest", action="store_true", help="the lower bounds of pyproject.toml instead of requirements.txt")
    parser.add_argument("--tests", choices=[*MARKS], default="quick", help="quick tests and those of the extras, or as make test")
    parser.add_argument("--workers", default="2", help="processes of pytest (default: 2)")
    parser.add_argument("--continue", dest="go_on", action="store_true", help="leave out what passed before")
    parser.add_argument("pytest", nargs="*", help="arguments of pytest instead of this choice")
    chosen = parser.parse_args()
    folder = environment(chosen.python, chosen.lowest)
    if chosen.pytest:
        return pytest(folder, chosen.pytest)
    return run(folder, chosen.tests, chosen.workers, chosen.go_on)


if __name__ == "__main__":
    raise SystemExit(main())
