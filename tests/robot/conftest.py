"""Robots are built and looked at here; their kernels are interpreted, since compiling takes longer than all the rest.

Tests marked `compiled` evaluate theirs thousands of times, in searches of poses and in simulations.
"""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def _numpy_backend(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.node.get_closest_marker("compiled") is None:
        monkeypatch.setenv("FLEXAPOD_BACKEND", "numpy")
