"""A compiled simulation bound to numbers: advances one trajectory or many over a table of rows."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping
from functools import partial
from operator import itemgetter
from typing import TYPE_CHECKING

import numpy as np

from flexapod.arrays import Array
from flexapod.kernels.cache import lookup_key
from flexapod.kernels.family import KernelFamily
from flexapod.simulation.controllers import MODEL
from flexapod.simulation.integrators.collocation import METHODS

if TYPE_CHECKING:
    from flexapod.kernels.kernel import Kernel
    from flexapod.kernels.tape.program import Program
    from flexapod.simulation.system.layout import Layout

TOGETHER = 256
"""Trajectories that are advanced together: their tables stay in the processor's cache."""


def zeros_of(layout: Layout) -> frozenset[str]:
    """Names of structural zeros, of the robot and of the controller's model."""
    model = layout.controller.own_model if layout.controller is not None else None
    return layout.robot.zeros if model is None else layout.robot.zeros | {MODEL + name for name in model.zeros}


def compiled(layout: Layout, what: str, make: Callable[[Layout], Program], values: Mapping[str, float]) -> tuple[Kernel, Array]:
    """The kernel of a layout and its parameters for given values."""
    springs = layout.controller is not None and layout.controller.stores
    observing = what not in ("run", "many simulations", "rhs", "control") and not layout.key.startswith("independent|")
    key = f"{what}|{springs}|{layout.robot.structure}" if observing else f"{what}|{layout.key}"
    zeros, kept = zeros_of(layout), layout.robot.kept
    place = ("compiled", key, zeros, lookup_key())
    if place not in kept:
        family = KernelFamily(lambda: make(layout), key, zeros)
        names = [p.name for p in family.specialised.signature.parameters]
        chosen = itemgetter(*names) if len(names) > 1 else lambda values: [values[name] for name in names]
        kept[place] = (family.specialised, chosen, [k for k, name in enumerate(names) if name in zeros])
    kernel, chosen, positions = kept[place]
    parameters = np.array(chosen(values))
    if parameters[positions].any():  # a structural zero was lost
        kernel = KernelFamily(lambda: make(layout), key, zeros).general
        parameters = np.array([values[p.name] for p in kernel.signature.parameters])
    return kernel, parameters


class Runner:
    """Runs one trajectory, or many.

    Args:
        layout: structure of the simulation.
        values: all numbers by name: robot, controller, limits.
        many: trajectories are advanced together.
    """

    def __init__(self, layout: Layout, values: Mapping[str, float], *, many: bool = False) -> None:
        from flexapod.simulation.integrators.compiled_rows import step_program

        self.layout = layout
        together = many and layout.method in METHODS  # stages of an implicit step take the lanes, or trajectories do
        what, make = ("many simulations", partial(step_program, single=False)) if together else ("run", step_program)
        self.kernel, self.parameters = compiled(layout, what, make, values)
        self.width = layout.row_width
        self._constants = self.kernel.constants(self.parameters)

    def reason(self, code: float) -> str:
        """Reason why a simulation stopped, from its status."""
        return self.kernel.signature.status(round(code)).text

    def advance(self, state: Array, table: Array, rows: Array) -> tuple[Array, int]:
        """Advance by all rows of a table.

        Args:
            state: (size,) carried numbers.
            table: (n, columns), n a multiple of the layout's rows, C-contiguous.
            rows: (n, width) to write to, C-contiguous.
        Returns:
            The carried numbers after the last row, and how many rows were written: fewer than n where the simulation stopped.
        """
        count, step = len(table), self.layout.rows
        fits = count % step == 0 and table.shape == (count, self.layout.columns) and rows.shape == (count, self.width)
        if not fits or state.shape != (self.layout.size,) or not (table.flags.c_contiguous and rows.flags.c_contiguous):
            raise ValueError(f"a table of {table.shape} and rows of {rows.shape} do not fit a loop over {step} rows")
        final, code = np.array(state), self.layout.places["code"].start
        call = self._caller(final, table, rows)
        done = 0
        while done < count:
            call(done)
            done += step
            if final[code] != 0.0:
                break
        return final, done

    def _caller(self, final: Array, table: Array, rows: Array) -> Callable[[int], None]:
        """A function that advances the state in place by the rows from a given one."""
        executable, step = self.kernel.executable, self.layout.rows
        status = np.zeros(1, dtype=np.int32)
        if executable.backend != "llvm":

            def interpret(first: int) -> None:
                part = slice(first, first + step)
                given = [final.reshape(1, -1).copy(), table[part].reshape(1, -1)]
                executable.run(given, self._constants, [rows[part].reshape(1, -1), final.reshape(1, -1)], status)

            return interpret
        from flexapod.kernels.llvm.backend import LlvmExecutable

        assert isinstance(executable, LlvmExecutable)
        main, one = executable.main, ctypes.c_int64(1)
        given, gives = (ctypes.c_void_p * 2)(), (ctypes.c_void_p * 2)()
        given[0] = gives[1] = final.ctypes.data  # fewer than 4 samples are copied before anything is written
        table_at, rows_at, constants = table.ctypes.data, rows.ctypes.data, ctypes.c_void_p(self._constants.ctypes.data)
        table_size, rows_size = 8 * table.shape[1], 8 * rows.shape[1]
        code = ctypes.c_void_p(status.ctypes.data)

        def run(first: int) -> None:
            given[1], gives[0] = table_at + first * table_size, rows_at + first * rows_size
            main(one, given, constants, gives, code)  # type: ignore[arg-type]

        return run


def advance_many(runner: Runner, states: Array, table: Array, parameters: Array | None, keep: Array) -> tuple[Array, Array]:
    """Advance many trajectories over one table.

    Args:
        states: (n, size).
        table: (rows, columns), a multiple of the layout's rows.
        parameters: (n, P), or None for the runner's own.
        keep: indices of the rows to return.
    Returns:
        Kept rows (n, len(keep), width), and final states (n, size).
    """
    layout, step = runner.layout, runner.layout.rows
    if len(table) % step or table.shape[1] != layout.columns or states.shape[1:] != (layout.size,):
        raise ValueError(f"a table of {table.shape} does not fit a loop over {step} rows")
    count, executable = len(states), runner.kernel.executable
    result = np.empty((count, len(keep), runner.width))
    final = np.array(states)
    for start in range(0, count, TOGETHER):
        part = slice(start, min(start + TOGETHER, count))
        n = part.stop - part.start
        constants = runner._constants if parameters is None else executable.setup(np.ascontiguousarray(parameters[part]))
        state, status = np.ascontiguousarray(final[part]), np.empty(n, dtype=np.int32)
        rows, following = np.empty((n, step * runner.width)), np.empty((n, layout.size))
        given = np.empty((n, step * layout.columns))
        for first in range(0, len(table), step):
            given[:] = table[first : first + step].reshape(1, -1)
            executable.run([state, given], constants, [rows, following], status)
            wanted = np.flatnonzero((keep >= first) & (keep < first + step))
            result[part, wanted] = rows.reshape(n, step, runner.width)[:, keep[wanted] - first]
            state, following = following, state
        final[part] = state
    return result, final
