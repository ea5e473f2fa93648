"""Frequencies over a grid of poses: those of single poses, symmetric as the robot is, drawn with units and reasons."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import flexapod as fp
from flexapod.views.drives import chosen_drives
from flexapod.views.frequency_map import frequency_map, frequency_map_figure

Run = Callable[..., Any]

SPRINGS = [1e7] * 6
SAME = 1e-9
"""The same computation in batches of another size: roundings of an eigenvalue solver, relative."""

SYMMETRIC = 1e-6
"""Prestress of rigid robots comes from differences (1e-10 of the forces), and robot files have 12 digits."""

GRID = {"x": (-0.3, 0.3, 5), "z": (0.55, 0.85, 3), "ry": [0.0, 0.2]}


@pytest.fixture(scope="module")
def robot(tmp_path_factory: pytest.TempPathFactory) -> fp.Robot:
    from flexapod.views.new.robot_file import RobotSizes, new_text

    path = tmp_path_factory.mktemp("map") / "own.yaml"
    path.write_text(new_text(RobotSizes(name="own")))
    return fp.load(path)


def test_each_pose_as_computed_alone(robot: fp.Robot) -> None:
    found = frequency_map(robot, GRID, actuators=SPRINGS)
    area = fp.workspace(robot, grid=GRID)
    assert found.frequency.dims == ("x", "z", "ry", "mode")
    assert found.frequency.attrs["units"] == "Hz"
    assert np.array_equal(found.valid, area.valid)
    assert 0 < int(found.valid.sum()) < found.valid.size
    for i, j, k in np.ndindex(found.valid.shape):
        here = found.isel(x=i, z=j, ry=k)
        if not bool(here.valid):
            assert np.isnan(here.frequency).all()
            assert str(found.reason_text.values[int(here.reason)])
            continue
        rotation = fp.motions.rotvec_rotation(np.array([0.0, float(here.ry), 0.0]))
        pose = fp.State(position=[float(here.x), 0.0, float(here.z)], rotation=rotation)
        alone = fp.natural_frequencies(robot, pose, actuators=SPRINGS).frequency.values
        np.testing.assert_allclose(here.frequency, alone, rtol=SAME)


def test_three_fold_symmetry(robot: fp.Robot) -> None:
    """Turning the platform's place by 120 deg about z changes nothing but names of legs."""
    radius, angles = 0.12, np.radians([20.0, 140.0, 260.0])
    maps = [
        frequency_map(robot, {"x": [radius * np.cos(a)], "y": [radius * np.sin(a)], "rz": [0.05]}, actuators=SPRINGS).frequency
        for a in angles
    ]
    for other in maps[1:]:
        np.testing.assert_allclose(other.values, maps[0].values, rtol=SYMMETRIC)
    moved = frequency_map(robot, {"x": [0.0], "y": [0.0]}, actuators=SPRINGS).frequency
    assert abs(moved.values - maps[0].values).max() > 1e-3 * maps[0].values.max()  # the place does matter


def test_figures(robot: fp.Robot) -> None:
    found = frequency_map(robot, {"x": (-0.35, 0.35, 7), "y": (-0.2, 0.2, 5)}, actuators=SPRINGS)
    figure = frequency_map_figure(found, "map", mode=2)
    colours = [trace for trace in figure.data if trace.type == "heatmap" and trace.showscale is not False]
    np.testing.assert_array_equal(np.array(colours[0].z, dtype=float), found.frequency.sel(mode=2).transpose("y", "x").values)
    assert colours[0].colorbar.title.text == "frequency<br>[Hz]"
    assert [figure.layout.xaxis.title.text, figure.layout.yaxis.title.text] == ["x [m]", "y [m]"]
    assert any("stroke" in (trace.name or "") for trace in figure.data)
    line = frequency_map_figure(frequency_map(robot, {"z": (0.6, 0.8, 3)}, actuators=SPRINGS), "line")
    assert len(line.data) == 6
    assert line.layout.xaxis.title.text == "z [m]"
    with pytest.raises(fp.InputError, match="mode 7: expected 1 to 6"):
        frequency_map_figure(found, "map", mode=7)


def test_the_border_of_reach_is_reported() -> None:
    """Prestress is differentiated at poses beside the given one; where these cannot be reached, there is a reason and no
    fault."""
    hexapod = fp.load("hexapod")
    found = frequency_map(hexapod, {"x": (-0.1, 0.1, 3), "y": [0.075, 0.1]}, actuators=SPRINGS)
    lost = [str(found.reason_text.values[k]) for k in found.reason.values.ravel() if k]
    assert lost
    assert all("a neighbouring pose, needed to differentiate" in text for text in lost)
    assert np.array_equal(np.isnan(found.frequency).any("mode"), ~found.valid)
    whole = frequency_map(hexapod, {"x": (-0.1, 0.1, 3), "y": [0.075, 0.1]}, actuators=SPRINGS, prestress=False)
    assert bool(whole.valid.all())


@pytest.mark.parametrize(
    ("grid", "text"),
    [({"w": [0.0]}, "no axis 'w'"), ({"tilt": [0.1]}, "no axis 'tilt'"), ({"x": [9.0, 9.5]}, "can reach none of its 2")],
)  # fmt: skip
def test_wrong_grids(robot: fp.Robot, grid: dict[str, Any], text: str) -> None:
    with pytest.raises(fp.InputError, match=text):
        frequency_map(robot, grid, actuators=SPRINGS)


def test_drives(robot: fp.Robot) -> None:
    """Frequencies of rigid bodies on springs go with the root of the stiffness (without gravity); what is assumed is named."""
    home = fp.State(position=robot.home.position)
    assumed, given = chosen_drives(robot), chosen_drives(robot, 2.5e6)
    assert assumed.actuators == [1e7] * 6
    assert assumed.assumed
    assert "1e+07 N/m (assumed; --stiffness gives yours)" in assumed.label
    assert not given.assumed
    first, second = (
        fp.natural_frequencies(robot, home, actuators=d.actuators, prestress=False).frequency.values for d in (assumed, given)
    )
    np.testing.assert_allclose(first, 2.0 * second, rtol=SAME)
    assert chosen_drives(robot, free=True).actuators == "free"
    assert chosen_drives(fp.load("gough-stewart-flexible")).actuators == "locked"
    assert chosen_drives(fp.load("delta")).label == "drives of 1e+05 N m/rad (assumed; --stiffness gives yours)"
    with pytest.raises(fp.InputError, match="leave it out where a stiffness is given"):
        chosen_drives(robot, 1e7, free=True)


@pytest.mark.parametrize("kind", [[], ["--kind", "6-pus"], ["--plate", "0.01"]])
def test_new_robots_need_no_option(run: Run, tmp_path: Path, kind: list[str]) -> None:
    assert run("new", "a.yaml", "--no-ask", *kind).exit_code == 0
    result = run("frequencies", "a.yaml")
    assert result.exit_code == 0, result.stderr
    plate = "--plate" in kind
    assert ("actuators locked" if plate else "(assumed; --stiffness gives yours)") in result.stdout
    assert ("warning: a is rigid; drives of 1e+07 N/m" in result.stderr) is not plate
    if "6-pus" in kind:  # reports of the others: test_pages.py
        assert run("report", "a.yaml").exit_code == 0
        assert "Natural frequencies at home" in (tmp_path / "report.html").read_text()


def test_grid_on_the_command_line(run: Run, tmp_path: Path) -> None:
    assert run("new", "a.yaml", "--no-ask").exit_code == 0
    words = ["frequencies", "a.yaml", "--grid", "x=-0.4:0.4:5", "--grid", "y=0:0.1:2", "--out", "map.csv", "--plot", "map.html"]
    result = run(*words, "--mode", "3")
    assert result.exit_code == 0, result.stderr
    assert "of 10 poses" in result.stdout
    table = fp.open("map.csv")
    assert table.sizes["pose"] == 10
    assert "stroke" in " ".join(map(str, table.reason.values))
    assert "mode 3" in (tmp_path / "map.html").read_text()
    refused = {"--motion circle": "leave out --motion", "--figure shapes": "belongs to one pose", "--mode 9": "mode 9"}
    for wrong, text in refused.items():
        result = run(*words, *wrong.split())
        assert result.exit_code == 1
        assert text in result.stderr
