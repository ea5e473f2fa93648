"""A cache folder of their own for the tests of flexible bodies, so that no earlier run answers for this one."""

from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True, scope="session")
def fresh_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    patch = pytest.MonkeyPatch()
    patch.setenv("FLEXAPOD_CACHE", str(tmp_path_factory.mktemp("flexible-cache")))
    yield
    patch.undo()
