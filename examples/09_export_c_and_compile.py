"""The inverse dynamics as C for a controller: write it, compile it, run its self-test, call it and compare.

Run: python examples/09_export_c_and_compile.py. It needs a C compiler (cc) and writes into out/c/.
"""

import ctypes
import shutil
import subprocess
from pathlib import Path

import numpy as np

import flexapod as fp

OUT = Path("out/c")
OUT.mkdir(parents=True, exist_ok=True)

robot = fp.load("hexapod")
files = fp.export_c(robot, "inverse_dynamics", OUT)  # C99, no allocation, math.h alone
print("wrote", ", ".join(path.name for path in files.values()))
print("per sample:", fp.kernel(robot, "inverse_dynamics").operations)

if shutil.which("cc") is None:
    raise SystemExit("no C compiler (cc) here: the files can be compiled elsewhere")
subprocess.run(["cc", "-std=c99", "-O2", files["source"], files["test"], "-o", OUT / "self-test", "-lm"], check=True)
print(subprocess.run([OUT / "self-test"], check=True, capture_output=True, text=True).stdout.strip())

# Call it as a controller would: constants once, then one sample after the other.
library = OUT / "controller.so"
subprocess.run(["cc", "-std=c99", "-O2", "-shared", "-fPIC", files["source"], "-o", library, "-lm"], check=True)
c = ctypes.CDLL(str(library.resolve()))
constants = (ctypes.c_double * 10_000)()
c.hexapod_inverse_dynamics_setup((ctypes.c_double * 1).in_dll(c, "hexapod_inverse_dynamics_parameters"), constants)

motion = fp.motions.sinatra_motion("rotation-z")
wanted = fp.inverse_dynamics(robot, motion).force.values
names = ("position", "rotation", "velocity", "angular_velocity", "acceleration", "angular_acceleration")
worst = 0.0
for k in range(len(motion)):
    given = [np.ascontiguousarray(getattr(motion, name)[k]).ctypes.data_as(ctypes.c_void_p) for name in names]
    force = np.zeros(6)
    status = c.hexapod_inverse_dynamics(*given, constants, force.ctypes.data_as(ctypes.c_void_p))
    assert status == 0, f"sample {k}: status {status}"
    worst = max(worst, float(abs(force - wanted[k]).max()))
print(f"{len(motion)} samples in C differ from Python by {worst:.1e} N at most")
