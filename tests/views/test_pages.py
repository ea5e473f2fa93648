"""The report, the reproduced papers and the demo, opened in a real browser without a network."""

import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import flexapod as fp
from flexapod.views.papers.items import (
    AGREES,
    CHECKED,
    DIFFERS,
    INPUT,
    PARTLY,
    SYMMETRY,
    VERDICTS,
    checked,
    judged,
    relative_difference,
    spread,
)
from flexapod.views.reports.reproduce import NAMES, paper_parts

Run = Callable[..., Any]
Opened = Callable[[Path], tuple[Any, list[str]]]

SECTIONS = ["Key figures", "Warnings", "Robot", "Motion", "Actuators", "Joint loads", "Workspace", "Orientation workspace"]
SECTIONS += ["Singularities", "All poses", "Natural frequencies"]


def overlaps(page: Any) -> list[str]:
    """Titles, axis titles and legends of a figure that lie on each other."""
    return page.evaluate("""() => {
        const bad = [];
        for (const figure of document.querySelectorAll('.plotly-graph-div')) {
            const parts = [...figure.querySelectorAll('.gtitle, .xtitle, .ytitle, .legend, .colorbar .cbtitle')]
                .map(e => [e.getAttribute('class') + ': ' + e.textContent.slice(0, 30), e.getBoundingClientRect()])
                .filter(([, r]) => r.width > 0);
            for (let i = 0; i < parts.length; i++) for (let j = i + 1; j < parts.length; j++) {
                const [a, b] = [parts[i][1], parts[j][1]];
                const w = Math.min(a.right, b.right) - Math.max(a.left, b.left);
                const h = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
                if (w > 2 && h > 2) bad.push(parts[i][0] + ' / ' + parts[j][0]);
            }
        }
        return bad;
    }""")


@pytest.mark.parametrize("robot", [pytest.param("new", marks=pytest.mark.full), "plate", "five-bar"])
def test_report_in_a_browser(run: Run, opened: Opened, tmp_path: Path, robot: str) -> None:
    """A rigid robot of six DOF is in the usual run with warnings, below."""
    options = {"new": ["--stiffness", "1e7"], "plate": [], "five-bar": []}[robot]
    name = robot
    if robot != "five-bar":
        name = "a.yaml"
        assert run("new", name, "--no-ask", *(["--plate", "0.01"] if robot == "plate" else [])).exit_code == 0
    result = run("report", name, "--out", "report.html", *options)
    assert result.exit_code == 0, result.stderr
    check_report(*opened(tmp_path / "report.html"), robot, 1 if robot == "five-bar" else 2)


def check_report(page: Any, errors: list[str], robot: str, workspaces: int) -> None:
    """Every section with its figures and units, nothing over each other, nothing to scroll sideways."""
    assert errors == []
    assert page.locator("h2").all_text_contents() == SECTIONS
    assert page.locator(".plotly-graph-div").count() >= (6 if robot == "five-bar" else 8)
    assert page.locator("section:has(h2:text('All poses')) .plotly-graph-div").count() == 1
    assert page.locator("section:has(h2:text-is('Workspace')) .plotly-graph-div").count() == workspaces
    head = page.locator("section:has(h2:text('Actuators')) th").all_text_contents()
    what, travel = ("torque", "deg") if robot == "five-bar" else ("force", "m")
    assert [h.split(" [")[0] for h in head[5:9]] == [f"peak {what}", f"RMS {what}", "peak power", "RMS power"]
    assert head[1] == f"from [{travel}]"
    assert overlaps(page) == []
    assert page.evaluate("() => document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0, "sideways"


def test_report_warns(run: Run, opened: Opened, tmp_path: Path) -> None:
    result = run(
        "report", "hexapod", "--motion", "cosine-z", "--option", "amplitude=0.02", "--stiffness", "1e7",
        "--set", "legs.rail.limits.stroke=[-0.01,0.01]",
    )  # fmt: skip
    assert result.exit_code == 0, result.stderr
    assert "warning: actuator A is above its stroke" in result.stderr
    page, errors = opened(tmp_path / "report.html")
    check_report(page, errors, "hexapod", 1)  # a stroke of 2 cm has no solid to show
    assert "actuator A is above its stroke" in page.locator("p.warning").first.text_content()


QUICKER = NAMES[:3]
"""Papers of the usual run; those on flexible robots take most of the time, and have tests of their own (test_long_page.py,
test_briot_page.py)."""


@pytest.mark.parametrize("names", [pytest.param(QUICKER, id="quicker"), pytest.param(NAMES, marks=pytest.mark.full, id="all")])
def test_demo(tmp_path: Path, opened: Opened, names: Sequence[str]) -> None:
    """`make demo`: says where its pages are; both open; the papers have all their parts and right verdicts."""
    command = [sys.executable, "-m", "flexapod.views.demo", "--out", str(tmp_path)]
    command += [] if names == NAMES else ["--only", *names]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    text = result.stdout
    for name in fp.catalogue():
        assert re.search(rf"^{re.escape(name)} ", text, re.MULTILINE)
    assert f"picture and plots: {tmp_path / 'demo.html'}" in text
    assert f"the five papers:   {tmp_path / 'papers.html'}" in text
    assert fp.open(tmp_path / "stewart-3-3_legs.csv").actuator_position.shape == (301, 6)
    check_first_page(*opened(tmp_path / "demo.html"))
    check_papers_page(*opened(tmp_path / "papers.html"), names)
    check_verdicts(text, names)


def check_first_page(page: Any, errors: list[str]) -> None:
    assert errors == []
    assert page.locator(".plotly-graph-div").count() == 3
    assert "stewart-3-3" in page.locator("pre").first.text_content()


PARTS = (
    "Fig. 3: forces", "Fig. 4: forces", "Fig. 5: forces", "Fig. 6: forces", "Fig. 8: powers, rotation", "Fig. 11: additional",
    "Section 4.2", "Section 3: param", "Eq. (24): param", "Appendix A.1: param", "Section 5: efficiency",
    "Fig. 7 (b): discrepancy", "Fig. 8 (b): discrepancy",
)  # fmt: skip
FLEXIBLE = (
    "Table 1: geometric", "Table 2: modes", "Table 3: inertial", "Table 4: base", "Fig. 5: rigid acc", "Fig. 6: deformation",
    "Section 6.1: param", "Fig. 7: square", "Fig. 8: both", "Table 1: modified", "Table 2: rigid", "Table 3: natural",
    "Fig. 9 (a): acc", "Fig. 10 (a): force", "Fig. 11 (a): force", "Fig. 12: acc", "Fig. 13: force", "Fig. 14: force",
    "Section 5: operator", "Section 5: time",
)  # fmt: skip
"""Parts of the papers on flexible robots."""


def check_papers_page(page: Any, errors: list[str], names: Sequence[str]) -> None:
    assert errors == []
    assert page.locator("h2").count() == 1 + len(names)
    headings = page.locator("h3").all_text_contents()
    for part in (*PARTS, *(FLEXIBLE if names == NAMES else ())):
        assert any(h.startswith(part) for h in headings), part
    assert headings.count("How the paper was read") == headings.count("Errata") == len(names)
    assert overlaps(page) == []


def check_verdicts(text: str, names: Sequence[str]) -> None:
    """Statements that are known to hold do; what is not comparable is declared; every verdict names its check."""
    lines = [line for line in text.splitlines() if re.search(r"^.{29}(Fig\.|Table|Section|Eq\.|Appendix) ", line)]
    assert len(lines) >= 7 * len(names)
    verdict = re.compile(r"^.{29}(?:Fig|Table|Section|Eq|Appendix)\S* \S+(?: \(\w\))? +(.*) \((.*)\)$")
    found = [match.groups() for line in lines if (match := verdict.match(line))]
    assert len(found) == len(lines)
    assert not [words for words, _ in found if words == DIFFERS]
    assert any(words == "agrees for modes 7 to 13, differs above" for words, _ in found) == ("long" in names)
    assert all(words in VERDICTS or words.endswith("differs above") for words, _ in found)
    assert all(len(check) > 10 for _, check in found)
    missing = [line for line in text.splitlines() if "not computed:" in line]
    for words in ("DADS", *(["trajectory is not printed", "Adams against measurement"] if names == NAMES else [])):
        assert any(words in line for line in missing), words


def test_verdicts_follow_from_numbers() -> None:
    assert (judged(True), judged(False)) == (AGREES, DIFFERS)
    assert (checked(True), checked(False)) == (CHECKED, DIFFERS)
    assert spread(np.array([[1.0, 1.0], [2.0, 4.0]])) == 0.5
    assert relative_difference(np.array([1.0, 2.0]), np.array([1.0, 4.0])) == 0.5


def test_a_wrong_robot_gets_another_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    """One heavier leg: the six forces are no longer equal, and the page says so."""
    from flexapod.views.papers.staicu import staicu

    load = fp.load
    monkeypatch.setattr(fp, "load", lambda name: load(name).with_parameters({"legs.A.cylinder.mass": 20.0}))
    paper = staicu()
    verdicts = {item.where: item.verdict for item in paper.items}
    assert verdicts["Fig. 3"] == DIFFERS
    assert verdicts["Fig. 6"] == DIFFERS
    assert any("differs" in getattr(part, "html", "") for part in paper_parts(paper))


def test_no_verdict_is_stronger_than_its_check() -> None:
    """What symmetry alone demands is called so, and efficiency is judged by counts."""
    from flexapod.views.papers.sinatra import sinatra
    from flexapod.views.papers.staicu import staicu

    first, second = ({item.where: item for item in paper.items} for paper in (staicu(), sinatra()))
    assert first["Fig. 6"].verdict == second["Fig. 4"].verdict == SYMMETRY
    assert first["Fig. 4"].verdict == first["Fig. 5"].verdict == CHECKED
    for items, robot in ((first, "stewart-3-3"), (second, "hexapod")):
        count = {name: fp.kernel(fp.load(robot), name, **o).operations.total for name, o in COUNTED.items()}
        item = items["Section 5"]
        assert item.verdict == PARTLY
        assert f"{count['virtual_work']} against {count['newton_euler']}" in item.check
        assert 0.5 < count["virtual_work"] / count["newton_euler"] < 0.85


COUNTED: dict[str, dict[str, bool]] = {"virtual_work": {}, "newton_euler": {"friction": False}}


def test_discrepancy_of_kim_is_judged() -> None:
    """Figs. 7 (b) and 8 (b): what the slender link can explain, with its size in the check."""
    from flexapod.views.papers.items import BOUNDED
    from flexapod.views.papers.kim import kim

    items = {item.where: item for item in kim().items}
    for where, size in (("Fig. 7 (b)", "4.9e-06 N"), ("Fig. 8 (b)", "7.3e-06 N")):
        assert items[where].verdict == BOUNDED
        assert size in items[where].check
    assert items["Fig. 7 (a)"].verdict == CHECKED
    assert "not DADS" in items["Fig. 7 (a)"].check


PARAMETERS = {
    "staicu": ("Section 3", "legs.cross.mass"),
    "sinatra": ("Eq. (24)", "legs.slider.mass"),
    "kim": ("Appendix A.1", "legs.link.mass"),
}


@pytest.mark.parametrize("name", PARAMETERS)
def test_parameters_are_on_the_page_and_can_differ(name: str) -> None:
    """One mass changed: the page says which value is not the printed one."""
    import importlib

    where, path = PARAMETERS[name]
    module = importlib.import_module(f"flexapod.views.papers.{name}")
    robot = fp.load({"staicu": "stewart-3-3", "sinatra": "hexapod", "kim": "hexaslide"}[name])
    right, wrong = module._parameters(robot), module._parameters(robot.with_parameters({path: 9.0}))
    assert (right.where, right.verdict) == (where, INPUT)
    assert wrong.verdict == DIFFERS
    assert wrong.ours.startswith("Not equal: m")
