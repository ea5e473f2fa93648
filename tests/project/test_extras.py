"""What the package imports is declared in pyproject.toml: as a dependency, or as an extra that a message names."""

from __future__ import annotations

import ast
import re
import sys
import tomllib

from places import ROOT, SRC, modules

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
DISTRIBUTION = {"yaml": "pyyaml", "PIL": "pillow", "skfem": "scikit-fem", "sksundae": "scikit-sundae"}
DISTRIBUTION |= {"mapdl_archive": "mapdl-archive"}
PARTS = {"pydantic_core": "pydantic"}
"""Import name -> project that brings it, at a version of its own choice."""
BY_NAME = re.compile(r"\"(mapdl_archive|pyNastran|netCDF4|kaleido|pyarrow|fmpy|control|cvxpy|pymoo|distributed)\b")
"""Optional packages that are imported by a text."""


def plain(requirement: str) -> str:
    """Name of a requirement, in small letters."""
    return re.split(r"[<>=!~;\[ ]", requirement)[0].lower()


def imported() -> set[str]:
    """Projects that the package imports, by any means."""
    found = set()
    for path in modules():
        text = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Import):
                found |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
                found.add(node.module.split(".")[0])
        found |= set(BY_NAME.findall(text))
    foreign = found - set(sys.stdlib_module_names) - {"flexapod"}
    return {PARTS.get(name, DISTRIBUTION.get(name, name)).lower() for name in foreign}


def test_every_import_is_declared() -> None:
    extras = {plain(r) for rows in PROJECT["optional-dependencies"].values() for r in rows}
    declared = {plain(r) for r in PROJECT["dependencies"]} | extras
    found = imported()
    assert found >= {"numpy", "netcdf4", "pynastran", "mapdl-archive", "pyyaml"}  # the search finds something
    assert not found - declared, f"imported, but not in pyproject.toml: {sorted(found - declared)}"


def test_extras_that_messages_name_exist() -> None:
    text = "".join(path.read_text(encoding="utf-8") for path in SRC.rglob("*.py"))
    named = set(re.findall(r"flexapod\[(\w+)\]", text))
    assert named >= {"files", "fmu", "control"}
    assert named <= set(PROJECT["optional-dependencies"]), named - set(PROJECT["optional-dependencies"])


def test_who_and_what_for() -> None:
    assert PROJECT["authors"] == [{"name": "The flexapod developers"}]
    assert "parallel robot" in PROJECT["keywords"]
    assert any(row.startswith("Programming Language :: Python :: 3.11") for row in PROJECT["classifiers"])
