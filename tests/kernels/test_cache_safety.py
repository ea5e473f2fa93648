"""The disk cache against what others may put there: links, pipes, exchanged files, garbage that is well wrapped, forks."""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from kernel_programs import PARAMETERS, PATIENCE, inputs_for, nested

from flexapod.kernels.cache import MAGIC, cache_entries, cache_folder, cached_kernel, clear_cache, forget, pack, unpack
from flexapod.kernels.forking import FORK_LOCKS
from flexapod.kernels.kernel import compilations
from flexapod.kernels.packing import Pieces
from flexapod.private_files import read_private, write_private

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="owners, modes, links and pipes of POSIX")


def total():
    kernel = cached_kernel("key", nested)
    return kernel.batch(inputs_for(kernel.signature, 20), PARAMETERS).outputs["total"]


@pytest.fixture(autouse=True)
def entry(own_cache):
    """A good file of the cache; its numbers are those of every later answer."""
    EXPECTED["total"] = total()
    forget()
    (found,) = cache_entries()
    return found.path


EXPECTED: dict[str, np.ndarray] = {}


def assert_rebuilt():
    before = compilations()
    forget()
    np.testing.assert_array_equal(total(), EXPECTED["total"])
    assert compilations() == before + 1


@pytest.mark.parametrize("mode", [0o770, 0o707, 0o777, 0o1777])
def test_a_folder_that_others_can_write_is_not_used(entry, mode):
    entry.parent.chmod(mode)
    assert_rebuilt()
    entry.parent.chmod(0o700)
    assert read_private(entry.parent, entry.name) is not None


@pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() != 0, reason="only root can give files away")
def test_folders_and_files_of_another_user_are_not_used(entry):
    os.chown(entry, 12345, -1)
    assert_rebuilt()
    os.chown(entry.parent, 12345, -1)
    assert_rebuilt()


def test_links_are_not_followed(entry, tmp_path):
    real = tmp_path / "real.kernel"
    entry.rename(real)
    entry.symlink_to(real)
    assert_rebuilt()
    assert not entry.is_symlink()


@pytest.mark.parametrize("listing", [False, True])
def test_a_pipe_in_the_cache_does_not_hang(entry, listing):
    entry.unlink()
    os.mkfifo(entry)
    code = f"""
import sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
import test_cache_safety as t
from flexapod.kernels.cache import cache_entries, clear_cache
print([e.name for e in cache_entries()] if {listing} else t.total().tobytes().hex())
if {listing}:
    clear_cache()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == ("['(damaged)']" if listing else EXPECTED["total"].tobytes().hex())


def test_an_exchanged_file_is_never_read(entry):
    """While another thread exchanges the entry for a link and back, only the good bytes come out."""
    good, bad = entry.read_bytes(), entry.parent / "bad"
    bad.write_bytes(b"bad")
    bad.chmod(0o666)
    stop = threading.Event()

    def exchange():
        link, plain = entry.parent / "link", entry.parent / "plain"
        while not stop.is_set():
            link.symlink_to(bad)
            os.replace(link, entry)
            plain.write_bytes(good)
            plain.chmod(0o600)
            os.replace(plain, entry)

    thread = threading.Thread(target=exchange)
    thread.start()
    try:
        seen = {read_private(entry.parent, entry.name) for _ in range(3000)}
    finally:
        stop.set()
        thread.join()
    assert seen <= {good, None}


def changed(path, header=None, tape=None, code=None):
    """The file with other pieces and a valid digest, as a program that is not ours would wrap them."""
    pieces = unpack(path.read_bytes())
    wrapped = Pieces(
        header={**pieces.header, **(header or {})}, tape=tape or pieces.tape, code=code or pieces.code, seal=pieces.seal
    )
    path.write_bytes(pack(wrapped, path.stem))


GARBAGE = {
    "constants": {"header": {"constants": 1}},
    "no constants": {"header": {"constants": 0}},
    "many constants": {"header": {"constants": 10**15}},
    "operations": {"header": {"operations": {}}},
    "code that is none": {"code": {"shared": b"garbage" * 100}},
    "empty code": {"code": {"shared": b""}},
    "half an object file": {"code": {"shared": b"\x7fELF\x02\x01\x01" + bytes(200)}},
    "no code": {"code": {"other": b""}},
    "garbage tape": {"tape": b"[1, 2, 3]"},
    "another seal": {"header": {"zeros": ["p0"]}},
}


@pytest.mark.parametrize("kind", GARBAGE)
def test_garbage_with_a_valid_digest_is_rebuilt(entry, kind):
    good = entry.read_bytes()
    changed(entry, **GARBAGE[kind])
    assert_rebuilt()
    assert entry.read_bytes() == good


@pytest.mark.parametrize("payload", [b"", b"\xff" * 8, (2).to_bytes(8, "little") + b"[]", (4).to_bytes(8, "little") + b"null",
                                     (9 * 10**4).to_bytes(8, "little") + b"[" * 9 * 10**4])  # fmt: skip
def test_any_payload_with_a_valid_digest_is_rebuilt(entry, payload):
    entry.write_bytes(MAGIC + hashlib.sha256(payload).digest() + payload)
    assert [e.name for e in cache_entries()] == ["(damaged)"]
    assert_rebuilt()


def test_the_numpy_backend_reads_only_sealed_tapes():
    kernel = cached_kernel("tape", nested, backend="numpy")
    expected = kernel.batch(inputs_for(kernel.signature, 20), PARAMETERS).outputs["total"]
    for found in cache_entries():
        pieces = unpack(found.path.read_bytes())
        data = json.loads(pieces.tape)
        data["setup"]["outputs"] = data["setup"]["outputs"][:1]
        changed(found.path, tape=json.dumps(data).encode())
    forget()
    again = cached_kernel("tape", nested, backend="numpy")
    np.testing.assert_array_equal(again.batch(inputs_for(again.signature, 20), PARAMETERS).outputs["total"], expected)


def test_without_a_home_there_is_no_cache_in_a_shared_place(monkeypatch):
    monkeypatch.delenv("FLEXAPOD_CACHE")

    def nobody():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", nobody)
    assert cache_folder() is None
    assert cache_entries() == []
    assert clear_cache() == 0
    assert not write_private(cache_folder(), "x", b"x")
    assert_rebuilt()


def test_what_a_killed_process_left_goes_with_the_next_write(entry):
    dead = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, text=True, check=True)
    from flexapod.files import part_name

    name = part_name(entry).name.replace(f"-{os.getpid()}-", f"-{dead.stdout.strip()}-")
    (entry.parent / name).write_bytes(b"half")
    entry.unlink()
    assert_rebuilt()
    assert [p.name for p in entry.parent.iterdir()] == [entry.name]


def child_answers():
    forget()
    print(cached_kernel("from the child", nested).batch(inputs_for(nested().signature, 4), PARAMETERS).outputs["total"][0])


FORKING = threading.Event()
"""Set when a fork begins, before the package waits for its locks: what is registered last is called first."""
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=FORKING.set)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="fork of POSIX")
@pytest.mark.parametrize("name", ["kernels", "llvm", "short"])
def test_fork_while_another_thread_compiles(name):
    """A thread holds a lock, as while it compiles; a child forked meanwhile compiles too, and both end."""
    held, lock = threading.Event(), getattr(FORK_LOCKS, name)
    FORKING.clear()

    def compiling():
        with lock:
            held.set()
            FORKING.wait(PATIENCE)

    thread = threading.Thread(target=compiling)
    thread.start()
    held.wait()
    child = multiprocessing.get_context("fork").Process(target=child_answers)
    child.start()
    child.join(PATIENCE)
    stuck = child.is_alive()
    if stuck:
        child.kill()
    thread.join()
    assert not stuck, "the child waits for a lock that a thread of its parent held"
    assert child.exitcode == 0
    forget()
    total()  # the parent goes on too


@pytest.mark.skipif(not hasattr(os, "fork"), reason="fork of POSIX")
def test_forks_during_real_compilations():
    stop = threading.Event()

    def compiling():
        k = 0
        while not stop.is_set():
            cached_kernel(f"compiled {k}", nested)
            k += 1

    thread = threading.Thread(target=compiling)
    thread.start()
    try:
        for _ in range(5):
            child = multiprocessing.get_context("fork").Process(target=child_answers)
            child.start()
            child.join(PATIENCE)
            if child.is_alive():
                child.kill()
                pytest.fail("a forked child waits for ever")
            assert child.exitcode == 0
    finally:
        stop.set()
        thread.join()
