"""Functions of the user as digests: what differs in code, constants, defaults, closures or globals is another function."""

import threading
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

import flexapod as fp
from flexapod.analysis.requests.function_key import UnknownContentError, function_key

LIMIT = 3.0


def of_limit(r: Any) -> float:
    return float(r) + LIMIT


def closing(value: Any) -> Callable[[Any], Any]:
    return lambda r: (r, value)


def with_default(value: float) -> Callable[..., Any]:
    def function(r: Any, weight: float = value) -> float:
        return float(r) * weight

    return function


class Scaled:
    def __init__(self, by: float) -> None:
        self.by = by

    def __call__(self, r: Any) -> float:
        return self.by * float(r)

    def half(self, r: Any) -> float:
        return self.by * float(r) / 2


def test_equal_functions_have_one_key() -> None:
    for make in (lambda: closing(np.arange(3.0)), lambda: with_default(2.0), lambda: Scaled(2.0), lambda: partial(of_limit, 1.0)):
        assert function_key(make()) == function_key(make())
    assert function_key(closing(fp.load("dualemps"))) == function_key(closing(fp.load("dualemps")))


def test_what_differs_has_another_key(monkeypatch: pytest.MonkeyPatch) -> None:
    pairs = [
        (lambda r: r.parameter("platform.mass"), lambda r: -7.0),
        (lambda r: r.first, lambda r: r.second),
        (closing(1.0), closing(1)),
        (closing(np.zeros(2)), closing(np.zeros(3))),
        (closing({"a": [1]}), closing({"a": [2]})),
        (with_default(1.0), with_default(2.0)),
        (Scaled(1.0), Scaled(2.0)),
        (Scaled(1.0).half, Scaled(1.0)),
        (partial(of_limit, 1.0), partial(of_limit, 2.0)),
        (np.sin, np.cos),
    ]
    for a, b in pairs:
        assert function_key(a) != function_key(b)
    before = function_key(of_limit)
    monkeypatch.setattr(f"{__name__}.LIMIT", 4.0)
    assert function_key(of_limit) != before


def test_what_cannot_be_compared_is_said() -> None:
    with pytest.raises(UnknownContentError, match="value is a lock, whose content cannot be compared"):
        function_key(closing(threading.Lock()))
