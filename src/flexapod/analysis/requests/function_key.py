"""Digest of a user's function: a saved computation continues only with the functions that it began with.

A function is its qualified name, its code (instructions, constants, names), its defaults, the values it closes over and the
global values that it reads. Functions and classes of its own module are followed; what comes from other modules is their name,
version and file. Values are compared by content; a value whose content cannot be read makes the whole function unknown.
"""

from __future__ import annotations

import dis
import hashlib
import pickle
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from types import CellType


class UnknownContentError(Exception):
    """A value that the function uses cannot be distinguished from another one; the text names it."""


def function_key(function: Callable[..., object]) -> str:
    """Digest of a function; equal only for functions that compute the same.

    Raises:
        UnknownContentError: the function uses a value whose content cannot be read (an open file, a lock, ...).

    Checked by: tests/analysis/test_function_key.py.
    """
    walk = _Walk(getattr(function, "__module__", None) or type(function).__module__)
    walk.add("the function", function)
    return walk.digest.hexdigest()


class _Walk:
    """Feeds a digest with values, each once: a value met again is its number."""

    def __init__(self, home: str) -> None:
        self.home, self.digest = home, hashlib.sha256()
        self._met: dict[int, int] = {}
        self._kept: list[Any] = []  # values stay alive, so that their ids stay their own

    def add(self, what: str, value: object) -> None:
        """Add one value, by its content."""
        if value is None or isinstance(value, bool | int | float | complex | str | bytes):
            self._note(type(value).__name__, repr(value))
            return
        if id(value) in self._met:
            self._note("again", str(self._met[id(value)]))
            return
        self._met[id(value)] = len(self._met)
        self._kept.append(value)
        self._note(type(value).__qualname__)
        self._content(what, value)

    def _note(self, *texts: str) -> None:
        for text in texts:
            data = text.encode("utf-8", "surrogatepass")
            self.digest.update(len(data).to_bytes(8, "little") + data)

    def _content(self, what: str, value: object) -> None:
        if isinstance(value, FunctionType):
            self._function(value)
        elif isinstance(value, MethodType):
            self.add(what, value.__func__)
            self.add(f"the object of {value.__name__}", value.__self__)
        elif isinstance(value, partial):
            self._all(what, (value.func, value.args, value.keywords))
        elif isinstance(value, CodeType):
            self._code(value)
        elif isinstance(value, ModuleType):
            self._module(value.__name__, value)
        elif isinstance(value, type):
            self._class(value)
        elif isinstance(value, Mapping):
            self._note(str(len(value)))
            for key, item in value.items():
                self._all(f"{what}[{key!r}]", (key, item))
        elif isinstance(value, tuple | list):
            self._all(what, value)
        elif isinstance(value, set | frozenset):
            self._note(*sorted(repr(item) for item in value))
        elif isinstance(value, np.ndarray) and value.dtype != object:
            self._note(value.dtype.str, str(value.shape))
            self.digest.update(np.ascontiguousarray(value).tobytes())
        elif isinstance(value, BuiltinFunctionType | np.ufunc):
            self._note(f"{getattr(value, '__module__', '')}.{value.__name__}")
        else:
            self._object(what, value)

    def _all(self, what: str, values: Collection[object]) -> None:
        self._note(str(len(values)))
        for value in values:
            self.add(what, value)

    def _function(self, f: FunctionType) -> None:
        self._note(f.__module__ or "", f.__qualname__)
        for name, cell in zip(f.__code__.co_freevars, f.__closure__ or (), strict=True):
            self.add(name, _cell(name, cell))
        self._all(f.__name__, (f.__defaults__, f.__kwdefaults__))
        if f.__module__ != self.home:
            self._module_of(f)
            return
        self.add(f.__name__, f.__code__)
        for name in sorted(_globals(f.__code__)):
            if name in f.__globals__:
                self._note(name)
                self.add(name, f.__globals__[name])

    def _code(self, code: CodeType) -> None:
        self.digest.update(code.co_code)
        self._note(*code.co_names, *code.co_varnames, *code.co_freevars)
        self._all("a constant", code.co_consts)

    def _module(self, name: str, module: ModuleType | None) -> None:
        self._note(name, str(getattr(module, "__version__", "")))
        file = getattr(module, "__file__", None)
        if not isinstance(file, str):
            return  # a function of the interpreter itself has a name and nothing else
        with suppress(OSError, ValueError):
            self.digest.update(Path(file).read_bytes())

    def _module_of(self, value: object) -> None:
        import sys

        name = getattr(value, "__module__", None) or ""
        self._module(name, sys.modules.get(name))

    def _class(self, kind: type) -> None:
        self._note(kind.__module__, kind.__qualname__)
        if kind.__module__ != self.home:
            self._module_of(kind)
            return
        for name, member in sorted(vars(kind).items()):
            if isinstance(member, FunctionType | staticmethod | classmethod | property | bool | int | float | str | tuple):
                self._note(name)
                functions = (getattr(member, k, None) for k in ("__func__", "fget"))
                self.add(name, next((f for f in functions if f is not None), member))
        self._all(kind.__name__, kind.__bases__)

    def _object(self, what: str, value: object) -> None:
        """Any other object: a robot by its file and numbers, others as they are pickled, with their class."""
        from flexapod.robot.robot import Robot

        if isinstance(value, Robot):
            from flexapod.description.write import robot_text

            self._note(robot_text(value.description), value.structure, repr(sorted(value.values.items())))
            return
        self.add(what, type(value))
        plain = "__reduce_ex__" not in vars(type(value)) and "__reduce__" not in vars(type(value)) and hasattr(value, "__dict__")
        if plain and type(value).__module__ == self.home:
            self.add(what, vars(value))
            return
        try:
            self.digest.update(pickle.dumps(value, protocol=5))
        except Exception as error:
            raise UnknownContentError(f"{what} is a {type(value).__name__}, whose content cannot be compared") from error


def _cell(name: str, cell: CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        raise UnknownContentError(f"{name} has no value yet") from None


def _globals(code: CodeType) -> set[str]:
    """Names of global values that a code, or a code within it, reads."""
    own = {str(i.argval) for i in dis.get_instructions(code) if i.opname in ("LOAD_GLOBAL", "LOAD_NAME")}
    return own.union(*(_globals(c) for c in code.co_consts if isinstance(c, CodeType)))
