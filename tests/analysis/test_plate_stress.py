"""`plate_stress` on the catalogue's plate: energy of its stresses, peak with place and time, refusals. No kernel is compiled."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import flexapod as fp
from support.flexible_robots import plate_robot, reference_robot

ENERGY = 0.05
"""Energy of the stresses at one point per triangle: the midpoint rule on the plate's mesh."""
AREAS = 1e-12
"""Relative: triangles fill the outline."""
SUPERPOSED = 1e-6
"""Stress [Pa] of 5e6 Pa: a sum is taken apart again; found 1e-9."""


def test_stresses_carry_the_elastic_energy() -> None:
    """sigma^2 / 2E over the thickness is the elastic energy of bending (shear of the thick plate has the rest)."""
    robot = plate_robot()
    body = robot.flexible_platform
    assert body is not None
    e = np.zeros(10)
    e[[0, 3]] = 0.02, 0.01
    found = fp.plate_stress(robot, e)
    x, y, xy = found.stress.values.T
    h, E, nu = 0.015, 20e9, 0.3
    density = (x**2 + y**2 - 2 * nu * x * y + 2 * (1 + nu) * xy**2) * h / (6 * E)
    area = 3 * np.sqrt(3) / 2 * 0.25
    corners = body.nodes.r0[body.nodes.triangles][:, :, :2]  # type: ignore[union-attr]
    (ax, ay), (bx, by) = (corners[:, 1] - corners[:, 0]).T, (corners[:, 2] - corners[:, 0]).T
    areas = np.abs(ax * by - ay * bx) / 2
    assert areas.sum() == pytest.approx(area, rel=AREAS)
    assert density @ areas == pytest.approx(body.potential_energy(e), rel=ENERGY)


def test_peak_with_place_and_time() -> None:
    robot, e = plate_robot(), np.zeros((3, 10))
    e[:, 0] = 0.01, 0.03, 0.02
    result = xr.Dataset({"elastic": (("time", "elastic_coordinate"), e)}, {"time": [0.0, 0.5, 1.0]})
    found = fp.plate_stress(robot, result)
    assert found.attrs["peak_time"] == 0.5
    k = int(found.von_mises.values[1].argmax())
    assert found.attrs["peak"] == found.von_mises.values[1, k]
    assert found.attrs["peak_place"] == found.place.values[k].tolist()
    assert found.von_mises.values[1] == pytest.approx(3 * found.von_mises.values[0])


@pytest.mark.parametrize(("robot", "why"), [("stewart-3-3", "is rigid"), ("generic", "does not come from a plate")])
def test_refused(robot: str, why: str) -> None:
    other = reference_robot("generic") if robot == "generic" else fp.load(robot)
    with pytest.raises(fp.InputError, match=why):
        fp.plate_stress(other, np.zeros((1, 3)))


def test_membrane_stress_from_joint_forces() -> None:
    """Two opposite forces in the plane turned with the robot: the middle plane carries them, both surfaces differ by bending."""
    robot, e = plate_robot(), np.zeros((1, 10))
    e[0, 0] = 0.01
    R = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    names = [f"{leg.name}.{leg.closing.joint}" for leg in robot.legs]
    p = np.array([leg.closing.on_platform.position for leg in robot.legs])
    along = (p[3] - p[0]) / np.linalg.norm(p[3] - p[0])
    force = np.zeros((1, 6, 3))
    force[0, 0], force[0, 3] = -1e4 * R @ along, 1e4 * R @ along
    result = xr.Dataset(
        {"elastic": (("sample", "elastic_coordinate"), e), "rotation": (("sample", "axis", "platform_axis"), R[None]),
         "reaction_force": (("sample", "joint", "axis"), force)}, {"joint": names},
    )  # fmt: skip
    found, alone = fp.plate_stress(robot, result), fp.plate_stress(robot, e)
    assert (found.attrs["membrane"], alone.attrs["membrane"]) == ("joint forces", "none: the result has no reactions")
    assert np.isnan(alone.membrane_stress.values).all()
    assert found.stress.values - found.membrane_stress.values == pytest.approx(alone.stress.values, rel=AREAS, abs=SUPERPOSED)
    middle = int(np.linalg.norm(found.place.values, axis=1).argmin())
    x, y, xy = found.membrane_stress.values[0, middle]
    pull = along[0] ** 2 * x + along[1] ** 2 * y + 2 * along[0] * along[1] * xy
    assert pull > 1e4 / (1.0 * 0.015), "more than spread evenly over the width"


ARM = """
flexapod: 1
name: arm
source: written for this test
gravity: [0, 0, 0]
characteristic_length: 0.5
home: {position: [0.5, 0, 0]}
platform: {body: A.tool}
legs:
  each:
    A:
      joints:
        motor: {type: revolute, from: base, to: arm, axis: [0, 0, 1], actuated: true}
        wrist: {type: fixed, from: arm, at: [0.5, 0, 0], to: tool}
      bodies:
        arm:
          flexible: {type: plate, outline: [[0, -0.04], [0.5, -0.04], [0.5, 0.04], [0, 0.04]], thickness: 4 mm,
                     young: 200 GPa, poisson: 0, density: 7800, modes: 0}
        tool: {mass: 0.5}
"""
BENDING = 0.01
"""Stress of a strip between two points that hold it, of the moment that it carries, away from its ends: the mesh."""


def test_a_plate_that_is_a_link(tmp_path: Path) -> None:
    """A clamped strip under an end moment M: by equilibrium sigma = 6 M / (b h^2) in its middle."""
    (tmp_path / "arm.yaml").write_text(ARM, encoding="utf-8")
    robot = fp.load(tmp_path / "arm.yaml")
    made, M = next(link.body.rooted.body for link in robot.legs[0].links if link.body and link.body.rooted), 3.0
    load = np.zeros(len(made.names))
    load[list(made.names).index("thy")] = -M
    e = np.linalg.solve(made.K_ee, load)
    assert tuple(f"arm.{name}" for name in made.names) == robot.elastic_names
    assert e[list(made.names).index("w")] > 0  # its end goes up, the upper surface is pressed
    found = fp.plate_stress(robot, e, body="A.arm")
    away = np.abs(found.place.values[:, 0] - 0.25) < 0.1
    expected = -6 * M / (0.08 * 0.004**2)
    assert np.abs(found.stress.values[away, 0] - expected).max() < BENDING * abs(expected)
    assert found.attrs["membrane"].startswith("none: a plate in a leg")
    np.testing.assert_array_equal(fp.plate_stress(robot, e).stress, found.stress)  # the only plate
    with pytest.raises(fp.InputError, match=r"'A.tool' is not a plate of arm; there are: A.arm"):
        fp.plate_stress(robot, e, body="A.tool")
