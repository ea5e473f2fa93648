r"""`tolerance`: errors of the platform's pose due to tolerances of the parts.

.. math:: e = D\,\delta,\qquad \sigma_e^2 = \sum_k D_k^2\,\sigma_k^2,\qquad e_{\max} = \sum_k |D_k|\,t_k,\qquad
          D = \partial e/\partial p

Letters: e pose error (displacement, small rotation) at held actuators, delta deviations of parameters, t their tolerance (plus or
minus), sigma their standard deviation: t/3 of a normal distribution, t/sqrt(3) of a uniform one. A joint with clearance c rests
against its socket in the direction of its force f: its centre moves by c f/|f|.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from flexapod.analysis.requests.abilities import refuse
from flexapod.analysis.requests.arguments import checked
from flexapod.analysis.requests.state import State
from flexapod.arrays import Array
from flexapod.design.clearances import clearance_shift
from flexapod.design.criterion_errors import CriterionErrors
from flexapod.design.pose_errors import PerturbedPoses, expand
from flexapod.errors import InputError

if TYPE_CHECKING:
    import xarray as xr

    from flexapod.motions.motion import Motion
    from flexapod.robot.robot import Robot

COMPONENTS = ("x", "y", "z", "rx", "ry", "rz")

BLOCK = 16_384
"""Samples of a Monte-Carlo block; a block is drawn from its number alone."""


MOST_SAMPLES = 500_000_000
"""Samples times poses at most: quantiles need them all, 4 bytes each."""


@checked
def tolerance(
    robot: Robot,
    tolerances: object,
    at: State | Motion | None = None,
    *,
    criteria: object = None,
    clearances: Mapping[str, float] | float | None = None,
    wrench: ArrayLike | None = None,
    samples: int = 0,
    distribution: str = "normal",
    seed: int = 1,
    threads: int | None = None,
) -> xr.Dataset:
    """Pose errors from tolerances of the parts, actuators held.

    Args:
        tolerances: parameter path -> plus or minus, e.g. ``{"legs.*.hip.at": "20 um"}``; components of vectors are independent.
        at: poses (`State`); home if left out.
        criteria: also how these scatter (forces, frequencies, ...; as for `study`).
        clearances: joint -> radial clearance, e.g. ``{"legs.*.ball": "5 um"}``; the load at rest decides where it lies.
        wrench: load (6,) [N, N m] on the platform, for the clearances.
        samples: of a Monte-Carlo simulation with the exact kinematics; 0 for none.
        distribution: ``"normal"`` (the tolerance is three standard deviations) or ``"uniform"``.
        seed: of the samples.
        threads: of the samples; all processors if left out.
    Returns:
        Dataset over (pose, component x, y, z [m], rx, ry, rz [rad]) and source: `derivative`, `contribution` (standard deviation
        by source), `deviation` (root of the sum of squares), `worst_case`, `clearance_shift`; `displacement` and
        `worst_displacement` (pose) [m], first-order; `gain` (source): fall of the mean square displacement per relative
        tightening of a source;
        `tighten_first` in the attributes. With samples also `sampled_mean`, `sampled_deviation`, `sampled_covariance`,
        `sampled_displacement` (quantile), `failed` (pose). With criteria `criterion_value`, `criterion_derivative` (by source),
        `criterion_deviation`, `criterion_worst_case` (change), and with samples `sampled_criterion_mean`, `_deviation` and
        `sampled_criterion` (quantile).

    Checked by: tests/design/test_tolerance.py.
    """
    import xarray as xr

    refuse(robot, "tolerance", wrench=wrench, clearances=clearances)
    at = State.at_home(robot) if at is None else at
    amounts = expand(robot, "tolerances", tolerances)
    if distribution not in ("normal", "uniform"):
        raise InputError(f"distribution: 'normal' or 'uniform', not {distribution!r}")
    if isinstance(samples, bool) or not isinstance(samples, int | np.integer) or samples < 0:
        raise InputError(f"samples: expected a whole number from 0, got {samples!r}")
    paths, t = list(amounts), np.array(list(amounts.values()))
    problem = PerturbedPoses(robot, paths, at)
    D = problem.derivative()
    sigma = t / (3.0 if distribution == "normal" else np.sqrt(3.0))
    shift = np.zeros((problem.count, 6))
    if clearances is not None:
        shift = clearance_shift(robot, at, clearances, wrench)
    part = D * sigma
    square = (part[:, :3] ** 2).sum(axis=1).mean(axis=0)
    gain = 2.0 * square
    dims = ("pose", "component", "source")
    data: dict[str, Any] = {
        "derivative": (dims, D),
        "contribution": (dims, np.abs(part)),
        "deviation": (dims[:2], np.sqrt((part**2).sum(axis=2))),
        "worst_case": (dims[:2], (np.abs(D) * t).sum(axis=2) + np.abs(shift)),
        "clearance_shift": (dims[:2], shift),
        "displacement": ("pose", np.sqrt((part[:, :3] ** 2).sum(axis=(1, 2))), {"units": "m"}),
        "tolerance": ("source", t),
        "gain": ("source", gain, {"units": "m^2"}),
    }
    data["worst_displacement"] = ("pose", np.linalg.norm(data["worst_case"][1][:, :3], axis=1), {"units": "m"})
    if samples * problem.count > MOST_SAMPLES:
        raise InputError(
            f"samples: {samples * problem.count:.3g} poses do not fit into memory; at most {MOST_SAMPLES:g} are allowed"
        )
    draw = _Draw(sigma, t, distribution, int(samples), seed)
    if samples:
        data |= _monte_carlo(problem, draw, shift, threads or os.cpu_count() or 1)
    others: dict[str, Any] = {}
    if criteria is not None:
        scatter = CriterionErrors(robot, problem.axes, criteria, at)
        others = scatter.coordinates
        data |= scatter.first_order(sigma, t)
        data |= scatter.sampled(draw, draw.blocks, QUANTILES) if samples else {}
    units = [axis.unit for axis in problem.axes]
    coords = {"component": list(COMPONENTS), "component_unit": ("component", ["m"] * 3 + ["rad"] * 3), "source": paths,
              "unit": ("source", units), "quantile": list(QUANTILES), **others}  # fmt: skip
    attrs = {
        "robot": robot.name,
        "distribution": distribution,
        "samples": int(samples),
        "tighten_first": paths[int(gain.argmax())],
    }
    return xr.Dataset(data, coords=coords if samples else {k: v for k, v in coords.items() if k != "quantile"}, attrs=attrs)


QUANTILES = (0.5, 0.9, 0.99, 0.999)


class _Draw:
    """Random offsets (n, d) of the parameters, block by block, each from its number alone."""

    def __init__(self, sigma: Array, t: Array, distribution: str, samples: int, seed: int) -> None:
        self.sigma, self.t, self.distribution, self.samples, self.seed = sigma, t, distribution, samples, seed
        self.blocks = -(-samples // BLOCK)

    def __call__(self, block: int) -> Array:
        random = np.random.Generator(np.random.Philox(key=[self.seed, block]))
        shape = min(BLOCK, self.samples - block * BLOCK), len(self.t)
        if self.distribution == "normal":
            return np.asarray(random.standard_normal(shape) * self.sigma)
        return np.asarray(random.uniform(-1.0, 1.0, shape) * self.t)


def _monte_carlo(problem: PerturbedPoses, draw: _Draw, shift: Array, threads: int) -> dict[str, Any]:
    """Exact kinematics of random parts; blocks are summed in order."""
    m = problem.count
    total, products, failed = np.zeros((m, 6)), np.zeros((m, 6, 6)), np.zeros(m, dtype=np.int64)
    sizes = []
    for block in range(draw.blocks):
        offsets = draw(block)
        e = problem.errors(offsets, threads) + shift
        bad = ~np.isfinite(e).all(axis=2)
        failed += bad.sum(axis=0)
        e[bad] = 0.0
        total += e.sum(axis=0)
        products += np.einsum("nmi,nmj->mij", e, e)
        size = np.linalg.norm(e[:, :, :3], axis=2)
        size[bad] = np.nan
        sizes.append(size.astype(np.float32))
    good = np.maximum(draw.samples - failed, 1)
    mean = total / good[:, None]
    covariance = (products - good[:, None, None] * mean[:, :, None] * mean[:, None, :]) / np.maximum(good - 1, 1)[:, None, None]
    quantiles = np.nanquantile(np.concatenate(sizes), QUANTILES, axis=0).T
    return {
        "sampled_mean": (("pose", "component"), mean),
        "sampled_deviation": (("pose", "component"), np.sqrt(np.diagonal(covariance, axis1=1, axis2=2))),
        "sampled_covariance": (("pose", "component", "component_"), covariance),
        "sampled_displacement": (("pose", "quantile"), quantiles, {"units": "m"}),
        "failed": ("pose", failed),
    }
