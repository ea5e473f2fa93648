"""flexapod: kinematics, dynamics, simulation and design of parallel robots, rigid and flexible.

Names are loaded on first use, so that importing the package costs little. The stub `__init__.pyi` lists them.
"""

from __future__ import annotations

import importlib
import re
from pathlib import Path
from typing import Any

__version__ = "0.1.0"

_STUB = Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8")
_HOME = {name: module for module, name in re.findall(r"^from (flexapod[\w.]*) import \w+ as (\w+)$", _STUB, re.MULTILINE)}

__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'flexapod' has no attribute {name!r}")
    home = _HOME[name]
    value = vars(importlib.import_module(home)).get(name) or importlib.import_module(f"{home}.{name}")  # or itself a module
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
