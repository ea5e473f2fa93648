"""Starting up: many processes with an empty cache, damaged and unwritable caches, and what an import loads."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import flexapod as fp
from flexapod.kernels.cache import forget
from support.patience import PATIENCE

PROCESSES = 3
"""Started at once; tests/kernels/test_cache.py does the same with eight and a smaller program."""
WHOLE = 1000
"""Bytes; the smallest kernel of the robot has several thousand."""
SOLVE = """
import numpy as np
import flexapod as fp
robot = fp.load("five-bar")
state = fp.State(position=np.tile(robot.home.position, (7, 1)), rotation=np.tile(robot.home.rotation, (7, 1, 1)))
result = fp.inverse_kinematics(robot, state, joints=False)
planned = fp.jacobian(robot, state)
print(result.actuator_position.values.tobytes().hex() + planned.jacobian.values.tobytes().hex())
"""


def start(cache: Path) -> subprocess.Popen[str]:
    env = {**os.environ, "FLEXAPOD_CACHE": str(cache)}
    return subprocess.Popen([sys.executable, "-c", SOLVE], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def answer(job: subprocess.Popen[str]) -> str:
    out, err = job.communicate(timeout=PATIENCE)
    assert job.returncode == 0, err
    assert err == ""
    return out.strip()


@pytest.fixture(scope="module")
def expected() -> str:
    robot = fp.load("five-bar")
    state = fp.State(position=np.tile(robot.home.position, (7, 1)), rotation=np.tile(robot.home.rotation, (7, 1, 1)))
    one = fp.inverse_kinematics(robot, state, joints=False).actuator_position.values
    two = fp.jacobian(robot, state).jacobian.values
    return one.tobytes().hex() + two.tobytes().hex()


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, set[str]]:
    """A cache that was empty when several processes started at once, and their answers."""
    folder = tmp_path_factory.mktemp("cold") / "cache"
    jobs = [start(folder) for _ in range(PROCESSES)]
    return folder, {answer(job) for job in jobs}


def test_processes_fill_a_cold_cache_at_once(filled: tuple[Path, set[str]], expected: str) -> None:
    folder, answers = filled
    assert answers == {expected}
    assert len(list(folder.glob("*.kernel"))) >= 2
    assert not list(folder.glob(".new-*"))


def test_a_cached_result_needs_no_casadi(filled: tuple[Path, set[str]]) -> None:
    code = SOLVE + "\nimport sys\nassert 'casadi' not in sys.modules\n"
    env = {**os.environ, "FLEXAPOD_CACHE": str(filled[0])}
    subprocess.run([sys.executable, "-c", code], env=env, check=True, capture_output=True)


def test_damaged_files_are_rebuilt(filled: tuple[Path, set[str]], tmp_path: Path, expected: str) -> None:
    """Truncated, emptied and overwritten files are not trusted."""
    folder = tmp_path / "cache"
    shutil.copytree(filled[0], folder)
    files = sorted(folder.glob("*.kernel"))
    files[0].write_bytes(files[0].read_bytes()[: files[0].stat().st_size // 2])
    files[1].write_bytes(b"")
    assert answer(start(folder)) == expected
    assert files[0].stat().st_size > WHOLE
    data = bytearray(files[1].read_bytes())
    data[len(data) // 2] ^= 0xFF
    files[1].write_bytes(data)
    assert answer(start(folder)) == expected
    assert files[1].read_bytes() != bytes(data)


def test_unwritable_cache(tmp_path: Path, expected: str) -> None:
    """A folder that cannot be made (below a regular file: root may write to read-only folders), and a read-only one."""
    (tmp_path / "file").write_text("not a folder")
    (tmp_path / "closed").mkdir(mode=0o500)
    jobs = [start(tmp_path / "file" / "cache"), start(tmp_path / "closed")]
    assert [answer(job) for job in jobs] == [expected, expected]


def test_disk_full(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("FLEXAPOD_CACHE", str(tmp_path))
    monkeypatch.setenv("FLEXAPOD_BACKEND", "numpy")

    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    forget()
    monkeypatch.setattr(os, "write", full)
    result = fp.inverse_kinematics(fp.load("stewart-3-3"), fp.State(position=[0.1, 0.2, 4.3]))
    monkeypatch.undo()
    forget()
    assert np.all(np.isfinite(result.actuator_position.values))
    assert not list(tmp_path.glob("*.kernel"))


def test_import_loads_nothing_heavy() -> None:
    code = """
import sys
import flexapod
heavy = {"numpy", "scipy", "casadi", "llvmlite", "xarray", "pydantic", "yaml", "plotly", "rich", "typer", "matplotlib", "skfem"}
print(sorted(heavy & set(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
