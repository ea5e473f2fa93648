"""The import table: which folder of the package may import which. CONTRIBUTING shows the same table."""

import ast
import subprocess
import sys
from collections.abc import Collection, Iterator, Mapping
from functools import cache
from pathlib import Path

import pytest
from places import ROOT, SRC, dotted, modules

MAY_IMPORT = {
    "spatial": set(),
    "kernels": set(),
    "robots": set(),
    "description": {"spatial"},
    "flexible": {"spatial"},
    "motions": {"spatial"},
    "robot": {"description", "flexible"},
    "equations": {"robot", "flexible", "spatial", "kernels"},
    "analysis": {"spatial", "description", "robots", "flexible", "motions", "robot", "equations", "kernels", "simulation"},
    "simulation": {"spatial", "description", "robots", "flexible", "motions", "robot", "equations", "kernels", "analysis"},
    "bridges": {
        "spatial",
        "description",
        "robots",
        "flexible",
        "motions",
        "robot",
        "equations",
        "kernels",
        "analysis",
        "simulation",
    },
    "identification": {"description", "motions", "robot", "equations", "kernels", "analysis", "simulation"},
    "design": {
        "spatial",
        "description",
        "robots",
        "flexible",
        "motions",
        "robot",
        "equations",
        "kernels",
        "analysis",
        "simulation",
        "bridges",
        "identification",
    },
    "views": set(),  # the public verbs only: `import flexapod`
}
FOR_ALL = {"arrays", "calls", "errors", "files", "lazy_names", "private_files", "rotation_arrays"}
"""Modules directly under the package that every folder may import."""

HEAVY = ["casadi", "llvmlite", "xarray", "pandas", "plotly", "scipy"]
"""Libraries that `import flexapod` must leave for later."""


def imported(tree: ast.Module, module: str, is_package: bool) -> Iterator[tuple[int, str]]:
    """Line and dotted name of everything of ours that a module imports, wherever in the file."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, a.name) for a in node.names if a.name.split(".")[0] == "flexapod")
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parts = module.split(".")
                parents = parts[: len(parts) - node.level + is_package]
                base = ".".join([*parents, base] if base else parents)
            if base.split(".")[0] == "flexapod":
                yield from ((node.lineno, f"{base}.{a.name}") for a in node.names)


def allowed(folder: str, name: str) -> bool:
    """Whether a module of a folder may import a dotted name of ours."""
    other = name.split(".")[1] if "." in name else ""
    if folder == "views":  # flexapod itself, one of its verbs, or another view
        is_part = other != "" and ((SRC / other).is_dir() or (SRC / f"{other}.py").is_file())
        return not is_part or other in FOR_ALL | {"views"}
    return other in MAY_IMPORT[folder] | FOR_ALL | {folder}


def wrong_imports(path: Path) -> list[str]:
    folder = path.relative_to(SRC).parts[0]
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return [
        f"{path.relative_to(ROOT)}:{line}: {folder}/ may not import {name}"
        for line, name in imported(tree, dotted(path), path.name == "__init__.py")
        if not allowed(folder, name)
    ]


def test_every_folder_is_in_the_table() -> None:
    folders = {p.relative_to(SRC).parts[0] for p in modules() if p.parent != SRC}
    assert folders <= set(MAY_IMPORT), f"not in the import table: {sorted(folders - set(MAY_IMPORT))}"


def test_imports_keep_the_table() -> None:
    wrong = [line for path in modules() if path.parent != SRC for line in wrong_imports(path)]
    assert not wrong, "\n".join(wrong)


def test_the_scan_sees_relative_and_late_imports() -> None:
    tree = ast.parse("from ..robot import Robot\ndef f():\n    from . import tape\n    import flexapod.views.cli\n")
    names = [name for _, name in imported(tree, "flexapod.kernels.kernel", is_package=False)]
    assert sorted(names) == ["flexapod.kernels.tape", "flexapod.robot.Robot", "flexapod.views.cli"]


def test_the_table_is_read_right() -> None:
    assert allowed("views", "flexapod")
    assert allowed("views", "flexapod.inverse_kinematics")
    assert not allowed("views", "flexapod.robot.robot.Robot")
    assert allowed("robot", "flexapod.errors.FlexapodError")
    assert not allowed("kernels", "flexapod.robot.Robot")
    assert not allowed("robot", "flexapod")  # the package imports its parts, not the other way round


@cache
def imported_at_once() -> frozenset[str]:
    """Modules that a process has after `import flexapod`."""
    code = "import sys, flexapod; print(*sys.modules)"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    return frozenset(result.stdout.split())


def placed_imports(tree: ast.Module, module: str, is_package: bool) -> tuple[set[str], set[str]]:
    """Dotted names of ours that a module imports when it is loaded, and inside functions; those for type hints are neither."""
    late, hints = ast.Module(body=[], type_ignores=[]), ast.Module(body=[], type_ignores=[])
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            late.body += node.body
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            hints.body += node.body
    found = [set(imported(part, module, is_package)) for part in (tree, late, hints)]
    return {name for _, name in found[0] - found[1] - found[2]}, {name for _, name in found[1] - found[2]}


def loaded_with(name: str, known: Collection[str]) -> Iterator[str]:
    """Modules that an import of a dotted name loads: the one that has it, and the packages around that."""
    parts = name.split(".")
    prefixes = [".".join(parts[:k]) for k in range(1, len(parts) + 1)]
    yield from (prefix for prefix in prefixes[1:] if prefix in known)


def hidden_cycles(sources: Mapping[str, str], packages: Collection[str] = ()) -> set[tuple[str, str]]:
    """Module and what it imports inside a function, where that imports the module back when it is loaded."""
    placed = {module: placed_imports(ast.parse(text), module, module in packages) for module, text in sources.items()}
    around = {module: {other for name in top for other in loaded_with(name, sources)} for module, (top, _) in placed.items()}
    around = {module: {other for other in found if not f"{module}.".startswith(f"{other}.")} for module, found in around.items()}

    def comes_back(start: str, module: str) -> bool:
        seen, left = {start}, [start]
        while left:
            new = around[left.pop()] - seen
            seen |= new
            left += new
        return module in seen

    late = {
        (module, other)
        for module, (_, inside) in placed.items()
        for name in inside
        for other in list(loaded_with(name, sources))[-1:]
    }
    return {(module, other) for module, other in late if module != other and comes_back(other, module)}


def test_no_import_hides_a_cycle() -> None:
    a = "def f():\n    from flexapod.b import g\n"
    assert hidden_cycles({"flexapod.a": a, "flexapod.b": "from flexapod.a import f\n"}) == {("flexapod.a", "flexapod.b")}
    hint = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from flexapod.a import f\n"
    assert not hidden_cycles({"flexapod.a": a, "flexapod.b": hint})
    packages = {dotted(path) for path in modules() if path.name == "__init__.py"}
    found = hidden_cycles({dotted(path): path.read_text(encoding="utf-8") for path in modules()}, packages)
    new = sorted(f"{module} imports {other} inside a function, which imports it" for module, other in found)
    assert not new, "move what both need to a deeper module:\n" + "\n".join(new)


@pytest.mark.parametrize("library", HEAVY)
def test_import_is_light(library: str) -> None:
    assert "flexapod" in imported_at_once(), "the list is that of the process"
    assert library not in imported_at_once(), f"`import flexapod` imports {library} at once"


PRIVATE = SRC / "views" / "studio" / "viser_private.py"
"""The one module that may use private names of viser."""


def private_names(path: Path) -> set[str]:
    """Private names of viser that a module of the studio uses: its private modules, what it takes of them, `other._name`."""
    tree, found = ast.parse(path.read_text(encoding="utf-8")), set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "viser":
            words = [*(node.module or "").split("."), *(alias.name for alias in node.names)]
            found |= {word for word in words if word.startswith("_")}
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id.startswith("_"):
            found.add(node.attr)
        own = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in ("self", "cls", "os")
        if isinstance(node, ast.Attribute) and node.attr.startswith("_") and not own:
            found.add(node.attr)
    return found


@pytest.mark.parametrize("path", sorted(PRIVATE.parent.glob("*.py")), ids=lambda path: path.stem)
def test_private_names_of_viser_are_in_one_module(path: Path) -> None:
    """Each is in the table of that module, with its reason; the other modules use public names only."""
    names = {name for name in private_names(path) if not name.startswith("__")}
    if path == PRIVATE:
        table = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
        assert {"_messages", "_incoming_handlers"} <= names, "the search finds nothing"
        assert [name for name in sorted(names) if name not in table] == []
    else:
        assert names == set()
