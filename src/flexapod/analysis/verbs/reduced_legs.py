r"""`reduce_legs`: small motions of a robot with flexible legs in few coordinates, with a bound of the error.

About an equilibrium, actuators locked, the legs' elastic coordinates are those of a structure that the platform holds together.
Its interface is the platform's motion; with that held, every leg vibrates by itself. Reduced up to a frequency limit
(`flexapod.flexible.frequency_limit`), the platform's dynamic stiffness S is too large by E,

.. math:: \epsilon(\omega) = \max_x \frac{x^T E(\omega)\,x}{x^T S(0)\,x}

is the error, known from its bound without the full model; frequencies come out too high by :math:`b^T E(\omega)\,b / 2\omega` at
most to first order, b the platform's motion in the mass-normalised mode.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import linalg

from flexapod.analysis.model.small_motions import linear_matrices
from flexapod.analysis.model.vibration import inertial_sizes, null_space
from flexapod.analysis.requests.arguments import checked
from flexapod.analysis.requests.results import dataset, raise_failed
from flexapod.arrays import Array
from flexapod.errors import InputError
from flexapod.flexible.errors import FlexibleBodyError
from flexapod.motions.argument_checks import real_array

if TYPE_CHECKING:
    import xarray as xr

    from flexapod.analysis.model.small_motions import LinearMatrices
    from flexapod.analysis.requests.results import Variable
    from flexapod.analysis.requests.state import StateOrMotion
    from flexapod.flexible.frequency_limit import Reduced
    from flexapod.robot.robot import Robot


INDEPENDENT = 1e-9
"""Motions of the platform below this part of the largest that its coordinates give it are none: planar robots, low mobility."""


@checked
def reduce_legs(
    robot: Robot,
    state: StateOrMotion,
    *,
    limit: float,
    method: str = "craig-bampton",
    frequencies: ArrayLike | None = None,
    prestress: bool = True,
) -> xr.Dataset:
    """A robot with flexible legs, linear about rest at poses, reduced to what it needs up to a frequency; actuators locked.

    Args:
        state: poses or an `ActuatorMotion`; the robot is at rest there.
        limit: [Hz]. Modes of the legs with a held platform above it are left out.
        method: ``"craig-bampton"``, or ``"krylov"``, which is more exact at low frequencies and is bounded only below the first
            frequency of the legs with a held platform.
        frequencies: (f,) [Hz] where errors are looked at; 41 from 0 to the limit if left out.
        prestress: as for `natural_frequencies`.
    Returns:
        Dataset over the samples: `coordinates`, `reduced_coordinates`; over `mode`, those of the reduced model up to the limit:
        `frequency` [Hz], `frequency_excess` (estimate of how much too high, of itself), `full_frequency` of all coordinates; over
        `at_frequency` [Hz]: `error` of the platform's dynamic stiffness against the full model and `error_bound`, of the static
        stiffness (infinite where nothing is known); `basis` (.., coordinate, reduced): coordinates of small motions from
        reduced ones, NaN beyond the number of a sample.

    Raises:
        InputError: no flexible legs, or a limit that is not a positive frequency.

    Checked by: tests/analysis/test_reduce_legs.py.
    """
    if not robot.elastic_indices:
        raise InputError(f"reduce_legs: {robot.name} has no flexible legs")
    if isinstance(limit, bool | str) or not 0.0 < float(limit) < np.inf:
        raise InputError(f"limit: expected a positive frequency [Hz], got {limit!r}")
    given = np.linspace(0.0, limit, 41)
    if frequencies is not None:
        given = np.array(real_array("frequencies", frequencies, (np.size(frequencies),)))
        if np.any(given < 0.0):
            raise InputError(f"frequencies: expected [Hz] from 0 on, got {given.min():g}")
    reasons = np.full(len(state), "", dtype=object)
    model = linear_matrices(robot, state, prestress, (None, None, "world"), reasons)
    raise_failed("reduce_legs", robot, reasons.astype(str), state, "raise")
    rows = [_sample(model, k, float(limit), method, given) for k in range(len(reasons))]
    variables: dict[str, Variable] = {
        "coordinates": ((), np.array([row["full"] for row in rows]), "1"),
        "reduced_coordinates": ((), np.array([row["basis"].shape[1] for row in rows]), "1"),
    }
    for name, unit in (("frequency", "Hz"), ("frequency_excess", "1"), ("full_frequency", "Hz")):
        variables[name] = (("mode",), _stacked([row[name] for row in rows]), unit)
    for name in ("error", "error_bound"):
        variables[name] = (("at_frequency",), np.array([row[name] for row in rows]), "1")
    columns = _stacked([row["basis"].T for row in rows])
    variables["basis"] = (("coordinate", "reduced"), np.swapaxes(columns, 1, 2), "")
    most = variables["frequency"][1].shape[1]
    names = {"mode": list(range(1, most + 1)), "at_frequency": given.tolist()}
    return (
        dataset(robot, variables, state, None, names)
        .assign_coords(coordinate=model.names)
        .assign_attrs(limit=limit, method=method)
    )


def _sample(model: LinearMatrices, k: int, limit: float, method: str, given: Array) -> dict[str, Any]:
    """Results at one pose."""
    from flexapod.flexible.frequency_limit import reduce_to

    Z = null_space(np.swapaxes(model.B[k : k + 1], 1, 2), inertial_sizes(model.M[k : k + 1]))[0]
    K, M, P = Z.T @ model.K[k] @ Z, Z.T @ model.M[k] @ Z, model.P[k] @ Z
    K = (K + K.T) / 2.0
    _, size, rotation = np.linalg.svd(P / np.abs(P).max(axis=1, initial=INDEPENDENT, keepdims=True))
    C = rotation[: int((size > INDEPENDENT * size[0]).sum())]
    try:
        reduced = reduce_to(K, M, C, 2 * np.pi * limit, method)
    except FlexibleBodyError as error:
        raise InputError(f"reduce_legs: sample {k}: {error}") from None
    b = len(C)
    static = reduced.stiffness_at(0.0)
    try:
        root = linalg.inv(linalg.cholesky(static))
    except linalg.LinAlgError:
        raise InputError(
            f"reduce_legs: the robot is unstable on locked actuators in sample {k}; see natural_frequencies"
        ) from None

    def part(E: Array) -> float:
        return float(np.linalg.eigvalsh(root.T @ ((E + E.T) / 2.0) @ root)[-1]) if np.isfinite(E).all() else np.inf

    whole = reduce_to(K, M, C, np.finfo(float).max ** 0.25)
    omega = 2 * np.pi * given
    found = _modes(reduced, limit)
    own = np.sqrt(np.clip(linalg.eigh(K, M, eigvals_only=True), 0.0, None)) / (2 * np.pi)
    excess = [_excess(reduced.missing(w), x[:b], w) for w, x in found]
    return {
        "full": len(K), "basis": Z @ reduced.basis, "frequency": np.array([w for w, _ in found]) / (2 * np.pi),
        "frequency_excess": np.array(excess), "full_frequency": own[: len(found)],
        "error": [part(reduced.stiffness_at(w) - whole.stiffness_at(w)) for w in omega],
        "error_bound": [part(reduced.missing(w)) for w in omega],
    }  # fmt: skip


def _excess(E: Array, motion: Array, omega: float) -> float:
    """Largest relative error of a frequency of the reduced model, which is too high, to first order."""
    return float(motion @ E @ motion) / (2 * omega**2) if np.isfinite(E).all() else np.inf


def _modes(reduced: Reduced, limit: float) -> list[tuple[float, Array]]:
    """Angular frequencies of the reduced model up to the limit [Hz], with mass-normalised shapes."""
    values, shapes = linalg.eigh(reduced.K, reduced.M)
    omega = np.sqrt(np.clip(values, 0.0, None))
    return [(float(w), shapes[:, i]) for i, w in enumerate(omega) if 0.0 < w <= 2 * np.pi * limit]


def _stacked(rows: list[Array]) -> Array:
    """Rows of different lengths as one array, NaN beyond."""
    most = max(len(row) for row in rows)
    result = np.full((len(rows), most, *rows[0].shape[1:]), np.nan)
    for k, row in enumerate(rows):
        result[k, : len(row)] = row
    return result
