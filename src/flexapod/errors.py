"""The base class of every error that flexapod raises on purpose."""

from __future__ import annotations

from typing import Any


class FlexapodError(Exception):
    """Something is wrong with what flexapod was given; the text says what and how to put it right."""

    def __reduce__(self) -> Any:
        """Errors travel between processes with all that they say, whatever their constructors need."""
        return _received, (type(self), self.args, dict(self.__dict__))


class InputError(FlexapodError):
    """An array or option of a call does not fit: names which, what was expected and what was given."""


class RobotBuildError(FlexapodError):
    """A robot file that reads well but cannot be put together."""


class FileError(InputError):
    """A file that cannot be read or written: names it, says why and what to do next."""


class FileWarning(UserWarning):
    """A file that was read or not written, with something lost: names it and says what."""


def _received(kind: type[FlexapodError], args: tuple[Any, ...], fields: dict[str, Any]) -> FlexapodError:
    error = kind.__new__(kind, *args)
    error.args = args
    error.__dict__.update(fields)
    return error
