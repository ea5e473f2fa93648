"""Samples in blocks and threads: the same bits as one block, reasons where they belong."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

import flexapod as fp
from flexapod.analysis.model import kernels
from flexapod.analysis.requests import sample_blocks
from flexapod.analysis.requests.results import SampleError
from flexapod.analysis.requests.sample_blocks import in_blocks, no_reasons
from flexapod.analysis.verbs.sampling import random_states
from flexapod.kernels.kernel import Kernel


@pytest.mark.parametrize("threads", ["1", "3"])
def test_blocks_and_threads_change_no_bit(monkeypatch: pytest.MonkeyPatch, threads: str) -> None:
    robot = fp.load("stewart-3-3")
    arrays = random_states(robot, 40, seed=2)
    motion = fp.Motion(time=np.arange(40.0), **arrays)
    whole = fp.inverse_dynamics(robot, motion)
    mass = np.linspace(40.0, 60.0, 40)
    varied = fp.inverse_dynamics(robot, motion, parameters={"platform.mass": mass})
    monkeypatch.setattr(sample_blocks, "BLOCK", 12)
    monkeypatch.setattr(sample_blocks, "ENOUGH", 20)
    monkeypatch.setenv("FLEXAPOD_THREADS", threads)
    for one, other in ((whole, {}), (varied, {"parameters": {"platform.mass": mass}})):
        found = fp.inverse_dynamics(robot, motion, **other)
        assert np.array_equal(found.force.values, one.force.values)
        assert np.array_equal(found.power.values, one.power.values)


@pytest.mark.parametrize("verb", [fp.jacobian, fp.inverse_kinematics])
def test_verbs_share_many_samples_and_one_setting_ends_it(monkeypatch: pytest.MonkeyPatch, verb: Any) -> None:
    """Every kernel that a verb runs on many samples, and every block, goes to the pool; FLEXAPOD_THREADS=1 leaves both here."""
    robot = fp.load("five-bar")
    motion = fp.Motion(time=np.arange(40.0), **random_states(robot, 40, seed=2))
    expected = verb(robot, motion)
    monkeypatch.setattr(kernels, "ENOUGH", 20)
    monkeypatch.setattr(sample_blocks, "ENOUGH", 20)
    monkeypatch.setattr(sample_blocks, "BLOCK", 12)
    names: set[str] = set()
    run = Kernel.batch

    def noted(self: Kernel, inputs: Any, *args: Any, **options: Any) -> Any:
        names.add(threading.current_thread().name if options.get("threads", 1) == 1 else "shared")
        return run(self, inputs, *args, **options)

    monkeypatch.setattr(Kernel, "batch", noted)
    for threads, alone in (("1", True), ("2", False)):
        names.clear()
        monkeypatch.setenv("FLEXAPOD_THREADS", threads)
        found = verb(robot, motion)
        assert (names == {"MainThread"}) == alone
        for name, values in expected.data_vars.items():
            assert np.array_equal(found[name].values, values.values, equal_nan=values.dtype.kind == "f")


def test_reasons_of_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    robot = fp.load("stewart-3-3")
    monkeypatch.setattr(sample_blocks, "BLOCK", 8)
    arrays = random_states(robot, 30, seed=2)
    arrays["position"][17] = np.nan
    motion = fp.Motion(time=np.arange(30.0), **arrays)
    found = fp.inverse_dynamics(robot, motion, on_error="mask")
    assert np.flatnonzero(~found.valid.values).tolist() == [17]
    assert str(found.reason.values[17]) == "input is not a finite number: position"
    assert np.isnan(found.power.values[17]).all()
    with pytest.raises(SampleError, match=r"sample 17 \(t = 17 s\): input is not a finite number: position"):
        fp.inverse_kinematics(robot, motion)


def test_no_words_cannot_be_written_to() -> None:
    with pytest.raises(ValueError, match="read-only"):
        no_reasons(3)[0] = "a reason"
    outputs, words = in_blocks({"position": np.zeros((3, 3))}, lambda part, rows, room: ({"x": part["position"]}, None))
    assert outputs["x"].shape == (3, 3)
    assert words.tolist() == ["", "", ""]
