"""Modules that labelled results need are imported while LLVM works on a large text."""

import sys
from pathlib import Path

import pytest

from flexapod.kernels.llvm import jit

OWN = "a_module_for_labels"


@pytest.fixture
def beside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / f"{OWN}.py").write_text("done = True\n", encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(jit, "BESIDE", (OWN, "a_module_that_is_not_there"))
    monkeypatch.delitem(sys.modules, OWN, raising=False)


def test_a_large_text_imports_them(beside: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """All of it is done when the compilation ends; what is missing is said where it is needed."""
    with jit.imported_beside(jit.LARGE_TEXT + 1):
        pass
    assert sys.modules[OWN].done is True
    monkeypatch.delitem(sys.modules, OWN)


def test_a_small_text_does_not(beside: None) -> None:
    with jit.imported_beside(1000):
        pass
    assert OWN not in sys.modules
