"""The base class of every error that flexapod raises on purpose."""

from __future__ import annotations


class FlexapodError(Exception):
    """Something is wrong with what flexapod was given; the text says what and how to put it right."""


class InputError(FlexapodError):
    """An array or option of a call does not fit: names which, what was expected and what was given."""


class FileError(InputError):
    """A file that cannot be read or written: names it, says why and what to do next."""


class FileWarning(UserWarning):
    """A file that was read or not written, with something lost: names it and says what."""
