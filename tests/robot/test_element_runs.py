"""Which beam elements a kernel goes through in loops."""

from __future__ import annotations

from pathlib import Path

import pytest

import flexapod as fp
from flexapod.robot.element_runs import element_runs, met_links

DATA = Path(__file__).parents[1] / "data" / "elastodynamics"


@pytest.mark.parametrize(("bend", "first"), [("", 1), (", bend: 10 deg", 2)])
def test_elements_of_a_beam_share_their_numbers(bend, first, tmp_path):
    """The first one of a curved beam is placed otherwise."""
    text = fp.catalogue()["planar-3-rrr-flexible"].read_text(encoding="utf-8")
    path = tmp_path / "beams.yaml"
    path.write_text(text.replace("type: beam", f"type: beam, elements: 4{bend}"))
    robot = fp.load(path)
    runs = element_runs(robot)
    assert [[beam.name for beam in run.elements] for run in runs] == [
        [f"{body}.beam{k}" for k in range(first, 5)] for body in ("proximal", "distal") * 3
    ]
    for run in runs:
        assert run.shared
        first, *others = ([robot.values[name] for name in _paths(robot, run.leg.name, run.leg, beam)] for beam in run.elements)
        assert all(own == first for own in others)


def _paths(robot, name, leg, beam):
    prefixes = [f"legs.{name}.{part}." for part in (beam.name, *(leg.links[i].coordinate for i in beam.links))]
    found = [[path for path in robot.values if path.startswith(prefix)] for prefix in prefixes]
    assert all(found)
    return [path for own in found for path in own]


def test_a_tapered_beam_has_elements_with_numbers_of_their_own(tmp_path):
    section = "section: {shape: rectangle, width: 0.004, height: 0.05}"
    text = (DATA / "dualemps-4.yaml").read_text()
    path = tmp_path / "tapered.yaml"
    path.write_text(text.replace(section, f"{section}, tip_section: {{shape: rectangle, width: 0.003, height: 0.04}}"))
    runs = element_runs(fp.load(path))
    assert [(len(run.elements), run.shared) for run in runs] == [(4, False)] * 3


@pytest.mark.parametrize("name", ["dualemps", "stewart-3-3", "gough-stewart-flexible"])
def test_robots_without_long_beams_have_none(name):
    assert element_runs(fp.load(name)) == []


def test_links_that_carry_halves_of_cut_joints_are_known():
    robot = fp.load("dualemps")
    assert [leg.closing.link in own for leg, own in zip(robot.legs, met_links(robot), strict=True)] == [True, True]
