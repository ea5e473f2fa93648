"""Inertia that does not fit into its link is reported by check, show and report, and used as it is."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import flexapod as fp
from flexapod.views.reports.remarks import remarks

Run = Callable[..., Any]


def test_only_the_printed_inertia_of_the_hexapod_is_odd() -> None:
    """J3 of Sinatra 2009: 0.0722 kg m^2 about U with 0.398 kg over 0.5 m; two masses at the ends give 0.0497 at most."""
    found = {name: remarks(fp.load(name)) for name in fp.catalogue()}
    assert {name for name, label in found.items() if label} == {"hexapod"}
    assert list(found["hexapod"]) == ["legs.link.inertia"]
    assert "radius of gyration 0.3448 m" in found["hexapod"]["legs.link.inertia"]


@pytest.mark.parametrize(("share", "odd"), [(0.999, False), (1.01, True)])
def test_the_limit_is_two_masses_at_the_joints(share: float, odd: bool) -> None:
    """A dumbbell with half its mass at each joint has the largest inertia: m l^2 / 2 about one of them."""
    largest = 0.398 * 0.5**2 / 2
    value = [share * largest, share * largest, 0.0]
    names = ("xx", "yy", "zz")
    changed = fp.load("hexapod").with_parameters({f"legs.link.inertia.{n}": v for n, v in zip(names, value, strict=True)})
    assert bool(remarks(changed)) is odd


def test_one_leg_is_named() -> None:
    robot = fp.load("hexaslide")
    old = np.array(robot.parameter("legs.link.inertia.xx"))
    label = remarks(robot.with_parameters({"legs.2.link.inertia.xx": float(9 * old), "legs.2.link.inertia.yy": float(9 * old)}))
    assert list(label) == ["legs.2.link.inertia"]


def test_reported_and_not_refused(run: Run, tmp_path: Path) -> None:
    for words in (["check", "hexapod"], ["show", "hexapod"], ["report", "hexapod"]):
        result = run(*words)
        assert result.exit_code == 0, result.stderr
        assert "warning: legs.link.inertia: radius of gyration" in result.stderr.replace("\n", " ")
    assert "legs.link.inertia: radius of gyration" in (tmp_path / "report.html").read_text()
    assert "radius of gyration" in run("check", "hexapod", "--json").stdout
    assert "warning" not in run("check", "stewart-3-3").stderr
