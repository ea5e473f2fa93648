"""The disk cache: hits without building, safe with many processes, never trusts a damaged file, never an error."""

from __future__ import annotations

import errno
import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from kernel_programs import PARAMETERS, PATIENCE, inputs_for, nested

from flexapod.kernels.cache import SUFFIX, cache_entries, cached_kernel, clear_cache, forget, pack, unpack
from flexapod.kernels.kernel import compilations
from flexapod.private_files import files_in_cache

FUSED = 1e-13
"""Rounding of sums whose products one code fuses and another does not."""


def never():
    raise AssertionError("the program was built")


def get(make=nested, **options):
    return cached_kernel("key", make, **options)


def result(kernel):
    return kernel.batch(inputs_for(kernel.signature, 20), PARAMETERS)


def assert_works():
    """A kernel comes out and is right, whatever the cache is like."""
    forget()
    np.testing.assert_array_equal(result(get()).outputs["total"], EXPECTED["total"])


@pytest.fixture(autouse=True)
def _expected(own_cache):
    batch = result(get())
    EXPECTED.update(batch.outputs)
    forget()


EXPECTED: dict[str, np.ndarray] = {}


@pytest.mark.parametrize("backend", ["llvm", "numpy"])
def test_second_time_comes_from_disk(backend):
    first = get(backend=backend)
    forget()
    before = compilations()
    second = get(never, backend=backend)
    assert compilations() == before
    assert second.signature == first.signature
    assert second.operations == first.operations
    assert second.setup_operations == first.setup_operations
    np.testing.assert_array_equal(result(second).outputs["total"], result(first).outputs["total"])
    assert second.tape.to_data() == first.tape.to_data()


def test_same_process_shares_one_kernel():
    assert get() is get(never)


def test_keys_zeros_and_backends_do_not_mix(own_cache):
    before = len(cache_entries())
    get()
    get(backend="numpy")
    get(zeros=["p2"])
    cached_kernel("other key", nested)
    assert len(cache_entries()) == files_in_cache(SUFFIX) == before + 3


@pytest.mark.parametrize("made_for", [{"backend": "numpy"}, {"slopes": "parameters"}], ids=lambda made: next(iter(made)))
def test_a_tape_on_disk_is_not_derived_again(made_for, monkeypatch):
    """Another backend, processor, effort of the compiler or variant of a kernel takes the tape of the one on disk."""
    forget()
    kernel = get(never, **made_for)
    assert kernel.signature.name.startswith("nested")
    monkeypatch.setenv("FLEXAPOD_CODE_LEVEL", "0")
    monkeypatch.setenv("FLEXAPOD_CPU", "generic")
    np.testing.assert_allclose(result(get(never)).outputs["total"], EXPECTED["total"], rtol=FUSED)


def test_variant_with_constants_per_sample_is_kept_too():
    kernel = get()
    inputs, parameters = inputs_for(kernel.signature, 8), np.tile(PARAMETERS, (8, 1))
    expected = kernel.batch(inputs, parameters)
    forget()
    before = compilations()
    again = get(never).batch(inputs, parameters)
    assert compilations() == before
    np.testing.assert_array_equal(again.outputs["total"], expected.outputs["total"])


def test_neither_casadi_nor_the_program_is_needed(own_cache):
    get()
    code = """
import sys
import numpy as np
import flexapod.kernels
assert not {"casadi", "llvmlite"} & set(sys.modules), "import is not lazy"
from flexapod.kernels.cache import cached_kernel
kernel = cached_kernel("key", None)
kernel.batch({i.name: np.ones((5, *i.shape)) for i in kernel.signature.inputs}, np.ones(6))
assert "casadi" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True, env={**os.environ, "FLEXAPOD_CACHE": str(own_cache)})


def test_eight_processes_at_once(tmp_path):
    code = """
import sys
sys.path.insert(0, sys.argv[1])
from kernel_programs import PARAMETERS, inputs_for, nested
from flexapod.kernels.cache import cached_kernel
kernel = cached_kernel("key", nested)
batch = kernel.batch(inputs_for(kernel.signature, 20), PARAMETERS)
print(batch.outputs["total"].tobytes().hex())
"""
    env = {**os.environ, "FLEXAPOD_CACHE": str(tmp_path / "cold")}
    here = str(Path(__file__).parent)
    jobs = [
        subprocess.Popen([sys.executable, "-c", code, here], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for _ in range(8)
    ]
    for job in jobs:
        out, err = job.communicate(timeout=PATIENCE)
        assert job.returncode == 0, err.decode()
        assert bytes.fromhex(out.decode().strip()) == EXPECTED["total"].tobytes()
    assert [p.suffix for p in (tmp_path / "cold").iterdir()] == [".kernel"]


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: b"",
        lambda data: data[:10],
        lambda data: data[: len(data) // 2],
        lambda data: data[:-1],
        lambda data: data + b"x",
        lambda data: b"something else entirely" * 100,
        lambda data: data[:2000] + bytes([data[2000] ^ 1]) + data[2001:],
        lambda data: pack(unpack(data), "of another kernel"),
    ],
)
def test_damaged_files_are_rebuilt(damage):
    (entry,) = cache_entries()
    good = entry.path.read_bytes()
    entry.path.write_bytes(damage(good))
    before = compilations()
    assert_works()
    assert compilations() == before + 1
    assert entry.path.read_bytes() == good


def test_an_intact_file_with_impossible_content_is_rebuilt():
    (entry,) = cache_entries()
    pieces = unpack(entry.path.read_bytes())
    header = {**pieces.header, "signature": {"name": "?"}}
    entry.path.write_bytes(pack(type(pieces)(header=header, tape=pieces.tape, code=pieces.code), entry.path.stem))
    assert_works()


def test_files_that_others_may_write_are_not_run():
    (entry,) = cache_entries()
    entry.path.chmod(0o666)
    before = compilations()
    assert_works()
    assert compilations() == before + 1


def test_a_folder_that_cannot_be_made(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("FLEXAPOD_CACHE", str(tmp_path / "file" / "below"))
    assert_works()
    assert cache_entries() == []
    assert clear_cache() == 0


@pytest.mark.parametrize("call", ["write", "replace"])
@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EROFS, errno.EACCES])
def test_full_or_read_only_disk(call, code, tmp_path, monkeypatch):
    monkeypatch.setenv("FLEXAPOD_CACHE", str(tmp_path / "full"))

    def fail(*_args, **_options):
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, call, fail)
    assert_works()
    monkeypatch.undo()
    assert list((tmp_path / "full").iterdir()) == []


def test_folder_is_private(own_cache):
    assert stat.S_IMODE(own_cache.stat().st_mode) == 0o700


def test_list_and_clear(own_cache):
    (entry,) = cache_entries()
    assert entry.name == "nested"
    assert entry.size == entry.path.stat().st_size
    assert clear_cache() == 1
    assert cache_entries() == []


def test_files_hold_no_code_but_machine_code():
    (entry,) = cache_entries()
    pieces = unpack(entry.path.read_bytes())
    json.dumps(pieces.header)
    json.loads(pieces.tape)
