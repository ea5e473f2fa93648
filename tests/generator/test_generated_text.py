"""Generated Python and C run, and give what the compiled kernel gives; refusals say what there is."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from generated_models import CASES, ROUNDING, SAMPLES, compiled_c, expected, interpreted, looped, run_c, run_python

import flexapod as fp
from flexapod.kernels.tape.tape import make_tape
from flexapod.kernels.text.c import c_listing
from flexapod.kernels.text.listing import make_listing
from flexapod.kernels.text.python import python_text

CONSTANTS = ["inputs", "numbers"]
ELASTIC = Path(__file__).parents[1] / "data" / "elastodynamics"

REFERENCE = 1e-8
"""Relative, as the reference suggests; agreement is some 1e-12."""
LAST_DIGITS = 1e-14
"""Relative, and of numbers of size 1: the same operations in another language."""


def parameters(generated: fp.Generated, robot: fp.Robot) -> dict[str, float] | None:
    from flexapod.analysis.model.kernels import parameter_values

    if generated.constants == "numbers":
        return None
    names = [p.name for p in generated.signature.parameters]
    return dict(zip(names, parameter_values(robot, generated.signature), strict=True))


def compare(found: dict, outputs: dict, sample: int) -> None:
    assert found["status"] == 0
    for name, wanted in outputs.items():
        assert np.abs(found[name] - wanted[sample]).max() <= ROUNDING * max(np.abs(wanted).max(), 1e-6), name


@pytest.mark.parametrize("constants", CONSTANTS)
@pytest.mark.parametrize("case", CASES, ids="-".join)
def test_python_equals_the_kernel(case: tuple, constants: str) -> None:
    name, quantity, formulation = case
    robot = fp.load(name)
    inputs, outputs = expected(*case)
    generated = fp.generate(robot, quantity, formulation=formulation or None, constants=constants)
    for k in range(SAMPLES):
        sample = {n: a[k] for n, a in inputs.items()}
        compare(run_python(generated.text, parameters(generated, robot), sample), outputs, k)


@pytest.mark.parametrize("constants", CONSTANTS)
@pytest.mark.parametrize("case", CASES, ids="-".join)
def test_c_equals_the_kernel(case: tuple, constants: str, tmp_path: Path) -> None:
    name, quantity, formulation = case
    robot = fp.load(name)
    inputs, outputs = expected(*case)
    generated = fp.generate(robot, quantity, formulation=formulation or None, constants=constants, form="c")
    library = compiled_c(generated.text, tmp_path)
    for k in range(SAMPLES):
        sample = {n: a[k] for n, a in inputs.items()}
        compare(run_c(library, generated, parameters(generated, robot), sample), outputs, k)


@pytest.mark.parametrize("friction", [None, "file"])
@pytest.mark.parametrize(("name", "quantity"), [("planar-3-rpr", "inverse_dynamics"), ("hexaslide", "inverse_dynamics")])
def test_the_function_is_called_as_the_quantity(name: str, quantity: str, friction: str | None) -> None:
    """Whatever the program: in link axes, minimal, or Newton-Euler with friction."""
    robot = fp.load(name)
    starts = {"python": f"\ndef {quantity}(", "c": f"\nint {quantity}(", "cpp": f"\nstruct {quantity} "}
    for form, start in starts.items():
        assert start in fp.generate(robot, quantity, form=form, friction=friction).text


def test_loops_are_written_as_loops(tmp_path: Path) -> None:
    """Map, scan, iteration and statuses in Python and in C; names that are keywords there."""
    tape = make_tape(looped())
    random = np.random.default_rng(5)
    inputs = {"double": random.uniform(-1, 1, (6, 5)), "lambda_": random.uniform(-1, 1, 6)}
    inputs["double"][5, 3] = 60.0
    values = {"legs.A.rod.mass": 1.3, "legs.B.rod.mass": 0.7}
    wanted = interpreted(tape, inputs, np.array(list(values.values())))
    listing = make_listing(tape)
    python = python_text(listing, ["looped"], values)
    assert "for i" in python
    library = compiled_c(c_listing(listing, ["looped"], values), tmp_path)

    class Model:
        signature = tape.signature
        operations = setup_operations = fp.OperatorCount(adds=0, multiplies=0, functions=0, variables=0)

    for k in range(6):
        sample = {n: a[k] for n, a in inputs.items()}
        for found in (run_python(python, values, sample), run_c(library, Model, values, sample)):
            assert found["status"] == wanted["status"][k]
            if found["status"] == 0:
                for name in ("parts", "total", "passes_taken"):
                    assert np.allclose(found[name], wanted[name][k], rtol=LAST_DIGITS, atol=LAST_DIGITS)
    assert wanted["status"][5] == 4


def octave(generated: fp.Generated, sample: dict, folder: Path) -> dict:
    """Call generated MATLAB on one sample."""
    generated.write(folder / "model.m")
    rows = [a if np.ndim(a) == 2 else np.reshape(a, (-1, 1)) for a in sample.values()]
    given = ["[" + "; ".join(", ".join(repr(float(x)) for x in row) for row in a) + "]" for a in rows]
    names = [*(o.name for o in generated.signature.outputs), "status"]
    shown = "".join(f"printf('%.17g ', {name}); printf('\\n');" for name in names)
    call = f"[{', '.join(names)}] = model({', '.join(given)}); {shown}"
    command = ["octave", "--quiet", "--no-gui", "--norc", "--eval", call]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    return {name: np.array(line.split(), dtype=float) for name, line in zip(names, done.stdout.splitlines(), strict=True)}


@pytest.mark.parametrize("form", ["python", "c", "matlab"])
def test_failures_give_no_numbers(form: str, tmp_path: Path) -> None:
    """Status and NaN as of the kernel: out of reach, where parts of the result were numbers, and of NaN, which had status 0."""
    if form == "matlab" and shutil.which("octave") is None:
        pytest.skip("octave is not installed")
    robot = fp.load("five-bar")
    generated, bound = fp.generate(robot, "inverse_kinematics", form=form), fp.kernel(robot, "inverse_kinematics")
    home = {"position": np.array(robot.home.position), "rotation": np.array(robot.home.rotation)}
    home |= {"guess": np.concatenate([leg.home for leg in robot.legs])}
    for position in (home["position"] + np.array([3.0, 0.0, 0.0]), np.array([np.nan, 0.3, 0.0])):
        sample = {i.name: home.get(i.name, np.zeros(i.shape)) for i in generated.signature.inputs} | {"position": position}
        if form == "matlab":
            found = octave(generated, sample, tmp_path)
        elif form == "c":
            found = run_c(compiled_c(generated.text, tmp_path), generated, parameters(generated, robot), sample)
        else:
            found = run_python(generated.text, parameters(generated, robot), sample)
        wanted = int(bound.batch({name: np.array([sample[name]]) for name in sample}).status[0])
        assert int(np.ravel(found["status"])[0]) == wanted != 0
        assert all(np.isnan(found[o.name]).all() for o in generated.signature.outputs)


def test_text_counts_what_it_contains() -> None:
    """The number of operators in the text is the number that the banner and `operations` give."""
    generated = fp.generate(fp.load("stewart-3-3"), "inverse_dynamics", constants="numbers")
    body = generated.text.split("with errstate(all='ignore'):")[1]
    lines = [line.partition(" = ")[2] for line in body.splitlines() if " = " in line and "status" not in line]
    text = "\n".join(lines).replace("e-", "e").replace("e+", "e")
    binary_minus = text.count(" - ")
    assert text.count(" + ") + binary_minus == generated.operations.adds
    assert text.count(" * ") + text.count(" / ") == generated.operations.multiplies
    assert text.count("numpy.sqrt(") == generated.operations.functions
    assert str(generated.operations) in generated.text
    assert generated.operations.variables == sum(any(s in line for s in (" + ", " - ", " * ", " / ", "(")) for line in lines)


def test_numbers_fold() -> None:
    """With numbers there is no set-up part and there are fewer operators."""
    robot = fp.load("hexapod")
    inputs = fp.generate(robot, "inverse_dynamics", formulation="virtual_power")
    numbers = fp.generate(robot, "inverse_dynamics", formulation="virtual_power", constants="numbers")
    assert numbers.operations.total < inputs.operations.total
    assert numbers.setup_operations.total == 0
    assert not numbers.signature.parameters


def test_without_the_solve() -> None:
    robot = fp.load("five-bar")
    whole, part = (fp.generate(robot, "forward_dynamics", solve=s, formulation="virtual_power") for s in (True, False))
    assert "mass_matrix" in [o.name for o in part.signature.outputs]
    assert "acceleration" in [o.name for o in whole.signature.outputs]


@pytest.mark.parametrize(
    ("name", "quantity", "text"),
    [
        ("gough-stewart-flexible", "gravity_force", "is derived for a rigid platform, and that of gough-stewart-flexible is"),
        (
            "h4",
            "virtual_power",
            "has loops through several legs; 'inverse_dynamics', 'forward_dynamics' and 'mass_matrix' are programs",
        ),
        ("h4", "workspace", "loops through several legs; 'inverse_kinematics', 'forward_kinematics' and 'jacobian' are programs"),
        ("hexapod-floating", "jacobian", "actuators of hexapod-floating can move while its platform is at rest"),
        ("delta-parallelograms", "newton_euler", "'inverse_dynamics'"),
        ("dualemps", "friction_force", "is derived for rigid legs, and dualemps has flexible legs; use 'inverse_dynamics'"),
        ("dualemps", "coriolis_force", "is derived for rigid legs, and dualemps has flexible legs; use 'inverse_dynamics'"),
        ("hexapod", "coriolis", "did you mean 'coriolis_force'? There are: inverse_dynamics"),
        ("hexapod", "gravity", "did you mean 'gravity_force'? There are: inverse_dynamics"),
    ],
)
def test_refusals_say_what_there_is(name: str, quantity: str, text: str) -> None:
    with pytest.raises(fp.InputError, match=re.escape(text)):
        fp.generate(fp.load(name), quantity)


@pytest.mark.parametrize(
    ("name", "quantity", "text"),
    [
        ("hexaslide", "jacobian", "friction: jacobian has no such option; leave it out"),
        ("hexaslide", "mass_matrix", "friction: available in inverse_dynamics and in forward_dynamics with its final solve"),
        ("stewart-3-3", "inverse_dynamics", "friction: the joints of stewart-3-3 have none; leave it out"),
    ],
)
def test_friction_where_there_is_none(name: str, quantity: str, text: str) -> None:
    with pytest.raises(fp.InputError, match=text):
        fp.generate(fp.load(name), quantity, friction=True)


def test_refusals(tmp_path: Path) -> None:
    robot = fp.load("stewart-3-3")
    with pytest.raises(fp.InputError, match=r"form: expected 'python' or 'c' or 'matlab' or 'cpp' or .*, got 'fortran'"):
        fp.generate(robot, "inverse_dynamics", form="fortran")  # type: ignore[arg-type]
    with pytest.raises(fp.InputError, match="no formulation 'lagrange' of inverse_dynamics for stewart-3-3; there are: min"):
        fp.generate(robot, "inverse_dynamics", formulation="lagrange")
    with pytest.raises(fp.InputError, match="inverse_dynamics of stewart-3-3 solves no linear system"):
        fp.generate(robot, "inverse_dynamics", solve=False)
    offered = ("inverse_dynamics, forward_dynamics, mass_matrix, gravity_force, coriolis_force, friction_force, "
               "inverse_kinematics, forward_kinematics, jacobian")  # fmt: skip
    export = partial(fp.export_c, folder=tmp_path)
    for call, what in ((fp.generate, "model of"), (fp.kernel, "kernel for"), (export, "kernel for")):
        with pytest.raises(fp.InputError) as refused:
            call(robot, "speed")
        assert str(refused.value) == f"no {what} 'speed'; there are: {offered}"
        with pytest.raises(fp.InputError, match="did you mean 'inverse_dynamics'"):
            call(robot, "inverse-dynamic")
    with pytest.raises(fp.InputError, match="contains an iteration, which LaTeX cannot list"):
        fp.generate(fp.load("agile-eye"), "inverse_dynamics", form="latex")
    with pytest.raises(fp.InputError, match="give a file in a folder that exists"):
        fp.generate(robot, "inverse_kinematics").write("no/such/folder/model.py")


@pytest.mark.parametrize("constants", CONSTANTS)
def test_dualemps_equals_the_reference(constants: str, tmp_path: Path) -> None:
    """Forces and elastic accelerations of the reference states by generated Python and C, coordinates by their own names."""
    from flexapod.equations.elastodynamics.closing import elastic_closing

    robot = fp.load(ELASTIC / "dualemps.yaml")
    reference = json.loads((ELASTIC / "dualemps.json").read_text())
    order = ["1.q11", "2.q21", *(f"{beam}.{e}" for beam in ("1.13", "2.23", "1.16") for e in ("u", "v", "theta"))]
    python, c = (fp.generate(robot, "inverse_dynamics", constants=constants, form=form) for form in ("python", "c"))
    assert "q12 = joint_position[1]" in python.text
    library = compiled_c(c.text, tmp_path)
    program, columns = elastic_closing(robot), robot.elastic_plan.columns
    closing, values = make_tape(program), [robot.values[p.name] for p in program.signature.parameters]
    for s in reference["states"]:
        x, rates = (dict(zip(order, s[key], strict=True)) for key in ("x", "xdot"))
        start = np.concatenate([leg.home for leg in robot.legs])
        start[[robot.coordinates.index(name) for name in order]] = list(x.values())
        given = {"joint_position": start, "independent_velocity": [rates[columns[k]] for k in robot.elastic_plan.independent]}
        closed = interpreted(closing, {k: np.array(v)[None] for k, v in given.items()}, np.array(values))
        sample = {"joint_position": closed["closed_position"][0], "joint_velocity": closed["closed_velocity"][0]}
        sample["actuator_acceleration"] = np.array(s["qa_ddot"])
        for found in (
            run_python(python.text, parameters(python, robot), sample), run_c(library, c, parameters(c, robot), sample)
        ):  # fmt: skip
            wanted = np.array(s["nofriction"]["tau"])
            assert np.abs(found["force"] - wanted).max() <= REFERENCE * np.abs(wanted).max()
            elastic = found["coordinate_acceleration"][[columns.index(name) for name in order[2:]]]
            wanted = np.array(s["nofriction"]["qe_ddot"])
            assert np.abs(elastic - wanted).max() <= REFERENCE * np.abs(wanted).max()
