"""Program: an algorithm in CasADi `SX` expressions, with named inputs, parameters, outputs and statuses.

Arrays are row-major at the boundary: input `shape (3, 3)` is an SX 3x3 whose row 0 comes first in memory.
More than two axes are folded into columns: shape (6, 3, 3) is an SX 6x9.

-0 and 0 are the same number in a program: do not let `copysign` or `atan2` decide on the sign of a zero.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import casadi as ca

from flexapod.arrays import SX, entries
from flexapod.kernels.errors import ProgramError
from flexapod.kernels.tape.checks import first_failing, statuses
from flexapod.kernels.tape.control_flow import Builder, LoopStep, ParameterRows
from flexapod.kernels.tape.signature import Input, Output, Parameter, Signature


class Program(Builder):
    """Root scope of an algorithm; see `Builder` for map, scan, iterate and fail_if.

    Args:
        single: it is evaluated one sample at a time; vectors then hold the instances of its short maps.
        factored: common factors are taken out of its sums (`factoring`); pays where products of several sines and lengths add up.
    """

    def __init__(self, name: str, *, single: bool = False, factored: bool = False) -> None:
        super().__init__()
        self.single = single
        self.factored = factored
        if not (name.isidentifier() and name.isascii()):
            raise ProgramError(f"program name {name!r} is not an identifier")
        self.name = name
        self._parameters: list[Parameter] = []
        self._declared: SX = ca.SX(0, 1)
        self._places: dict[str, int] = {}
        self._symbols_of: dict[str, SX] = {}
        self._inputs: dict[str, Input] = {}
        self._input_symbols: list[SX] = []
        self._outputs: dict[str, Output] = {}
        self._output_values: list[SX] = []
        self._counted: tuple[tuple[int, ...], list[int]] | None = None

    def parameters(self, parameters: Sequence[Parameter]) -> SX:
        """Declare all scalar parameters, once; returns them as a column."""
        if self._parameters:
            raise ProgramError("parameters are declared once")
        names = [p.name for p in parameters]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ProgramError(f"parameters declared twice: {', '.join(twice)}")
        self._parameters = list(parameters)
        symbols = [ca.SX.sym(name) for name in names]
        self._declared = ca.vertcat(*symbols) if symbols else ca.SX(0, 1)
        return self._declared

    def parameter(self, name: str, *, unit: str = "", doc: str = "") -> SX:
        """A scalar parameter by name, declared on first use; it is part of the signature if something reads it."""
        symbol = self._symbols_of.get(name)
        if symbol is None:
            self._declare([name], unit, doc)
            symbol = self._symbols_of[name] = ca.SX.sym(name)
        return symbol

    def parameter_rows(self, names: Sequence[str], count: int, *, unit: str = "", doc: str = "") -> ParameterRows:
        """Scalar parameters of one unit as rows of `count`, which a loop reads; thousands are declared in one step."""
        self._declare(names, unit, doc)

        def symbols() -> SX:
            return ca.reshape(ca.vertcat(*[self.parameter(name) for name in names]), count, len(names) // count).T

        return ParameterRows(names=names, count=count, symbols=symbols)

    def _declare(self, names: Sequence[str], unit: str, doc: str) -> None:
        """Add the parameters that are new."""
        if self._parameters and not self._places:
            raise ProgramError("parameters are declared either all at once or on first use")
        new = [name for name in dict.fromkeys(names) if name not in self._places]
        self._places.update(zip(new, range(len(self._parameters), len(self._parameters) + len(new)), strict=True))
        self._parameters += [Parameter(name=name, unit=unit, doc=doc) for name in new]

    def input(self, name: str, shape: Sequence[int] = (), *, unit: str = "", doc: str = "") -> SX:
        """Declare an array that is given per sample."""
        shape = self._new_name(name, shape)
        self._inputs[name] = Input(name=name, shape=shape, unit=unit, doc=doc)
        symbol = ca.SX.sym(name, *_matrix_shape(shape))
        self._input_symbols.append(ca.vec(symbol.T))
        return symbol

    def output(
        self,
        name: str,
        expression: SX,
        shape: Sequence[int] | None = None,
        *,
        unit: str = "",
        doc: str = "",
        dims: Sequence[str] = (),
    ) -> None:
        """Declare an array that is returned per sample; `shape` defaults to that of the expression."""
        value = ca.densify(ca.SX(expression))
        if shape is None:
            shape = () if value.shape == (1, 1) else (value.shape[0],) if value.shape[1] == 1 else value.shape
        shape = self._new_name(name, shape)
        if len(shape) == 1 and value.shape == (1, shape[0]):
            value = value.T
        if value.shape != _matrix_shape(shape):
            raise ProgramError(f"output {name!r}: shape {shape} does not fit an expression of shape {value.shape}")
        if dims and len(dims) != len(shape):
            raise ProgramError(f"output {name!r}: {len(dims)} dims for shape {shape}")
        self._outputs[name] = Output(name=name, shape=shape, unit=unit, doc=doc, dims=tuple(dims))
        self._output_values.append(ca.vec(value.T))

    @property
    def signature(self) -> Signature:
        """Names, shapes and units at the boundary."""
        return Signature(
            name=self.name,
            inputs=tuple(self._inputs.values()),
            parameters=tuple(self._parameters[k] for k in self._used()),
            outputs=tuple(self._outputs.values()),
            statuses=statuses(self._messages),
        )

    @property
    def input_symbols(self) -> SX:
        """All inputs as one column, in the order of memory."""
        return ca.vertcat(*self._input_symbols) if self._input_symbols else ca.SX(0, 1)

    @property
    def parameter_symbols(self) -> SX:
        """All parameters as one column."""
        if not self._places:
            return self._declared
        used = [self.parameter(self._parameters[k].name) for k in self._used()]
        return ca.vertcat(*used) if used else ca.SX(0, 1)

    @property
    def parameter_hashes(self) -> dict[str, int]:
        """`element_hash` of the parameters that have symbols, by name."""
        if not self._places:
            return {p.name: s.element_hash() for p, s in zip(self._parameters, entries(self._declared), strict=True)}
        return {name: symbol.element_hash() for name, symbol in self._symbols_of.items()}

    @property
    def results(self) -> SX:
        """All outputs as one column in the order of memory, then the status."""
        return ca.vertcat(*self._output_values, first_failing(self._checks))

    def _used(self) -> list[int]:
        """Positions of the parameters that count: all that were declared together, else those that something reads."""
        if not self._places:
            return list(range(len(self._parameters)))
        size = len(self._steps), len(self._output_values), len(self._checks), len(self._parameters)
        if self._counted is None or self._counted[0] != size:
            read = {symbol.element_hash() for symbol in ca.symvar(_operands(self._steps, self.results))}
            used = {self._places[name] for name, key in self.parameter_hashes.items() if key in read}
            rows = (e for step in self._steps for e in step.each if isinstance(e, ParameterRows))
            self._counted = size, sorted(used.union(*([self._places[name] for name in e.names] for e in rows)))
        return self._counted[1]

    def _new_name(self, name: str, shape: Sequence[int]) -> tuple[int, ...]:
        if name in self._inputs or name in self._outputs:
            raise ProgramError(f"the name {name!r} is used twice")
        if not (name.isidentifier() and name.isascii()) or name in ("parameters", "threads", "out"):
            raise ProgramError(f"{name!r} cannot be the name of an array")
        if any(not isinstance(n, int) or n < 1 for n in shape):
            raise ProgramError(f"{name!r}: shape {tuple(shape)} must consist of positive integers")
        return tuple(shape)


def _operands(steps: Sequence[LoopStep], outputs: SX) -> SX:
    """Everything that a scope computes, loops included, as one column."""
    parts = [outputs]
    for step in steps:
        parts += [step.expressions, _operands(step.body.steps, step.body.outputs)]
    return ca.vertcat(*parts)


def _matrix_shape(shape: Sequence[int]) -> tuple[int, int]:
    return (1, 1) if not shape else (shape[0], math.prod(shape[1:]))
