"""Models that the tests of the generator write out, with inputs on which they are compared."""

from __future__ import annotations

import ctypes
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np

import flexapod as fp
from flexapod.analysis.verbs.export_c import golden_inputs
from flexapod.analysis.verbs.sampling import random_states
from flexapod.kernels.tape.program import Program
from flexapod.kernels.tape.tape import Tape

SAMPLES = 4
ROUNDING = 1e-12
"""Of the largest entry of an output: the forms do the same operations, with other roundings in functions and folded constants."""

CASES = [
    ("stewart-3-3", "inverse_dynamics", "minimal"),
    ("hexapod", "inverse_dynamics", "virtual_work"),
    ("five-bar", "inverse_dynamics", "virtual_power"),  # Newton's method inside
    ("five-bar", "forward_dynamics", "virtual_power"),
    ("hexaslide", "inverse_kinematics", ""),
]
CC = ["cc", "-std=c99", "-Wall", "-Wextra", "-pedantic", "-Werror", "-O1", "-shared", "-fPIC"]


@cache
def expected(name: str, quantity: str, formulation: str | None) -> tuple[dict[str, Any], dict[str, Any]]:
    """Inputs (n, ...) and outputs (n, ...) by the compiled kernel."""
    robot = fp.load(name)
    choice = fp.generate(robot, quantity, formulation=formulation or None)
    kernel = fp.kernel(robot, program_of(choice, quantity))
    inputs = golden_inputs(kernel, random_states(robot, SAMPLES, seed=3))
    batch = kernel.batch(inputs)
    assert not batch.status.any()
    return inputs, batch.outputs


def program_of(generated: Any, quantity: str) -> str:
    return {"minimal": f"minimal_{quantity}", "virtual_work": "virtual_work"}.get(
        generated.formulation, "virtual_power" if quantity == "inverse_dynamics" else quantity
    )


def run_python(text: str, parameters: dict[str, float] | None, sample: dict[str, Any]) -> dict[str, Any]:
    """Execute generated Python on one sample."""
    space: dict[str, Any] = {}
    exec(compile(text, "generated.py", "exec"), space)
    made = {name: v for name, v in space.items() if getattr(getattr(v, "__code__", None), "co_filename", "") == "generated.py"}
    model = next(v for name, v in made.items() if name != "setup" and not name.startswith("_"))
    extra = {} if parameters is None else {"constants": space["setup"](parameters)}
    return model(**sample, **extra)


def compiled_c(text: str, folder: Path) -> ctypes.CDLL:
    """Compile generated C; warnings are errors."""
    source, library = folder / "model.c", folder / "model.so"
    source.write_text(text)
    subprocess.run([*CC, str(source), "-o", str(library), "-lm"], check=True)
    return ctypes.CDLL(str(library))


def run_c(library: ctypes.CDLL, generated: Any, parameters: dict[str, float] | None, sample: dict[str, Any]) -> dict[str, Any]:
    """Call generated C on one sample."""
    signature = generated.signature
    double = ctypes.POINTER(ctypes.c_double)

    def pointer(a: Any) -> Any:
        return a.ctypes.data_as(double)

    keep = [np.array(sample[i.name], dtype=float) for i in signature.inputs]
    arguments = [pointer(a) if a.ndim else ctypes.c_double(float(a)) for a in keep]
    if parameters is not None:
        given = np.array([parameters[p.name] for p in signature.parameters])
        constants = np.zeros(len(given) + generated.operations.variables + generated.setup_operations.variables + 100)
        getattr(library, f"{signature.name}_setup")(pointer(given), pointer(constants))
        arguments.append(pointer(constants))
    outputs = {o.name: np.full(o.shape, np.nan) for o in signature.outputs}
    status = getattr(library, signature.name)(*arguments, *[pointer(a) for a in outputs.values()])
    return {**outputs, "status": status}


def interpreted(tape: Tape, inputs: dict[str, Any], parameters: Any) -> dict[str, Any]:
    """Outputs (n, ...) by the NumPy interpreter."""
    from flexapod.kernels.packing import interpreter

    batch = interpreter(tape).batch(inputs, parameters)
    return {**batch.outputs, "status": batch.status}


def looped(count: int = 5) -> Program:
    """A map, a scan and an iteration, all kept as loops; scalar inputs and outputs with names that mean something in C."""
    p = Program("looped")
    a = p.parameter("legs.A.rod.mass", unit="kg")
    c = p.parameter("legs.B.rod.mass", unit="kg")
    x, y = p.input("double", (count,)), p.input("lambda_", ())

    def leg(b: Any, each: Any, shared: Any) -> Any:
        b.fail_if(each > 50, "{index} too long")
        return (each * shared + a / c,)

    (mapped,) = p.map(leg, count, each=[x.T], shared=[y], unroll=False)

    def add(b: Any, i: Any, total: Any, one: Any) -> Any:
        return (total * 0.5 + one * i,), (total - one,)

    (total,), (parts,) = p.scan(add, count, carry=[y * y], each=[mapped])

    def newton(b: Any, r: Any, target: Any) -> Any:
        step = (r * r - target) / (2 * r)
        return (r - step,), ca.fabs(step)

    (root,), converged, passes = p.iterate(newton, start=[1 + a], shared=[a * a + y * y + 2], limit=40, tolerance=1e-13)
    p.fail_if(converged == 0, "no root")
    p.output("parts", parts.T, (count,))
    p.output("total", total + root)
    p.output("passes_taken", passes)
    return p
