"""Processes that are killed while they write: the old file stays, and what they leave behind goes with the next write."""

import os
import signal
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from pd_simulations import pd_simulation

import flexapod as fp
from flexapod.files import write_whole
from flexapod.simulation.integrators import rows_in_blocks as drive_module

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")

WRITER = """
import os, sys
from pathlib import Path
from flexapod.files import write_whole
def killed(handle):
    os.kill(os.getpid(), 9)
os.fsync = killed
write_whole({Path(sys.argv[1]): b"new" * 1000})
"""


def kill_a_writer(path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", WRITER, str(path)], check=False)
    assert done.returncode == -signal.SIGKILL


def test_a_killed_write_leaves_the_old_file_and_its_rest_goes_later(tmp_path: Path) -> None:
    path = tmp_path / "a [1].csv"
    write_whole({path: b"old"})
    kill_a_writer(path)
    kill_a_writer(tmp_path / "b.csv")
    assert path.read_bytes() == b"old"
    assert len(list(tmp_path.glob("*.part")) + list(tmp_path.glob(".*.part"))) >= 2
    write_whole({path: b"next"})
    assert path.read_bytes() == b"next"
    left = [p.name for p in tmp_path.iterdir() if p.name.startswith(".a")]
    assert left == []  # those of b.csv wait for its own next write


def test_a_writer_that_lives_keeps_its_part(tmp_path: Path) -> None:
    code = WRITER.replace("os.kill(os.getpid(), 9)", "print('here', flush=True); sys.stdin.read()")
    path = tmp_path / "a.csv"
    with subprocess.Popen([sys.executable, "-c", code, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"here\n"
        write_whole({path: b"mine"})
        assert len(list(tmp_path.iterdir())) == 2
        other.communicate(b"")
    assert path.read_bytes() == b"new" * 1000
    assert [p.name for p in tmp_path.iterdir()] == ["a.csv"]


KILLED = """
import os, sys
sys.path.insert(0, sys.argv[1])
from pd_simulations import pd_simulation
from flexapod.simulation import simulate
from flexapod.simulation.integrators import rows_in_blocks as drive
drive.BLOCK, simulate.SAVED, count = 256, -1.0, [0]
real = os.fsync
def fsync(handle):
    count[0] += 1
    if count[0] == 3:
        os.kill(os.getpid(), 9)
    real(handle)
os.fsync = fsync
pd_simulation(step=2e-3, save=sys.argv[2])
"""


def test_a_killed_run_goes_on_and_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Killed in the middle of its third checkpoint, it goes on from the second."""
    whole = pd_simulation(step=2e-3)
    path = tmp_path / "run.npz"
    done = subprocess.run([sys.executable, "-c", KILLED, str(Path(__file__).parent), str(path)], check=False)
    assert done.returncode == -signal.SIGKILL
    assert len(list(tmp_path.iterdir())) == 2  # the second checkpoint, and part of the third
    monkeypatch.setattr(drive_module, "BLOCK", 256)
    real, blocks = drive_module.block, []
    monkeypatch.setattr(drive_module, "block", lambda *args: blocks.append(1) or real(*args))
    rest = pd_simulation(step=2e-3, save=path)
    assert 0 < len(blocks) < 1500 // 256 + 1
    assert all(np.array_equal(whole[name], rest[name]) for name in whole.data_vars)
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_does_not_end_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from flexapod.simulation import simulate as simulate_module

    whole = pd_simulation(step=2e-3)
    monkeypatch.setattr(drive_module, "BLOCK", 256)
    monkeypatch.setattr(simulate_module, "SAVED", -1.0)

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.warns(fp.FileWarning, match=r"run.npz: was not written: no space left on device.*the simulation goes on without"):
        result = pd_simulation(step=2e-3, save=tmp_path / "run.npz")
    assert all(np.array_equal(whole[name], result[name]) for name in whole.data_vars)
    assert list(tmp_path.iterdir()) == []
    monkeypatch.undo()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pd_simulation(step=2e-3, save=tmp_path / "run.npz")
