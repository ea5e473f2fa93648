"""Studies killed at random times: no design is lost or doubled, and the result is that of an undisturbed run, bit by bit."""

import json
import random
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import flexapod as fp
from flexapod.design.study_files import StudyFiles
from flexapod.design.summary import Summary

CODE = """
import os, signal, flexapod as fp
import flexapod.design.study_blocks as s, flexapod.design.study_files as f
s.BLOCK, f.EVERY, real, count = 512, 0.0, os.fsync, [0]
def fsync(handle):
    count[0] += 1
    if count[0] == 2:
        signal.setitimer(signal.ITIMER_PROF, {after})
    real(handle)
os.fsync = fsync
"""
"""The process ends some seconds of its own CPU time after it has written its first file, at once and unprepared."""
REQUEST: dict[str, Any] = {
    "variables": {"platform.mass": (20, 100), "platform.inertia.zz": (40, 80)}, "criteria": ["peak_force", "mass"],
    "plan": "random", "seed": 3,
}  # fmt: skip


def kill_one(folder: Path, count: int, after: float) -> bool:
    """Start the study in a process of its own that is killed some CPU seconds after its folder is there; whether it was."""
    code = CODE.replace("{after}", f"{after:.6f}")
    text = f"{code}fp.study(fp.load('stewart-3-3'), **{REQUEST!r}, count={count}, save={str(folder)!r}, threads=2)"
    return subprocess.run([sys.executable, "-W", "ignore", "-c", text], check=False).returncode == -signal.SIGPROF


def campaign(tmp_path: Path, count: int, kills: int, longest: float) -> int:
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    robot, delays, done = fp.load("stewart-3-3"), random.Random(1), 0
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("flexapod.design.study_blocks.BLOCK", 512)
        fp.study(robot, **REQUEST, count=count, save=whole)
        for _ in range(kills):
            done += kill_one(killed, count, delays.uniform(1e-3, longest))
        fp.study(robot, **REQUEST, count=count, save=killed)
    names = sorted(p.name for p in whole.iterdir())
    assert sorted(p.name for p in killed.iterdir()) == names
    for name in names:  # rows, their order, statistics, front and digests
        assert (whole / name).read_bytes() == (killed / name).read_bytes(), name
    return done


def test_a_killed_study_goes_on_bit_by_bit(tmp_path: Path) -> None:
    assert campaign(tmp_path, 20_000, 1, 0.02) == 1


@pytest.mark.full
def test_thirty_kills(tmp_path: Path) -> None:
    """Besides the seventy kills of workers and connections (test_study_cluster)."""
    assert campaign(tmp_path, 1_000_000, 30, 0.3) == 30


def test_folders_of_other_studies_and_altered_files_are_refused(tmp_path: Path) -> None:
    robot = fp.load("stewart-3-3")
    request = {"robot": robot, "variables": {"platform.mass": (20, 100)}, "criteria": "mass", "count": 8, "save": tmp_path / "s"}
    first = fp.study(**request)
    assert fp.study(**request).rows.identical(first.rows)
    with pytest.raises(fp.FileError, match="holds another study"):
        fp.study(**{**request, "count": 9})
    with (tmp_path / "s" / "block-0000000.parquet").open("ab") as file:
        file.write(b"x")
    with pytest.raises(fp.FileError, match="was altered"):
        fp.study(**request)
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "notes.txt").write_text("mine")
    with pytest.raises(fp.FileError, match="holds no study"):
        fp.study(**{**request, "save": tmp_path / "own"})


def test_another_function_is_another_study(tmp_path: Path) -> None:
    robot, lock = fp.load("stewart-3-3"), threading.Lock()

    def run(name: str, function: Any) -> fp.Study:
        own = fp.Criterion(name="m", unit="kg", function=function)
        return fp.study(robot, {"platform.mass": (40, 60)}, [own], count=8, progress=False, save=tmp_path / name)

    first = run("s", lambda r: r.parameter("platform.mass"))
    with pytest.raises(fp.FileError, match="holds another study"):
        run("s", lambda r: -7.0)
    assert run("u", lambda r: 1.0 if lock.locked() else 2.0).valid == first.valid
    with pytest.raises(fp.FileError, match="holds this study: the function of 'm': lock is a lock"):
        run("u", lambda r: 1.0 if lock.locked() else 2.0)


def test_every_altered_bit_of_the_record_is_refused(tmp_path: Path) -> None:
    request = {"robot": fp.load("stewart-3-3"), "variables": {"platform.mass": (20, 100)}, "criteria": "mass", "count": 8}
    fp.study(**request, save=tmp_path / "s")
    record = tmp_path / "s" / "study.json"
    data = record.read_bytes()
    key = json.loads(data)["key"]
    for place in range(len(data)):
        record.write_bytes(data[:place] + bytes([data[place] ^ 1 << place % 8]) + data[place + 1 :])
        with pytest.raises(fp.FileError, match=r"study\.json (is damaged|was altered)"):
            StudyFiles(tmp_path / "s", key).restore(Summary(signs=np.ones(1), width=3))
