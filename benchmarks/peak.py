"""Peak of one core: double-precision operations per second of independent fused multiply-adds, in a small loop of C."""

from __future__ import annotations

import ctypes
import os
import subprocess
import tempfile
from pathlib import Path

from reporting import Effort

CHAINS, ROUNDS = 12, 1_000_000
"""Chains hide the latency of the operation: four cycles by two units need eight at least; twelve vectors fit the registers."""
SOURCE = """
typedef double vector __attribute__((vector_size(BYTES)));
double peak(double start, long rounds)
{
    vector x[CHAINS], a = {0}, b = {0};
    a += 0.999999; b += 1e-7;
    for (int k = 0; k < CHAINS; ++k) x[k] = b + start * k;
    for (long i = 0; i < rounds; ++i) {
#pragma GCC unroll 16
        for (int k = 0; k < CHAINS; ++k) x[k] = x[k] * a + b;
    }
    double sum = 0;
    for (int k = 0; k < CHAINS; ++k) sum += x[k][0] + x[k][BYTES / 8 - 1];
    return sum;
}
"""


def fma_peak(effort: Effort) -> float | None:
    """Operations per second, a fused one counted as two; the better of vectors of 256 and 512 bits. None without a C compiler."""
    found = []
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "peak.c").write_text(SOURCE, encoding="utf-8")
        for size in (32, 64):
            library = Path(folder) / f"peak{size}.so"
            options = [
                "-O2",
                "-march=native",
                "-ffp-contract=fast",
                "-shared",
                "-fPIC",
                "-w",
                f"-DBYTES={size}",
                f"-DCHAINS={CHAINS}",
            ]
            try:
                subprocess.run([os.environ.get("CC", "cc"), *options, "peak.c", "-o", library], cwd=folder, check=True)
            except (OSError, subprocess.CalledProcessError):
                return None
            loop = ctypes.CDLL(str(library)).peak
            loop.argtypes, loop.restype = (ctypes.c_double, ctypes.c_long), ctypes.c_double
            rounds = effort.size(ROUNDS, 1000)
            found.append(2 * CHAINS * (size // 8) * rounds / effort.best(lambda f=loop, n=rounds: f(1.0, n), 1.0))
    return max(found)
