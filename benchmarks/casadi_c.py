"""Our kernels beside CasADi's C with four samples in each variable.

python benchmarks/casadi_c.py [--quick]
"""

from __future__ import annotations

import ctypes
import os
import re
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from random_inputs import random_inputs
from reporting import Effort, joined, print_section, shown, table, times
from ups_robots import ups_robot

import flexapod as fp

LANES = 4
QUANTITIES = {
    "inverse dynamics, link axes": "link_inverse_dynamics",
    "forward dynamics, link axes": "link_forward_dynamics",
    "inverse dynamics, virtual power": "virtual_power",
    "forward dynamics, virtual power": "forward_dynamics",
}
OPTIONS = [
    "-x",
    "c++",
    "-O3",
    "-march=native",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-fno-semantic-interposition",
    "-shared",
    "-fPIC",
    "-w",
]
VECTOR = """
typedef double vector __attribute__((vector_size(32)));
#define casadi_real vector
#include <math.h>
static inline vector sqrt(vector x)
{
    return vector{__builtin_sqrt(x[0]), __builtin_sqrt(x[1]), __builtin_sqrt(x[2]), __builtin_sqrt(x[3])};
}
typedef long long bits __attribute__((vector_size(32)));
static inline vector copysign(vector x, vector y)
{
    const bits sign = bits{} + (1ULL << 63);
    return (vector)(((bits)x & ~sign) | ((bits)y & sign));
}
"""
DRIVER = """
static const int sizes_in[] = {%(sizes_in)s}, sizes_out[] = {%(sizes_out)s};
extern "C" void batch(const double** in, double** out, long samples)
{
    vector x[%(all_in)s], y[%(all_out)s];
    const vector* arg[%(count_in)s]; vector* res[%(count_out)s];
    for (long s = 0; s < samples; s += 4) {
        vector* at = x;
        for (int k = 0; k < %(inputs)s; ++k) {
            const int n = sizes_in[k]; const double* from = in[k] + s * n;
            arg[k] = at;
            for (int j = 0; j < n; ++j) *at++ = vector{from[j], from[j + n], from[j + 2 * n], from[j + 3 * n]};
        }
        at = y;
        for (int k = 0; k < %(outputs)s; ++k) { res[k] = at; at += sizes_out[k]; }
        casadi_f0(arg, res, 0, 0, 0);
        for (int k = 0; k < %(outputs)s; ++k) {
            const int n = sizes_out[k]; double* to = out[k] + s * n;
            for (int j = 0; j < n; ++j) for (int lane = 0; lane < 4; ++lane) to[j + lane * n] = res[k][j][lane];
        }
    }
}
extern "C" void packed(const vector* x, vector* y, long vectors)
{
    const vector* arg[%(count_in)s]; vector* res[%(count_out)s];
    for (long s = 0; s < vectors; ++s) {
        for (int k = 0; k < %(inputs)s; ++k) { arg[k] = x; x += sizes_in[k]; }
        for (int k = 0; k < %(outputs)s; ++k) { res[k] = y; y += sizes_out[k]; }
        casadi_f0(arg, res, 0, 0, 0);
    }
}
"""


def expressions(kernel: Any, robot: fp.Robot, quantity: str) -> list[Any]:
    """The quantity as `casadi.Function`s without status, numbers put in: with CasADi's own simplifications and without.

    It simplifies (1/l) x to x / l, which costs divisions; without it numbers are less folded. The faster of the two counts.
    """
    import casadi as ca

    found = []
    for simplify in (True, False):
        ca.GlobalOptions.setSimplificationOnTheFly(simplify)
        f = fp.casadi_function(robot, quantity, parameters="numbers")
        given = [ca.SX.sym(i.name, *f.size_in(i.name)) for i in kernel.signature.inputs]
        found.append(ca.Function("evaluate", [ca.vec(x.T) for x in given], [ca.vec(y.T) for y in f.call(given)[:-1]]))
    ca.GlobalOptions.setSimplificationOnTheFly(True)
    return found


def compiled(f: Any, folder: Path) -> Any:
    """A library with the function in batch: `batch` on arrays of samples, `packed` on vectors."""
    import casadi as ca

    generator = ca.CodeGenerator("code", {"with_header": False})
    generator.add(f)
    text = generator.dump().split("CASADI_SYMBOL_EXPORT int evaluate(")[0]
    text = re.sub(r"arg\[(\d+)\]\? arg\[\1\]\[(\d+)\] : 0", r"arg[\1][\2]", text)
    text = re.sub(r"=(-?[0-9][0-9.e+-]*);", r"=vector{}+(\1);", text)
    inputs, outputs = [f.numel_in(k) for k in range(f.n_in())], [f.numel_out(k) for k in range(f.n_out())]
    listed = lambda sizes: ", ".join(map(str, sizes))  # noqa: E731
    driver = DRIVER % {
        "sizes_in": listed(inputs), "sizes_out": listed(outputs), "all_in": sum(inputs), "all_out": sum(outputs), 
        "inputs": len(inputs), "outputs": len(outputs), "count_in": f.sz_arg(), "count_out": f.sz_res(),
    }  # fmt: skip
    (folder / "code.cpp").write_text(VECTOR + text + driver, encoding="utf-8")
    subprocess.run([os.environ.get("CXX", "g++"), *OPTIONS, "code.cpp", "-o", "code.so"], cwd=folder, check=True)
    return ctypes.CDLL(str(folder / "code.so"))


def callers(
    library: Any, inputs: list[np.ndarray], outputs: list[np.ndarray]
) -> tuple[Callable[[], object], Callable[[], object]]:
    """Calls of both loops: on these arrays (n, size), and on the same numbers packed into vectors before."""
    double = ctypes.POINTER(ctypes.c_double)
    pointers = [(double * len(arrays))(*(a.ctypes.data_as(double) for a in arrays)) for arrays in (inputs, outputs)]
    count = len(inputs[0])
    x, y = (aligned(count * sum(a[0].size for a in arrays)) for arrays in (inputs, outputs))
    lanes = [a.reshape(count // LANES, LANES, -1).swapaxes(1, 2).reshape(count // LANES, -1) for a in inputs]
    x[:] = np.concatenate(lanes, axis=1).ravel()
    ends = [a.ctypes.data_as(double) for a in (x, y)]
    keep = (inputs, outputs, x, y)

    def plain() -> object:
        return library.batch(*pointers, ctypes.c_long(count)), keep

    def packed() -> object:
        return library.packed(*ends, ctypes.c_long(count // LANES)), keep

    return plain, packed


def aligned(count: int) -> np.ndarray:
    """Numbers whose first lies at a multiple of 64 bytes."""
    room = np.zeros(count + 8)
    at = (-room.ctypes.data % 64) // 8
    return room[at : at + count]


def measured(robot: fp.Robot, quantity: str, effort: Effort) -> dict[str, Any]:
    """Seconds per sample of our kernel and of CasADi's C, and how far their results are apart."""
    kernel, count = fp.kernel(robot, quantity), effort.size(20_000, 400)
    given = random_inputs(kernel, count)
    out = {o.name: np.empty((count, *o.shape)) for o in kernel.signature.outputs}
    result = {"operations": kernel.operations.total}
    result["ours"] = effort.best(lambda: kernel.batch(given, out=out, threads=1), 1.0) / count
    best: dict[str, float] = {"batch": np.inf, "packed": np.inf}
    for f in expressions(kernel, robot, quantity):
        theirs = [np.empty((count, *o.shape)) for o in kernel.signature.outputs]
        with tempfile.TemporaryDirectory() as folder:
            plain, packed = callers(compiled(f, Path(folder)), list(given.values()), theirs)
            seconds = {"batch": effort.best(plain, 0.8) / count, "packed": effort.best(packed, 0.4) / count}
        apart = max(float(np.abs(a - b).max() / np.abs(b).max()) for a, b in zip(theirs, out.values(), strict=True))
        assert apart < SAME, f"{robot.name}, {quantity}: CasADi's C differs by {apart:.1e}"
        if seconds["batch"] < best["batch"]:
            best = {**seconds, "instructions": f.n_instructions() - f.nnz_in() - f.nnz_out()}
    return result | best


def section(effort: Effort) -> str:
    """Table of both, and the ratios."""
    robots = [fp.load("stewart-3-3"), ups_robot(6, general=True)]
    quantities = dict(list(QUANTITIES.items())[: effort.size(4, 1)])
    rows, ratios, without = [], [], []
    try:
        for robot in robots[: effort.size(2, 1)]:
            for label, quantity in quantities.items():
                r = measured(robot, quantity, effort)
                ratios.append(r["batch"] / r["ours"])
                without.append(r["packed"] / r["ours"])
                rows.append((f"`{robot.name}`, {label}", r["operations"], shown(r["ours"]), r["instructions"], shown(r["batch"]),
                             shown(r["packed"]), times(ratios[-1])))  # fmt: skip
    except OSError:
        return joined(HEAD, "There is no C++ compiler here: nothing was compared.")
    head = ["", "our operations", "ours", "CasADi's instructions", "CasADi's C", "inputs packed before", "CasADi's C / ours"]
    said = [f"{times(min(values))} to {times(max(values))} times as long as our kernel" for values in (ratios, without)]
    between = f"CasADi's C takes {said[0]} in this run; with inputs packed before, {said[1]}, whose inputs are arrays of samples."
    return joined(HEAD, table(head, rows), between)


SAME = 1e-9
"""Largest difference of results, of their largest number: roundings through an elimination of six equations."""
HEAD = f"""## CasADi's C

The general routes, for robots outside the minimal equations, beside the C that CasADi generates for the same expressions
(`flexapod.casadi_function`: our tape, whose common terms are found already, with the robot's numbers put in and without
statuses), compiled by gcc -O3 -march=native with `casadi_real` as a vector of {LANES} samples. It is generated with and
without CasADi's own simplifications, and the faster one is shown. Ours keeps the robot's parameters as inputs and checks
every sample. Inputs and outputs of both are arrays of samples; the column "inputs packed before" leaves out what their
transposition to vectors costs CasADi's C. In `ups-6-general` no centre of mass, tensor, point, hip axis or gravity has a
component that is zero. The results of both agree to {SAME:g} of the largest, which the script checks.
"""

if __name__ == "__main__":
    print_section(section, __doc__)
