r"""Gradients of criteria by design variables: exact, from kernels that carry a direction of their parameters.

.. math:: \frac{df}{dx_i} = \frac{\partial f}{\partial y}\,\frac{\partial y}{\partial p}\,\frac{\partial p}{\partial x_i}

Letters: y outputs of kernels, p their parameters (polynomials of the design), f a criterion. Criteria that are functions of a
robot, that have no slope of their own, or whose numbers follow from no polynomial, take fourth-order differences.
"""

from __future__ import annotations

import numpy as np

from flexapod.arrays import Array
from flexapod.design.criteria import RULES
from flexapod.design.evaluate import Evaluator

STEP = 1e-3
"""Step of the differences, of half a variable's range: truncation 1e-12, rounding 1e-12."""


def gradient(evaluator: Evaluator, x: Array) -> Array:
    """d criteria / d variables (c, d) at one design (d,); NaN by choices and where a design is invalid.

    Checked by: tests/design/test_gradients.py.
    """
    found = np.full((len(evaluator.criteria), len(evaluator.axes)), np.nan)
    exact = [
        k for k, c in enumerate(evaluator.criteria)
        if evaluator.by_kernels and c.function is None and RULES[c.kind].slope is not None
    ]  # fmt: skip
    if exact and evaluator(x[None]).code[0] == 0:
        found[exact] = _exact(evaluator, x, exact)
    rest = [k for k in range(len(found)) if k not in exact]
    if rest:
        found[rest] = _differences(evaluator, x)[rest]
    found[:, [axis.choices is not None for axis in evaluator.axes]] = np.nan
    return found


def _exact(evaluator: Evaluator, x: Array, chosen: list[int]) -> Array:
    moved, change = evaluator.values.at(x[None])[0], evaluator.values.derivative(x)
    place = {name: k for k, name in enumerate(evaluator.values.names)}
    masses = [place[m] for m in evaluator.masses if m in place]
    outputs: dict[str, Array] = {}
    dots: dict[str, Array] = {"total_mass": change[:, masses].sum(axis=1)}
    needed = {kernel for k in chosen for kernel in RULES[evaluator.criteria[k].kind].kernels}
    for part, base in zip(evaluator.parts, evaluator.base, strict=True):
        if part.name not in needed:
            continue
        row, directions = base.copy(), np.zeros((len(x), len(base)))
        for j, i in [(j, place[name]) for j, name in enumerate(part.names) if name in place]:
            row[j], directions[:, j] = moved[i], change[:, i]
        own, dot = part.slopes(row, directions)
        outputs |= evaluator.continuous({name: value[None] for name, value in own.items()})
        dots |= dot
    one = {name: value[0] for name, value in outputs.items()}
    rows = []
    for k in chosen:
        c = evaluator.criteria[k]
        slope = RULES[c.kind].slope
        assert slope is not None
        rows.append(slope(one, dots, evaluator.options[c.name]))
    return np.array(rows)


def _differences(evaluator: Evaluator, x: Array) -> Array:
    """Fourth-order central differences of every criterion."""
    h = STEP * np.array([(a.high - a.low) / 2 for a in evaluator.axes])
    points = np.concatenate([x + s * np.diag(h) for s in (1.0, -1.0, 2.0, -2.0)])
    f = evaluator(points).criteria.reshape(4, len(h), -1)
    return np.asarray(((8 * (f[0] - f[1]) - (f[2] - f[3])) / (12 * h[:, None])).T)
