"""Inverse kinematics against reference values: through the public verb, and through the exported C."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import flexapod as fp
from support.reference import FILES, FOLDER, Reference

REFERENCE = 1e-11
"""Of the largest entry of the quantity: the files carry all digits, both sides a few hundred roundings."""

ROUNDING = 1e-12
"""Exported C and the kernel in memory evaluate the same operations; contraction to fused operations may differ."""
ONE_PRODUCT = 1e-15
"""Relative: a mass times a distance."""
STEINER = 1e-14
"""Relative, and of entries of size 1: inertia about another point."""
ZEROS = 2e-15
"""[m]: zeros of the file are rounding there."""

LEG_BODY = {"stewart-3-3": "cylinder", "hexapod": "link", "hexaslide": "link"}


def assert_close(ours: np.ndarray, theirs: np.ndarray, tolerance: float, what: str) -> None:
    error = np.abs(ours - theirs).max() / np.abs(theirs).max()
    assert error < tolerance, f"{what}: {error:.2e} of the largest entry"


@pytest.mark.parametrize("name", FILES)
def test_actuators_and_leg_rates_agree_with_the_reference(name: str) -> None:
    reference = Reference(name)
    robot = fp.load(reference.robot)
    result = fp.inverse_kinematics(robot, reference.motion, bodies=True)
    assert list(result.actuator.values) == reference.legs
    for quantity, column in (("position", "lam"), ("velocity", "lamd"), ("acceleration", "lamdd")):
        ours = result[f"actuator_{quantity}"].values
        assert_close(ours, reference.per_leg(column), REFERENCE, column)
    bodies = [f"{leg}.{LEG_BODY[robot.name]}" for leg in reference.legs]
    spin = result.body_angular_velocity.sel(body=bodies).transpose("time", "body", "axis").values
    assert_close(spin, reference.vector_per_leg("wleg"), REFERENCE, "wleg")


def test_every_reference_motion_is_used() -> None:
    assert {Reference(name).robot for name in FILES} == set(LEG_BODY)
    assert len(FILES) == 6


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
@pytest.mark.parametrize("name", ["stewart-3-3_rotation_z", "stewart-3-3_vertical_z", "hexapod_rotation_z"])
def test_exported_c_agrees_with_reference_and_kernel(name: str, tmp_path: Path) -> None:
    reference = Reference(name)
    robot = fp.load(reference.robot)
    files = fp.export_c(robot, "inverse_kinematics", tmp_path, detail="bodies")
    flags = ["cc", "-std=c99", "-Wall", "-Wextra", "-Werror"]
    subprocess.run([*flags, files["source"], files["test"], "-o", tmp_path / "self", "-lm"], check=True)
    assert subprocess.run([tmp_path / "self"], check=False).returncode == 0
    bound = fp.kernel(robot, "inverse_kinematics", detail="bodies")
    given = {i.name: np.ascontiguousarray(getattr(reference.motion, i.name)) for i in bound.signature.inputs}
    ours = call_c(tmp_path, files, bound.signature, given)
    kernel = bound.batch(given).outputs
    for output in bound.signature.outputs:
        assert_close(ours[output.name], kernel[output.name], ROUNDING, output.name)
    for quantity, column in (("position", "lam"), ("velocity", "lamd"), ("acceleration", "lamdd")):
        assert_close(ours[f"actuator_{quantity}"], reference.per_leg(column), REFERENCE, column)
    index = [list(robot.bodies_by_name).index(f"{leg}.{LEG_BODY[robot.name]}") for leg in reference.legs]
    assert_close(ours["body_angular_velocity"][:, index], reference.vector_per_leg("wleg"), REFERENCE, "wleg")


def call_c(folder: Path, files: dict[str, Path], signature, given: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Compile a small program of our own around the exported function, feed it all samples, read its results."""
    prefix, upper = files["header"].stem, files["header"].stem.upper()
    count = len(next(iter(given.values())))
    inputs = [(i.name, i.size) for i in signature.inputs]
    outputs = [(o.name, o.size) for o in signature.outputs]
    declare = "".join(f"    double {n}[{s}];\n" for n, s in [*inputs, *outputs])
    read = "".join(f"        if (fread({n}, sizeof(double), {s}, stdin) != {s}) return 3;\n" for n, s in inputs)
    write = "".join(f"        fwrite({n}, sizeof(double), {s}, stdout);\n" for n, s in outputs)
    arguments = ", ".join([*[n for n, _ in inputs], "constants", *[n for n, _ in outputs]])
    (folder / "main.c").write_text(
        f'#include <stdio.h>\n#include "{files["header"].name}"\n\nint main(void)\n{{\n'
        f"    static double constants[{upper}_CONSTANTS > 0 ? {upper}_CONSTANTS : 1];\n{declare}"
        f"    {prefix}_setup({prefix}_parameters, constants);\n"
        f"    for (int k = 0; k < {count}; ++k) {{\n{read}        if ({prefix}({arguments}) != 0) return 4;\n{write}    }}\n"
        "    return 0;\n}\n"
    )
    sources = ["-I", folder, files["source"], folder / "main.c"]
    subprocess.run(["cc", "-std=c99", "-O2", *sources, "-o", folder / "run", "-lm"], check=True)
    packed = np.concatenate([given[n].reshape(count, s) for n, s in inputs], axis=1).tobytes()
    done = subprocess.run([folder / "run"], input=packed, capture_output=True, check=True)
    table = np.frombuffer(done.stdout).reshape(count, sum(s for _, s in outputs))
    parts = np.split(table, np.cumsum([s for _, s in outputs])[:-1], axis=1)
    return {o.name: part.reshape(count, *o.shape) for o, part in zip(signature.outputs, parts, strict=True)}


@pytest.mark.parametrize("name", LEG_BODY)
def test_catalogue_has_exactly_the_reference_parameters(name: str) -> None:
    """Geometry and inertial data of the catalogue file are those that the reference values were computed with."""
    data = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    robot = fp.load(name)
    np.testing.assert_array_equal(robot.gravity, data["gravity"])
    assert robot.platform.mass == data["platform"]["mass"]
    com = np.array(data["platform"]["com"], dtype=float)
    np.testing.assert_allclose(robot.platform.first_moment, com * data["platform"]["mass"], rtol=ONE_PRODUCT)
    steiner = data["platform"]["mass"] * (com @ com * np.eye(3) - np.outer(com, com))
    np.testing.assert_allclose(robot.platform.inertia, np.array(data["platform"]["inertia_com"]) + steiner, rtol=STEINER)
    assert [leg.name for leg in robot.legs] == [leg["name"] for leg in data["legs"]]
    for form, leg in zip(robot.closed_forms, data["legs"], strict=True):
        assert form is not None
        pairs = [(form.S, leg["platform_point"]), (form.axis1, leg["u_axis1"])]
        if data["type"] == "UPS":
            pairs.append((form.U, leg["base_point"]))
        else:
            pairs += [(form.U, leg["rail_point"]), (form.drive, leg["rail_direction"])]
            assert form.length == leg["leg_length"]
        for ours, theirs in pairs:
            np.testing.assert_allclose(ours, theirs, rtol=0, atol=ZEROS)
        for key, body in zip(("cylinder", "piston") if data["type"] == "UPS" else ("link",), form.bodies, strict=False):
            stated = data["leg_bodies"][key]
            at = stated.get("com_distance_from_U", -stated.get("com_distance_from_S", 0.0))
            c = np.array([0.0, 0.0, at])
            about_com = body.inertia - body.mass * (c @ c * np.eye(3) - np.outer(c, c))
            assert body.mass == stated["mass"]
            np.testing.assert_allclose(body.first_moment, body.mass * c, rtol=0, atol=ONE_PRODUCT * max(1.0, body.mass))
            np.testing.assert_allclose(about_com, stated["inertia_com"], rtol=STEINER, atol=STEINER)
