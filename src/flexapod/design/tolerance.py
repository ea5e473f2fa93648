r"""`tolerance`: how far the platform is from where it should be, because parts are not as drawn.

.. math:: e = D\,\delta,\qquad \sigma_e^2 = \sum_k D_k^2\,\sigma_k^2,\qquad e_{\max} = \sum_k |D_k|\,t_k,\qquad
          D = \partial e/\partial p

Letters: e pose error (displacement, small rotation) at held actuators, delta deviations of parameters, t their tolerance (plus or
minus), sigma their standard deviation: t/3 of a normal distribution, t/sqrt(3) of a uniform one. A joint with clearance c rests
against its socket in the direction of its force f: its centre moves by c f/|f|.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from flexapod.analysis.arguments import checked
from flexapod.analysis.inverse_dynamics import inverse_dynamics
from flexapod.analysis.state import State
from flexapod.design.pose_errors import PerturbedPoses, expand
from flexapod.design.variables import number
from flexapod.errors import InputError

if TYPE_CHECKING:
    import xarray as xr

    from flexapod.robot.robot import Robot

Array = NDArray[np.float64]
COMPONENTS = ("x", "y", "z", "rx", "ry", "rz")

BLOCK = 16_384
"""Samples of a Monte-Carlo block; a block is drawn from its number alone."""


@checked
def tolerance(
    robot: Robot,
    tolerances: Any,
    at: Any = None,
    *,
    clearances: Any = None,
    wrench: Any = None,
    samples: int = 0,
    distribution: str = "normal",
    seed: int = 1,
    threads: int | None = None,
) -> xr.Dataset:
    """Pose errors from tolerances of the parts, actuators held.

    Args:
        tolerances: parameter path -> plus or minus, e.g. ``{"legs.*.hip.at": "20 um"}``; components of vectors are independent.
        at: poses (`State`); home if left out.
        clearances: joint -> radial clearance, e.g. ``{"legs.*.ball": "5 um"}``; the load at rest decides where it lies.
        wrench: load (6,) [N, N m] on the platform, for the clearances.
        samples: of a Monte-Carlo simulation with the exact kinematics; 0 for none.
        distribution: ``"normal"`` (the tolerance is three standard deviations) or ``"uniform"``.
        seed: of the samples.
    Returns:
        Dataset over (pose, component x, y, z [m], rx, ry, rz [rad]) and source: `derivative`, `contribution` (standard deviation
        by source), `deviation` (root of the sum of squares), `worst_case`, `clearance_shift`; `displacement` and
        `worst_displacement` (pose) [m], first-order; `gain` (source): fall of the mean square displacement per relative
        tightening of a source;
        `tighten_first` in the attributes. With samples also `sampled_mean`, `sampled_deviation`, `sampled_covariance`,
        `sampled_displacement` (quantile), `failed` (pose).

    Checked by: tests/design/test_tolerance.py.
    """
    import xarray as xr

    at = State(position=robot.home.position, rotation=robot.home.rotation) if at is None else at
    amounts = expand(robot, "tolerances", tolerances)
    if distribution not in ("normal", "uniform"):
        raise InputError(f"distribution: 'normal' or 'uniform', not {distribution!r}")
    if isinstance(samples, bool) or not isinstance(samples, int | np.integer) or samples < 0:
        raise InputError(f"samples: expected a whole number from 0, got {samples!r}")
    paths, t = list(amounts), np.array(list(amounts.values()))
    problem = PerturbedPoses(robot, paths, at)
    D = problem.derivative()
    if not np.all(np.isfinite(D)):
        raise InputError(
            "a pose beside a nominal one cannot be taken: the robot is at a singular pose or at the end of its reach"
        )
    sigma = t / (3.0 if distribution == "normal" else np.sqrt(3.0))
    shift = np.zeros((problem.count, 6))
    if clearances is not None:
        shift = _clearance_shift(robot, at, clearances, wrench)
    elif wrench is not None:
        raise InputError("wrench: is the load that decides where clearances lie; give clearances as well, or leave it out")
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
    if samples:
        data |= _monte_carlo(problem, sigma, t, distribution, int(samples), seed, shift, threads or os.cpu_count() or 1)
    units = [axis.unit for axis in problem.axes]
    coords = {"component": list(COMPONENTS), "component_unit": ("component", ["m"] * 3 + ["rad"] * 3), "source": paths,
              "unit": ("source", units), "quantile": list(QUANTILES)}  # fmt: skip
    attrs = {
        "robot": robot.name,
        "distribution": distribution,
        "samples": int(samples),
        "tighten_first": paths[int(gain.argmax())],
    }
    return xr.Dataset(data, coords=coords if samples else {k: v for k, v in coords.items() if k != "quantile"}, attrs=attrs)


QUANTILES = (0.5, 0.9, 0.99, 0.999)


def _monte_carlo(
    problem: PerturbedPoses, sigma: Array, t: Array, distribution: str, samples: int, seed: int, shift: Array, threads: int
) -> dict[str, Any]:
    """Exact kinematics of random parts; blocks are drawn from their numbers and summed in order."""
    m, d = problem.count, len(sigma)
    total, products, failed = np.zeros((m, 6)), np.zeros((m, 6, 6)), np.zeros(m, dtype=np.int64)
    sizes = []
    for block, start in enumerate(range(0, samples, BLOCK)):
        random = np.random.Generator(np.random.Philox(key=[seed, block]))
        n = min(BLOCK, samples - start)
        offsets = random.normal(size=(n, d)) * sigma if distribution == "normal" else random.uniform(-1.0, 1.0, (n, d)) * t
        e = problem.errors(offsets, threads) + shift
        bad = ~np.isfinite(e).all(axis=2)
        failed += bad.sum(axis=0)
        e[bad] = 0.0
        total += e.sum(axis=0)
        products += np.einsum("nmi,nmj->mij", e, e)
        size = np.linalg.norm(e[:, :, :3], axis=2)
        size[bad] = np.nan
        sizes.append(size.astype(np.float32))
    good = np.maximum(samples - failed, 1)
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


def _clearance_shift(robot: Robot, at: Any, clearances: Any, wrench: Any) -> Array:
    """Pose error (m, 6) of joints that rest against their sockets under the load at rest.

    The base-side body pushes the next one with f: the next body's centre lags by c f/|f| behind the joint's. On the platform
    (`on`) this is as if the joint lay further along f, on the base (`at`) further against it.
    """
    if not isinstance(clearances, dict) or not clearances:
        raise InputError("clearances: give a mapping of joints to clearances, e.g. {'legs.*.ball': '5 um'}")
    result = inverse_dynamics(robot, at, reactions=True, friction=False, wrench=wrench)
    force = result.reaction_force.values.reshape(-1, result.sizes["joint"], 3)
    rotation = at.rotation.reshape(-1, 3, 3)
    total = np.zeros((len(force), 6))
    for text, amount in clearances.items():
        c = number(f"clearances: {text}", amount)
        for leg in robot.legs:
            name = str(text).replace("legs.*.", f"legs.{leg.name}.")
            if not name.startswith(f"legs.{leg.name}."):
                continue
            joint = name.removeprefix("legs.")
            if joint not in result.joint.values:
                raise InputError(f"clearances: there is no joint {name}; there are: {', '.join(map(str, result.joint.values))}")
            f = force[:, list(result.joint.values).index(joint)]
            if not np.all(np.isfinite(f)):
                raise InputError(f"clearances: rigid bodies leave the force in {name} undetermined; leave it out")
            moved, sign = (f"{name}.on", 1.0) if f"{name}.on" in robot.parameters else (f"{name}.at", -1.0)
            direction = f / np.maximum(np.linalg.norm(f, axis=1, keepdims=True), 1e-300)
            if sign > 0:
                direction = np.einsum("nji,nj->ni", rotation, direction)
            D = PerturbedPoses(robot, [f"{moved}.{axis}" for axis in "xyz"], at).derivative()
            total += np.einsum("mij,mj->mi", D, sign * c * direction)
    return total
