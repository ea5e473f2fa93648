"""No verb, simulation or view asks what kind of robot it has: `robot` properties decide in one table, paths in one list."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from places import ROOT

NAMES = {"elastic_legs", "flexible_platform", "is_flexible"}
"""What says of which kind a robot is."""
FOLDERS = ("analysis", "simulation", "views")
DECIDE = {"analysis/requests/properties.py"}
"""Where the properties of a robot are defined."""


def conditions(tree: ast.AST) -> Iterator[ast.expr]:
    """Expressions on which something depends."""
    for node in ast.walk(tree):
        if isinstance(node, ast.If | ast.IfExp | ast.While):
            yield node.test
        elif isinstance(node, ast.BoolOp | ast.Compare):
            yield node
        elif isinstance(node, ast.comprehension):
            yield from node.ifs
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            yield node.operand


def asked(source: str) -> list[int]:
    """Lines on which a condition names the kind of a robot; `assert body is not None` is for the type checker only."""
    tree = ast.parse(source)
    stated = {id(child) for node in ast.walk(tree) if isinstance(node, ast.Assert) for child in ast.walk(node)}
    found = set()
    for condition in conditions(tree):
        for node in ast.walk(condition):
            named = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
            if named in NAMES and id(node) not in stated:
                found.add(node.lineno)
    return sorted(found)


def test_no_branch_on_the_kind_of_robot() -> None:
    package = ROOT / "src" / "flexapod"
    places = []
    for folder in FOLDERS:
        for path in sorted((package / folder).rglob("*.py")):
            name = str(path.relative_to(package))
            if name not in DECIDE:
                places += [f"{name}:{line}" for line in asked(Path(path).read_text(encoding="utf-8"))]
    assert not places, "branches on the kind of robot:\n" + "\n".join(places)


def test_the_check_can_fail() -> None:
    assert asked("x = 1 if robot.elastic_legs else 2") == [1]
    assert asked("def f(r):\n    return r.flexible_platform is not None and 1") == [2]
    assert asked("body = robot.flexible_platform\nassert body is not None") == []
