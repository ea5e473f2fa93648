r"""The energy balance as a check during a simulation, which ends with the reason where the balance is violated.

.. math:: r(t) = \Delta(T + U + E) - W_{supplied} - W_{external} + Q

is zero on paper. It counts as broken where it is no number, or larger than `BROKEN` of the energy exchanged so far: the running
maximum of the sum of all terms' sizes, and at least `START` of what the robot has at the start, so that rounding of a robot at
rest is no break.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from flexapod.analysis.requests.validity import ValidityWarning
from flexapod.arrays import Array

Variables = dict[str, Any]

BROKEN = 0.1
"""Part of the exchanged energy that may be missing. Sound simulations leave 1e-8, coarse but usable ones 1e-3."""

START = 1e-6
"""Part of the energy at the start below which nothing counts as exchanged."""

NOTHING = 1e-18
"""Energy [J] that is rounding whatever the robot's size."""

NAMES = ("supplied_work", "external_work", "dissipated_energy")


def until_broken(
    name: str, variables: Variables, times: Array, named: float = np.inf, method: str = "rk4"
) -> tuple[Variables, Array, str]:
    """Variables and times up to the first row with a broken balance, and the reason; all rows and no reason where it holds.

    Args:
        name: of the robot, for the warning.
        variables: of a simulation, name -> (dimensions after time, values (n, ...), unit).
        method: of the simulation: the reason says what to try instead.
        named: time [s] from which on the reason is known already: rows with a broken balance are only left out.

    Checked by: tests/simulation/test_balance.py.
    """
    left = np.abs(variables["energy_residual"][1])
    size = exchanged(variables)
    broken = ~(left <= BROKEN * size)
    broken &= ~((left == 0.0) & (size == 0.0))
    if not broken.any():
        return variables, times, ""
    k = int(broken.argmax())
    if k > 0 and times[k] >= named:
        return {key: (dims, values[:k], unit) for key, (dims, values, unit) in variables.items()}, times[:k], ""
    shorter = "Lower rtol and atol" if method == "dopri" else "Shorten the step, or use method='dopri' (friction)"
    reason = (
        f"the energy balance is broken: {left[k]:.3g} J are missing of {size[k]:.3g} J exchanged (bound {BROKEN:.0%}). "
        f"{shorter} or method='implicit' (vibrations); where that does not help, the model has left its range"
    )
    warnings.warn(f"the simulation of {name} stopped at t = {times[k]:g} s: {reason}", ValidityWarning, stacklevel=4)
    return {key: (dims, values[: k + 1], unit) for key, (dims, values, unit) in variables.items()}, times[: k + 1], reason


def exchanged(variables: Variables) -> Array:
    """Energy exchanged up to every row (n,) [J]."""
    energies = [variables[key][1] for key in ("kinetic_energy", "potential_energy", "elastic_energy")]
    terms = [np.abs(e - e[0]) for e in energies]
    terms += [np.abs(variables[key][1]).reshape(len(energies[0]), -1).sum(axis=1) for key in NAMES if key in variables]
    with np.errstate(invalid="ignore", over="ignore"):
        size = np.maximum.accumulate(np.nan_to_num(np.sum(terms, axis=0), nan=0.0, posinf=np.finfo(float).max))
    return np.maximum(size, NOTHING / BROKEN + START * sum(abs(float(e[0])) for e in energies))
