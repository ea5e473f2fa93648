"""Figures as files: three-dimensional ones too become PNG and SVG that show the robot, from Python and from the command line."""

import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import flexapod as fp
from flexapod.views.scene.colours import COLOURS

Run = Callable[..., Any]

BROWSER = any(shutil.which(name) for name in ("chromium", "chromium-browser", "google-chrome"))
pytestmark = pytest.mark.skipif(not BROWSER, reason="NO BROWSER: install chromium to test pictures")

NEAR = 40
"""Distance of two colours (sum over red, green, blue of 0 to 255) that the eye takes for one: light and smoothing of edges."""

SAME_HUE, DARK = 0.998, 60.0
"""Cosine between two colours as vectors that the eye takes for one hue, and the size below which nothing has a hue."""

PIXELS = 150
"""Fewer than these of 2000 x 1120 pixels would be a dot, not a leg."""


def png_pixels(path: Path) -> Any:
    """Pixels (height, width, 3) of a PNG."""
    from PIL import Image

    with Image.open(path) as image:
        assert image.format == "PNG"
        return np.asarray(image.convert("RGB"), dtype=np.int64)


def count_of(pixels: Any, colour: str) -> int:
    wanted = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)])
    return int((np.abs(pixels - wanted).sum(axis=-1) < NEAR).sum())


def count_shaded(pixels: Any, colour: str) -> int:
    """Pixels of a colour in any light: shade scales red, green and blue alike."""
    wanted = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)], dtype=float)
    size = np.linalg.norm(pixels, axis=-1)
    along = pixels @ (wanted / np.linalg.norm(wanted)) / np.maximum(size, 1.0)
    return int(((along > SAME_HUE) & (size > DARK)).sum())


def test_the_robot_as_png(run: Run, tmp_path: Path) -> None:
    """Every leg is seen in its colour: WebGL works without a screen."""
    result = run("show", "hexaslide", "--plot", "robot.png")
    assert result.exit_code == 0, result.stderr
    assert "wrote robot.png" in result.stderr
    pixels = png_pixels(tmp_path / "robot.png")
    assert pixels.shape[:2] == (1120, 2000)
    found = {colour: count_shaded(pixels[:, :1500], colour) for colour in COLOURS[:6]}  # the legend is on the right
    assert min(found.values()) > PIXELS, found
    assert count_of(pixels[:, :1500], COLOURS[7]) == 0  # a colour that no leg has


def test_mode_shapes_as_png_and_svg(tmp_path: Path) -> None:
    robot = fp.load("hexapod")
    home = fp.State(position=robot.home.position)
    modes = fp.natural_frequencies(robot, home, actuators=[1e6] * 6)
    figure = fp.figures.mode_figure(robot, modes, [1, 2], home)
    pixels = png_pixels(fp.figures.save_figure(figure, tmp_path / "modes.png"))
    distinct = len(np.unique(pixels[200:, :1500].reshape(-1, 3), axis=0))
    assert distinct > 50, "shaded by displacement"
    text = fp.figures.save_figure(figure, tmp_path / "modes.svg").read_text()
    assert text.count("<image") >= 2, "one picture per mode"
    for n in (1, 2):
        assert f"mode {n}: {float(modes.frequency.sel(mode=n)):.4g} Hz" in text


def test_lines_as_svg(run: Run, tmp_path: Path) -> None:
    """Vector graphics: one path per actuator and panel, in its colour."""
    result = run("inverse-dynamics", "hexapod", "--plot", "forces.svg")
    assert result.exit_code == 0, result.stderr
    text = (tmp_path / "forces.svg").read_text()
    for colour in COLOURS[:6]:
        rgb = ", ".join(str(int(colour[i : i + 2], 16)) for i in (1, 3, 5))
        assert len(re.findall(rf'class="js-line"[^>]*rgb\({rgb}\)', text)) == 3  # force, power, legend
    assert "force [N]" in text
    assert "power [W]" in text


def test_save_figure_refuses(tmp_path: Path) -> None:
    figure = fp.figures.robot_figure(fp.load("delta"))
    with pytest.raises(fp.InputError, match=r"expected .html, .png, .svg"):
        fp.figures.save_figure(figure, tmp_path / "a.gif")
    with pytest.raises(fp.InputError, match="there is no folder"):
        fp.figures.save_figure(figure, tmp_path / "gone" / "a.png")


def test_change_figure_draws_both(run: Run, tmp_path: Path) -> None:
    robot = fp.load("hexapod")
    motion = fp.motions.sinatra_motion("rotation-z")
    before = fp.inverse_dynamics(robot, motion)
    after = fp.inverse_dynamics(robot.with_parameters({"platform.mass": 6.0}), motion)
    figure = fp.figures.change_figure(robot, before, after, "platform.mass=6")
    for name in "ABCDEF":
        thick, thin = sorted(
            (t for t in figure.data if t.name == f"actuator {name}" and t.yaxis in (None, "y")), key=lambda t: -t.line.width
        )
        np.testing.assert_array_equal(thick.y, after.force.sel(actuator=name).values)
        np.testing.assert_array_equal(thin.y, before.force.sel(actuator=name).values)
        assert thick.line.color == thin.line.color
    assert {"thick: platform.mass=6", "thin: as in the file"} <= {t.name for t in figure.data}
    result = run("inverse-dynamics", "hexapod", "--plot", "a.html", "--figure", "change")
    assert result.exit_code == 1
    assert "give --set as well" in result.stderr
