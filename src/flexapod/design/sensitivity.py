r"""`sensitivity`: derivatives of criteria by parameters, and Sobol indices over their ranges.

.. math:: S_i = \frac{\mathrm{Var}_{x_i} E[f\,|\,x_i]}{\mathrm{Var} f}
          \approx \frac{\overline{f(B)\,(f(A_B^{(i)}) - f(A))}}{\mathrm{Var} f},\qquad
          T_i = \frac{\overline{(f(A) - f(A_B^{(i)}))^2}}{2\,\mathrm{Var} f}

Letters: A, B independent samples (a Sobol sequence of 2 d dimensions), A_B^(i) the sample A with column i of B, S first-order
and T total index. Local derivatives are exact where a criterion has a slope (`gradients`).

Source: Saltelli et al., Computer Physics Communications 181 (2010), Table 2 (b) and (f); Jansen (1999).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from flexapod.analysis.requests.arguments import checked
from flexapod.arrays import Array
from flexapod.design.criteria import make_criteria
from flexapod.design.evaluate import Evaluator
from flexapod.design.gradients import gradient
from flexapod.design.variables import make_axes
from flexapod.errors import InputError

if TYPE_CHECKING:
    import xarray as xr

    from flexapod.analysis.requests.design_values import Axis
    from flexapod.analysis.requests.state import State
    from flexapod.motions.motion import Motion
    from flexapod.robot.robot import Robot


MOST_DESIGNS = 50_000_000
"""Designs of Sobol indices at most: all of them are held at once, 100 bytes each and more."""


@checked
def sensitivity(
    robot: Robot,
    variables: Mapping[str, object],
    criteria: object,
    *,
    at: State | Motion | None = None,
    samples: int = 1024,
    seed: int = 1,
) -> xr.Dataset:
    """Effect of each parameter on each criterion, from a study.

    Args:
        variables, criteria, at: as for `study`; choices have indices but no derivatives.
        samples: base samples of the Sobol indices (a power of two is best), times (variables + 2) designs; 0 for none.
        seed: of the sequence.
    Returns:
        Dataset over (criterion, variable): `derivative` at the file's values, `change` over the range (low to high of the
        variable alone), `first_order` and `total` Sobol indices; `invalid`: designs left out.

    Checked by: tests/design/test_sensitivity.py.
    """
    import xarray as xr

    axes, wanted = make_axes(robot, variables), make_criteria(criteria)
    if isinstance(samples, bool) or not isinstance(samples, int | np.integer) or samples < 0:
        raise InputError(f"samples: expected a whole number from 0, got {samples!r}")
    if samples * (len(axes) + 2) > MOST_DESIGNS:
        raise InputError(
            f"samples: {samples * (len(axes) + 2):.3g} designs do not fit into memory; at most {MOST_DESIGNS:g} are allowed"
        )
    evaluator = Evaluator(robot, axes, wanted, at)
    low, high = np.array([a.low for a in axes]), np.array([a.high for a in axes])
    start = np.array([a.start for a in axes])
    found = evaluator(start[None])
    if found.code[0]:
        raise InputError(f"the robot of the file itself is invalid: {evaluator.reasons[found.code[0]]}")
    data: dict[str, Any] = {"derivative": (("criterion", "variable"), gradient(evaluator, start))}
    data["value"] = ("criterion", found.criteria[0])
    ends = [np.where(np.eye(len(axes), dtype=bool), bound, start) for bound in (low, high)]
    data["change"] = (("criterion", "variable"), (evaluator(ends[1]).criteria - evaluator(ends[0]).criteria).T)
    if samples:
        first, total, invalid = sobol_indices(lambda u: evaluator(_placed(axes, u)).criteria, len(axes), int(samples), seed)
        data |= {
            "first_order": (("criterion", "variable"), first),
            "total": (("criterion", "variable"), total),
            "invalid": invalid,
        }
    coords = {
        "criterion": [c.name for c in wanted], "criterion_unit": ("criterion", [c.unit for c in wanted]),
        "variable": [a.name for a in axes], "variable_unit": ("variable", [a.unit for a in axes]),
    }  # fmt: skip
    return xr.Dataset(data, coords=coords, attrs={"robot": robot.name, "samples": int(samples)})


def _placed(axes: Sequence[Axis], u: Array) -> Array:
    return np.stack([axis.placed(u[:, i]) for i, axis in enumerate(axes)], axis=1)


def sobol_indices(function: Callable[[Array], Array], d: int, samples: int, seed: int) -> tuple[Array, Array, int]:
    """First-order and total indices (c, d) of a function of the unit cube (n, d) -> (n, c); rows with NaN are left out.

    Checked by: tests/design/test_sensitivity.py.
    """
    from scipy.stats import qmc

    both = qmc.Sobol(2 * d, scramble=True, seed=seed).random(samples)
    A, B = both[:, :d], both[:, d:]
    mixed = [np.where(np.arange(d) == i, B, A) for i in range(d)]
    f = function(np.concatenate([A, B, *mixed])).reshape(d + 2, samples, -1)
    good = np.isfinite(f).all(axis=(0, 2))
    if good.sum() < 2:
        raise InputError("too few valid designs for Sobol indices; choose narrower limits of the variables, or samples=0")
    f = f[:, good]
    fA, fB, fM = f[0], f[1], f[2:]
    variance = np.concatenate([fA, fB]).var(axis=0)
    center = np.concatenate([fA, fB]).mean(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        first = ((fB - center) * (fM - fA)).mean(axis=1) / variance
        total = ((fA - fM) ** 2).mean(axis=1) / (2 * variance)
    return np.asarray(first.T), np.asarray(total.T), int((~good).sum())
