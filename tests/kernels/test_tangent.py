"""The tangent of a tape agrees with CasADi's own derivatives, and with central differences through loops and iterations."""

import casadi as ca
import numpy as np
import pytest

from flexapod.kernels.packing import interpreter
from flexapod.kernels.tape.program import Program
from flexapod.kernels.tape.tangent import tangent
from flexapod.kernels.tape.tape import make_tape

ROUNDING = 1e-13
"""A few dozen operations on numbers near one."""
DIFFERENCES = 2e-9
"""Error of central differences with a step of 1e-6: h^2 and rounding / h."""

UNARY = {
    "sqrt": ca.sqrt, "sin": ca.sin, "cos": ca.cos, "tan": ca.tan, "asin": ca.asin, "acos": ca.acos, "atan": ca.atan,
    "sinh": ca.sinh, "cosh": ca.cosh, "tanh": ca.tanh, "asinh": ca.asinh, "atanh": ca.atanh, "exp": ca.exp, "log": ca.log,
    "acosh": lambda x: ca.acosh(1 + x), "abs": lambda x: ca.fabs(x - 0.5), "floor": ca.floor, "sign": lambda x: ca.sign(x - 0.5),
    "expm1": ca.expm1, "log1p": ca.log1p,
}  # fmt: skip
BINARY = {
    "mul": lambda a, b: a * b, "div": lambda a, b: a / b, "atan2": ca.atan2, "pow": lambda a, b: a**b, "hypot": ca.hypot,
    "min": ca.fmin, "max": ca.fmax, "fmod": lambda a, b: ca.fmod(3 * a, b), "copysign": lambda a, b: ca.copysign(a, b - 0.5),
    "select": lambda a, b: ca.if_else(a < b, a * a, b * a),
}  # fmt: skip


@pytest.mark.parametrize("name", [*UNARY, *BINARY])
def test_every_operation_agrees_with_casadi(name: str) -> None:
    program = Program("one")
    x = program.input("x", (2,))
    y = UNARY[name](x[0]) * x[1] if name in UNARY else BINARY[name](x[0], x[1])
    program.output("y", y)
    points, seeds = np.random.default_rng(1).uniform(0.1, 0.9, (2, 20, 2))
    found = interpreter(tangent(make_tape(program))).batch({"x": points, "x_dot": seeds}).outputs["y_dot"]
    symbol = ca.SX.sym("x", 2)
    expression = UNARY[name](symbol[0]) * symbol[1] if name in UNARY else BINARY[name](symbol[0], symbol[1])
    reference = ca.Function("f", [symbol], [ca.jacobian(expression, symbol)])
    wanted = [float((reference(p) @ ca.DM(s)).full()[0, 0]) for p, s in zip(points, seeds, strict=True)]
    assert np.abs(found - wanted).max() <= ROUNDING * max(1.0, np.abs(wanted).max())


def looped() -> Program:
    """A counted loop, Newton's method for x = y^3 + y, and a parameter."""
    program = Program("looped")
    x, a = program.input("x", (3,)), program.parameter("a")

    def newton(_b: object, y: ca.SX, given: ca.SX) -> tuple[list[ca.SX], ca.SX]:
        step = (y**3 + y - given) / (3 * y * y + 1)
        return [y - step], ca.fabs(step)

    def row(b: Program, i: ca.SX, total: ca.SX, own: ca.SX) -> tuple[list[ca.SX], list[ca.SX]]:
        (y,), _, _ = b.iterate(newton, start=[ca.SX(1)], shared=[own * a], limit=50, tolerance=1e-9)
        return [total + y * (i + 1)], [ca.vertcat(y * y, total)]

    (total,), (rows,) = program.scan(row, 3, carry=[ca.SX(0)], each=[x.T])
    program.output("total", total)
    program.output("rows", rows.T, shape=(3, 2))
    return program


def test_loops_and_iterations_agree_with_differences() -> None:
    tape = make_tape(looped())
    kernel, derived = interpreter(tape), interpreter(tangent(tape))
    x, direction = np.random.default_rng(2).uniform(0.5, 2.0, (2, 5, 3))
    found = derived.batch({"x": x, "x_dot": direction}, [1.7]).outputs
    h = 1e-6
    plus, minus = (kernel.batch({"x": x + s * h * direction}, [1.7]).outputs for s in (1, -1))
    for name in ("total", "rows"):
        assert np.array_equal(found[name], kernel.batch({"x": x}, [1.7]).outputs[name])
        error = np.abs(found[f"{name}_dot"] - (plus[name] - minus[name]) / (2 * h)).max()
        assert error <= DIFFERENCES * np.abs(found[f"{name}_dot"]).max()
