"""Result files that were cut off, emptied, altered or come from elsewhere: one clear error per cause, never a library's own."""

import contextlib
import random
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from pd_simulations import pd_simulation

import flexapod as fp
from flexapod.simulation.integrators.rows_in_blocks import Progress
from flexapod.simulation.results.checkpoint import read_checkpoint, write_checkpoint

SUFFIXES = (".csv", ".parquet", ".nc")
SAMPLE, FULL = 60, 2000
"""Damages per format in `make test` and in `make test-full`."""


@pytest.fixture(scope="module")
def result() -> xr.Dataset:
    return pd_simulation(duration=0.5, output_step=0.02)


def cut(data: bytes, chance: random.Random) -> bytes:
    return data[: chance.randrange(len(data))]


def flipped(data: bytes, chance: random.Random) -> bytes:
    place = chance.randrange(len(data))
    return data[:place] + bytes([data[place] ^ 1 << chance.randrange(8)]) + data[place + 1 :]


def zeroed(data: bytes, chance: random.Random) -> bytes:
    place = chance.randrange(len(data))
    size = chance.randrange(1, 600)
    return data[:place] + bytes(len(data[place : place + size])) + data[place + size :]


def swapped(data: bytes, chance: random.Random) -> bytes:
    a, b = sorted(chance.randrange(len(data)) for _ in range(2))
    return data[:a] + data[b:] + data[a:b]


@pytest.mark.parametrize("count", [SAMPLE, pytest.param(FULL, marks=pytest.mark.full)])
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_damaged_files_are_refused(tmp_path: Path, result: xr.Dataset, suffix: str, count: int) -> None:
    path = fp.save(result, tmp_path / f"run{suffix}")
    whole, chance = path.read_bytes(), random.Random(1)
    for k in range(count):
        damage: Callable[[bytes, random.Random], bytes] = (cut, flipped, zeroed, swapped)[k % 4]
        data = damage(whole, chance)
        path.write_bytes(data)
        if data != whole:
            with pytest.raises(fp.FileError, match=path.name):
                fp.open(path)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_every_cause_has_its_message(tmp_path: Path, result: xr.Dataset, suffix: str) -> None:
    path = fp.save(result, tmp_path / f"run{suffix}")
    whole = path.read_bytes()
    end = {".csv": "is cut off: 12 of 26 rows are complete", ".parquet": "is cut off: the end", ".nc": "is cut off: the end"}
    place = whole.index(b"0.02") if suffix == ".csv" else len(whole) // 3
    damages = {
        "empty": (b"", "is empty"),
        "cut off": (whole[: len(whole) // 2], end[suffix]),
        "altered": (whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :], "was altered"),
        "foreign": (b"\0\1\2 something else\n" * 10, "was altered" if suffix == ".csv" else "is not a"),
        "a byte more": (whole + b"x", "was altered" if suffix == ".csv" else "was altered .*: 1 byte more follow its end"),
        "a line more": (whole + b"more\n", "was altered"),
        "a byte less": (whole[:-1], "is cut off"),
    }
    if suffix == ".csv":
        damages["much that is foreign"] = (b"\0\1\2 something else\n" * 100, "was altered")
        damages["foreign without lines"] = (b"something\relse", "was altered")
        damages["in the header"] = (whole[:3], "is cut off: 0 of 26 rows are complete")
    if suffix == ".nc":
        digest = len(b"\nflexapod sha256 \n") + 64
        damages["before the digest"] = (whole[:-digest], "is cut off: the end")
    for cause, (data, text) in damages.items():
        path.write_bytes(data)
        with pytest.raises(fp.FileError, match=text):
            fp.open(path)
        assert cause


def test_a_netcdf_file_of_another_program_is_not_called_cut_off(tmp_path: Path, result: xr.Dataset) -> None:
    """Read, changed and written by xarray: the file is whole, the digest is gone."""
    path = fp.save(result, tmp_path / "run.nc")
    same = xr.load_dataset(path)
    other = same.copy(deep=True)
    other["time"].attrs["unit"] = "ms"
    for number, changed in enumerate((same, other, same.drop_vars("position"))):
        again = tmp_path / f"again{number}.nc"
        changed.to_netcdf(again)
        with pytest.raises(fp.FileError, match="is a whole NetCDF file without the digest of a result: another program wrote it"):
            fp.open(again)


def test_half_a_row_and_more_rows(tmp_path: Path, result: xr.Dataset) -> None:
    path = fp.save(result, tmp_path / "run.csv")
    whole = path.read_bytes()
    path.write_bytes(whole[:-3])
    with pytest.raises(fp.FileError, match="is cut off: 25 of 26 rows are complete"):
        fp.open(path)
    path.write_bytes(whole + whole.splitlines(keepends=True)[-1])
    with pytest.raises(fp.FileError, match=r"was altered after it was written .* without run.csv.json it is read as a plain"):
        fp.open(path)


def test_the_side_file_is_checked_too(tmp_path: Path, result: xr.Dataset) -> None:
    path = fp.save(result, tmp_path / "run.csv")
    side = tmp_path / "run.csv.json"
    whole, chance = side.read_bytes(), random.Random(2)
    for k in range(SAMPLE):
        side.write_bytes((cut, flipped, zeroed)[k % 3](whole, chance))
        with contextlib.suppress(fp.FileError):
            xr.testing.assert_identical(fp.open(path), result)  # a blank of the layout that became another one
    for data in (b"", b"[]", b"null", b'{"format": 3}', b"[" * 100000, b"\xff\xfe"):
        side.write_bytes(data)
        with pytest.raises(fp.FileError, match=r"run.csv.json: (is damaged|has the format)"):
            fp.open(path)
    side.write_bytes(whole.replace(b'"units": "N"', b'"units": "m"'))
    with pytest.raises(fp.FileError, match=r"run.csv.json: is damaged"):
        fp.open(path)


def test_the_side_file_says_how_many_rows_there_are(tmp_path: Path, result: xr.Dataset) -> None:
    """Another number of rows in it was not noticed."""
    path = fp.save(result, tmp_path / "run.csv")
    side = tmp_path / "run.csv.json"
    rows = result.sizes["time"]
    assert f'"rows": {rows}'.encode() in side.read_bytes()
    side.write_bytes(side.read_bytes().replace(f'"rows": {rows}'.encode(), f'"rows": {rows - 1}'.encode()))
    with pytest.raises(fp.FileError, match=r"run.csv.json: is damaged; restore it"):
        fp.open(path)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("time,force.A\n0,1\n1\n", r"table.csv: is cut off: row 2 has 1 of 2 fields; restore it"),
        ("0,1\n2,3\n", r"table.csv: is not a table: the first line has numbers where the names of the columns should be"),
        ("time;force.A\n0;1\n", r"table.csv: is not a table with commas: its columns are separated by semicolons"),
        ("time,force.A,force.A\n0,1,2\n", r"table.csv: is not a table: two columns are called 'force.A'"),
    ],
)  # fmt: skip
def test_a_table_alone_that_cannot_be_whole_is_refused(tmp_path: Path, text: str, reason: str) -> None:
    """These were read with nan, without their first row, as one column, and under a name that nobody gave."""
    (tmp_path / "table.csv").write_text(text)
    with pytest.warns(fp.FileWarning), pytest.raises(fp.FileError, match=reason):
        fp.open(tmp_path / "table.csv")


def test_files_of_others_are_refused(tmp_path: Path) -> None:
    import pandas as pd

    table = pd.DataFrame({"time": [0.0, 1.0], "x": [1.0, 2.0]})
    table.to_parquet(tmp_path / "other.parquet")
    with pytest.raises(fp.FileError, match=r"was not written by flexapod.*pandas.read_parquet may read it"):
        fp.open(tmp_path / "other.parquet")
    xr.Dataset({"x": ("time", [1.0])}).to_netcdf(tmp_path / "other.nc", engine="netcdf4")
    with pytest.raises(fp.FileError, match=r"was not written by flexapod.*xarray.open_dataset may read it"):
        fp.open(tmp_path / "other.nc")
    (tmp_path / "pictures.csv").write_bytes(bytes(range(256)) * 9)
    with pytest.warns(fp.FileWarning), pytest.raises(fp.FileError, match="is not a readable CSV file"):
        fp.open(tmp_path / "pictures.csv")
    (tmp_path / "ragged.csv").write_text("time,x\n1,2,3\n4,5,6\n")
    with pytest.warns(fp.FileWarning), pytest.raises(fp.FileError, match="does not name every column"):
        fp.open(tmp_path / "ragged.csv")
    (tmp_path / "folder.nc").mkdir()
    with pytest.raises(fp.FileError, match=r"folder.nc: is not a regular file"):
        fp.open(tmp_path / "folder.nc")


def test_damaged_checkpoints_are_refused(tmp_path: Path) -> None:
    path, chance = tmp_path / "run.npz", random.Random(3)
    progress = Progress(state=np.arange(30.0), rows=[np.ones((50, 40))], times=[np.arange(50.0)], index=50)
    write_checkpoint(path, "mark", progress, 40)
    again = read_checkpoint(path, "mark")
    assert again is not None
    assert np.array_equal(again.rows[0], progress.rows[0])
    whole = path.read_bytes()
    for k in range(4 * SAMPLE):
        data = (cut, flipped, zeroed, swapped)[k % 4](whole, chance)
        path.write_bytes(data)
        if data != whole:
            with pytest.raises(fp.FileError, match=r"run.npz is (empty|not a checkpoint|cut off or was altered)"):
                read_checkpoint(path, "mark")
    np.savez(path, rows=np.ones(3))
    with pytest.raises(fp.FileError, match="not a checkpoint; remove it to start again, or choose another name"):
        pd_simulation(duration=0.1, save=path)
    path.unlink()
    path.mkdir()
    with pytest.raises(fp.FileError, match="not a regular file"):
        pd_simulation(duration=0.1, save=path)
    with pytest.raises(fp.FileError, match="there is no folder"):
        pd_simulation(duration=0.1, save=tmp_path / "gone" / "run.npz")
