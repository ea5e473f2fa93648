"""URDF with its loop file, out and in; the tree read by Pinocchio."""

import re
from pathlib import Path

import numpy as np
import pytest
import yaml

import flexapod as fp
from flexapod.analysis.sampling import random_states

SAME = 1e-11
"""Angles of a rotation written as roll, pitch, yaw and read again."""


def some_motion(robot: fp.Robot) -> fp.Motion:
    states = random_states(robot, 4, seed=2)
    names = ("position", "rotation", "velocity", "angular_velocity", "acceleration", "angular_acceleration")
    return fp.Motion(time=np.arange(4.0), **{name: states[name] for name in names})


@pytest.mark.parametrize("name", ["stewart-3-3", pytest.param("delta", marks=pytest.mark.full), "five-bar"])
def test_there_and_back(name: str, tmp_path: Path) -> None:
    robot = fp.load(name)
    files = fp.export_urdf(robot, tmp_path / "robot.urdf")
    fp.write_robot_file(fp.import_robot(files["urdf"], platform="platform"), tmp_path / "again.yaml")
    again, motion = fp.load(tmp_path / "again.yaml"), some_motion(robot)
    first, second = (fp.inverse_dynamics(r, motion, friction=False).force.values for r in (robot, again))
    order = [again.actuators.index(a) if a in again.actuators else k for k, a in enumerate(robot.actuators)]
    assert np.abs(second[:, order] - first).max() <= SAME * np.abs(first).max()


def test_pinocchio_reads_the_tree(tmp_path: Path) -> None:
    pinocchio = pytest.importorskip("pinocchio", reason="the wheel of pin is not installed")
    robot = fp.load("stewart-3-3")
    files = fp.export_urdf(robot, tmp_path / "robot.urdf")
    model = pinocchio.buildModelFromUrdf(str(files["urdf"]))
    joints = [name for name in model.names if name in robot.coordinates]
    assert len(joints) == 18
    total = robot.platform.mass + sum(link.body.mass for leg in robot.legs for link in leg.links if link.body)
    assert pinocchio.computeTotalMass(model) == pytest.approx(total, rel=1e-12)


def test_mistakes_have_one_clear_message(tmp_path: Path) -> None:
    robot = fp.load("five-bar")
    files = fp.export_urdf(robot, tmp_path / "robot.urdf")
    good = yaml.safe_load(files["loops"].read_text())
    assert good["gravity"] == [0.0, -9.81, 0.0]

    def refused(document: object, text: str) -> None:
        files["loops"].write_text(yaml.safe_dump(document))
        with pytest.raises(fp.ImportedModelError, match=re.escape(text)):
            fp.import_robot(files["urdf"], platform="platform")

    refused({**good, "loops": good["loops"] * 2}, "two loops have the name")
    refused({**good, "loops": [{**good["loops"][0], "link1": "gone"}]}, "names the link 'gone'")
    refused({**good, "loops": [{**good["loops"][0], "type": "rope"}]}, "has the type 'rope'")
    refused({"loops": []}, "gravity missing")
    files["loops"].unlink()
    with pytest.raises(fp.ImportedModelError, match="cannot be read with its loops"):
        fp.import_robot(files["urdf"])
