from __future__ import annotations

import pytest

from flexapod.kernels import cache


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    """Every test starts with an empty cache, in memory and on disk."""
    monkeypatch.setenv("FLEXAPOD_CACHE", str(tmp_path / "cache"))
    cache.forget()
    yield tmp_path / "cache"
    cache.forget()
