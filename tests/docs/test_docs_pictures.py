"""Pictures of the docs show what the package computes now: fingerprints of their numbers are those that were kept."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]
BY_HAND = {"one-model.svg"}
"""Pictures that show no result."""
OTHERS = {"studio.png"}
"""Pictures that another tool makes (test_studio_picture.py)."""
SLOW = "reduced-legs.svg"
"""Ten seconds: 72 coordinates are reduced."""
NAMES = ["space-solid.png", "space-paving.png", "space-poses.png", "flexible-models.svg", SLOW]


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_docs_pictures", ROOT / "tools" / "make_docs_pictures.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.filterwarnings("ignore::flexapod.ValidityWarning")
@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.full if name == SLOW else ()) for name in NAMES])
def test_a_picture_is_current(tool: ModuleType, name: str) -> None:
    assert tool.known()[name] == tool.fingerprint(tool.PICTURES[name]()), f"{name} is out of date; run: make pictures"


def test_every_picture_of_the_docs_is_made_by_a_tool(tool: ModuleType) -> None:
    assert set(tool.PICTURES) == set(NAMES)
    found = {path.name for path in tool.FOLDER.iterdir() if path.suffix in (".png", ".svg", ".gif", ".jpg")}
    assert found == set(tool.PICTURES) | BY_HAND | OTHERS


def test_a_fingerprint_changes_with_a_number_and_the_title(tool: ModuleType) -> None:
    import plotly.graph_objects as go

    figure = go.Figure(layout={"title": "one"})
    first = tool.fingerprint((figure, [[1.0, 2.0]]))
    assert first == tool.fingerprint((figure, [[1.0, 2.0 + 1e-9]]))
    assert first != tool.fingerprint((figure, [[1.0, 2.01]]))
    assert first != tool.fingerprint((go.Figure(layout={"title": "two"}), [[1.0, 2.0]]))
