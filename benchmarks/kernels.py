"""Times of a synthetic kernel of about 2500 operations, straight-line and looped.

Usage: python benchmarks/kernels.py [results.json]
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

LEGS = 6
PER_LEG = 16
SAMPLES = 8192
STATE = ("position", "velocity", "angular_velocity", "acceleration", "angular_acceleration")


def leg(b, q, p, R, v, w, a, dw):
    """Two rigid bodies on a line of variable length: the mix of operations of rigid inverse dynamics."""
    import casadi as ca

    r = R @ q[0:3]
    d = p + r - q[3:6]
    length = ca.norm_2(d)
    b.fail_if(length < 1e-9, "leg {index} has no length")
    n = d / length
    v_S, a_S = v + ca.cross(w, r), a + ca.cross(dw, r) + ca.cross(w, ca.cross(w, r))
    rate, w_L = ca.dot(n, v_S), ca.cross(n, v_S) / length
    dw_L = (ca.cross(n, a_S) - 2 * rate * w_L) / length
    x = ca.cross(q[6:9], n)
    x = x / ca.norm_2(x)
    E = ca.horzcat(x, ca.cross(n, x), n)
    force, moment, along = ca.SX.zeros(3), ca.SX.zeros(3), [rate]
    for k, m in enumerate((q[9], q[10])):
        inertia = E @ ca.diag(q[11 + 2 * k : 13 + 2 * k][[0, 0, 1]]) @ E.T
        c = n * (q[15] + k * length)
        a_C = ca.cross(dw_L, c) + ca.cross(w_L, ca.cross(w_L, c)) + k * (2 * rate * ca.cross(w_L, n))
        f = m * (a_C + ca.vertcat(0, 0, 9.81))
        force, along = force + f, [*along, ca.dot(n, f)]
        moment += inertia @ dw_L + ca.cross(w_L, inertia @ w_L) + ca.cross(c, f) + ca.cross(r, f)
    return ca.vertcat(force, moment), ca.vertcat(*along)


def synthetic(unroll=True):
    """Program of six such legs."""
    import casadi as ca

    from flexapod.kernels import Parameter, Program

    b = Program("synthetic")
    parameters = b.parameters([Parameter(name=f"leg{i}.p{k}") for i in range(LEGS) for k in range(PER_LEG)])
    p = b.input("position", (3,))
    R = b.input("rotation", (3, 3))
    v, w, a, dw = (b.input(name, (3,)) for name in STATE[1:])
    own = ca.reshape(parameters, PER_LEG, LEGS)
    wrench, along = b.map(leg, LEGS, each=[own], shared=[p, R, v, w, a, dw], unroll=unroll)
    b.output("wrench", ca.sum2(wrench), (6,))
    b.output("legs", wrench, (6, LEGS))
    b.output("along", along, (3, LEGS))
    return b


def best(work, repeat=30):
    """Shortest time of a call [s]."""
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def measure(unroll):
    """Times of one variant, by name."""
    from flexapod.kernels.llvm.backend import compile_shared
    from flexapod.kernels.llvm.jit import target_identity
    from flexapod.kernels.packing import kernel_from_tape
    from flexapod.kernels.tape.tape import make_tape

    target_identity()  # LLVM is loaded and initialised
    synthetic()  # CasADi is loaded
    start = time.perf_counter()
    program = synthetic(unroll)
    traced = time.perf_counter()
    tape = make_tape(program)
    derived = time.perf_counter()
    compile_shared(tape)
    compiled = time.perf_counter()
    kernel = kernel_from_tape(tape, "llvm")[0]
    rng = np.random.default_rng(0)
    parameters = rng.uniform(0.5, 2.0, size=LEGS * PER_LEG)
    inputs = {i.name: rng.normal(size=(SAMPLES, *i.shape)) for i in kernel.signature.inputs}
    out = kernel.batch(inputs, parameters).outputs
    study = np.tile(parameters, (SAMPLES, 1))
    kernel.batch(inputs, study)
    fast = kernel.prepare(parameters)
    for name, values in inputs.items():
        fast.inputs[name][...] = values[0]
    arrays = kernel_from_tape(tape, "numpy")[0]
    per_sample = 1e9 / SAMPLES
    return {
        "operations": kernel.operations.total,
        "setup_operations": kernel.setup_operations.total,
        "trace_s": traced - start,
        "tape_s": derived - traced,
        "compile_s": compiled - derived,
        "batch_ns_per_sample": per_sample * best(lambda: kernel.batch(inputs, parameters, out=out)),
        "batch_2_threads_ns_per_sample": per_sample * best(lambda: kernel.batch(inputs, parameters, out=out, threads=2)),
        "study_ns_per_sample": per_sample * best(lambda: kernel.batch(inputs, study, out=out)),
        "numpy_ns_per_sample": per_sample * best(lambda: arrays.batch(inputs, parameters), 3),
        "prepared_call_us": 1e3 * best(lambda: [fast() for _ in range(1000)]),
    }


WARM = """
import time
start = time.perf_counter()
import sys
sys.path.insert(0, sys.argv[1])
import kernels as benchmark
import numpy as np
from flexapod.kernels import cached_kernel
kernel = cached_kernel("benchmark", benchmark.synthetic)
inputs = {i.name: np.ones((4, *i.shape)) for i in kernel.signature.inputs}
kernel.batch(inputs, np.ones(len(kernel.signature.parameters)))
print(time.perf_counter() - start)
"""


def starts():
    """Time from the first line of a process to a first result [s], without and with a filled cache."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-c", WARM, str(Path(__file__).resolve().parent)]
        env = {**os.environ, "FLEXAPOD_CACHE": folder}
        times = [float(subprocess.run(command, env=env, capture_output=True, check=True).stdout) for _ in range(4)]
    return {"cold_start_s": times[0], "warm_start_s": min(times[1:])}


def main():
    results = {"straight_line": measure(True), "looped": measure(False), "process": starts()}
    for variant, figures in results.items():
        print(variant)
        for name, value in figures.items():
            print(f"  {name:32}{value:10.4g}")
    if len(sys.argv) > 1:
        Path(sys.argv[1]).write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
