"""Names of a package that are imported on first use.

The stub `__init__.pyi` is the one list of them: `__all__`, the loader and type checkers read it. Each of its lines has the form
``from flexapod.motions.paths import circle as circle``.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

LINE = re.compile(r"^from (flexapod[\w.]*) import \w+ as (\w+)$", re.MULTILINE)


def lazy_names(package: str) -> tuple[list[str], Callable[[str], Any], Callable[[], list[str]]]:
    """`__all__`, `__getattr__` and `__dir__` of a package.

    Checked by: tests/project/test_lazy_names.py.
    """
    module = sys.modules[package]
    stub = Path(str(module.__file__)).with_suffix(".pyi").read_text(encoding="utf-8")
    homes = {name: home for home, name in LINE.findall(stub)}

    def load(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        home = homes[name]
        found = vars(import_module(home))
        value = found[name] if name in found else import_module(f"{home}.{name}")  # or itself a module
        setattr(module, name, value)
        return value

    def names() -> list[str]:
        return sorted([*homes, *(name for name in vars(module) if name.startswith("__"))])

    return sorted(homes), load, names
