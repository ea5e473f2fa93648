r"""`plate_stress`: stress at the surfaces of a flexible platform, from elastic coordinates and joint forces; its peak."""

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
    """Bending and membrane stress of a platform that the robot file describes as a plate.

    Args:
        result: a result with `elastic` (of `static_deflection`, `simulate`, `inverse_dynamics`, ...), or an array (n, N) of
            elastic coordinates in the order of ``robot.elastic_names``. Membrane stress needs the forces of the joints: a result
            with `reaction_force` (``reactions=True``) and `rotation`; without them the stress is that of bending alone, and the
            attribute `membrane` says so.
    Returns:
        Dataset over (.., point), one point per triangle: `stress` (.., point, component) xx, yy, xy of the surface at positive z,
        platform axes; `membrane_stress`, of the middle plane (NaN where joint forces are not known): the surface at negative z
        has 2 membrane_stress - stress; `von_mises` [Pa], the larger of both surfaces; `place` (point, axis) [m], undeformed;
        attributes `peak` [Pa], `peak_place` [m], `membrane` (what is in it) and, where the result has time, `peak_time` [s].
        Not in it: membrane stress by the platform's own spin, and the local stress under point forces, which modes do not follow.

    Raises:
        InputError: the platform is no plate of the robot file: rigid, from a file of modes, or given in Python.

    Checked by: tests/analysis/test_plate_stress.py.
    """
    import xarray as xr

    from flexapod.flexible.plate_surface import von_mises

    surface = _surface(robot)
    elastic, over = elastic_coordinates(robot, result)
    elastic = elastic[:, : surface.top.shape[2]]
    forces = _joint_forces(robot, result, surface.plane.shape[2])
    bending = surface.stress(elastic)
    plane = np.full_like(bending, np.nan) if forces is None else surface.membrane(elastic, forces)
    stress = bending if forces is None else bending + plane
    equal = von_mises(bending) if forces is None else np.maximum(von_mises(plane + bending), von_mises(plane - bending))
    kept = "joint forces" if surface.pairs is None else "joint forces and stretching"
    included = "none: the result has no reactions" if forces is None else kept
    dims, lead = over.dims[:-1], over.shape[:-1]
    coords = {k: v for k, v in over.coords.items() if k != "elastic_coordinate"}
    data = xr.Dataset(
        {
            "stress": ((*dims, "point", "component"), stress.reshape(*lead, *stress.shape[1:]), {"units": "Pa"}),
            "membrane_stress": ((*dims, "point", "component"), plane.reshape(*lead, *stress.shape[1:]), {"units": "Pa"}),
            "von_mises": ((*dims, "point"), equal.reshape(*lead, equal.shape[1]), {"units": "Pa"}),
            "place": (("point", "axis"), surface.points, {"units": "m"}),
        },
        {**coords, "component": ["xx", "yy", "xy"], "axis": ["x", "y", "z"]},
    )
    return data.assign_attrs(robot=robot.name, membrane=included, **_peak(equal, surface, over))


def _joint_forces(robot: Robot, result: Any, places: int) -> Array | None:
    """Forces (n, places, 2) of the legs on the plate along its x and y axes; None where the result has no reactions.

    Places are the legs' joints, then named points, which carry nothing.
    """
    if not hasattr(result, "data_vars") or "reaction_force" not in result or "rotation" not in result:
        return None
    dim = "reaction_joint" if "reaction_joint" in result.reaction_force.dims else "joint"
    names = [f"{leg.name}.{leg.closing.joint}" for leg in robot.legs]
    force = np.asarray(result.reaction_force.sel({dim: names}).values, dtype=float).reshape(-1, len(names), 3)
    R = np.asarray(result.rotation.values, dtype=float).reshape(-1, 3, 3)
    found = np.zeros((len(force), places, 2))
    found[:, : len(names)] = np.einsum("nax,nla->nlx", R, force)[:, :, :2]
    return found


@lru_cache(maxsize=8)
def _surface(robot: Robot) -> PlateSurface:
    """Stress shapes of the platform's plate."""
    from flexapod.flexible.plate_surface import plate_surface
    from flexapod.robot.flexible_platform import plate_arguments

    spec, body = robot.platform.flexible, robot.flexible_platform
    if body is None or spec is None or spec.type != "plate" or robot.given_body:
        kind = "is rigid" if body is None else "does not come from a plate of the robot file"
        raise InputError(f"plate stress: the platform of {robot.name} {kind}; it needs `flexible: {{type: plate, ...}}`")
    joints = {leg.name: leg.closing.on_platform.position for leg in robot.legs}
    return plate_surface(**plate_arguments(spec, joints, robot.platform.points), stiffening=body.stiffened)


def _peak(equal: Array, surface: PlateSurface, over: Any) -> dict[str, Any]:
    if not np.isfinite(equal).any():
        return {}
    sample, point = np.unravel_index(int(np.nanargmax(equal)), equal.shape)
    found = {"peak": float(equal[sample, point]), "peak_place": surface.points[point].tolist()}
    if "time" in over.coords and over.ndim == 2:
        found["peak_time"] = float(over.time.values[sample])
    return found
