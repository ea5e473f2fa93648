"""A map in layers gives what its function gives, and its loops hold nothing but plain arithmetic."""

from __future__ import annotations

import re

import casadi as ca
import numpy as np

from flexapod.kernels.c.export import export_c
from flexapod.kernels.tape.layers import map_in_layers
from flexapod.kernels.tape.program import Program
from support.plain import compile_kernel

COUNT = 6
ROUNDING = 1e-14
"""Relative and absolute: a dozen operations on numbers of size one."""


def body(x, p, w):
    """Functions on functions, a selection, a result that is an input, one without any input and one without instances."""
    size = ca.sqrt(ca.dot(x, x) + p * p)
    bend = ca.tanh(size / w[0]) * x[0]
    chosen = ca.if_else(x[1] > p, bend, x[2] / size)
    return [ca.vertcat(chosen * w[1], bend + chosen, x[0]), ca.vertcat(size * size, 2.5, w[0] * w[1])]


def program(layered):
    b = Program("layers")
    x, w = b.input("x", (COUNT, 3)), b.input("w", (2,))
    p = ca.horzcat(*[b.parameter(f"p{k}") for k in range(COUNT)])
    if layered:
        own, common = [ca.SX.sym("x", 3), ca.SX.sym("p")], ca.SX.sym("w", 2)
        first, second = map_in_layers(
            b, body(*own, common), COUNT, each=list(zip(own, [x.T, p], strict=True)), shared=[(common, w)]
        )
    else:
        found = [body(x[k, :].T, p[k], w) for k in range(COUNT)]
        first, second = (ca.horzcat(*[one[i] for one in found]) for i in range(2))
    b.output("first", first.T, (COUNT, 3))
    b.output("second", second.T, (COUNT, 3))
    return b


def test_values_are_those_of_the_function():
    rng = np.random.default_rng(3)
    inputs = {"x": rng.normal(size=(20, COUNT, 3)), "w": rng.uniform(0.5, 2.0, size=(20, 2))}
    numbers = rng.normal(size=COUNT)
    plain, layered = (compile_kernel(program(k)).batch(inputs, numbers).outputs for k in (False, True))
    for name, values in plain.items():
        np.testing.assert_allclose(layered[name], values, rtol=ROUNDING, atol=ROUNDING)


def test_loops_hold_plain_arithmetic_only(tmp_path):
    """What compilers cannot turn into vector instructions is outside of them."""
    golden = {"x": np.ones((1, COUNT, 3)), "w": np.ones((1, 2))}
    files = export_c(program(True), tmp_path, name="layers", golden_inputs=golden, parameters=np.ones(COUNT))
    text = next(path for path in files.values() if path.name == "layers.c").read_text()
    loops = re.findall(rf"for \(int i\d+ = 0; i\d+ < {COUNT}; .*?\n    }}", text, re.DOTALL)
    assert len(loops) >= 3  # before the root, between it and tanh, after it
    assert not any(word in loop for loop in loops for word in ("sqrt", "tanh", "?", "fmax"))
