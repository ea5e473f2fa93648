"""Results in files: what is written comes back, number for number."""

import errno
import hashlib
import json
import os
import re
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from pd_simulations import pd_simulation

import flexapod as fp

PANDAS = 1e-15
"""Relative: pandas rounds by itself."""


@pytest.mark.parametrize("suffix", [".nc", ".parquet", ".csv"])
def test_a_result_comes_back(tmp_path: Path, suffix: str) -> None:
    result = pd_simulation(duration=0.5, output_step=0.1)
    path = fp.save(result, tmp_path / f"run{suffix}")
    again = fp.open(path)
    xr.testing.assert_identical(again.drop_attrs(), result.drop_attrs())
    for name in result.data_vars:
        assert np.array_equal(again[name], result[name])
        assert again[name].attrs == result[name].attrs
    assert again.attrs == result.attrs
    side = [path.name + ".json"] if suffix == ".csv" else []
    assert sorted(p.name for p in tmp_path.iterdir()) == [path.name, *side]  # nothing temporary is left


def test_columns_are_readable_by_others(tmp_path: Path) -> None:
    import pandas as pd

    result = pd_simulation(duration=0.5, output_step=0.1)
    table = pd.read_parquet(fp.save(result, tmp_path / "run.parquet"))
    assert np.array_equal(table["force.A"], result.force.sel(actuator="A"))
    assert np.array_equal(table["rotation.x.y"], result.rotation.sel(axis="x", body_axis="y"))
    other = pd.read_csv(fp.save(result, tmp_path / "run.csv"))  # plain: no comment line, no option
    assert list(other.columns) == list(table.columns)
    assert np.allclose(other["force.A"], result.force.sel(actuator="A"), rtol=PANDAS, atol=0.0)
    side = json.loads((tmp_path / "run.csv.json").read_text())
    assert side["rows"] == len(other) == result.sizes["time"]
    assert side["sha256"] == hashlib.sha256((tmp_path / "run.csv").read_bytes()).hexdigest()
    assert side["about"]["units"]["force.A"] == "N"


def test_units_are_in_parquet_and_netcdf_for_others(tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    result = pd_simulation(duration=0.5, output_step=0.1)
    field = pq.read_schema(fp.save(result, tmp_path / "run.parquet")).field("force.A")
    assert field.metadata[b"units"] == b"N"
    about = pq.read_metadata(tmp_path / "run.parquet").metadata
    assert about[b"flexapod_rows"] == b"6"
    assert re.fullmatch(rb"[0-9a-f]{64}", about[b"flexapod_sha256"])
    with xr.open_dataset(fp.save(result, tmp_path / "run.nc"), engine="netcdf4") as found:
        assert found.force.attrs["units"] == "N"
        assert np.array_equal(found.force, result.force)


def test_a_csv_without_its_side_file_opens_with_a_warning(tmp_path: Path) -> None:
    result = pd_simulation(duration=0.5, output_step=0.1)
    path = fp.save(result, tmp_path / "run.csv")
    (tmp_path / "run.csv.json").unlink()
    with pytest.warns(fp.FileWarning, match=r"run.csv.json is missing: nothing shows whether the table is whole"):
        plain = fp.open(path)
    for name in ("position", "rotation", "force", "actuator_velocity", "kinetic_energy"):
        xr.testing.assert_equal(plain[name].drop_attrs(), result[name].drop_attrs().drop_vars("actuator_unit", errors="ignore"))
    (tmp_path / "x.csv").write_text("time,a.x,b.1,b\n0,1,2,3\n1,4,5,\n")
    with pytest.warns(fp.FileWarning):
        other = fp.open(tmp_path / "x.csv")
    assert set(other.data_vars) == {"a", "b.1", "b"}
    assert np.isnan(other.b[1])


@pytest.mark.parametrize("suffix", [".nc", ".parquet", ".csv"])
def test_odd_results_come_back(tmp_path: Path, suffix: str) -> None:
    """Complex numbers, texts that look like numbers or like nothing, no dimension at all, attributes of every plain kind."""
    odd = xr.Dataset(
        {
            "z": ("mode", np.array([1 + 2j, np.nan - 1j]), {"units": "1/s"}),
            "text": ("mode", np.array(["NA", ""])),
            "number": ("mode", np.array(["1", "007"])),
            "x": ("mode", np.array([np.nan, np.inf])),
            "whole": ("mode", np.array([1, 2])),
            "yes": ("mode", np.array([True, False])),
            "axis_only": ("axis", np.array([0.1, 1e-300, -0.0])),
        },
        coords={"axis": ["x", "y", "z"]},
        attrs={"a": True, "b": [1.5, "x"], "c": {"d": None}, "e": np.float64(2.0), "f": "é"},
    )
    again = fp.open(fp.save(odd, tmp_path / f"odd{suffix}"))
    xr.testing.assert_identical(again.drop_attrs(), odd.drop_attrs())
    assert again.z.attrs == odd.z.attrs
    assert again.attrs == odd.attrs
    one = xr.Dataset({"energy": ((), 3.5, {"units": "J"})})
    xr.testing.assert_identical(fp.open(fp.save(one, tmp_path / f"one{suffix}")), one)


def test_suffixes_in_capitals_and_what_no_table_holds(tmp_path: Path) -> None:
    result = pd_simulation(duration=0.5, output_step=0.1)
    assert fp.open(fp.save(result, tmp_path / "RUN.CSV")).sizes == result.sizes
    twice = xr.Dataset({"a": (("time", "k"), np.ones((2, 1))), "a.b": ("time", np.zeros(2))}, coords={"k": ["b"]})
    with pytest.raises(fp.InputError, match=r"two columns would be called 'a.b'; save the result as a .nc file"):
        fp.save(twice, tmp_path / "twice.csv")
    with pytest.raises(fp.InputError, match="cannot be saved"):
        fp.save(xr.Dataset({"o": ("k", np.array([object(), 1]))}), tmp_path / "o.nc")


@pytest.mark.parametrize("suffix", [".nc", ".parquet", ".csv"])
def test_a_full_disk_is_said_and_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str) -> None:
    result = pd_simulation(duration=0.5, output_step=0.1)
    path = fp.save(result, tmp_path / f"run{suffix}")
    before = {p.name: p.read_bytes() for p in tmp_path.iterdir()}

    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(fp.FileError, match=rf"run{suffix}: was not written: no space left on device; free some space"):
        fp.save(result, path)
    monkeypatch.undo()
    assert {p.name: p.read_bytes() for p in tmp_path.iterdir()} == before


def test_a_result_needs_its_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module, suffix in (("netCDF4", ".nc"), ("pyarrow", ".parquet")):
        monkeypatch.setitem(sys.modules, module, None)
        with pytest.raises(fp.InputError, match=rf"need the package {module}; install the extra: .*'flexapod\[files\]'"):
            fp.save(xr.Dataset({"x": ("t", [1.0])}), tmp_path / f"a{suffix}")
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    assert [re.split("[>=]", d)[0] for d in project["optional-dependencies"]["files"]] == ["netCDF4", "pyarrow"]


def test_other_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(fp.InputError, match="suffix decides"):
        fp.save(xr.Dataset(), tmp_path / "run.txt")
    with pytest.raises(fp.InputError, match="there is no file"):
        fp.open(tmp_path / "none.nc")


def test_a_pipe_is_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.csv"
    os.mkfifo(pipe)
    robot = fp.load("stewart-3-3")
    result = fp.inverse_kinematics(robot, fp.State(position=robot.home.position, rotation=robot.home.rotation))
    with pytest.raises(fp.FileError, match=r"pipe\.csv: was not written: it is not a regular file; choose another name"):
        fp.save(result, pipe)
    assert pipe.is_fifo()


def test_a_warning_points_at_the_line_of_the_user(tmp_path: Path) -> None:
    (tmp_path / "run.csv").write_text("a,b\n1,2\n")
    with pytest.warns(fp.FileWarning) as label:
        fp.open(tmp_path / "run.csv")
    assert [w.filename for w in label] == [__file__]
