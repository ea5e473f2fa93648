"""Studies on a Dask cluster of several processes: the same bytes as on one machine, also when parts of it are killed."""

import itertools
import random
import threading
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import flexapod as fp
from flexapod.design import cluster, study_blocks
from support.cluster import LocalProcesses
from support.patience import PATIENCE, until

pytest.importorskip("distributed")

REQUEST: dict[str, Any] = {
    "variables": {"platform.mass": (20, 100), "platform.inertia.zz": (40, 80)}, "criteria": ["peak_force", "mass"],
    "plan": "random", "seed": 3,
}  # fmt: skip
COUNT, KILLED, CUT = 40_000, 10, 40
"""Designs, and the blocks of 512 of them before which a worker is killed and the connection cut."""


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalProcesses]:
    processes = LocalProcesses(tmp_path_factory.mktemp("cluster"), workers=2)
    yield processes
    processes.close()


@pytest.fixture
def robot(monkeypatch: pytest.MonkeyPatch) -> fp.Robot:
    monkeypatch.setattr(study_blocks, "BLOCK", 512)
    for limit in ("CONNECT", "AGAIN", "WITHOUT"):  # processes of a busy machine take their time to start
        monkeypatch.setattr(cluster, limit, PATIENCE)
    return fp.load("stewart-3-3")


def same_files(a: Path, b: Path) -> None:
    names = sorted(p.name for p in a.iterdir())
    assert sorted(p.name for p in b.iterdir()) == names
    for name in names:  # rows, their order, statistics, front and digests
        assert (a / name).read_bytes() == (b / name).read_bytes(), name


def test_a_cluster_that_is_killed_gives_the_bytes_of_one_machine(
    robot: fp.Robot, local: LocalProcesses, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker dies while blocks wait at it, then the connection to the scheduler."""
    fp.study(robot, **REQUEST, count=COUNT, save=tmp_path / "here")
    worker, kills = local.workers[0], {KILLED: lambda: local.kill_worker(0), CUT: local.relay.cut}
    usual, cuts, asked = cluster.Cluster._result, local.relay.cuts, itertools.count()

    def disturbed(self: cluster.Cluster, future: Any) -> Any:
        kills.get(next(asked), bool)()
        return usual(self, future)

    monkeypatch.setattr(cluster.Cluster, "_result", disturbed)
    fp.study(robot, **REQUEST, count=COUNT, save=tmp_path / "there", scheduler=local.address)
    assert worker.poll() is not None
    assert local.relay.cuts == cuts + 1
    assert next(asked) > -(-COUNT // 512), "no block was asked for again"
    same_files(tmp_path / "here", tmp_path / "there")


def test_a_client_and_functions(robot: fp.Robot, local: LocalProcesses) -> None:
    """A client of one's own stays open; criteria that are functions travel to the workers."""
    from distributed import Client

    twice = fp.Criterion(name="twice", unit="kg", function=lambda robot: 2.0 * robot.parameter("platform.mass"))
    with Client(local.address) as client:
        found = fp.study(robot, {"platform.mass": (20, 100)}, ["mass", twice], count=20, scheduler=client)
        assert client.status == "running"
    assert found.rows["twice"].values == pytest.approx(2.0 * found.rows["platform.mass"].values)


def disturb(local: LocalProcesses, work: Any, kinds: list[str], longest: float, seed: int = 1) -> dict[str, int]:
    """Do some work in a thread, and kill parts of the cluster meanwhile; how many of each."""
    delays, failure, done = random.Random(seed), list[BaseException](), dict.fromkeys(kinds, 0)

    def guarded() -> None:
        try:
            work()
        except BaseException as error:
            failure.append(error)

    thread = threading.Thread(target=guarded)
    thread.start()
    for kind in kinds:
        until(lambda: not thread.is_alive() or len(local.relay._open) > 0)
        time.sleep(delays.uniform(0.0, longest))
        if not thread.is_alive():
            break
        if kind == "worker":
            local.kill_worker(delays.randrange(len(local.workers)))
            done[kind] += 1
        else:
            done[kind] += local.relay.cut()
    thread.join()
    if failure:
        raise failure[0]
    return done


@pytest.mark.full
def test_seventy_kills_of_workers_and_connections(robot: fp.Robot, local: LocalProcesses, tmp_path: Path) -> None:
    """Besides the thirty kills of whole processes (test_study_killed); as many studies as it takes."""
    count, done, runs = 300_000, {"worker": 0, "connection": 0}, 0
    fp.study(robot, **REQUEST, count=count, save=tmp_path / "here")
    while sum(done.values()) < 70:
        runs += 1
        there = tmp_path / f"there{runs}"
        kinds = random.Random(runs).sample(["worker", "connection"] * 35, 70 - sum(done.values()))
        study = partial(fp.study, robot, **REQUEST, count=count, save=there, scheduler=local.address)
        for kind, times in disturb(local, study, kinds, 0.3, runs).items():
            done[kind] += times
        same_files(tmp_path / "here", there)
    print(done, runs)


def test_clusters_that_cannot_be_used(robot: fp.Robot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "CONNECT", 0.5)
    request = {"robot": robot, "variables": {"platform.mass": (20, 100)}, "criteria": "mass", "count": 8}
    for scheduler, message in (
        ("tcp://127.0.0.1:9", "127.0.0.1:9 cannot be reached"),
        ("nonsense://x", "is no address"),
        (3, "expected an address such as"),
    ):
        with pytest.raises(fp.FlexapodError, match=message):
            fp.study(**request, scheduler=scheduler)
    with pytest.raises(fp.InputError, match="workers of a cluster"):
        fp.study(**request, scheduler="tcp://127.0.0.1:9", threads=2)
