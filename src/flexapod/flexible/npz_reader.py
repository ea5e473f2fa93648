"""Arrays of an npz file from an unknown source: everything is checked before it is unpacked.

A file of some megabytes can unpack to any size, name shapes that it does not hold, or wait for ever (a pipe). Only regular
files are opened, the table of contents and the head of every wanted array are read first, and nothing is unpacked that is larger
than `LARGEST` together. Objects, which could run code, are refused.
"""

from __future__ import annotations

import io
import lzma
import math
import struct
import zipfile
import zlib
from collections.abc import Collection
from pathlib import Path
from typing import Any

import numpy as np

from flexapod.errors import FileError
from flexapod.files import read_whole
from flexapod.flexible.errors import FlexibleBodyError

LARGEST = 256 * 2**20
"""Bytes of a file, and of its unpacked arrays: displacements and rotations of 100 000 nodes in 50 modes are 240 MB."""

LARGEST_CONTENTS = 2**20
"""Bytes of the table of contents: some thousand arrays."""

_END = struct.Struct("<4s4H2LH")
"""End of the table of contents: signature, numbers of disks and entries, size and place of the table, length of a comment."""


def read_npz(path: Path, keys: Collection[str]) -> dict[str, Any]:
    """The arrays of an npz file whose names are among `keys`; others are left packed.

    Raises:
        FlexibleBodyError: not a regular file, not an npz file, too large, or damaged.

    Checked by: tests/flexible/test_npz_reader.py.
    """
    try:
        data = read_whole(path, LARGEST)
    except FileError as problem:
        raise FlexibleBodyError(str(problem)) from None
    if data[:6] == b"\x93NUMPY":
        raise FlexibleBodyError(f"{path} must be an npz file with several arrays, is a single array.")
    try:
        _check_contents(data)
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = _wanted(archive, keys)
            _check_sizes(archive, members)
            return {key: _array(archive, member) for key, member in members.items()}
    except (
        OSError, ValueError, EOFError, LookupError, RuntimeError, MemoryError, struct.error, zlib.error, lzma.LZMAError,
        zipfile.BadZipFile,
    ) as problem:  # fmt: skip
        raise FlexibleBodyError(f"{path} cannot be read as an npz file of plain arrays: {str(problem).rstrip('.')}.") from None


def _check_contents(data: bytes) -> None:
    """Refuse a table of contents that is itself too large to be read."""
    at = data.rfind(b"PK\x05\x06", max(0, len(data) - _END.size - 0xFFFF))
    if at < 0 or at + _END.size > len(data):
        raise ValueError("it is not a zip file, or its end is missing")
    size = _END.unpack_from(data, at)[5]
    if size > LARGEST_CONTENTS:
        raise ValueError(f"its table of contents has {size} bytes, more than the {LARGEST_CONTENTS} that are read")


def _wanted(archive: zipfile.ZipFile, keys: Collection[str]) -> dict[str, zipfile.ZipInfo]:
    """Members by key; a name that occurs twice could be read either way."""
    found: dict[str, zipfile.ZipInfo] = {}
    for member in archive.infolist():
        key = member.filename.removesuffix(".npy")
        if key in found:
            raise ValueError(f"the array {key} occurs twice")
        if key in keys:
            found[key] = member
    return found


def _check_sizes(archive: zipfile.ZipFile, members: dict[str, zipfile.ZipInfo]) -> None:
    """Refuse arrays that are too large together, or larger than the bytes that represent them."""
    total = sum(member.file_size for member in members.values())
    if total > LARGEST:
        raise ValueError(f"its arrays have {total} bytes unpacked, more than the {LARGEST} that are read")
    for key, member in members.items():
        with archive.open(member) as stream:
            version = np.lib.format.read_magic(stream)
            head = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
            shape, _, dtype = head(stream)
        if dtype.hasobject:
            raise ValueError(f"the array {key} holds objects")
        if math.prod(shape) * dtype.itemsize > member.file_size:
            raise ValueError(f"the array {key} says that it has the shape {shape}, but holds less")


def _array(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> Any:
    with archive.open(member) as stream:
        return np.lib.format.read_array(stream, allow_pickle=False)
