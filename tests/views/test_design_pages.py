"""Pages of design: what they show is what the results say."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import flexapod as fp
from flexapod.views.reports.design_page import LONGEST, design_page

Run = Callable[..., Any]
VARIABLES = {"platform.mass": (20, 100), "platform.inertia.zz": (40, 80)}
PRINTED = 1e-4
"""Relative: cells of five digits."""


@pytest.fixture(scope="module")
def robot() -> fp.Robot:
    return fp.load("stewart-3-3")


def cells(page: str) -> list[str]:
    return re.findall(r"<td[^>]*>([^<]*)</td>", page)


def test_study_with_front_and_reasons(robot: fp.Robot) -> None:
    heavy = fp.Criterion(name="mass", better="high")
    study = fp.study(robot, VARIABLES, ["peak_force", heavy], count=512)
    page = design_page(study, "stewart-3-3")
    assert "512 of 512 designs are valid" in page
    assert "Pareto front" in page
    shown = cells(page)
    for design in study.front.design.values[:LONGEST]:
        assert str(design) in shown
    left = study.front.sizes["design"] - LONGEST
    assert (f"{left} more rows are not shown" in page) == (left > 0)


def test_tolerances_and_sensitivities(robot: fp.Robot) -> None:
    budget = fp.tolerance(robot, {"legs.*.slide.zero": "20 um"}, criteria="peak_force", samples=200)
    page = design_page(budget, "stewart-3-3")
    assert f"Tighten first: {budget.attrs['tighten_first']}" in page
    for values in (budget.worst_case[0], budget.criterion_worst_case):
        assert all(
            any(np.isclose(float(c), v, rtol=PRINTED, atol=0) for c in cells(page) if _is_number(c)) for v in values.values
        )
    found = fp.sensitivity(robot, VARIABLES, ["mass", "peak_force"], samples=0)
    page = design_page(found, "stewart-3-3")
    assert cells(page).count("platform.inertia.zz") == 2
    assert "change of peak_force over the range [N or N m]" in page
    with pytest.raises(fp.InputError, match="expected a result of study"):
        design_page(budget[["tolerance"]], "stewart-3-3")


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def test_commands_write_pages(run: Run, tmp_path: Path) -> None:
    result = run("optimise", "stewart-3-3", "--vary", "platform.mass=20:100", "--criterion", "mass", "--page", "best.html")
    assert result.exit_code == 0, result.stderr
    text = (tmp_path / "best.html").read_text()
    assert "Derivatives at design 0" in text
    assert "20" in cells(text)
    result = run("study", "stewart-3-3", "--vary", "platform.mass=20:100", "--criterion", "mass", "--page", "best.pdf")
    assert result.exit_code == 1
    assert "expected a name that ends with .html" in " ".join(result.stderr.split())
