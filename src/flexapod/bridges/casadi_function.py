"""`casadi_function`: a quantity of a robot as a `casadi.Function`, for optimal control and derivatives of any order.

The operations of the kernel's tape become CasADi `SX` again: counted loops and iterations are written out.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Literal

import casadi as ca
import numpy as np

from flexapod.analysis.model.kernels import kernel_with_friction
from flexapod.analysis.model.model_names import identifier
from flexapod.calls import check_count, check_text, checked
from flexapod.errors import InputError
from flexapod.kernels.tape.graph import Graph, LoopNode
from flexapod.kernels.tape.walking import walk, written_out

if TYPE_CHECKING:
    from flexapod.arrays import SX
    from flexapod.robot.robot import Robot

OPERATIONS: dict[str, Callable[..., SX]] = {
    "add": lambda a, b: a + b, "mul": lambda a, b: a * b, "div": lambda a, b: a / b, "pow": lambda a, b: a**b,
    "select": ca.if_else, "abs": ca.fabs, "min": ca.fmin, "max": ca.fmax, "lt": ca.lt, "le": ca.le, "eq": ca.eq, "ne": ca.ne,
    "not": ca.logic_not, "and": ca.logic_and, "or": ca.logic_or,
    **{name: getattr(ca, name) for name in (
        "sqrt", "sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "exp",
        "log", "expm1", "log1p", "fmod", "hypot", "floor", "ceil", "sign", "copysign",
    )},
}  # fmt: skip


@checked(parameters=check_text, passes=check_count)
def casadi_function(
    robot: Robot, quantity: str, *, parameters: Literal["input", "named", "numbers"] = "input", passes: int = 8, **options: object
) -> ca.Function:
    """A quantity as a `casadi.Function` with named inputs and outputs.

    Args:
        quantity: as for `kernel`, e.g. ``"forward_dynamics"``, ``"inverse_dynamics"``, ``"inverse_kinematics"``.
        parameters: ``"input"``: the last input `parameters` (P,) takes the robot's numbers in the order of
            ``kernel(robot, quantity).signature``, whose `parameters` are the robot's own; ``"named"``: each number is an
            input of its own, `platform_mass` for ``platform.mass``, that has the robot's value where it is left out;
            ``"numbers"``: they are put in.
        passes: of iterations, which a `casadi.Function` cannot end early; Newton's method converges in four from a near start.
        options: as for `kernel`; ``friction=False`` leaves out the friction of the robot file.
    Returns:
        `casadi.Function`: inputs in the shape of the kernel's (vectors as columns, rotation 3 x 3), then `parameters`; outputs
        likewise, then `status` (0: evaluated).

    Checked by: tests/bridges/test_casadi_function.py.
    """
    from flexapod.analysis.requests.results import check_option

    check_option("parameters", parameters, ("input", "named", "numbers"))
    if passes < 1:
        raise InputError(f"passes: expected at least 1, got {passes}")
    bound = kernel_with_friction(robot, quantity, options)
    tape, signature = bound.compiled.tape, bound.signature
    given = [_symbol(i.name, i.shape) for i in signature.inputs]
    numbers = ca.SX.sym("parameters", len(signature.parameters))
    flat = [x for symbol in given for x in ca.vertsplit(ca.vec(symbol.T))]
    values = [ca.SX(float(x)) for x in bound.parameters] if parameters == "numbers" else ca.vertsplit(numbers)
    constants = _evaluated(tape.setup, list(values), passes)
    *results, status = _evaluated(tape.main, [*flat, *constants], passes)
    outputs, at = [], 0
    for o in signature.outputs:
        outputs.append(_shaped(results[at : at + o.size], o.shape))
        at += o.size
    names_in, names_out = [i.name for i in signature.inputs], [*(o.name for o in signature.outputs), "status"]
    if parameters == "input":
        given, names_in = [*given, numbers], [*names_in, "parameters"]
    defaults = [0.0] * len(given)
    if parameters == "named":
        given, names_in = [*given, *values], [*names_in, *(identifier(p.name, "p") for p in signature.parameters)]
        defaults += [float(x) for x in bound.parameters]
    twice = next((name for name in names_in if names_in.count(name) > 1), None)
    if twice is not None:
        raise InputError(f"casadi_function: two inputs of {robot.name} would have the name {twice!r}; use parameters='input'")
    return ca.Function(signature.name, given, [*outputs, ca.SX(status)], names_in, names_out, {"default_in": defaults})


def _symbol(name: str, shape: tuple[int, ...]) -> SX:
    return ca.SX.sym(name, *((1, 1) if not shape else (shape[0], math.prod(shape[1:]))))


def _shaped(values: Sequence[SX], shape: tuple[int, ...]) -> SX:
    rows, columns = (1, 1) if not shape else (shape[0], math.prod(shape[1:]))
    return ca.reshape(ca.vertcat(*values), columns, rows).T


def _evaluated(graph: Graph, arguments: list[SX], passes: int) -> list[SX]:
    """Outputs of a graph at expressions."""
    return walk(
        graph, arguments, const=ca.SX, neg=operator.neg, apply=lambda op, args: OPERATIONS[op](*args),
        loop=lambda loop, operands: _loop(loop, operands, passes),
    )  # fmt: skip


def _loop(loop: LoopNode, operands: list[SX], passes: int) -> list[SX]:
    """Results of a loop, written out; an iteration takes all its passes: Newton's method stays where it has converged."""
    if loop.tolerance is None:
        return written_out(loop, operands, ca.SX, lambda body, arguments: _evaluated(body, arguments, passes))
    carry, shared = list(loop.carry_operands(operands)), list(loop.shared_operands(operands))
    least: SX = ca.SX(np.inf)
    count = min(passes, loop.count)
    for i in range(count):
        *carry, error = _evaluated(loop.body, [ca.SX(i), *carry, *shared], passes)
        least = ca.fmin(least, error)
    return [*carry, least <= loop.tolerance, ca.SX(count)]
