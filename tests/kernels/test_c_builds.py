"""Exported C of every quantity and robot: gcc and clang, -O0 and -O3, without a warning, under the address and
undefined-behaviour sanitizers, and equal to the kernels, refused samples included. `make test` takes a sample, `make test-full`
everything.
"""

from __future__ import annotations

import hashlib
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from c_builds import BUILDS, CLEAN, build, run_driver, translate, write_driver
from kernel_programs import ALL, PARAMETERS, inputs_for

import flexapod as fp
from flexapod.analysis.model.kernels import PROGRAMS
from flexapod.analysis.verbs.export_c import exported_kernel, golden_inputs
from flexapod.analysis.verbs.sampling import random_leg_states, random_states
from flexapod.kernels.c.export import export_c
from support.plain import compile_kernel

AGREES = 1e-9
"""Of the largest entry of an output. It is 1e-13 where the equations are well conditioned; the compiled kernels fuse
multiplications with additions, and solves amplify that."""
NOTHING = 1e-12
"""Of the largest number of all outputs, or 1: what is zero on paper, such as closing errors, is rounding in both."""
SAMPLE = [
    ("stewart-3-3", "minimal_inverse_dynamics"),
    ("3-rrs-wrist", "friction_force"),  # begins with a digit
    pytest.param("h4", "inverse_kinematics", marks=pytest.mark.full),  # all loops together
]
SMALL = ("nested", "kepler")
"""Programs that `make test` takes: loops in loops, and an iteration that may not converge."""
OPTIONS: dict[str, dict[str, Any]] = {"value_derivatives": {"values": ("platform.mass",)}}
"""Options without which a quantity has no program."""
SEEN: dict[tuple[str, str], str] = {}
"""Robot and digest of the C that a process has built, names left out -> quantity: several names may stand for one program."""


def with_bad_samples(inputs: dict[str, Any]) -> dict[str, Any]:
    """The samples, and after them copies with a NaN, an infinity, zeros, huge and tiny numbers in each input."""
    bad = {name: [values] for name, values in inputs.items()}
    for name in inputs:
        for value in (np.nan, -np.inf, 0.0, 1e300, 1e-300):
            for other in inputs:
                row = inputs[other][:1].copy()
                if other == name:
                    row.reshape(-1)[:1] = value
                bad[other].append(row)
    return {name: np.concatenate(rows) for name, rows in bad.items()}


def compare(folder: Path, files: dict[str, Path], kernel: Any, parameters: Any, inputs: dict[str, Any]) -> None:
    name, signature = files["source"].stem, kernel.signature
    driver = write_driver(folder, name, signature)
    given = with_bad_samples(inputs)
    expected = kernel.batch(given, parameters)
    size = {o.name: np.abs(expected.outputs[o.name][expected.status == 0]).max(initial=0.0) for o in signature.outputs}
    floor = NOTHING * max([1.0, *size.values()])
    for compiler, level in BUILDS:
        made = translate(compiler, level, files["source"])
        build(compiler, level, made, driver, folder / "driver")
        if (compiler, level) == BUILDS[0]:
            build(compiler, level, made, files["test"], folder / "self_test")
        found = run_driver(folder / "driver", signature, parameters, given)
        good = len(next(iter(inputs.values()))) if inputs else 1
        assert np.array_equal(found.status[:good], expected.status[:good]), (compiler, level)
        assert np.array_equal(found.status == -1, expected.status == -1)  # inputs that are no finite numbers
        both = (found.status == 0) & (expected.status == 0) & (np.arange(len(found.status)) < good)
        for o in signature.outputs:
            error = np.abs(found.outputs[o.name] - expected.outputs[o.name])[both].max(initial=0.0)
            assert error <= max(AGREES * size[o.name], floor), (compiler, level, o.name, error, size[o.name])
            assert np.all(np.isnan(found.outputs[o.name][found.status != 0]))
    done = subprocess.run([folder / "self_test"], capture_output=True, text=True, check=False, env=CLEAN)
    assert done.returncode == 0, done.stdout[:500]


def check_robot(folder: Path, name: str, quantity: str) -> None:
    robot, options = fp.load(name), OPTIONS.get(quantity, {})
    try:
        bound = exported_kernel(robot, quantity, options)  # what `export_c` writes
    except fp.FlexapodError as error:
        pytest.skip(f"refused: {error}")
    states = random_leg_states(robot, 8, seed=1) if robot.elastic_legs else random_states(robot, 8, seed=1)
    files = fp.export_c(robot, quantity, folder, **options)
    text = files["source"].read_text(encoding="utf-8").replace(files["source"].stem, "unit")
    text = text.replace(files["source"].stem.upper(), "UNIT")
    known = SEEN.setdefault((name, hashlib.sha256(text.encode()).hexdigest()), quantity)
    if known != quantity:
        pytest.skip(f"the same C as {known}")
    compare(folder, files, bound.compiled, bound.parameters, golden_inputs(bound, states))


@pytest.mark.skipif(not BUILDS, reason="neither gcc nor clang is installed")
@pytest.mark.parametrize("make", [m if m.__name__ in SMALL else pytest.param(m, marks=pytest.mark.full) for m in ALL])
def test_programs_of_every_kind(make: Any, tmp_path: Path) -> None:
    inputs = inputs_for(make().signature, 10)
    files = export_c(make(), tmp_path, name="unit", golden_inputs=inputs, parameters=PARAMETERS)
    compare(tmp_path, files, compile_kernel(make()), PARAMETERS, inputs)


@pytest.mark.skipif(not BUILDS, reason="neither gcc nor clang is installed")
@pytest.mark.parametrize(("name", "quantity"), SAMPLE)
def test_a_sample_of_robots(name: str, quantity: str, tmp_path: Path) -> None:
    check_robot(tmp_path, name, quantity)


@pytest.mark.full
@pytest.mark.skipif(not BUILDS, reason="neither gcc nor clang is installed")
@pytest.mark.parametrize("quantity", ["inverse_dynamics", *PROGRAMS])
@pytest.mark.parametrize("name", sorted(fp.catalogue()))
def test_every_robot_and_quantity(name: str, quantity: str, tmp_path: Path) -> None:
    check_robot(tmp_path, name, quantity)
