"""A Dask cluster of local processes that tests may kill: a scheduler, workers, and a connection that can be cut."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

from support.patience import PATIENCE, until


class LocalProcesses:
    """A scheduler and workers, each a process of its own; `address` leads to the scheduler through a relay that can be cut."""

    def __init__(self, folder: Path, workers: int) -> None:
        self.file, self.log = folder / "scheduler.json", (folder / "cluster.log").open("wb")
        self.scheduler = self._start(
            "scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--no-show", "--scheduler-file", str(self.file)
        )
        assert until(lambda: self.scheduler.poll() is not None or self._is_there()), "the scheduler does not start"
        assert self.scheduler.poll() is None, "the scheduler ended"
        self.relay = Relay(json.loads(self.file.read_text())["address"])
        self.workers = [self.new_worker() for _ in range(workers)]

    def _is_there(self) -> bool:
        return self.file.exists() and self.file.read_text().strip().endswith("}")

    @property
    def address(self) -> str:
        return self.relay.address

    def _start(self, *arguments: str) -> subprocess.Popen[bytes]:
        environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": f"{PATIENCE:g} s"}
        return subprocess.Popen([sys.executable, "-m", "dask", *arguments], stdout=self.log, stderr=self.log, env=environment)

    def new_worker(self) -> subprocess.Popen[bytes]:
        address = f"tcp://{self.relay.target[0]}:{self.relay.target[1]}"
        return self._start("worker", address, "--host", "127.0.0.1", "--nthreads", "1", "--no-nanny", "--no-dashboard")

    def kill_worker(self, k: int) -> None:
        """Kill a worker and start another in its place."""
        self.workers[k].send_signal(signal.SIGKILL)
        self.workers[k].wait()
        self.workers[k] = self.new_worker()

    def close(self) -> None:
        self.relay.close()
        for process in (*self.workers, self.scheduler):
            process.kill()
            process.wait()
        self.log.close()


class Relay:
    """Passes connections on to an address; `cut` ends all of them at once."""

    def __init__(self, address: str) -> None:
        host, port = address.removeprefix("tcp://").rsplit(":", 1)
        self.target, self.cuts = (host, int(port)), 0
        self._door = socket.create_server(("127.0.0.1", 0))
        self._open: list[socket.socket] = []
        self._lock = threading.Lock()
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def address(self) -> str:
        return f"tcp://127.0.0.1:{self._door.getsockname()[1]}"

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._door.accept()
                far = socket.create_connection(self.target)
            except OSError:
                return
            with self._lock:
                self._open += [near, far]
            for a, b in ((near, far), (far, near)):
                threading.Thread(target=self._pass, args=(a, b), daemon=True).start()

    def _pass(self, a: socket.socket, b: socket.socket) -> None:
        try:
            while data := a.recv(1 << 16):
                b.sendall(data)
        except OSError:
            pass
        for s in (a, b):
            _shut(s)

    def cut(self) -> bool:
        """End every connection; whether there was one."""
        with self._lock:
            open_, self._open = self._open, []
        alive = any(s.fileno() >= 0 for s in open_)
        for s in open_:
            _shut(s)
        self.cuts += alive
        return alive

    def close(self) -> None:
        self._door.close()
        self.cut()


def _shut(s: Any) -> None:
    with contextlib.suppress(OSError):
        s.shutdown(socket.SHUT_RDWR)
    s.close()
