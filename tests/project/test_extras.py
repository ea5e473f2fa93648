"""What the package imports is declared in pyproject.toml: as a dependency, or as an extra that a message names.

Its files reach the wheel, and version, licence and authors are the same wherever they are written.
"""

from __future__ import annotations

import ast
import functools
import re
import runpy
import sys
import tomllib
from importlib.metadata import distributions
from pathlib import Path

import yaml
from packaging.specifiers import SpecifierSet
from places import ROOT, SRC, modules, pages

import flexapod as fp

DECLARED = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT = DECLARED["project"]
DISTRIBUTION = {"yaml": "pyyaml", "PIL": "pillow", "skfem": "scikit-fem", "sksundae": "scikit-sundae"}
DISTRIBUTION |= {"mapdl_archive": "mapdl-archive"}
EXTRA = re.compile(r"flexapod\[(\w+)\]")
LOADERS = ("import_module", "needed_package")
"""Functions that import a module by a text."""
PARTS = {"pydantic_core": "pydantic"}
"""Import name -> project that brings it, at a version of its own choice."""
BROUGHT = {"clarabel": "cvxpy's solver", "dask": "the project of distributed"}
"""Members of extras that nothing imports by name -> why they are there."""


def plain(requirement: str) -> str:
    """Name of a requirement, in small letters."""
    return re.split(r"[<>=!~;\[ ]", requirement)[0].lower()


EXTRAS = {extra: {plain(r) for r in rows} for extra, rows in PROJECT["optional-dependencies"].items()}
NEEDED = {plain(r) for r in PROJECT["dependencies"]}


@functools.cache
def imported(path: Path) -> frozenset[str]:
    """Projects that a module imports: by a statement, or by a text that names a member of an extra."""
    found, texts = set(), set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            found.add(node.module.split(".")[0])
        elif isinstance(node, ast.Call) and getattr(node.func, "attr", getattr(node.func, "id", "")) in LOADERS:
            texts |= {str(a.value).split(".")[0] for a in node.args[:1] if isinstance(a, ast.Constant)}
    foreign = (found | texts) - set(sys.stdlib_module_names) - {"flexapod"}
    return frozenset(PARTS.get(name, DISTRIBUTION.get(name, name)).lower() for name in foreign)


def named_extras(path: Path) -> set[str]:
    """Extras that messages of a module name, its own and those of the loader that it imports from another module."""
    text = path.read_text(encoding="utf-8")
    loaders = re.findall(r"^from (flexapod[\w.]+) import .*\bneeded_package\b", text, re.MULTILINE)
    texts = [text, *((SRC.parent / Path(*name.split("."))).with_suffix(".py").read_text(encoding="utf-8") for name in loaders)]
    return {extra for one in texts for extra in EXTRA.findall(one)}


def test_every_import_is_declared() -> None:
    declared = NEEDED.union(*EXTRAS.values())
    found = frozenset[str]().union(*(imported(path) for path in modules()))
    assert found >= {"numpy", "netcdf4", "pynastran", "mapdl-archive", "pyyaml"}  # the search finds something
    assert not found - declared, f"imported, but not in pyproject.toml: {sorted(found - declared)}"
    assert declared - found == {*BROUGHT}, f"in pyproject.toml, but not imported: {sorted(declared - found - {*BROUGHT})}"


def test_what_is_optional_names_the_extra_that_brings_it() -> None:
    """Where a module imports what an extra brings, a message there names an extra that declares it."""
    pairs = [(path, name) for path in modules() for name in sorted(imported(path) - NEEDED)]
    assert {name for _, name in pairs} == set().union(*EXTRAS.values()) - {*BROUGHT}
    silent = [
        f"{path.relative_to(SRC)}: {name}"
        for path, name in pairs
        if not any(name in EXTRAS.get(extra, ()) for extra in named_extras(path))
    ]
    assert not silent, f"no message there names an extra that brings it: {silent}"


def test_extras_that_messages_name_exist() -> None:
    text = "".join(path.read_text(encoding="utf-8") for path in [*modules(), *pages()])
    assert set(EXTRA.findall(text)) == {*EXTRAS}  # and every extra is named somewhere
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    listed = readme[readme.index("In an environment of your own") :].partition("\n\n")[0]
    assert set(re.findall(r"`(\w+)`\s\(", listed)) == {*EXTRAS}


def test_every_extra_is_tested_with_other_versions() -> None:
    """The script that installs other versions knows every extra, and its test modules exist."""
    tested = runpy.run_path(str(ROOT / "tools" / "test_versions.py"))["EXTRAS"]
    assert {*tested} == {*EXTRAS}
    assert all((ROOT / "tests" / file).is_file() for files in tested.values() for file in files)


def test_who_and_what_for() -> None:
    assert PROJECT["authors"] == [{"name": "The flexapod developers"}]
    assert "parallel robot" in PROJECT["keywords"]
    assert any(row.startswith("Programming Language :: Python :: 3.11") for row in PROJECT["classifiers"])


def test_version_licence_and_authors_are_said_alike() -> None:
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert cited["version"] == PROJECT["version"] == fp.__version__
    assert cited["license"] == PROJECT["license"] == "BSD-3-Clause"
    assert cited["authors"] == PROJECT["authors"]
    assert cited["title"] == f"flexapod: {PROJECT['description'][0].lower()}{PROJECT['description'][1:]}"
    entry = (ROOT / "docs" / "why.md").read_text(encoding="utf-8")
    for row in (f"version = {{{cited['version']}}}", f"license = {{{cited['license']}}}", f"title   = {{{cited['title']}}}"):
        assert row in entry
    assert f"author  = {{{{{cited['authors'][0]['name']}}}}}" in entry
    (licence,) = PROJECT["license-files"]
    head = (ROOT / licence).read_text(encoding="utf-8")
    assert head.startswith("BSD 3-Clause License\n")
    assert cited["authors"][0]["name"].removeprefix("The ") in head.splitlines()[2]


def left_out(folder: Path) -> list[str]:
    """Files of a package that setuptools would leave out of the wheel: modules outside packages, and data that no pattern has."""
    files = [path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    data = {path for pattern in DECLARED["tool"]["setuptools"]["package-data"]["flexapod"] for path in folder.glob(pattern)}
    packages = {path.parent for path in files if path.name == "__init__.py"}
    outside = [path for path in files if path.suffix == ".py" and not packages.issuperset(up_to(path, folder))]
    return sorted(str(path.relative_to(folder)) for path in {*outside, *(p for p in files if p.suffix != ".py")} - data)


def up_to(path: Path, folder: Path) -> list[Path]:
    """Folders of a file, from its own to the package's."""
    return [parent for parent in path.parents if parent.is_relative_to(folder)]


def test_every_file_of_the_package_is_in_the_wheel(tmp_path: Path) -> None:
    assert DECLARED["tool"]["setuptools"]["packages"] == {"find": {"where": ["src"]}}
    assert left_out(SRC) == []
    for name in ("__init__.py", "py.typed", "loose/module.py", "new/__init__.py", "new/table.csv"):  # this check can fail
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    assert left_out(tmp_path) == ["loose/module.py", "new/table.csv"]


def test_pins_have_every_python_that_is_declared() -> None:
    """Debian 12 has Python 3.11.2: a pin that wants 3.11.5 would leave `make demo` without an environment."""
    pythons = [f"{row.rsplit(' ', 1)[1]}.0" for row in PROJECT["classifiers"] if re.search(r":: 3\.\d+$", row)]
    assert PROJECT["requires-python"] == f">={pythons[0].removesuffix('.0')}"
    pins = dict(line.split("==") for line in (ROOT / "requirements.txt").read_text(encoding="utf-8").split())
    installed = {plain(found.name).replace("_", "-"): found for found in distributions()}
    wanted = {
        name: str(found.metadata.get("Requires-Python") or "")
        for name, version in pins.items()
        if (found := installed.get(name.lower().replace("_", "-"))) and found.version == version
    }
    assert len(wanted) > len(pins) // 2  # the environment is that of the pins
    narrow = {name: text for name, text in wanted.items() if not all(one in SpecifierSet(text) for one in pythons)}
    assert not narrow, f"pins that some Python of pyproject.toml cannot install: {narrow}"
