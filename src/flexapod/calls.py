"""Calls that are checked before they start: one table of what arguments are, by name, and the decorators that read it.

Kinds that need a class of a folder (a robot, a state) are entered by that folder (`analysis/requests/arguments.py`); a function
whose argument is of another kind than the table's names it itself: ``@checked(path=check_path)``.
"""

from __future__ import annotations

import inspect
import math
import numbers
import os
import re
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, ParamSpec, Protocol, TypeVar, overload

from flexapod.errors import InputError

if TYPE_CHECKING:
    from dataclasses import Field

P = ParamSpec("P")
R = TypeVar("R")
C = TypeVar("C", bound=type)
F = TypeVar("F", bound=Callable[..., object])
Check = Callable[[str, Any], None]


def refuse_kind(name: str, expected: str, value: object) -> NoReturn:
    """The error for a value of another kind."""
    shown = repr(value) if isinstance(value, str | int | float | bool | None) else type(value).__name__
    hint = "; a State at home is State.at_home(robot)" if shown == "Pose" and "State" in expected else ""
    raise InputError(f"{name}: expected {expected}, got {shown[:80]}{hint}")


def check_path_kind(name: str, value: object) -> None:
    """Refuse what is neither a text nor a path."""
    if not isinstance(value, str | os.PathLike) or not isinstance(os.fspath(value), str):
        refuse_kind(name, "the path of a file", value)


def check_path(name: str, value: object) -> None:
    """Refuse what names no file: only texts and paths do, and none of them is empty or has a null character."""
    check_path_kind(name, value)
    if "\0" in str(value):
        refuse_kind(name, "the path of a file", str(value))
    if not str(value):
        raise InputError(f"{name}: expected the path of a file, got an empty text")


def unchecked(name: str, value: object) -> None:
    """Accept an argument that the verb checks itself, though the table has another kind under its name."""


def check_text(name: str, value: object) -> None:
    """Refuse what is not text."""
    if not isinstance(value, str):
        refuse_kind(name, "a text", value)


def check_mapping(name: str, value: object) -> None:
    """Refuse what is not a mapping whose keys are texts."""
    if not isinstance(value, Mapping) or any(not isinstance(k, str) for k in value):
        refuse_kind(name, "a mapping of names to values", value)


def check_dataset(name: str, value: object) -> None:
    """Refuse what is not a labelled result."""
    import xarray as xr

    if not isinstance(value, xr.Dataset):
        refuse_kind(name, "a result (Dataset)", value)


def check_flag(name: str, value: object) -> None:
    """Refuse what is neither True nor False."""
    if type(value).__name__ not in ("bool", "bool_"):  # of Python and of NumPy, which is not imported for that
        refuse_kind(name, "True or False", value)


def check_texts(name: str, value: object) -> None:
    """Refuse what is not a list of texts; one text is not a list."""
    if isinstance(value, str) or not isinstance(value, Sequence) or any(not isinstance(v, str) for v in value):
        refuse_kind(name, "a list of texts", value)


def check_number(name: str, value: object) -> None:
    """Refuse what is neither a number nor None."""
    whole = isinstance(value, numbers.Real) and not isinstance(value, bool)
    if value is not None and not whole:
        refuse_kind(name, "a number", value)


def check_finite(name: str, value: object) -> None:
    """Refuse what is neither a finite number nor None."""
    check_number(name, value)
    if isinstance(value, numbers.Real) and not math.isfinite(value):
        refuse_kind(name, "a finite number", value)


def check_count(name: str, value: object) -> None:
    """Refuse what is not a whole number above 0."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or value < 1:
        refuse_kind(name, "a whole number above 0", value)


def check_seed(name: str, value: object) -> None:
    """Refuse what is not a whole number from 0."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or value < 0:
        refuse_kind(name, "a whole number, 0 or above", value)


def users_level() -> int:
    """`stacklevel` of a warning that is given here: the nearest caller outside the package, whose line the user knows."""
    home, frame, level = os.path.dirname(__file__), sys._getframe(1), 1
    while frame.f_back is not None and frame.f_code.co_filename.startswith(home):
        frame, level = frame.f_back, level + 1
    return level


CHECKS: dict[str, Check] = {}
"""Name of an argument -> its check; arguments of one name are of one kind in all verbs, unless a verb says otherwise."""


TOGETHER: list[Callable[[str, Mapping[str, Any]], None]] = []
"""Checks of a verb's arguments together: name of the verb, arguments by name."""

SIGNATURES: dict[str, inspect.Signature] = {}
"""Verbs that were loaded, with their arguments."""


@overload
def checked(verb: Callable[P, R], /) -> Callable[P, R]: ...
@overload
def checked(**own: Check) -> Callable[[Callable[P, R]], Callable[P, R]]: ...
def checked(verb: Callable[..., object] | None = None, /, **own: Check) -> Any:
    """A verb whose arguments are checked by name before it starts.

    Args:
        own: checks of this verb's arguments, in place of those of the table.

    Checked by: tests/analysis/test_call_errors.py.
    """
    if verb is None:
        return lambda function: _checked(function, own)
    return _checked(verb, own)


def _checked(verb: Callable[P, R], own: Mapping[str, Check]) -> Callable[P, R]:
    signature = SIGNATURES[verb.__name__] = inspect.signature(verb)
    flags = {name: check_flag for name, p in signature.parameters.items() if p.annotation in ("bool", bool)}

    @wraps(verb)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        given = _bound(verb.__name__, signature, args, kwargs)
        for name, value in given.items():
            left_out = value is None and signature.parameters[name].default is None
            check = own.get(name) or flags.get(name) or CHECKS.get(name)
            if check is not None and not left_out:
                check(name, value)
            if value is None and isinstance(signature.parameters[name].default, float):
                refuse_kind(name, "a number", value)
        for together in TOGETHER:
            together(verb.__name__, given)
        return verb(*args, **kwargs)

    return call


def renamed(**former: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """A verb that takes arguments by their former names too, for one version, with a `DeprecationWarning`.

    Args:
        former: former name -> present name.

    Checked by: tests/project/test_former_names.py.
    """

    def decorate(verb: Callable[P, R]) -> Callable[P, R]:
        @wraps(verb)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            for old, new in former.items():
                if old in kwargs and new in kwargs:
                    raise InputError(f"{verb.__name__}: {old} is the former name of {new}; give {new} alone")
                if old in kwargs:
                    text = f"{verb.__name__}: {old} is called {new} now; the former name is removed in the next version"
                    warnings.warn(text, DeprecationWarning, stacklevel=users_level())
                    kwargs[new] = kwargs.pop(old)
            return verb(*args, **kwargs)

        call.former = former  # type: ignore[attr-defined]
        return call

    return decorate


def by_name(function: F) -> F:
    """A function that refuses wrong names of arguments by an `InputError`; their values it checks itself.

    Checked by: tests/motions/test_motion_calls.py.
    """
    signature = inspect.signature(function)

    @wraps(function)
    def call(*args: object, **kwargs: object) -> object:
        _bound(function.__name__, signature, args, kwargs)
        return function(*args, **kwargs)

    return call  # type: ignore[return-value]


def made(kind: C) -> C:
    """A class whose constructor refuses wrong names of arguments by an `InputError`; their values it checks itself."""
    init, signature = vars(kind)["__init__"], inspect.signature(kind)

    @wraps(init)
    def make(self: object, *args: object, **kwargs: object) -> None:
        try:
            init(self, *args, **kwargs)
        except TypeError:
            if type(self) is kind:
                _bound(kind.__name__, signature, args, kwargs)  # says what the call lacks, or has too much
            raise

    kind.__init__ = make  # type: ignore[misc]
    return kind


class Dataclass(Protocol):
    """An object of a dataclass."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]


def fields_alone(data: Dataclass) -> dict[str, Any]:
    """State of a dataclass for pickling: its fields, without cached values derived from them."""
    return {name: data.__dict__[name] for name in data.__dataclass_fields__}


def _bound(name: str, signature: inspect.Signature, args: tuple[object, ...], kwargs: Mapping[str, object]) -> dict[str, Any]:
    try:
        return signature.bind(*args, **kwargs).arguments
    except TypeError as error:
        raise InputError(f"{name}: {call_reason(error)}; it takes {_names_alone(signature)}") from None


def _names_alone(signature: inspect.Signature) -> str:
    """A signature without types, for messages about misspelt arguments."""
    arguments = [argument.replace(annotation=argument.empty) for argument in signature.parameters.values()]
    return str(signature.replace(parameters=arguments, return_annotation=signature.empty))


def call_reason(error: TypeError) -> str:
    """The reason why arguments do not fit a signature, in one text for every Python: from 3.12 on it adds the kind of a missing
    one.

    Checked by: tests/analysis/test_call_errors.py.
    """
    return re.sub(r"missing a required [\w-]+ argument", "missing a required argument", str(error))
