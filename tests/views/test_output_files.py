"""Files that are written: readable as any new file is, whole, and refused where they cannot be written."""

import os
import re
import stat
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest
import xarray as xr

import flexapod as fp
from flexapod.views import output
from flexapod.views.output import check_place, picture_bytes, write_data, write_text

Run = Callable[..., Any]


@pytest.fixture(params=[0o022, 0o027, 0o077])
def mask(request: pytest.FixtureRequest) -> Iterator[int]:
    before = os.umask(request.param)
    yield int(request.param)
    os.umask(before)


def small() -> xr.Dataset:
    return xr.Dataset({"x": ("time", np.arange(3.0), {"units": "m"})}, coords={"time": np.arange(3.0)})


@pytest.mark.skipif(sys.platform == "win32", reason="file modes of POSIX")
@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".nc"])
def test_files_have_the_mode_of_new_files(tmp_path: Path, mask: int, suffix: str) -> None:
    """`save`, the command line and `Path.write_text` make files of the same mode."""
    plain = tmp_path / "plain.txt"
    plain.write_text("x")
    written = [fp.save(small(), tmp_path / f"a{suffix}"), write_data(tmp_path / f"b{suffix}", small())]
    written.append(write_text(tmp_path / "c.txt", "x"))
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in written}
    assert set(modes.values()) == {0o666 & ~mask} == {stat.S_IMODE(plain.stat().st_mode)}, modes


def test_a_folder_that_cannot_be_written_is_refused_first(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also for a user who may write everywhere: the system's answer is replaced."""
    folder = tmp_path / "locked"
    folder.mkdir()
    real = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: False if Path(path).name == "locked" else real(path, mode))
    with pytest.raises(fp.InputError, match="cannot be written; choose another place"):
        check_place(folder / "a.csv", "--out")
    for words in (["kinematics", "hexapod", "--out", "locked/a.csv"], ["report", "hexapod", "--out", "locked/a.html"],
                  ["new", "locked/a.yaml"], ["inverse-dynamics", "hexapod", "--plot", "locked/a.png"]):  # fmt: skip
        result = run(*words)
        assert result.exit_code == 1
        assert "locked cannot be written; choose another place" in result.stderr
    assert list(folder.iterdir()) == []


def test_pictures_without_kaleido_name_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "kaleido", None)
    with pytest.raises(fp.InputError, match=re.escape("install it with `pip install 'flexapod[pictures]'`; --plot FILE.html")):
        picture_bytes(go.Figure(), "png")


@pytest.mark.skipif(sys.platform == "win32", reason="a shell script stands for the browser")
def test_a_browser_that_never_answers_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Seen on a busy machine: Chromium started, and kaleido waited for it without end."""
    started, silent = tmp_path / "started", tmp_path / "silent"
    silent.write_text(f"#!/bin/sh\necho one >> '{started}'\nexec sleep 30\n", encoding="utf-8")
    silent.chmod(0o700)
    monkeypatch.setenv("BROWSER_PATH", str(silent))
    monkeypatch.setattr(output, "WAIT", 1.0)
    with pytest.raises(fp.InputError, match=r"no picture could be drawn: 2 browsers did not answer within 1 s\."):
        picture_bytes(go.Figure(), "png")
    assert started.read_text(encoding="utf-8").split() == ["one", "one"]


@pytest.mark.parametrize(
    ("option", "file", "package", "extra", "other"),
    [
        ("--out", "a.nc", "netCDF4", "files", ".csv"),
        ("--out", "a.PARQUET", "pyarrow", "files", ".csv"),
        ("--plot", "a.png", "kaleido", "pictures", ".html"),
        ("--plot", "a.svg", "kaleido", "pictures", ".html"),
    ],
)
def test_a_missing_package_is_named_before_anything_is_computed(
    run: Run, monkeypatch: pytest.MonkeyPatch, option: str, file: str, package: str, extra: str, other: str
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    for verb in ("kinematics", "simulate"):
        result = run(verb, "hexapod", "--motion", "circle", option, file)
        assert result.exit_code == 1
        assert result.stdout == ""
        asked = f"{option} {file}: {Path(file).suffix.lower()} files need the package {package}; install the extra: "
        assert f"{asked}pip install 'flexapod[{extra}]', or use a {other} file" in " ".join(result.stderr.split())
