"""Inverse dynamics as C with friction, as a controller would call it; sizes of actuators from a motion."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import flexapod as fp
from flexapod.motions import kim_circle, staicu_motion

needs_cc = pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")


@needs_cc
@pytest.mark.parametrize("name", ["hexaslide", "stewart-3-3", "delta"])
def test_inverse_dynamics_as_c(name: str, tmp_path: Path) -> None:
    """Nothing but math.h, warnings are errors, golden numbers agree, and a status is returned."""
    files = fp.export_c(fp.load(name), "inverse_dynamics", tmp_path)
    source = files["source"].read_text()
    includes = {line for line in source.splitlines() if line.startswith("#include <")}
    assert includes <= {"#include <math.h>", "#include <stddef.h>"}
    command = [
        "cc",
        "-std=c99",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-O1",
        str(files["source"]),
        str(files["test"]),
        "-lm",
        "-o",
        str(tmp_path / "t"),
    ]
    subprocess.run(command, check=True)
    done = subprocess.run([tmp_path / "t"], check=True, capture_output=True, text=True)
    assert "ok" in done.stdout
    assert "status" in files["readme"].read_text().lower()


def test_the_kernel_of_inverse_dynamics_has_the_friction_of_the_file() -> None:
    assert fp.kernel(fp.load("hexaslide"), "inverse_dynamics").signature.name == "newton_euler"
    assert fp.kernel(fp.load("stewart-3-3"), "inverse_dynamics").signature.name == "minimal_inverse_dynamics"


@pytest.mark.parametrize(
    ("quantity", "options", "text"),
    [
        ("value_derivatives", {}, "options of 'value_derivatives': missing a required argument: 'values'; it has: values"),
        ("jacobian", {"fast": True}, "options of 'jacobian': got an unexpected keyword argument 'fast'; it has: "),
    ],
)
def test_wrong_options_of_a_kernel_have_a_reason(quantity: str, options: dict[str, bool], text: str) -> None:
    with pytest.raises(fp.InputError, match=re.escape(text)):
        fp.kernel(fp.load("stewart-3-3"), quantity, **options)


def test_sizes_of_a_motion() -> None:
    robot = fp.load("stewart-3-3")
    drive = fp.inverse_dynamics(robot, staicu_motion("vertical-z", samples=601))
    size = fp.actuator_sizing(drive)
    assert np.allclose(size.peak_force, np.abs(drive.force.values).max(axis=0))
    assert size.peak_force.attrs["units"] == "N"
    # the motion returns to its start at rest: no energy remains, what was given was taken back
    assert np.abs(size.energy.values).max() < 1e-3 * size.energy_given.values.max()
    assert (size.rms_force <= size.peak_force).all()


def test_friction_takes_energy() -> None:
    size = fp.actuator_sizing(fp.inverse_dynamics(fp.load("hexaslide"), kim_circle(samples=601)))
    assert size.energy.sum() > 1.0


def test_sizing_needs_time() -> None:
    robot = fp.load("stewart-3-3")
    held = fp.inverse_dynamics(robot, fp.State(position=robot.home.position))
    with pytest.raises(fp.InputError, match="over `time`"):
        fp.actuator_sizing(held)


def test_kernels_of_a_flexible_platform_are_its_own() -> None:
    """The name of a verb never means the equations of a rigid robot for a flexible one."""
    robot = fp.load("gough-stewart-flexible")
    for quantity in ("inverse_dynamics", "forward_dynamics", "mass_matrix"):
        assert "elastic" in {i.name for i in fp.kernel(robot, quantity).signature.inputs}
