"""NumPy backend: interprets a tape on arrays over samples; for debugging and where LLVM is missing."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexapod.arrays import Array
from flexapod.kernels.design_columns import ParameterColumns
from flexapod.kernels.tape.graph import Graph, LoopNode
from flexapod.kernels.tape.signature import NONFINITE_INPUT, NONFINITE_RESULT
from flexapod.kernels.tape.tape import Tape
from flexapod.kernels.tape.walking import walk, written_out

BLOCK = 512  # samples that are evaluated at a time, so that memory stays bounded


def _sign(x: Array) -> Any:
    return np.where(x > 0, 1.0, np.where(x < 0, -1.0, x))


NUMPY: dict[str, Callable[..., Any]] = {
    "add": np.add, "mul": np.multiply, "div": np.divide, "sqrt": np.sqrt, "sin": np.sin, "cos": np.cos,
    "tan": np.tan, "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan, "atan2": np.arctan2,
    "sinh": np.sinh, "cosh": np.cosh, "tanh": np.tanh, "asinh": np.arcsinh, "acosh": np.arccosh,
    "atanh": np.arctanh, "exp": np.exp, "log": np.log, "expm1": np.expm1, "log1p": np.log1p, "pow": np.power,
    "fmod": np.fmod, "hypot": np.hypot, "floor": np.floor, "ceil": np.ceil, "abs": np.abs, "sign": _sign,
    "copysign": np.copysign, "min": np.fmin, "max": np.fmax, "lt": np.less, "le": np.less_equal,
    "eq": np.equal, "ne": np.not_equal, "not": lambda x: x == 0, "and": lambda x, y: (x != 0) & (y != 0),
    "or": lambda x, y: (x != 0) | (y != 0), "select": lambda c, x, y: np.where(c != 0, x, y),
}  # fmt: skip


def evaluate(graph: Graph, arguments: Sequence[ArrayLike]) -> list[Any]:
    """Outputs of a graph for arguments that are arrays over samples, or numbers."""
    return walk(
        graph, arguments, const=np.float64, neg=operator.neg,
        apply=lambda op, args: np.asarray(NUMPY[op](*args), dtype=float), loop=_loop,
    )  # fmt: skip


def _loop(loop: LoopNode, operands: list[Array]) -> list[Any]:
    return written_out(loop, operands, np.float64, evaluate) if loop.tolerance is None else _until(loop, operands)


def _until(loop: LoopNode, operands: list[Array]) -> list[Any]:
    carry: list[Any] = list(loop.carry_operands(operands))
    shared = loop.shared_operands(operands)
    active: Any = np.asarray(True)
    converged: Any = np.asarray(0.0)
    passes: Any = np.asarray(0.0)
    for i in range(loop.count):
        *following, error = evaluate(loop.body, [np.float64(i), *carry, *shared])
        carry = [np.where(active, new, old) for new, old in zip(following, carry, strict=True)]
        passes = passes + active
        done = np.asarray(error <= loop.tolerance)
        converged = np.where(active & done, 1.0, converged)
        active = active & ~done & ~np.isnan(error)
        if not active.any():
            break
    return [*carry, converged, passes]


class NumpyExecutable:
    """A tape that can be run."""

    backend = "numpy"

    def __init__(self, tape: Tape) -> None:
        self.tape = tape
        self._sizes = [o.size for o in tape.signature.outputs]

    def setup(self, parameters: Array) -> Array:
        """Constants (m, S) of parameter sets (m, P)."""
        constants = np.empty((len(parameters), self.tape.constants))
        with np.errstate(all="ignore"):
            for k, value in enumerate(evaluate(self.tape.setup, list(parameters.T))):
                constants[:, k] = value
        return constants

    def run(self, inputs: Sequence[Array], constants: Array, outputs: Sequence[Array], status: NDArray[np.int32]) -> None:
        """Evaluate samples: arrays are (n, size); constants are (S,) or (n, S)."""
        for start in range(0, len(status), BLOCK):
            part = slice(start, start + BLOCK)
            own = constants if constants.ndim == 1 else constants[part]
            self._run_block([x[part] for x in inputs], own, [y[part] for y in outputs], status[part])

    def run_designs(
        self, inputs: Sequence[Array], columns: ParameterColumns, outputs: Sequence[Array], status: NDArray[np.int32]
    ) -> None:
        """Evaluate samples with parameters of their own."""
        for start in range(0, len(status), BLOCK):
            part = slice(start, start + BLOCK)
            constants = self.setup(columns.at(part).rows())
            self._run_block([x[part] for x in inputs], constants, [y[part] for y in outputs], status[part])

    def _run_block(self, inputs: Sequence[Array], constants: Array, outputs: Sequence[Array], status: NDArray[np.int32]) -> None:
        columns = [x[:, k] for x in inputs for k in range(x.shape[1])]
        with np.errstate(all="ignore"):
            *results, code = evaluate(self.tape.main, [*columns, *constants.T])
        status[:] = np.asarray(code, dtype=np.int32)
        finite = np.ones(len(status), dtype=bool)
        for x in inputs:
            finite &= np.isfinite(x).all(axis=1)
        status[~finite] = NONFINITE_INPUT
        finite[:] = True
        values = iter(results)
        for y in outputs:
            for k in range(y.shape[1]):
                y[:, k] = next(values)
            finite &= np.isfinite(y).all(axis=1)
        status[(status == 0) & ~finite] = NONFINITE_RESULT
        for y in outputs:
            y[status != 0] = np.nan
