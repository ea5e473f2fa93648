"""House rules: small modules with docstrings, no traces of a machine, a README and a CHANGELOG that name the two commands."""

import ast
import re
import warnings
from collections.abc import Iterator, Mapping
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

import pytest
from places import ROOT, SRC, modules, tracked_files

LONGEST = 400
LONG = 250
SHORT = 40
"""Shorter modules join their neighbours: a reader opens one file less."""
SHORT_MODULES = {
    "arrays.py": "names of types, which every folder imports",
    "lazy_names.py": "imported by `import flexapod` itself, before anything else",
    "bridges/fmu/check.py": "the check by FMPy, a package of its own, is imported where it is asked for",
    "equations/elastodynamics/terms.py": "one program per file",
    "flexible/errors.py": "the error of a folder, which all its modules import",
    "kernels/errors.py": "the errors of a folder, which all its modules import",
    "kernels/passes/dependence.py": "one pass per file",
}
"""Modules below it that stay, with the reason."""
MOST_POSITIONAL = 6
"""Positional arguments of a function, self and cls apart: more form an object, or are keywords."""
TWICE = 15
"""Nodes of the syntax tree from which on a function body counts as written twice: more than one call with simple arguments."""
WRITTEN_TWICE = {
    frozenset({"description/rotations.py cross", "equations/minimal/vectors.py cross"}):
        "the description may not import equations; a vector product is one line",
}  # fmt: skip
"""Bodies that stay, with the reason."""
TWO_CLASSES = {
    "Leg": "description: as the file writes it; robot: as a tree of links",
    "Section": "description: as the file writes it; flexible: its area and moments",
}
"""Public names of classes in more than one module that stay, with the reason."""
ANYTHING = {
    "analysis": 12, "bridges": 14, "description": 8, "design": 5, "equations": 4,
    "flexible": 2, "identification": 3, "kernels": 5, "robot": 5, "simulation": 16, "views": 12,
}  # fmt: skip
"""Arguments per folder whose type hint contains `Any`, at most. Right are data of files, options handed on to a verb, objects of
packages without type hints; the numbers may only fall. Expressions are
`arrays.SX`, which mypy knows by CasADi's own hints; numbers in their place are `arrays.Scalar`."""
RETURNED = {
    "analysis": 23, "bridges": 8, "calls": 1, "description": 21, "design": 7, "equations": 1, "errors": 1, "flexible": 2,
    "identification": 2, "kernels": 7, "lazy_names": 1, "motions": 1, "simulation": 5, "views": 35,
}  # fmt: skip
"""Functions per folder that return `Any`, at most."""
MACHINE_PATH = re.compile(r"(?<![\w.:/-])/(?:work|root|home/\w+|farm|Users/\w+)/")
REGISTRY = re.compile(r"(?:py[p]i|pythonhoste[d]|npmj[s]|deb\.debia[n])\.(?:org|com|net|io)")
PIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*==[A-Za-z0-9.!+]+")


def lines(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())


def test_modules_are_short() -> None:
    sizes = {str(path.relative_to(ROOT)): lines(path) for path in modules()}
    long = [f"{name}: {size} lines" for name, size in sizes.items() if size > LONG]
    if long:
        warnings.warn(f"above {LONG} lines, look for a second concept:\n" + "\n".join(long), stacklevel=1)
    over = [f"{name}: {size} lines" for name, size in sizes.items() if size > LONGEST]
    assert not over, f"above {LONGEST} lines:\n" + "\n".join(over)


def test_modules_are_not_tiny() -> None:
    names = {str(path.relative_to(SRC)): lines(path) for path in modules() if path.name not in ("__init__.py", "__main__.py")}
    tiny = {name: size for name, size in names.items() if size < SHORT}
    assert not tiny.keys() - SHORT_MODULES.keys(), f"below {SHORT} lines, join a neighbour: {tiny}"
    assert SHORT_MODULES.keys() <= names.keys(), "SHORT_MODULES names modules that do not exist"


def long_calls(tree: ast.Module) -> list[str]:
    """Functions of a source with more positional arguments than MOST_POSITIONAL."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            names = [argument.arg for argument in (*node.args.posonlyargs, *node.args.args)]
            own = names[1:] if names[:1] in (["self"], ["cls"]) else names
            if len(own) > MOST_POSITIONAL:
                found.append(f"{node.name}({', '.join(own)})")
    return found


def test_functions_take_few_positional_arguments() -> None:
    assert long_calls(ast.parse("class A:\n    def f(self, a, b, c, d, e, g, h, *, i): ...")) == ["f(a, b, c, d, e, g, h)"]
    assert long_calls(ast.parse("def f(a, b, c, d, e, g, *, h): ...")) == []
    bad = [f"{name}: {call}" for name, source in read().items() for call in source.long_calls]
    assert not bad, "pass an object, or make options keywords:\n" + "\n".join(bad)


def arguments_of_any(tree: ast.Module) -> list[str]:
    """Arguments of a source whose type hint contains `Any`."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            known = [argument for argument in ast.walk(node.args) if isinstance(argument, ast.arg)]
            hints = {argument.arg: ast.walk(argument.annotation) for argument in known if argument.annotation}
            found += [
                f"{node.name}({name})"
                for name, hint in hints.items()
                if any(isinstance(part, ast.Name) and part.id == "Any" for part in hint)
            ]
    return found


def returning_any(tree: ast.Module) -> list[str]:
    """Functions of a source that return `Any`."""
    functions = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
    return [f.name for f in functions if isinstance(f.returns, ast.Name) and f.returns.id == "Any"]


def test_little_is_anything() -> None:
    example = ast.parse("def f(a: Any, b: dict[str, Any], *c: Any, d: int, e) -> Any: ...\ndef g() -> list[Any]: ...")
    assert arguments_of_any(example) == ["f(a)", "f(b)", "f(c)"]
    assert returning_any(example) == ["f"]
    for what, most in (("of_any", ANYTHING), ("returning_any", RETURNED)):
        found: dict[str, list[str]] = {}
        for name, module in read().items():
            folder = Path(name).parts[0].removesuffix(".py")
            found.setdefault(folder, []).extend(f"{name} {function}" for function in getattr(module, what))
        above = [
            f"{what} in {folder}: {len(names)}, at most {most.get(folder, 0)}; say what one of them is:\n" + "\n".join(names)
            for folder, names in found.items()
            if len(names) > most.get(folder, 0)
        ]
        assert not above, "\n".join(above)


def anonymous(function: ast.FunctionDef | ast.AsyncFunctionDef, body: list[ast.stmt]) -> str:
    """A body as one text, without places in the file; arguments and local names by the order in which they appear."""
    nodes = list(ast.walk(function))
    own = {node.arg for node in nodes if isinstance(node, ast.arg)}
    own |= {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    names: dict[str, str] = {}
    words: list[str] = []

    def write(node: ast.AST) -> None:
        words.append(type(node).__name__)
        if isinstance(node, ast.Name) and node.id in own:
            words.append(names.setdefault(node.id, f"#{len(names)}"))
            return
        for field in node._fields:
            value = getattr(node, field, None)
            for one in value if isinstance(value, list) else [value]:
                if isinstance(one, ast.AST):
                    write(one)
                else:
                    words.append(repr(one))
            words.append(",")

    for statement in body:
        write(statement)
    return " ".join(words)


def bodies(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Name and normalised body of every function of some size, its docstring dropped."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            body = node.body[1:] if ast.get_docstring(node) else node.body
            if sum(1 for statement in body for _ in ast.walk(statement)) >= TWICE:
                yield node.name, anonymous(node, body)


class Source(NamedTuple):
    """What the rules ask of a module, found in one pass over its syntax tree."""

    documented: bool
    long_calls: list[str]
    of_any: list[str]
    returning_any: list[str]
    bodies: list[tuple[str, str]]


def source(text: str) -> Source:
    tree = ast.parse(text)
    found = [(name, digest(body)) for name, body in bodies(tree)]
    return Source(bool(ast.get_docstring(tree)), long_calls(tree), arguments_of_any(tree), returning_any(tree), found)


def digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()


@cache
def read() -> dict[str, Source]:
    """The modules of the package by their path below it."""
    return {str(path.relative_to(SRC)): source(path.read_text(encoding="utf-8")) for path in modules()}


def written_twice(sources: Mapping[str, Source]) -> set[frozenset[str]]:
    """Functions of equal bodies, each as `module name`."""
    places: dict[str, set[str]] = {}
    for module, one in sources.items():
        for name, body in one.bodies:
            places.setdefault(body, set()).add(f"{module} {name}")
    return {frozenset(found) for found in places.values() if len(found) > 1}


def test_no_function_body_is_written_twice() -> None:
    one = "def f(a):\n    'What it is.'\n    b = [x * 2 for x in a if x > 1]\n    return sorted(b)[:3]\n"
    two = one.replace("def f(a)", "def g(c)").replace("in a", "in c").replace("b", "d").replace("'What it is.'", "pass")
    equal, other = source(two.replace("    pass\n", "")), source(one.replace("x * 2", "x * 3"))
    assert written_twice({"one": source(one), "two": equal}) == {frozenset({"one f", "two g"})}
    assert not written_twice({"one": source(one), "two": other})
    found = written_twice(read())
    assert not found - WRITTEN_TWICE.keys(), "\n".join(", ".join(sorted(places)) for places in found - WRITTEN_TWICE.keys())
    assert WRITTEN_TWICE.keys() <= found, "WRITTEN_TWICE names functions that differ"


def classes(trees: Mapping[str, ast.Module]) -> dict[str, list[str]]:
    """Modules by the name of the public class that they define."""
    places: dict[str, list[str]] = {}
    for module, tree in trees.items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places.setdefault(node.name, []).append(module)
    return places


def test_a_class_name_is_of_one_class() -> None:
    example = {name: ast.parse("class A: ...\nclass _B: ...\n") for name in ("one", "two")}
    assert classes(example) == {"A": ["one", "two"]}
    trees = {str(path.relative_to(SRC)): ast.parse(path.read_text(encoding="utf-8")) for path in modules()}
    twice = {name: where for name, where in classes(trees).items() if len(where) > 1}
    new = {name: where for name, where in twice.items() if name not in TWO_CLASSES}
    assert not new, f"two classes of one name, say what each is of: {new}"
    assert TWO_CLASSES.keys() <= twice.keys(), "TWO_CLASSES names classes that are defined once"


def test_modules_have_docstrings() -> None:
    bare = [name for name, source in read().items() if not source.documented]
    assert not bare, f"modules without a docstring: {', '.join(bare)}"


@pytest.mark.parametrize(("what", "pattern"), [("path of a machine", MACHINE_PATH), ("registry address", REGISTRY)])
def test_no_traces_of_a_machine(what: str, pattern: re.Pattern[str]) -> None:
    found = []
    for path in tracked_files():
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue  # binary
        found += [
            f"{path.relative_to(ROOT)}:{number}: {what}: {line.strip()[:100]}"
            for number, line in enumerate(text.splitlines(), 1)
            if pattern.search(line)
        ]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("name", ["README.md", "CHANGELOG.md"])
def test_the_two_commands_are_named(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    assert "make demo" in text
    assert "make test" in text


def test_requirements_are_pins_without_addresses() -> None:
    rows = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    assert not [row for row in rows if not PIN.fullmatch(row)]
    assert rows == sorted(rows, key=str.lower), "requirements.txt is sorted by name"


def test_ci_runs_the_readme_command() -> None:
    script = ROOT / ".ci" / "run"
    assert "make test" in script.read_text(encoding="utf-8")
    assert script.stat().st_mode & 0o111, ".ci/run is executable"


def test_test_files_have_different_names() -> None:
    """Test folders are not packages: two files of one name cannot be collected together."""
    names = [path.name for path in (ROOT / "tests").rglob("test_*.py")]
    twice = sorted({name for name in names if names.count(name) > 1})
    assert not twice, f"rename: {', '.join(twice)}"
