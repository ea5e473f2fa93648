"""Hostile npz files: pipes, devices, bombs, false heads, damaged bytes. Each is refused quickly, in little memory, by name."""

import io
import os
import struct
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

import flexapod as fp
from flexapod.flexible import FlexibleBodyError, from_matrices, from_modes
from flexapod.flexible.npz_reader import LARGEST, read_npz
from support.patience import PATIENCE

KEYS = ("r0", "mass")
MEMORY = 60 * 2**20
"""Bytes by which a refused file may raise the peak of a process, far above what it takes and far below the bomb."""


def written(path: Path, members: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def npy(array: np.ndarray) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


def head(shape: tuple[int, ...], descr: str = "<f8") -> bytes:
    stream = io.BytesIO()
    np.lib.format.write_array_header_1_0(stream, {"shape": shape, "fortran_order": False, "descr": descr})
    return stream.getvalue()


def test_wanted_arrays_only(tmp_path: Path) -> None:
    path = tmp_path / "some.npz"
    np.savez_compressed(path, r0=np.ones((2, 3)), mass=np.ones(2), other=np.ones(5))
    found = read_npz(path, KEYS)
    assert set(found) == set(KEYS)
    assert np.array_equal(found["r0"], np.ones((2, 3)))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes on this system")
def test_pipes_devices_and_folders_do_not_hang(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.npz")
    for path in (tmp_path / "pipe.npz", tmp_path, Path("/dev/zero")):
        with pytest.raises(FlexibleBodyError, match=r"is not a regular file|is a directory"):
            from_modes(path)
    os.mkfifo(tmp_path / "pipe.mtx")
    with pytest.raises(FlexibleBodyError, match=r"mass: .*is not a regular file"):
        from_matrices(tmp_path / "pipe.mtx", np.eye(6), np.zeros((2, 3)))
    with pytest.raises(fp.InputError, match="path: expected the path of a file, got"):
        from_modes("a\0b.npz")
    with pytest.raises(FlexibleBodyError, match="cannot be read"):
        from_modes("x" * 5000)


def test_a_bomb_stays_packed(tmp_path: Path) -> None:
    """Two megabytes that unpack to more than is read; memory measured in a process of its own."""
    path, part = tmp_path / "bomb.npz", bytes(2**20)
    count = LARGEST // len(part) + 16
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive, archive.open("r0.npy", "w") as stream:
        stream.write(head((count * len(part) // 8,)))
        for _ in range(count):
            stream.write(part)
    assert path.stat().st_size < LARGEST / 100
    code = (
        "import resource, sys\nfrom flexapod.flexible import from_modes, FlexibleBodyError\n"
        "start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "try:\n    from_modes(sys.argv[1])\nexcept FlexibleBodyError as e:\n"
        "    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - start, e)\n"
    )
    ran = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True, timeout=PATIENCE)
    unit = 1 if sys.platform == "darwin" else 1024
    assert int(ran.stdout.split()[0]) * unit < MEMORY
    assert "bytes unpacked, more than" in ran.stdout


def contents(entries: int) -> bytes:
    """A zip file whose table of contents names one empty member again and again."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("n" * 60000, b"")
    data = stream.getvalue()
    at = data.index(b"PK\x01\x02")
    table = data[at : data.rindex(b"PK\x05\x06")] * entries
    return data[:at] + table + struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, entries, entries, len(table), at, 0)


WRONG: dict[str, tuple[bytes | dict[str, bytes], str]] = {
    "empty": (b"", "not a zip file"),
    "text": (b"hello" * 100, "not a zip file"),
    "single array": (npy(np.ones(3)), "is a single array"),
    "false shape": ({"r0.npy": head((10**9, 3)) + b"1234"}, "says that it has the shape"),
    "negative shape": ({"r0.npy": head((-1, 3)) + b"1" * 24}, "cannot be read"),
    "objects": ({"r0.npy": head((1,), "|O") + b"1" * 24}, "holds objects"),
    "no array": ({"r0.npy": b"nothing"}, "cannot be read"),
    "head cut": ({"r0.npy": npy(np.ones(3))[:40]}, "cannot be read"),
    "head is code": ({"r0.npy": b"\x93NUMPY\x01\x00\x10\x00__import__('os')"}, "cannot be read"),
    "data cut": ({"r0.npy": npy(np.ones(300))[:-8]}, "cannot be read"),
    "long contents": (contents(40), "its table of contents has"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_files(tmp_path: Path, name: str) -> None:
    content, text = WRONG[name]
    path = tmp_path / "wrong.npz"
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        written(path, content)
    with pytest.raises(FlexibleBodyError, match=text) as caught:
        read_npz(path, KEYS)
    assert "wrong.npz" in str(caught.value)


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_arrays_that_are_there_twice(tmp_path: Path) -> None:
    path = written(tmp_path / "twice.npz", {"r0.npy": npy(np.ones(3))})
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("r0.npy", npy(np.zeros(3)))
    with pytest.raises(FlexibleBodyError, match="the array r0 occurs twice"):
        read_npz(path, KEYS)


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_damaged_bytes_end_in_our_error(tmp_path: Path, method: int) -> None:
    """One byte changed, or the file cut, anywhere: the arrays as they were, or our error."""
    members = {"r0.npy": npy(np.arange(12.0).reshape(4, 3)), "mass.npy": npy(np.ones(4))}
    whole = written(tmp_path / "whole.npz", members, method).read_bytes()
    right = read_npz(tmp_path / "whole.npz", KEYS)
    rng, path, refused = np.random.default_rng(method), tmp_path / "damaged.npz", 0
    for k in range(120):
        data = bytearray(whole)
        at = int(rng.integers(len(data)))
        if k % 4 == 0:
            data = data[:at]
        else:
            data[at] ^= int(rng.integers(1, 256))
        path.write_bytes(bytes(data))
        try:
            found = read_npz(path, KEYS)
        except FlexibleBodyError:
            refused += 1
        else:
            assert all(np.array_equal(found[key], right[key]) for key in found)
    assert refused > 60
