"""The base classes of all errors and warnings of flexapod."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any


class FlexapodError(Exception):
    """Base of all errors about input: the text says what is wrong and how to correct it."""

    def __reduce__(self) -> Any:
        """Parts for pickling: errors pass between processes with text and fields, whatever their constructors need."""
        return _received, (type(self), self.args, dict(self.__dict__))


class InputError(FlexapodError):
    """An array or option of a call does not fit: names which, what was expected and what was given."""


class RobotBuildError(FlexapodError):
    """A robot file that reads well but cannot be put together."""


class FileError(InputError):
    """A file that cannot be read or written: names it, says why and what to do next."""


class FlexapodWarning(UserWarning):
    """Warning about a result that may not be what was intended; the command line prints every one."""


class FileWarning(FlexapodWarning):
    """A file that was read or not written, with something lost: names it and says what."""


def amount(count: int, noun: str) -> str:
    """`1 leg`, `6 legs`: a number of things, as messages say it.

    Checked by: tests/analysis/test_call_errors.py.
    """
    return f"{count} {noun}{'s' * (count != 1)}"


def did_you_mean(
    word: object, known: Iterable[str], otherwise: str = "", *, before: str = "", after: str = "", cutoff: float = 0.6
) -> str:
    """Hint about an unknown name, as a part of a message: `did you mean 'circle'?` with text around it.

    Args:
        otherwise: the whole hint where no known name is near.
        cutoff: likeness, from 0 to 1, from which a name is near; lower where names are much longer than what people type.

    Checked by: tests/motions/test_named_motions.py.
    """
    near = difflib.get_close_matches(str(word)[:80], list(known), n=1, cutoff=cutoff)
    return f"{before}did you mean {near[0]!r}?{after}" if near else otherwise


def _received(kind: type[FlexapodError], args: tuple[object, ...], fields: dict[str, object]) -> FlexapodError:
    error = kind.__new__(kind, *args)
    error.args = args
    error.__dict__.update(fields)
    return error


DRAWN: ContextVar[bool] = ContextVar("drawn", default=False)
"""Whether deformations are those of a drawing, which no warning is about; each thread has its own."""


@contextmanager
def drawn_larger() -> Iterator[None]:
    """Deformations within are enlarged for a drawing: no warning is about the robot."""
    before = DRAWN.set(True)
    try:
        yield
    finally:
        DRAWN.reset(before)
