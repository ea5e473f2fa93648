"""The error of all functions that make a flexible body."""

from __future__ import annotations

from flexapod.errors import InputError


class FlexibleBodyError(InputError):
    """Invalid data of a flexible body: the text says which part, why, and what would be right."""
