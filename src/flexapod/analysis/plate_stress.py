r"""`plate_stress`: bending stress at the surfaces of a flexible platform, from elastic coordinates; peak with place and time."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from flexapod.analysis.beam_stress import elastic_coordinates
from flexapod.errors import InputError

if TYPE_CHECKING:
    import xarray as xr

    from flexapod.flexible.plate_surface import PlateSurface
    from flexapod.robot.robot import Robot

Array = NDArray[np.float64]


def plate_stress(robot: Robot, result: xr.Dataset | Any) -> xr.Dataset:
    """Bending stress of a platform that the robot file describes as a plate.

    Args:
        result: a result with `elastic` (of `static_deflection`, `simulate`, `inverse_dynamics`, ...), or an array (n, N) of
            elastic coordinates in the order of ``robot.elastic_names``.
    Returns:
        Dataset over (.., point), one point per triangle: `stress` (.., point, component) xx, yy, xy of the surface at positive z,
        platform axes (the other surface has the opposite), `von_mises` [Pa]; `place` (point, axis) [m], undeformed; attributes
        `peak` [Pa], `peak_place` [m] and, where the result has time, `peak_time` [s]. Membrane stress is not in it, nor the local
        stress under point forces, which modes do not follow.

    Raises:
        InputError: the platform is no plate of the robot file: rigid, from a file of modes, or given in Python.

    Checked by: tests/analysis/test_plate_stress.py.
    """
    import xarray as xr

    from flexapod.flexible.plate_surface import von_mises

    surface = _surface(robot)
    elastic, over = elastic_coordinates(robot, result)
    stress = surface.stress(elastic[:, : surface.top.shape[2]])
    equal = von_mises(stress)
    dims, lead = over.dims[:-1], over.shape[:-1]
    coords = {k: v for k, v in over.coords.items() if k != "elastic_coordinate"}
    data = xr.Dataset(
        {
            "stress": ((*dims, "point", "component"), stress.reshape(*lead, *stress.shape[1:]), {"units": "Pa"}),
            "von_mises": ((*dims, "point"), equal.reshape(*lead, equal.shape[1]), {"units": "Pa"}),
            "place": (("point", "axis"), surface.points, {"units": "m"}),
        },
        {**coords, "component": ["xx", "yy", "xy"], "axis": ["x", "y", "z"]},
    )
    return data.assign_attrs(robot=robot.name, **_peak(equal, surface, over))


@lru_cache(maxsize=8)
def _surface(robot: Robot) -> PlateSurface:
    """Stress shapes of the platform's plate."""
    from flexapod.flexible.plate_surface import plate_surface
    from flexapod.robot.flexible_platform import plate_arguments

    spec = robot.platform.flexible
    if robot.flexible_platform is None or spec is None or spec.type != "plate" or robot.given_body:
        kind = "is rigid" if robot.flexible_platform is None else "does not come from a plate of the robot file"
        raise InputError(f"plate stress: the platform of {robot.name} {kind}; it needs `flexible: {{type: plate, ...}}`")
    joints = {leg.name: leg.closing.on_platform.position for leg in robot.legs}
    return plate_surface(**plate_arguments(spec, joints, robot.platform.points))


def _peak(equal: Array, surface: PlateSurface, over: Any) -> dict[str, Any]:
    if not np.isfinite(equal).any():
        return {}
    sample, point = np.unravel_index(int(np.nanargmax(equal)), equal.shape)
    found = {"peak": float(equal[sample, point]), "peak_place": surface.points[point].tolist()}
    if "time" in over.coords and over.ndim == 2:
        found["peak_time"] = float(over.time.values[sample])
    return found
