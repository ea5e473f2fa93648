"""Mutants: copies of packages of equations in which one text is replaced. A check that no mutant breaks checks nothing.

The usual run takes one mutant of every module, `make test-full` all.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.util
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib.machinery import ModuleSpec
from itertools import count
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

_NUMBER = count()
Flip = tuple[str, str, str]
"""Module (without its package), text, other text."""


class _Texts(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Imports modules from texts by their names."""

    def __init__(self, sources: dict[str, str]) -> None:
        self.sources = sources

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if fullname not in self.sources:
            return None
        package = any(other.startswith(fullname + ".") for other in self.sources)
        return importlib.util.spec_from_loader(fullname, self, is_package=package)

    def exec_module(self, module: ModuleType) -> None:
        exec(compile(self.sources[module.__name__], module.__name__, "exec"), module.__dict__)


@contextmanager
def mutated(flip: Flip | None, *packages: ModuleType) -> Iterator[ModuleType]:
    """The first package under another name, one text of all replaced (None: nothing); they import each other's copies."""
    name = f"mutant_{next(_NUMBER)}"
    sources, found = {name: ""}, 0
    for package in packages:
        last = package.__name__.rpartition(".")[2]
        for path in sorted(Path(str(package.__file__)).parent.glob("*.py")):
            text = path.read_text(encoding="utf-8")
            if flip is not None and path.stem == flip[0]:
                found += text.count(flip[1])
                text = text.replace(flip[1], flip[2])
            for other in packages:
                text = re.sub(rf"{re.escape(other.__name__)}\b", f"{name}.{other.__name__.rpartition('.')[2]}", text)
            sources[f"{name}.{last}" + ("" if path.stem == "__init__" else f".{path.stem}")] = text
    assert flip is None or found == 1, f"{flip[0]}: {flip[1]!r} occurs {found} times"
    importer = _Texts(sources)
    sys.meta_path.insert(0, importer)
    try:
        yield importlib.import_module(f"{name}.{packages[0].__name__.rpartition('.')[2]}")
    finally:
        sys.meta_path.remove(importer)
        for loaded in [m for m in sys.modules if m.split(".")[0] == name]:
            del sys.modules[loaded]


def one_per_module(mutants: Iterable[Any], module: Any = lambda mutant: mutant[0]) -> list[Any]:
    """Parameters of a test: the first mutant of every module, the others marked full."""
    seen: set[str] = set()
    result = []
    for mutant in mutants:
        values = mutant if isinstance(mutant, tuple) else (mutant,)
        result.append(pytest.param(*values, marks=[pytest.mark.full] if module(mutant) in seen else []))
        seen.add(module(mutant))
    return result
