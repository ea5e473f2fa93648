"""A process beside the studio for work that must be able to end at once: compiling equations, simulations, reports.

Kernels compiled there come to the studio through the cache on disk. A task is a function by its name, so nothing
but names and data goes through the pipe. The process ends with the studio, however that ends.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import pickle
import queue
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any, BinaryIO

import flexapod as fp

Task = tuple[str, str, tuple[object, ...]]
"""Module, name of the function, arguments."""

BEAT = 0.05
"""Seconds between two looks whether the task is still wanted."""


class CancelledError(Exception):
    """The job was cancelled."""


class Worker:
    """The process; it is started with the first task and ended by a task that is cancelled.

    Checked by: tests/studio/test_studio_jobs.py.
    """

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._answers: queue.Queue[tuple[str, Any]] = queue.Queue()
        self._lock = threading.Lock()

    def call(
        self, task: Callable[..., object], *args: object, report: Callable[[float], None], wanted: Callable[[], bool]
    ) -> Any:
        """The result of `task(*args, report=...)`, computed in the process.

        Args:
            task: a function at the top of a module of this package.
            report: called with the part that is done.
            wanted: asked again and again; False ends the process, and CancelledError is raised.
        """
        while not self._lock.acquire(timeout=BEAT):
            if not wanted():
                raise CancelledError
        try:
            process = self._started()
            assert process.stdin is not None
            pickle.dump((task.__module__, task.__qualname__, args), process.stdin)
            process.stdin.flush()
            return self._result(process, report, wanted)
        except CancelledError:
            self.end()
            raise
        finally:
            self._lock.release()

    def _result(self, process: subprocess.Popen[bytes], report: Callable[[float], None], wanted: Callable[[], bool]) -> Any:
        while True:
            if not wanted():
                raise CancelledError
            try:
                kind, value = self._answers.get(timeout=BEAT)
            except queue.Empty:
                continue
            if kind == "part":
                if wanted():
                    report(value)
            elif kind == "done":
                return value
            elif kind == "error":
                raise value
            else:
                self._process = None
                raise fp.FlexapodError(f"the process that computed ended by itself (exit code {process.wait()}); try again")

    @property
    def pid(self) -> int | None:
        """Number of the process while it is there."""
        process = self._process
        return process.pid if process is not None and process.poll() is None else None

    def end(self) -> None:
        """End the process at once."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    with contextlib.suppress(OSError):
                        pipe.close()

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            errors = None if os.environ.get("FLEXAPOD_DEBUG") else subprocess.DEVNULL
            self._process = subprocess.Popen(
                [sys.executable, "-c", "from flexapod.views.studio.worker import serve; serve()"],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, env={**os.environ, "PYTHONPATH": _own_path()},
            )  # fmt: skip
            self._answers = queue.Queue()
            assert self._process.stdout is not None
            threading.Thread(
                target=_listen, args=(self._process.stdout, self._answers), name="studio worker", daemon=True
            ).start()
        return self._process


def _own_path() -> str:
    """The search path of this process, so that the other one finds the same package."""
    return os.pathsep.join(dict.fromkeys(p for p in sys.path if p))


def _listen(pipe: BinaryIO, answers: queue.Queue[tuple[str, object]]) -> None:
    try:
        while True:
            answers.put(pickle.load(pipe))
    except (EOFError, OSError, ValueError, pickle.UnpicklingError):
        answers.put(("ended", None))


def serve() -> None:
    """The other process: takes tasks from its input until that is closed, which ends it at once."""
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # text that a library prints is not a message to the studio
    with contextlib.suppress(OSError, AttributeError):
        os.nice(5)  # the page goes first
    tasks: queue.Queue[Task] = queue.Queue()
    threading.Thread(target=_take, args=(tasks,), daemon=True).start()

    def answer(kind: str, value: object) -> None:
        out.write(pickle.dumps((kind, value)))
        out.flush()

    while True:
        module, name, args = tasks.get()
        try:
            value = getattr(importlib.import_module(module), name)(*args, report=lambda part: answer("part", float(part)))
            answer("done", value)
        except Exception as error:
            answer("error", _sendable(error))


def _take(tasks: queue.Queue[Task]) -> None:
    try:
        while True:
            tasks.put(pickle.load(sys.stdin.buffer))
    except (EOFError, OSError, pickle.UnpicklingError):
        os._exit(0)


def _sendable(error: Exception) -> Exception:
    """The error itself where it survives the pipe, else one with its text."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        kind = fp.InputError if isinstance(error, fp.FlexapodError) else RuntimeError
        return kind(str(error))
    return error
