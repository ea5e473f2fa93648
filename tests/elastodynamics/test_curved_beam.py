"""Curved beams of robot files: nodes on the arc, the published bend of 45 degrees, and what is refused. No kernel is compiled."""

from __future__ import annotations

from pathlib import Path

import casadi as ca
import numpy as np
import pytest
from element_chain import Chain, Numbers
from test_large_deflection import BEND, WITHIN

import flexapod as fp
from flexapod.equations.elastodynamics.beam_energy import elastic_energy

FILE = """
flexapod: 1
name: bend
source: Bathe and Bolourchi 1979
gravity: [0, 0, 0]
characteristic_length: 100
home: {{position: [{x}, {y}, 0], rotation: {{axis: [0, 0, 1], angle: 45 deg}}}}
platform: {{body: "1.tip"}}
legs:
  each:
    "1":
      table:
        - {{body: hub, mu: 1, sigma: 0, inertial: {{ZZ: 1}}}}
        - body: arm
          sigma: 2
          flexible:
            {{type: beam, length: {length}, bend: {bend}, elements: {elements}, theory: exact, section: {section},
              young: 1e7, poisson: 0, density: 1}}
        - {{body: tip, sigma: 2, d: {length}}}
"""
SECTIONS = {
    1 / 6: "{shape: general, area: 1, iy: 0.08333333333333333, iz: 0.08333333333333333, torsion: 0.16666666666666666}",
    None: "{shape: rectangle, width: 1, height: 1}",
}
ON_ARC = 1e-9
"""Ends of elements off the arc, of a radius of 100: roundings of a row of rotations."""
SUM = 1e-12
"""Relative: six masses."""


def bend(folder: Path, torsion: float | None, elements: int = 16, angle: str = "45 deg") -> fp.Robot:
    x, y = 100 * np.sin(np.pi / 4), 100 * (1 - np.cos(np.pi / 4))
    words = FILE.format(x=x, y=y, length=100 * np.pi / 4, elements=elements, bend=angle, section=SECTIONS[torsion])
    path = folder / "bend.yaml"
    path.write_text(words)
    return fp.load(path)


def chain_of(robot: fp.Robot) -> Chain:
    """Energy and tip by the elastic coordinates, from the placements of the robot's links and its elements."""
    leg = robot.legs[0]
    count = sum(link.elastic for link in leg.links)
    e, frames, own, at = ca.SX.sym("e", count), [], {}, 0
    for i, link in enumerate(leg.links):
        p, R = frames[link.parent] if link.parent >= 0 else (ca.SX.zeros(3), ca.SX.eye(3))
        p, R = p + ca.mtimes(R, link.placement.position), ca.mtimes(R, link.placement.rotation)
        if link.elastic:
            own[i], at = e[at], at + 1
            c, s = ca.cos(own[i]), ca.sin(own[i])
            if link.kind == "P":
                p = p + R[:, 2] * own[i]
            else:
                R = ca.mtimes(R, ca.vertcat(ca.horzcat(c, -s, 0), ca.horzcat(s, c, 0), ca.horzcat(0, 0, 1)))
        frames.append((p, R))
    V = ca.SX(0)
    for beam in robot.beams[leg.name]:
        V = V + elastic_energy(Numbers(beam), beam, ca.vertcat(*[own[i] for i in beam.links]))
    return Chain(e=e, energy=V, position=frames[-1][0], rotation=frames[-1][1])


def test_ends_of_elements_lie_on_the_arc(tmp_path: Path) -> None:
    """At home: tip and its axes, every node at 100 from the centre; elements are chords; the mass is that of the chords."""
    robot = bend(tmp_path, None, elements=6)
    leg, places = robot.legs[0], []
    for link in leg.links:
        p, R = places[link.parent] if link.parent >= 0 else (np.zeros(3), np.eye(3))
        places.append((p + R @ link.placement.position, R @ link.placement.rotation))
    nodes = [places[beam.links[-1]][0] for beam in robot.beams["1"]]
    assert np.linalg.norm(np.array(nodes) - [0, 100, 0], axis=1) == pytest.approx(100, abs=ON_ARC)
    assert nodes[-1] == pytest.approx(robot.home.position, abs=ON_ARC)
    assert places[-1][1] == pytest.approx(np.asarray(robot.home.rotation), abs=ON_ARC)  # the tip looks along the tangent
    chord = 200 * np.sin(np.pi / 4 / 12)
    assert sum(beam.body.mass for beam in robot.beams["1"]) == pytest.approx(6 * chord, rel=SUM)
    for beam in robot.beams["1"]:
        (p0, R0), (p1, _) = places[beam.root], places[beam.links[-1]]
        assert R0 @ beam.axes[:, 0] == pytest.approx((p1 - p0) / chord, abs=ON_ARC)


@pytest.mark.parametrize("torsion", BEND)
def test_published_bend_from_the_file(tmp_path: Path, torsion: float | None) -> None:
    """Displacements 13.60, 53.47, 23.56 with the published torsion constant, 13.73, 53.61, 23.82 with Saint-Venant's."""
    robot = bend(tmp_path, torsion)
    _, tip = chain_of(robot).static(np.array([0, 0, 600.0]), loads=6)
    assert np.abs(tip - robot.home.position)[[1, 2, 0]] == pytest.approx(BEND[torsion], rel=WITHIN)


def test_too_few_elements_are_refused(tmp_path: Path) -> None:
    with pytest.raises(fp.RobotFileError, match=r"turns each of 2 straight elements by 45 deg, more than 30 deg"):
        bend(tmp_path, None, elements=2, angle="90 deg")
    with pytest.raises(fp.RobotFileError, match="elements: 3"):
        bend(tmp_path, None, elements=2, angle="-90 deg")
