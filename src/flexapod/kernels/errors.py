"""Errors of users of the kernels, one class each."""

from __future__ import annotations

from collections.abc import Mapping

from flexapod.errors import FlexapodError


class KernelError(FlexapodError):
    """Base of every error that the kernels raise on purpose."""


class ProgramError(KernelError):
    """A program is written wrongly: shapes, names or symbols that do not fit."""


class KernelInputError(KernelError, ValueError):
    """Arrays given to a kernel do not fit its signature."""


class KernelStatusError(KernelError, ArithmeticError):
    """One sample could not be evaluated; `code` and `fields` say why."""

    def __init__(self, code: int, message: str, fields: Mapping[str, object] | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.fields = dict(fields or {})


class BackendError(KernelError):
    """A backend that was asked for does not exist or cannot run here."""


class ExportError(KernelError):
    """A C export cannot be written, for example because it would overwrite a foreign file."""
