"""Folders of long runs: an interrupted run goes on from them, a killed one too, damaged ones are refused."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import flexapod as fp
from flexapod.analysis.requests.block_store import BlockStore

ARRAYS: dict[str, tuple[tuple[int, ...], Any]] = {"a": ((), np.float64), "b": ((3,), np.int16)}


def store(folder: Path, key: str = "key") -> BlockStore:
    return BlockStore(10, ARRAYS, folder, key)


def block(start: int, stop: int) -> dict[str, Any]:
    return {"a": np.arange(start, stop) / 7, "b": np.full((stop - start, 3), start, np.int16)}


def half(folder: Path) -> Path:
    kept = store(folder)
    kept.write(0, block(0, 4))
    kept.write(4, block(4, 6))
    return folder


def test_a_run_goes_on(tmp_path: Path) -> None:
    again = store(half(tmp_path / "run"))
    assert again.done == 6
    assert np.array_equal(again.arrays["a"][:6], np.arange(6) / 7)
    again.write(6, block(6, 10))
    assert store(tmp_path / "run").done == 10
    assert sorted(p.name for p in (tmp_path / "run").iterdir()) == ["a.npy", "b.npy", "progress.json"]


@pytest.mark.parametrize("left", [["progress.json"], ["progress.json", "a.npy"]])
def test_a_run_killed_at_its_start_is_known_as_ours(tmp_path: Path, left: list[str]) -> None:
    store(tmp_path)
    for path in tmp_path.iterdir():
        if path.name not in left:
            path.unlink()
    assert store(tmp_path).done == 0


def test_damaged_folders_are_refused(tmp_path: Path) -> None:
    folder = half(tmp_path / "run")
    for name, text in {"a.npy": "were altered|cut off", "b.npy": "were altered|cut off", "progress.json": "is damaged"}.items():
        whole = (folder / name).read_bytes()
        damages = [b"", whole[:20], whole[: len(whole) // 2], b"something else", whole[:130] + b"\xff" + whole[131:]]
        for data in damages:
            (folder / name).write_bytes(data)
            if name == "progress.json" and data == damages[-1]:
                continue
            with pytest.raises(fp.FileError, match=text):
                store(folder)
        (folder / name).unlink()
        if name != "progress.json":
            with pytest.raises(fp.FileError, match="is missing, cut off or damaged"):
                store(folder)
        (folder / name).write_bytes(whole)
    assert store(folder).done == 6
    state = json.loads((folder / "progress.json").read_text())
    for wrong in ([], {}, {**state, "done": "x"}, {**state, "blocks": [1]}):
        (folder / "progress.json").write_text(json.dumps(wrong))
        with pytest.raises(fp.FileError, match="is damaged; remove the folder to start again"):
            store(folder)


def test_other_folders_are_refused(tmp_path: Path) -> None:
    folder = half(tmp_path / "run")
    with pytest.raises(fp.FileError, match="holds another result"):
        store(folder, "other")
    np.save(folder / "a.npy", np.zeros(4))
    with pytest.raises(fp.FileError, match="does not hold the arrays of this computation"):
        store(folder)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "x").write_text("x")
    with pytest.raises(fp.FileError, match="is not empty"):
        store(tmp_path / "mine")
    with pytest.raises(fp.FileError, match="was not written"):
        store(tmp_path / "mine" / "x")
