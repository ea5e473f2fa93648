"""The model inside an FMU, as kernels with one interface for all robots.

`rates`: state, memory (where iterations start), signals (inputs) in; derivative, result (outputs), closed (memory of the next
call), settled (the state on the loops) and margin (below zero: out of a stroke) out. `step`: carried numbers and one row of a
table in, carried numbers out, as `simulate` runs it. A block without states is any kernel. Systems of second order give terms
instead of rates (`IndependentSystem`): solution and implicit steps are those of second_order.c. Explicit steps without a tape are
those of rk4.c.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from flexapod.kernels.tape.tape import Tape
from flexapod.simulation.integrators.collocation import Collocation


@dataclass(frozen=True, kw_only=True)
class FMUVariable:
    """A scalar at the boundary of an FMU."""

    name: str
    unit: str = ""
    start: float = 0.0
    doc: str = ""


@dataclass(frozen=True, kw_only=True)
class Stepping:
    """Stepping of a co-simulation.

    Args:
        tape: inputs `state` (carried) and `table` (1, columns), outputs `rows` and `final`; None where steps are taken in C.
        lead: numbers before the signals in a row of the table; nodes: how often the signals follow.
        carried: numbers at the start; code: which of them is the status.
        state_places, memory_place: where the states lie among the carried numbers, and the first one of the memory.
    """

    tape: Tape | None = None
    lead: int
    nodes: int
    carried: Sequence[float]
    code: int
    state_places: Sequence[int]
    memory_place: int


@dataclass(frozen=True, kw_only=True)
class Implicit:
    """Implicit steps of second_order.c.

    Args:
        matrices: a closed state and memory in, `stiffness` and `damping` (z, z) out.
        method: coefficients of the step.
    """

    matrices: Tape
    method: Collocation


@dataclass(frozen=True, kw_only=True)
class IndependentSystem:
    r"""Structure of a system :math:`N^T(M_z(N\ddot u + \beta) + f) = 0` with states u and their rates.

    The kernel of the rates gives instead of `derivative`: `mass` (z, z), `forces` (z,) and, where coordinates are bound,
    `slope` (b, u) X and `drift` (b,) beta; accelerations of the `driven` columns follow its `result` among the outputs.

    Args:
        columns: length of z; independent, bound, driven: columns of it.
        implicit: of steps by collocation; None: they are those of rk4.c.
    """

    columns: int
    independent: Sequence[int]
    bound: Sequence[int]
    driven: Sequence[int]
    implicit: Implicit | None


@dataclass(frozen=True, kw_only=True)
class Plant:
    """All that a source text and a model description are made from.

    Args:
        margins: names of the margins; leaving: what to say where one is below zero.
        memory: start values of the iterations.
        parameters: of all kernels together.
        fixed: values of parameters that kernels read and that cannot be tuned.
        step: length of an inner step of co-simulation [s].
    """

    name: str
    about: str
    states: list[FMUVariable]
    inputs: list[FMUVariable]
    outputs: list[FMUVariable]
    margins: list[FMUVariable]
    leaving: list[str]
    memory: list[float]
    parameters: list[FMUVariable]
    rates: Tape
    stepping: Stepping | None = None
    second_order: IndependentSystem | None = None
    step: float = 1e-3
    fixed: Mapping[str, float] = field(default_factory=dict)

    @property
    def explicit(self) -> bool:
        """Whether its steps are those of rk4.c, made of its rates."""
        in_c = self.stepping is not None and self.stepping.tape is None
        return in_c and (self.second_order is None or self.second_order.implicit is None)


AXES = "xyz"


def vector(name: str, unit: str, start: Iterable[float], doc: str, labels: Sequence[str] = AXES) -> list[FMUVariable]:
    """Variables `<name>.<label>`."""
    return [FMUVariable(name=f"{name}.{k}", unit=unit, start=float(x), doc=doc) for k, x in zip(labels, start, strict=True)]
