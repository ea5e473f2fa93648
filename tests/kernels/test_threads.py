"""Threads: how many may share a batch, that they change nothing, and that nobody else's workers use them."""

from __future__ import annotations

import multiprocessing
import threading
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import pytest

from flexapod.kernels.errors import KernelInputError
from flexapod.kernels.threads import processors, shared, thread_count


def test_one_thread_per_processor_or_as_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FLEXAPOD_THREADS", raising=False)
    assert thread_count() == processors()
    monkeypatch.setenv("FLEXAPOD_THREADS", "1")
    assert thread_count() == 1
    monkeypatch.setenv("FLEXAPOD_THREADS", "many")
    with pytest.raises(KernelInputError, match=r"FLEXAPOD_THREADS: expected a whole number above 0, got 'many'"):
        thread_count()


def test_other_threads_and_processes_compute_where_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers of Dask's threaded scheduler, of a pool, of multiprocessing: one thread each."""
    monkeypatch.setenv("FLEXAPOD_THREADS", "8")
    found: list[int] = []
    thread = threading.Thread(target=lambda: found.append(thread_count()))
    thread.start()
    thread.join()
    assert found == [1]
    with ProcessPoolExecutor(max_workers=1, mp_context=multiprocessing.get_context("spawn")) as pool:
        assert pool.submit(thread_count).result() == 1


def test_a_pool_is_kept_and_a_fork_makes_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    names: set[str] = set()

    def work(part: int) -> None:
        names.add(threading.current_thread().name)

    for _ in range(3):
        shared(work, range(20), 2)
    assert 1 <= len(names) <= 2
    assert all(name.startswith("flexapod") for name in names)
    shared(work, range(3), 1)
    assert threading.main_thread().name in names


def test_errors_of_parts_are_raised_after_all_have_ended() -> None:
    ended: list[int] = []

    def work(part: int) -> None:
        if part == 1:
            raise ValueError("part 1")
        ended.append(part)

    with pytest.raises(ValueError, match="part 1"):
        shared(work, range(6), 2)
    assert sorted(ended) == [0, 2, 3, 4, 5]


def test_nested_calls_do_not_wait_for_each_other() -> None:
    total = np.zeros(4)

    def inner(part: int) -> None:
        total[part] += 1

    shared(lambda _: shared(inner, range(4), 2), range(8), 2)
    assert total.sum() == 32
