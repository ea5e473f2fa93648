"""Each bridge has a page of at most a screen with an example that runs; "Use it from ..." links them all."""

import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import flexapod as fp

PRINTED = 5e-4
"""Duration [s] on the page, which has three decimals."""

DOCS = Path(__file__).parents[2] / "docs"
SCREEN = 60
"""Lines of a page, the example included."""
PAGES = sorted((DOCS / "use-it-from").glob("*.md"))
EXPORTS = ("casadi", "code", "control", "finite-elements", "fmi", "mujoco", "stepper", "urdf")


def test_every_bridge_has_its_page() -> None:
    assert tuple(page.stem for page in PAGES) == EXPORTS
    overview = (DOCS / "use-it-from.md").read_text(encoding="utf-8")
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        assert len(text.splitlines()) <= SCREEN, page.name
        assert "```python" in text, f"{page.name} has no example that runs"
        assert f"(use-it-from/{page.name})" in overview
    for other in ("motions.md", "files.md"):
        assert f"({other})" in overview


def blocks(page: str) -> dict[str, Any]:
    """Names that the Python blocks of a page leave."""
    names: dict[str, Any] = {}
    text = (DOCS / "use-it-from" / page).read_text(encoding="utf-8")
    exec("\n".join(re.findall(r"```python\n(.*?)```", text, re.DOTALL)), names)
    return names


def test_the_environment_of_the_page_is_one_of_gymnasium() -> None:
    from gymnasium.utils.env_checker import check_env

    env = blocks("stepper.md")["Hover"]()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # observations without bounds, no render modes
        check_env(env)
    pushed = env.reset(seed=1)[0]
    assert not np.array_equal(pushed, env.reset(seed=2)[0])
    seen, _, ended, _, about = env.step(np.zeros(6))
    assert not ended, about
    assert np.abs(seen[:3] - np.float32(env.robot.parts["position"])).max() == 0.0
    assert env.step(np.ones(6))[0][9] > seen[9]  # six legs that push lift the platform


def test_the_optimum_of_the_page_is_faster_than_a_straight_quintic() -> None:
    """Both within the same force limits; the page has the times of both."""
    page = blocks("casadi.md")
    found, robot, start, way = float(page["found"].value(page["T"])), page["robot"], page["start"], page["goal"] - page["start"]

    def peak(duration: float) -> float:
        s = np.linspace(0.0, 1.0, 201)
        laws = (10 * s**3 - 15 * s**4 + 6 * s**5, 30 * s**2 * (1 - s) ** 2, 60 * s - 180 * s**2 + 120 * s**3)
        position, velocity, acceleration = (np.outer(law / duration**k, way) for k, law in enumerate(laws))
        still = np.zeros_like(position)
        motion = fp.Motion(
            time=duration * s, position=start + position, rotation=np.tile(robot.home.rotation, (len(s), 1, 1)),
            velocity=velocity, angular_velocity=still, acceleration=acceleration, angular_acceleration=still,
        )  # fmt: skip
        return float(np.abs(fp.inverse_dynamics(robot, motion).force).max() / page["limit"])

    assert abs(found - 0.559) < PRINTED
    assert peak(0.915) > 1.0 > peak(0.917)
