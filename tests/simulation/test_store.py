"""Results in files: what is written comes back, number for number."""

from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from runs import pd_run

import flexapod as fp


@pytest.mark.parametrize("suffix", [".nc", ".parquet", ".csv"])
def test_a_result_comes_back(tmp_path: Path, suffix: str) -> None:
    run = pd_run(duration=0.5, output_step=0.1)
    path = fp.save(run, tmp_path / f"run{suffix}")
    again = fp.open(path)
    xr.testing.assert_identical(again.drop_attrs(), run.drop_attrs())
    for name in run.data_vars:
        assert np.array_equal(again[name], run[name])
        assert again[name].attrs == run[name].attrs
    assert again.attrs == run.attrs
    assert [p.name for p in tmp_path.iterdir()] == [path.name]  # nothing temporary is left


def test_columns_are_readable_by_others(tmp_path: Path) -> None:
    import pandas as pd

    run = pd_run(duration=0.5, output_step=0.1)
    table = pd.read_parquet(fp.save(run, tmp_path / "run.parquet"))
    assert np.array_equal(table["force.A"], run.force.sel(actuator="A"))
    assert np.array_equal(table["rotation.x.y"], run.rotation.sel(axis="x", body_axis="y"))
    other = pd.read_csv(fp.save(run, tmp_path / "run.csv"), comment="#")
    assert list(other.columns) == list(table.columns)


def test_a_failed_write_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = pd_run(duration=0.5, output_step=0.1)
    path = fp.save(run, tmp_path / "run.csv")
    before = path.read_bytes()
    monkeypatch.setattr("pandas.DataFrame.to_csv", lambda *_, **__: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        fp.save(run, path)
    assert path.read_bytes() == before
    assert len(list(tmp_path.iterdir())) == 1


def test_other_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(fp.InputError, match="suffix decides"):
        fp.save(xr.Dataset(), tmp_path / "run.txt")
    with pytest.raises(fp.InputError, match="there is no file"):
        fp.open(tmp_path / "none.nc")
    (tmp_path / "x.csv").write_text("a,b\n1,2\n")
    with pytest.raises(fp.InputError, match="not written by flexapod"):
        fp.open(tmp_path / "x.csv")
