"""Models written as MATLAB run in GNU Octave, as C++ through g++, as Python here: all equal to the kernels."""

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import flexapod as fp
from flexapod.analysis.model.kernels import parameter_values
from flexapod.analysis.verbs.export_c import golden_inputs
from flexapod.analysis.verbs.sampling import random_states

SAME = 1e-11
"""Numbers printed with 17 digits; another order of the same sums."""
VERBS = ["inverse_kinematics", "forward_kinematics", "inverse_dynamics", "forward_dynamics", "mass_matrix", "jacobian",
         "gravity_force", "coriolis_force"]  # fmt: skip
FRICTION = ["inverse_dynamics with friction", "forward_dynamics with friction", "friction_force"]
QUICK = [("stewart-3-3", "inverse_dynamics"), ("five-bar", "inverse_kinematics"), ("stewart-3-3", "coriolis_force")]
CASES = [(name, verb) for name in ("stewart-3-3", "five-bar") for verb in VERBS] + [("hexaslide", verb) for verb in FRICTION]
CASES += [("h4", "inverse_kinematics")]
MARKED = [pytest.param(*case, marks=[] if case in QUICK else pytest.mark.full) for case in CASES]


Sample = dict[str, np.ndarray]


def model(name: str, verb: str, form: str, constants: str) -> tuple[fp.Robot, fp.Generated, Sample, Sample]:
    """The generated model, one sample of inputs, and what the interpreted tape gives for it."""
    from flexapod.kernels.packing import interpreter

    robot = fp.load(name)
    verb, _, friction = verb.partition(" with ")
    made = fp.generate(robot, verb, form=form, constants=constants, friction=bool(friction) or None)
    kernel = interpreter(made.tape)
    bound = type("Bound", (), {"robot": robot, "signature": made.signature})
    inputs = golden_inputs(bound, random_states(robot, 1, seed=3))  # type: ignore[arg-type]
    if verb == "forward_kinematics":
        at = fp.State(position=inputs["guess_position"][0], rotation=inputs["guess_rotation"][0])
        inputs[made.signature.inputs[0].name] = fp.inverse_kinematics(robot, at).actuator_position.values[None] + 1e-3
    found = kernel.batch(inputs, parameter_values(robot, made.signature))
    assert found.status[0] == 0
    if verb in (
        "gravity_force",
        "coriolis_force",
    ):  # at the acceleration beta that velocities alone give, the actuators carry both
        given = {n: inputs[n] for n in ("position", "rotation", "velocity", "angular_velocity")}
        parts = {n: x[0] for n, x in fp.kernel(robot, "mass_matrix").batch(inputs).outputs.items()}
        beta = {"acceleration": parts["beta"][None, :3], "angular_acceleration": parts["beta"][None, 3:]}
        motion = fp.Motion(time=np.zeros(1), **given, **beta)
        carried = parts["jacobian"].T @ fp.inverse_dynamics(robot, motion, friction=False).force.values[0]
        other = parts["coriolis_force" if verb == "gravity_force" else "gravity_force"]
        off = parts["basis"].T @ (found.outputs[verb][0] + other + parts["mass_matrix"] @ parts["beta"] - carried)
        assert np.abs(off).max() <= SAME * np.abs(carried).max()
    if "friction" in (friction, verb[:8]) and verb != "forward_dynamics":  # the same as the verb, friction included
        names = ("position", "rotation", "velocity", "angular_velocity", "acceleration", "angular_acceleration")
        motion = fp.Motion(time=np.zeros(1), **{n: inputs[n] for n in names})
        wanted = [fp.inverse_dynamics(robot, motion, wrench=inputs["wrench"], friction=f).force.values[0] for f in (True, False)]
        ours = wanted[0] - wanted[1] if verb == "friction_force" else wanted[0]
        assert np.abs(found.outputs["force"][0] - ours).max() <= SAME * np.abs(wanted[0]).max()
        assert np.abs(wanted[0] - wanted[1]).max() > 1e-3 * np.abs(wanted[0]).max()
    return robot, made, {k: v[0] for k, v in inputs.items()}, {k: v[0] for k, v in found.outputs.items()}


def compared(printed: str, wanted: dict[str, np.ndarray]) -> None:
    values = np.array([float(x) for x in printed.split()])
    flat = np.concatenate([v.ravel() for v in wanted.values()])
    assert values[-1] == 0  # status
    assert np.abs(values[:-1] - flat).max() <= SAME * max(1.0, np.abs(flat).max())


def numbers(values: np.ndarray) -> str:
    rows = np.atleast_2d(values if values.ndim == 2 else values.reshape(-1, 1))
    return "[" + "; ".join(", ".join(repr(float(x)) for x in row) for row in rows) + "]"


@pytest.mark.parametrize(("name", "verb"), MARKED)
@pytest.mark.parametrize("constants", ["inputs", "numbers"])
def test_octave_gives_the_same(name: str, verb: str, constants: str, tmp_path: Path) -> None:
    if shutil.which("octave") is None:
        pytest.skip("octave is not installed")
    robot, made, inputs, wanted = model(name, verb, "matlab", constants)
    made.write(tmp_path / "model.m")
    names = [o.name for o in made.signature.outputs]
    given = [numbers(v) if v.ndim else repr(float(v)) for v in inputs.values()]
    last = [numbers(parameter_values(robot, made.signature))] if made.signature.parameters else []
    shown = " ".join(f"printf('%.17g ', permute({n}, [2, 1]));" for n in [f"o{k}" for k in range(len(names))])
    left = ", ".join([*(f"o{k}" for k in range(len(names))), "status"])
    calls = [f"[{left}] = model({', '.join(words)}); {shown} printf('%d;', status);" for words in ([*given, *last], given)]
    command = ["octave", "--quiet", "--no-gui", "--norc", "--eval", " ".join(calls)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-1500:]
    assert "warning" not in done.stderr
    for printed in done.stdout.split(";")[:2]:  # with parameters, and with those of the file
        compared(printed, wanted)


@pytest.mark.parametrize(("name", "verb"), MARKED)
def test_cpp_gives_the_same(name: str, verb: str, tmp_path: Path) -> None:
    _, made, inputs, wanted = model(name, verb, "cpp", "inputs")
    (tmp_path / "model.hpp").write_text(made.text)
    struct = made.signature.name
    lines = ['#include "model.hpp"', "#include <cstdio>", "int main() {", f"    const flexapod::{struct} model;"]
    for i in made.signature.inputs:
        values = ", ".join(repr(float(x)) for x in inputs[i.name].ravel())
        lines.append(f"    const std::array<double, {i.size}> in_{i.name}{{{{{values}}}}};")
    lines += [f"    std::array<double, {o.size}> out_{o.name};" for o in made.signature.outputs]
    arguments = [f"in_{i.name}" for i in made.signature.inputs] + [f"out_{o.name}" for o in made.signature.outputs]
    lines.append(f"    const int status = model({', '.join(arguments)});")
    lines += [f'    for (double x : out_{o.name}) std::printf("%.17g ", x);' for o in made.signature.outputs]
    lines += ['    std::printf("%d", status);', "    return 0;", "}"]
    (tmp_path / "main.cpp").write_text("\n".join(lines))
    command = ["g++", "-std=c++17", "-O1", "-Wall", "-Wextra", "-Werror", "-pedantic", "main.cpp", "-o", "main"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:1500]
    compared(subprocess.run(["./main"], cwd=tmp_path, capture_output=True, text=True, check=True).stdout, wanted)


@pytest.mark.parametrize(("name", "verb"), MARKED)
def test_python_gives_the_same(name: str, verb: str) -> None:
    robot, made, inputs, wanted = model(name, verb, "python", "inputs")
    module: dict[str, object] = {}
    exec(made.text, module)
    values = dict(zip([p.name for p in made.signature.parameters], parameter_values(robot, made.signature), strict=True))
    found = module[made.signature.name](**inputs, constants=module["setup"](values))  # type: ignore[operator]
    for key, value in wanted.items():
        assert np.abs(np.asarray(found[key]) - value).max() <= SAME * max(1.0, np.abs(value).max())
