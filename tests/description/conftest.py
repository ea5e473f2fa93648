"""Valid robot files: the catalogue, and one small file of each kind."""

from __future__ import annotations

from pathlib import Path

import pytest

import flexapod

DATA = Path(__file__).parent / "data"
CATALOGUE = Path(flexapod.__file__).parent / "robots"


def valid_files() -> list[Path]:
    return sorted(DATA.glob("*.yaml")) + sorted(CATALOGUE.glob("*.yaml"))


@pytest.fixture(params=valid_files(), ids=lambda path: path.stem)
def robot_file(request: pytest.FixtureRequest) -> Path:
    path = request.param
    assert isinstance(path, Path)
    return path


@pytest.fixture
def ups() -> str:
    return (DATA / "ups.yaml").read_text(encoding="utf-8")


@pytest.fixture
def khalil() -> str:
    return (DATA / "khalil.yaml").read_text(encoding="utf-8")


@pytest.fixture
def planar() -> str:
    return (DATA / "planar.yaml").read_text(encoding="utf-8")
