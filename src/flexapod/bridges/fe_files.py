"""Files of finite element programs: the one error of all readers, and the packages that read them."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

from flexapod.errors import FlexapodError, InputError


class FeFileError(InputError):
    """A file of a finite element program that cannot be used."""


def needed_package(name: str, what: str) -> ModuleType:
    """A package that reads files of another program; `what` needs it, for the message."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        package = name.split(".")[0]
        raise FeFileError(f"{what} needs the package {package}; install it with `pip install 'flexapod[fe]'`") from error


def first_line(error: Exception) -> str:
    """The first line of another program's message."""
    return (str(error).strip() or repr(error)).splitlines()[0]


@contextmanager
def reading(path: Path, what: str) -> Iterator[None]:
    """One error for a file that is missing or cannot be read, whatever its reader raises."""
    if not path.is_file():
        raise FeFileError(f"{path}: there is no such file")
    try:
        yield
    except FlexapodError:
        raise
    except Exception as error:
        raise FeFileError(
            f"{path}: cannot be read as {what}: {first_line(error).rstrip('.')}. Is it whole, and does its suffix fit?"
        ) from error
