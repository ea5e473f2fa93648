"""Robots are built and looked at here; their kernels are interpreted, since compiling takes longer than all the rest."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def _numpy_backend(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLEXAPOD_BACKEND", "numpy")
