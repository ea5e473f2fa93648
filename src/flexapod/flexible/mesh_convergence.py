"""Mesh convergence of plates: frequencies over refined meshes, observed rates and limits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from flexapod.calls import check_text, checked
from flexapod.flexible.checked_arrays import Floats, checked_integer
from flexapod.flexible.errors import FlexibleBodyError
from flexapod.flexible.plates import plate_modes, plate_problem


@dataclass(frozen=True, kw_only=True, eq=False)
class Convergence:
    """Frequencies of a plate over meshes, each with its triangles divided into four.

    Attributes:
        mesh_size: (r,) [m]; degrees_of_freedom: (r,); angular_frequency: (r, modes) [rad/s].
        rate: (modes,) observed order from the last three meshes; extrapolated: (modes,) limit by that order;
            error: (modes,) relative difference of the finest mesh from it.
    """

    mesh_size: Floats
    degrees_of_freedom: tuple[int, ...]
    angular_frequency: Floats
    rate: Floats
    extrapolated: Floats
    error: Floats


@checked(theory=check_text, boundary=check_text)
def plate_convergence(
    *,
    outline: ArrayLike,
    thickness: float,
    young: float,
    poisson: float,
    density: float,
    theory: str = "mindlin",
    modes: int = 10,
    holes: Sequence[ArrayLike] = (),
    point_masses: Sequence[Sequence[float]] = (),
    boundary: str = "free",
    mesh_size: float | None = None,
    refinements: int = 3,
) -> Convergence:
    """Frequencies over meshes h, h/2, h/4, ... and the observed rates.

    `mesh_size` is the coarsest h, by default 2.5 times that of `plate`.
    Rates need differences above rounding: a mode that is converged to 1e-9 has the rate nan.
    Args:
        outline, thickness, young, poisson, density, theory, modes, holes, point_masses, boundary: as for `plate`.
        mesh_size: of the coarsest mesh [m].
        refinements: times that triangles are divided into four.
    Returns:
        `Convergence`: angular frequencies [rad/s] per mesh, observed orders of convergence, and estimated errors.

    Checked by: tests/flexible/test_plate_modes.py::test_convergence_rates.
    """
    if checked_integer("refinements", refinements, 3) > 6:
        raise FlexibleBodyError(f"refinements must be at most 6, is {refinements}: the last mesh would be enormous.")
    coarse = plate_problem(
        outline=outline, thickness=thickness, young=young, poisson=poisson, density=density, theory=theory, modes=modes,
        holes=holes, point_masses=point_masses, boundary=boundary, mesh_size=mesh_size,
    )  # fmt: skip
    if mesh_size is None:
        coarse = replace(coarse, size=2.5 * coarse.size)
    table, sizes, unknowns = [], [], []
    for level in range(refinements):
        given = replace(coarse, refine=level)
        omega2, _, model = plate_modes(given, modes, "normal", np.zeros((0, 3)))
        table.append(np.sqrt(omega2[:modes]))
        sizes.append(given.size / 2.0**level)
        unknowns.append(int(model.supports.shape[1]))
    omega = np.array(table)
    first, second = omega[-3] - omega[-2], omega[-2] - omega[-1]
    with np.errstate(divide="ignore", invalid="ignore"):
        rate = np.log2(first / second)
        rate = np.where((first * second > 0.0) & (np.abs(second) > 1e-9 * omega[-1]), rate, np.nan)
        limit = np.where(np.isnan(rate), omega[-1], omega[-1] - second / (2.0**rate - 1.0))
    return Convergence(
        mesh_size=np.array(sizes),
        degrees_of_freedom=tuple(unknowns),
        angular_frequency=omega,
        rate=rate,
        extrapolated=limit,
        error=omega[-1] / limit - 1.0,
    )
