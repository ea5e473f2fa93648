"""The cache of flexible bodies: one computation per content, damaged and foreign files rebuilt, no folder no harm."""

from pathlib import Path

import numpy as np
import pytest
from bodies import HEXAGON, random_body, sources

from flexapod.flexible import FlexibleBody, plate
from flexapod.flexible.body_cache import CONSTANTS, SUFFIX, cached_body, pack, unpack


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FLEXAPOD_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


class Maker:
    """Counts how often the body is made."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self) -> FlexibleBody:
        self.calls += 1
        return random_body(np.random.default_rng(3), sized=True)


@pytest.mark.parametrize("name", ["generic file", "mindlin", "planar beam", "random"])
def test_a_body_survives_packing(name: str) -> None:
    body = sources()[name]
    again = unpack(pack(body))
    assert again.names == body.names
    assert all(np.array_equal(getattr(again, c), getattr(body, c)) for c in CONSTANTS)
    assert list(again.interfaces) == list(body.interfaces)
    assert body.nodes is not None
    assert again.nodes is not None
    assert np.array_equal(again.nodes.Phi_d, body.nodes.Phi_d)
    assert (again.nodes.Phi_r is None) == (body.nodes.Phi_r is None)
    assert body.nodes.Phi_r is None or np.array_equal(np.asarray(again.nodes.Phi_r), body.nodes.Phi_r)
    assert (again.nodes.spread is None) == (body.nodes.spread is None)


def test_made_once_per_content(folder: Path) -> None:
    make = Maker()
    one = cached_body("test", {"a": 1}, make)
    two = cached_body("test", {"a": 1}, make)
    assert make.calls == 1
    assert np.array_equal(one.I_ee, two.I_ee)
    cached_body("test", {"a": 2}, make)
    cached_body("other", {"a": 1}, make)
    assert make.calls == 3
    assert len(list(folder.glob("*" + SUFFIX))) == 3
    assert not list(folder.glob(".new-*"))


@pytest.mark.parametrize("damage", ["cut", "flipped", "empty", "text", "other"])
def test_damaged_files_are_rebuilt(folder: Path, damage: str) -> None:
    make = Maker()
    cached_body("test", {}, make)
    (path,) = folder.glob("*" + SUFFIX)
    data = bytearray(path.read_bytes())
    if damage == "flipped":
        with np.load(path) as file:
            arrays = {name: np.array(file[name]) for name in file.files}
        arrays["K_ee"] = arrays["K_ee"] * 2.0
        np.savez(path, **arrays)
    elif damage == "other":
        np.savez(path, a=np.zeros(3))
    else:
        path.write_bytes({"cut": bytes(data[: len(data) // 2]), "empty": b"", "text": b"hello"}[damage])
    again = cached_body("test", {}, make)
    assert make.calls == 2
    assert np.array_equal(again.K_ee, Maker()().K_ee)
    cached_body("test", {}, make)
    assert make.calls == 2


def test_no_folder_no_harm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("FLEXAPOD_CACHE", str(tmp_path / "file" / "cache"))
    make = Maker()
    cached_body("test", {}, make)
    cached_body("test", {}, make)
    assert make.calls == 2


def test_plates_are_cached_bit_by_bit(folder: Path) -> None:
    data = HEXAGON | {"modes": 2, "mesh_size": 0.25, "interfaces": {"A": (0.5, 0.0)}}
    one, two = plate(**data), plate(**data)
    assert len(list(folder.glob("*" + SUFFIX))) == 1
    assert np.array_equal(one.interfaces["A"].Phi_d, two.interfaces["A"].Phi_d)
    fresh = plate(**data, cache=False)
    assert np.array_equal(one.K_ee, fresh.K_ee)
    plate(**(data | {"thickness": 0.016}))
    assert len(list(folder.glob("*" + SUFFIX))) == 2
    damped = plate(**data, damping=0.1)
    assert len(list(folder.glob("*" + SUFFIX))) == 2
    assert damped.D_ee[0, 0] == pytest.approx(0.2 * damped.angular_frequency[0])
