"""Exported C in four builds, warnings as errors and sanitizers on, run on given samples through a driver of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

FLAGS = [
    "-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-fsanitize=address,undefined", "-fno-sanitize-recover=all",
]  # fmt: skip
BUILDS = [(compiler, level) for compiler in ("gcc", "clang") for level in ("-O0", "-O3") if shutil.which(compiler)]
CLEAN = {**os.environ, "ASAN_OPTIONS": "detect_leaks=1:abort_on_error=0", "UBSAN_OPTIONS": "print_stacktrace=1"}

DRIVER = """#include "{name}.h"

#include <stdio.h>
#include <stdlib.h>

static void in(double *values, size_t count)
{{
    if (fread(values, sizeof(double), count, stdin) != count) exit(2);
}}

int main(void)
{{
    double *constants = malloc(({upper}_CONSTANTS + 1) * sizeof(double));
    double *parameters = malloc(({upper}_PARAMETERS + 1) * sizeof(double));
    double count;
    in(parameters, {upper}_PARAMETERS);
    {name}_setup(parameters, constants);
    in(&count, 1);
    for (int i = 0; i < (int)count; ++i) {{
{buffers}
        const double status = {name}({call});
        if (!{name}_status_text((int)status)) return 3;
        fwrite(&status, sizeof(double), 1, stdout);
{out}
    }}
    free(constants);
    free(parameters);
    return 0;
}}
"""
"""Every array lies on the heap with its exact size, so that the sanitizer sees a read or write one beyond."""


@dataclass(frozen=True, kw_only=True)
class Run:
    """Statuses (n,) and outputs (n, *shape) by name."""

    status: Any
    outputs: dict[str, Any]


def write_driver(folder: Path, name: str, signature: Any) -> Path:
    buffers = [f"        double *x{k} = malloc({max(i.size, 1)} * sizeof(double));" for k, i in enumerate(signature.inputs)]
    buffers += [f"        in(x{k}, {i.size});" for k, i in enumerate(signature.inputs)]
    buffers += [f"        double *y{k} = malloc({max(o.size, 1)} * sizeof(double));" for k, o in enumerate(signature.outputs)]
    out = [f"        fwrite(y{k}, sizeof(double), {o.size}, stdout);" for k, o in enumerate(signature.outputs)]
    x, y = [f"x{k}" for k in range(len(signature.inputs))], [f"y{k}" for k in range(len(signature.outputs))]
    out += [f"        free({name});" for name in (*x, *y)]
    path = folder / f"{name}_driver.c"
    call = ", ".join([*x, "constants", *y])
    path.write_text(
        DRIVER.format(name=name, upper=name.upper(), buffers="\n".join(buffers), out="\n".join(out), call=call), encoding="utf-8"
    )
    return path


def translate(compiler: str, level: str, source: Path) -> Path:
    """The object file of a source; a warning is an error and fails with the compiler's text."""
    made = source.with_suffix(".o")
    _run([compiler, *FLAGS, level, "-c", str(source), "-o", str(made)])
    return made


def build(compiler: str, level: str, made: Path, main: Path, program: Path) -> None:
    """A program of an object file and a main of its own, as `translate`."""
    _run([compiler, *FLAGS, level, str(made), str(main), "-o", str(program), "-lm"])


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(command)}: {done.stderr[:2000]}"


def run_driver(program: Path, signature: Any, parameters: Any, inputs: Mapping[str, Any]) -> Run:
    count = len(next(iter(inputs.values()))) if inputs else 1
    rows = np.concatenate([np.asarray(inputs[i.name], dtype=np.float64).reshape(count, -1) for i in signature.inputs], axis=1)
    given = np.concatenate([np.asarray(parameters, dtype=np.float64).ravel(), [float(count)], rows.ravel()])
    done = subprocess.run([program], input=given.tobytes(), capture_output=True, check=False, env=CLEAN)
    assert (done.returncode, done.stderr) == (0, b""), done.stderr.decode()[:2000]
    table = np.frombuffer(done.stdout).reshape(count, -1)
    outputs, at = {}, 1
    for o in signature.outputs:
        outputs[o.name] = table[:, at : at + o.size].reshape(count, *o.shape)
        at += o.size
    return Run(status=table[:, 0].astype(int), outputs=outputs)
