"""Kernels against the peak of the processor; backends, loops and the cache.

    python benchmarks/kernels.py [--quick]
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from peak import fma_peak
from reporting import joined, print_section, shown, table

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

    from flexapod.kernels.tape.program import Program
    from flexapod.kernels.tape.signature import Parameter

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


def measure(unroll, effort):
    """Operations and seconds of one variant, by name."""
    from flexapod.kernels.llvm.backend import compile_shared
    from flexapod.kernels.packing import kernel_from_tape
    from flexapod.kernels.tape.tape import make_tape

    start = time.process_time()
    program = synthetic(unroll)
    traced = time.process_time()
    tape = make_tape(program)
    derived = time.process_time()
    compile_shared(tape)
    compiled = time.process_time()
    kernel = kernel_from_tape(tape, "llvm")[0]
    random, samples = np.random.default_rng(0), effort.size(SAMPLES, 64)
    parameters = random.uniform(0.5, 2.0, size=LEGS * PER_LEG)
    inputs = {i.name: random.normal(size=(samples, *i.shape)) for i in kernel.signature.inputs}
    out = kernel.batch(inputs, parameters).outputs
    study = np.tile(parameters, (samples, 1))
    fast = kernel.prepare(parameters)
    for name, values in inputs.items():
        fast.inputs[name][...] = values[0]
    arrays = kernel_from_tape(tape, "numpy")[0]
    return {
        "operations per sample": kernel.operations.total,
        "operations per parameter set": kernel.setup_operations.total,
        "expressions written": traced - start,
        "tape": derived - traced,
        "machine code": compiled - derived,
        "a sample in batch, parameters fixed": effort.best(lambda: kernel.batch(inputs, parameters, out=out)) / samples,
        "a sample in batch, parameters of its own": effort.best(lambda: kernel.batch(inputs, study, out=out)) / samples,
        "a sample in batch, NumPy backend": effort.best(lambda: arrays.batch(inputs, parameters), 0.3, 2) / samples,
        "one prepared call from Python": effort.best(fast, 0.5, calls=1000),
    }


WARM = """
import time
start = time.perf_counter()
import sys
sys.path.insert(0, sys.argv[1])
import kernels as benchmark
import numpy as np
from flexapod.kernels.cache import cached_kernel
kernel = cached_kernel("benchmark", benchmark.synthetic)
inputs = {i.name: np.ones((4, *i.shape)) for i in kernel.signature.inputs}
kernel.batch(inputs, np.ones(len(kernel.signature.parameters)))
print(time.perf_counter() - start)
"""


def starts():
    """Seconds of a process to its first result, without and with a filled cache (wall clock)."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-c", WARM, str(Path(__file__).resolve().parent)]
        env = {**os.environ, "FLEXAPOD_CACHE": folder}
        times = [float(subprocess.run(command, env=env, capture_output=True, check=True).stdout) for _ in range(3)]
    return times[0], min(times[1:])


def against_peak(effort):
    """Rows of kernels: operations, seconds per sample, operations per second, percentage of the measured peak; and the peak."""
    from random_inputs import random_inputs

    import flexapod as fp

    peak, rows = fma_peak(effort), []
    for label, name, quantity, options in PAGE[: effort.size(len(PAGE), 1)]:
        kernel = fp.kernel(fp.load(name), quantity, **options)
        given = random_inputs(kernel, effort.size(20_000, 500))
        out, count = kernel.batch(given).outputs, len(next(iter(given.values())))
        seconds = effort.best(lambda k=kernel, g=given, o=out: k.batch(g, out=o, threads=1), 1.5) / count
        rate = kernel.operations.total / seconds
        share = None if peak is None else f"{100 * rate / peak:.0f} %"
        rows.append((f"`{name}`, {label}", kernel.operations.total, shown(seconds), f"{rate / 1e9:.1f}", share))
    return rows, peak


PAGE = (
    ("inverse dynamics, minimal equations", "bench-6ups", "minimal_inverse_dynamics", {}),
    ("inverse dynamics, virtual power", "bench-6ups", "virtual_power", {}),
    ("forward dynamics, minimal equations", "bench-6ups", "minimal_forward_dynamics", {}),
    ("forward dynamics, virtual power", "bench-6ups", "forward_dynamics", {}),
    ("inverse dynamics, minimal equations", "stewart-3-3", "minimal_inverse_dynamics", {}),
    ("inverse dynamics, virtual power", "stewart-3-3", "virtual_power", {}),
    ("inverse dynamics, link axes", "stewart-3-3", "link_inverse_dynamics", {}),
    ("forward dynamics, link axes", "stewart-3-3", "link_forward_dynamics", {}),
    ("direct model, ten modes", "gough-stewart-flexible", "flexible_forward_dynamics", {}),
    ("inverse model, ten modes", "gough-stewart-flexible", "flexible_inverse_dynamics", {}),
    ("direct model with friction", "dualemps", "elastic_forward_dynamics", {"friction": True}),
    ("inverse model with friction", "dualemps", "elastic_inverse_dynamics", {"friction": True}),
    ("inverse kinematics", "delta", "inverse_kinematics", {"detail": "actuators"}),
)
SIX = 6
"""Rigid kernels that the aim is set for, at the beginning of the table."""
AIM = 45


def section(effort):
    """Kernels of robots against the peak; one synthetic kernel by every way of running it."""
    from flexapod.kernels.llvm.jit import target_identity

    target_identity()  # LLVM is loaded and initialised
    synthetic()  # CasADi is loaded
    rows, peak = against_peak(effort)
    head = ["kernel, batch on one core", "operations", "time per sample", "1e9 operations/s", "of the peak"]
    if peak is None:
        said = "There is no C compiler here: the peak was not measured."
    else:
        least = min(int(row[4].split()[0]) for row in rows[:SIX])
        said = (f"Measured peak: {peak / 1e9:.1f}e9 operations/s. The first six kernels reach {least} % of it or more; "
                f"the aim is {AIM} %.")  # fmt: skip
    straight, looped = (measure(unroll, effort) for unroll in (True, False))
    both = [(name, *(v if "operations" in name else shown(v) for v in (straight[name], looped[name]))) for name in straight]
    cold, warm = starts()
    process = f"A new process has a first result after {shown(cold)}, after {shown(warm)} with a filled cache (wall clock)."
    return joined(HEAD, table(head, rows), said, SYNTHETIC, table(["", "written out", "legs as a loop"], both), process)


HEAD = """## Kernels and the peak of the processor

Batches on one core, random states. The peak is that of independent fused multiply-adds in a small loop of C, measured in the
same process; a fused operation counts two. No kernel reaches it: only sums of products fuse, divisions and roots take longer.
A function counts as one operation, so that kernels with sines and tanh (`dualemps`, `delta`) stay lower.
"""
SYNTHETIC = """
A synthetic kernel (six legs of two rigid bodies, the operations of rigid inverse dynamics), its legs written out and as a
loop of the tape; CPU time, without any cache:
"""

if __name__ == "__main__":
    print_section(section, __doc__)
