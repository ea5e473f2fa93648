"""Jobs of the studio: progress, a cancel that ends the process, errors through the pipe, robots made ready beside the studio."""

import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import slow_task

import flexapod as fp
from flexapod.views.studio import prepare
from flexapod.views.studio.app import Studio
from flexapod.views.studio.jobs import CancelledError, JobReport, Jobs
from flexapod.views.studio.loop import ActionLoop
from flexapod.views.studio.session import read_file, read_sent
from flexapod.views.studio.watch import FileWatch
from flexapod.views.studio.worker import Worker
from support.patience import PATIENCE, until


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.fixture(scope="module")
def worker() -> Iterator[Worker]:
    found = Worker()
    yield found
    found.end()


def test_another_process_computes_and_reports_how_far_it_is(worker: Worker) -> None:
    parts: list[float] = []
    assert worker.call(slow_task.add, 2.0, 3.0, report=parts.append, wanted=lambda: True) == 5.0
    assert parts == [0.5]
    assert worker.pid != os.getpid()


def test_errors_come_through_as_they_are(worker: Worker) -> None:
    with pytest.raises(fp.InputError, match="no such motion"):
        worker.call(slow_task.fail, report=lambda part: None, wanted=lambda: True)


def test_cancel_ends_the_process(worker: Worker) -> None:
    wanted, parts, ended = [True], [], threading.Event()

    def run() -> None:
        with pytest.raises(CancelledError):
            worker.call(slow_task.wait, report=parts.append, wanted=lambda: wanted[0])
        ended.set()

    threading.Thread(target=run, daemon=True).start()
    assert until(lambda: len(parts) > 1), "no progress is reported"
    pid = worker.pid
    assert pid is not None
    wanted[0] = False
    assert ended.wait(PATIENCE)
    assert until(lambda: not alive(pid)), "the process goes on computing"
    assert worker.call(slow_task.add, 1.0, 1.0, report=parts.append, wanted=lambda: True) == 2.0, "the next task has a new one"


def test_a_process_that_dies_is_reported(worker: Worker) -> None:
    def kill(_: float) -> None:
        assert worker.pid is not None
        os.kill(worker.pid, 9)

    with pytest.raises(fp.FlexapodError, match="ended by itself"):
        worker.call(slow_task.wait, report=kill, wanted=lambda: True)


def test_jobs_cancel_their_process() -> None:
    reported: list[tuple[str | None, float]] = []
    loop = ActionLoop(lambda error: None)
    loop.start()
    jobs = Jobs(loop.post, lambda name, part: reported.append((name, part)), lambda error: None)
    loop.also_busy = [lambda: jobs.waited_for]
    jobs.start("slow", lambda report: report.call(slow_task.wait, start=0.5, end=0.6), lambda _: None)
    assert until(lambda: any(0.5 <= part <= 0.6 for _, part in reported))
    pid = jobs.worker.pid
    assert pid is not None
    assert not loop.wait_until_idle(0.05), "a job that runs is something to wait for"
    jobs.cancel()
    assert until(lambda: not alive(pid))
    assert loop.wait_until_idle(PATIENCE)
    assert reported[-1] == (None, 0.0)
    jobs.join(1.0)
    loop.stop()


def test_a_studio_may_end_while_a_job_begins() -> None:
    """Seen on a busy machine: `join` met a thread that was not started yet, and the command ended with an internal error."""
    joined: list[str | None] = []

    def progress(name: str | None, part: float) -> None:
        jobs.join(0.0)
        joined.append(name)

    jobs = Jobs(lambda key, action: None, progress, lambda error: None)
    jobs.start("quick", lambda report: None, lambda _: None)
    assert joined == ["quick"]
    jobs.join(PATIENCE)


def test_a_robot_is_compiled_in_the_other_process_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The note in the cache decides; a cache that was emptied since makes it void."""
    robot, notes, calls = fp.load("hexapod"), {}, []  # type: ignore[var-annotated]
    monkeypatch.setattr(prepare, "read_private", lambda folder, name: notes.get(name))
    monkeypatch.setattr(prepare, "write_private", lambda folder, name, data: notes.update({name: data}))
    monkeypatch.setattr(prepare, "kernels_on_disk", lambda: len(entries))
    entries = [1, 2, 3]

    class Reporter(JobReport):
        def call(self, task: Callable[..., object], *args: object, start: float = 0.0, end: float = 1.0) -> None:
            calls.append(task)

    report = Reporter(reported=lambda part: None, wanted=lambda: True, worker=Worker())
    assert prepare.ready_session(robot, report).robot is robot
    assert calls == [prepare.prepare]
    prepare.ready_session(robot, report)
    assert len(calls) == 1, "it was ready"
    entries.clear()
    prepare.ready_session(robot, report)
    assert len(calls) == 2, "the cache was emptied"


class CountedWatch(FileWatch):
    """A watch that counts its looks."""

    looks = 0

    def _look(self) -> tuple[int, int] | None:
        self.looks += 1
        return super()._look()


def save(path: Path, text: str) -> None:
    """As editors do: a file is never there in part, however long this process waits for a core in between."""
    beside = path.with_suffix(".new")
    beside.write_text(text)
    beside.replace(path)


def test_a_saved_file_is_reported_once_it_is_whole(tmp_path: Path) -> None:
    path, reported = tmp_path / "robot.yaml", []  # type: ignore[var-annotated]
    path.write_text("one")
    watch = CountedWatch(path, lambda: reported.append(path.read_text()), every=0.02)
    assert until(lambda: watch.looks > 3)
    assert reported == [], "nothing has changed"
    save(path, "two and more")
    assert until(lambda: reported == ["two and more"])
    path.unlink()  # editors replace files
    seen = watch.looks
    assert until(lambda: watch.looks > seen + 2)
    save(path, "three")
    assert until(lambda: reported == ["two and more", "three"])
    watch.stop()


def test_the_studio_follows_its_file(tmp_path: Path) -> None:
    """Pose and camera stay; a broken file is reported with its line, and the robot before stays."""
    path = tmp_path / "my.yaml"
    fp.write_robot_file(fp.load("hexapod").description, path)
    studio = Studio(path)
    assert studio.loop.wait_until_idle(PATIENCE)
    studio.loop.post("move", lambda: studio.moved(lambda: studio.session.move_one("x", 0.02)))
    assert studio.loop.wait_until_idle(PATIENCE)
    camera = np.array(studio.server.initial_camera.position)
    heavy = fp.load("hexapod").with_parameters({"platform.mass": 7.0})
    fp.write_robot_file(heavy.description, path)
    assert until(lambda: studio.session.robot.platform.mass == 7.0)
    assert studio.loop.wait_until_idle(PATIENCE)
    assert studio.session.values[0] == 0.02
    assert np.array_equal(studio.server.initial_camera.position, camera)
    path.write_text(path.read_text().replace("mass: 7", "mass: -7", 1))
    assert until(lambda: "my.yaml" in studio.status.content and "bad" in studio.status.content)
    assert studio.session.robot.platform.mass == 7.0
    studio.stop()


def test_files_of_a_person_are_read_in_the_other_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading a file can be cancelled as anything else: a watched one, and one that a page sent."""
    path = tmp_path / "own.yaml"
    path.write_text(fp.robot_text(fp.load("delta").description))
    tasks, usual = [], JobReport.call

    def call(self: JobReport, task: Callable[..., object], *args: object, **parts: float) -> object:
        tasks.append(task)
        return usual(self, task, *args, **parts)

    monkeypatch.setattr(JobReport, "call", call)
    studio = Studio(path)
    try:
        assert studio.loop.wait_until_idle(PATIENCE)
        del tasks[:]
        path.write_text(path.read_text().replace("name: delta", "name: mine"))
        assert until(lambda: studio.session.robot.name == "mine")
        assert read_file in tasks
        sent = SimpleNamespace(value=SimpleNamespace(name="x.yaml", content=path.read_bytes()))
        studio.loop.post("sent", lambda: studio.robot_panel._uploaded(sent))
        assert until(lambda: read_sent in tasks)
        assert studio.loop.wait_until_idle(PATIENCE)
        assert studio.session.robot.name == "mine"
        broken = SimpleNamespace(value=SimpleNamespace(name="x.yaml", content=b"name: x\nplatform: ["))
        studio.loop.post("sent", lambda: studio.robot_panel._uploaded(broken))
        assert until(lambda: "x.yaml" in studio.status.content and "line" in studio.status.content)
    finally:
        studio.stop()
