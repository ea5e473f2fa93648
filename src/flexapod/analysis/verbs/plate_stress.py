r"""`plate_stress`: stress at the surfaces of a plate, platform or link, from elastic coordinates and joint forces; its peak."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from flexapod.analysis.requests.arguments import checked
from flexapod.analysis.verbs.beam_stress import elastic_coordinates
from flexapod.arrays import Array
from flexapod.calls import check_text, unchecked
from flexapod.errors import InputError

if TYPE_CHECKING:
    import xarray as xr

    from flexapod.flexible.plate_surface import PlateSurface
    from flexapod.robot.robot import Robot


@checked(result=unchecked, body=check_text)
def plate_stress(robot: Robot, result: xr.Dataset, *, body: str | None = None) -> xr.Dataset:
    """Bending and membrane stress of a plate of the robot file: the platform, or a body of a leg (bending alone).

    Args:
        result: a result with `elastic` (of `static_deflection`, `simulate`, `inverse_dynamics`, ...), or an array (n, N) of
            elastic coordinates in the order of ``robot.elastic_names``. Membrane stress needs the forces of the joints: a result
            with `reaction_force` (``reactions=True``) and `rotation`; without them the stress is that of bending alone, and the
            attribute `membrane` says so.
        body: ``leg.body``; left out: the platform, or the only plate.
    Returns:
        Dataset over (.., point), one point per triangle: `stress` (.., point, component) xx, yy, xy of the surface at positive z,
        platform axes; `membrane_stress`, of the middle plane (NaN where joint forces are not known): the surface at negative z
        has 2 membrane_stress - stress; `von_mises` [Pa], the larger of both surfaces; `place` (point, axis) [m], undeformed;
        attributes `peak` [Pa], `peak_place` [m], `membrane` (what is in it) and, where the result has time, `peak_time` [s].
        Not in it: membrane stress by the platform's own spin, and the local stress under point forces, which modes do not follow.

    Raises:
        InputError: the body is not a plate of the robot file: rigid, from a file of modes, or given in Python.

    Checked by: tests/analysis/test_plate_stress.py.
    """
    import xarray as xr

    from flexapod.flexible.plate_surface import von_mises

    link = _chosen(robot, body)
    surface = _surface(robot) if link is None else _link_surface(robot, link)
    elastic, over = elastic_coordinates(robot, result)
    elastic = elastic if link is None else _of_link(robot, link, elastic)
    elastic = elastic[:, : surface.top.shape[2]]  # bending; behind it those of other bodies, or in the plane
    forces = _joint_forces(robot, result, surface.plane.shape[2]) if link is None else None
    bending = surface.stress(elastic)
    plane = np.full_like(bending, np.nan) if forces is None else surface.membrane(elastic, forces)
    stress = bending if forces is None else bending + plane
    equal = von_mises(bending) if forces is None else np.maximum(von_mises(plane + bending), von_mises(plane - bending))
    kept = "joint forces" if surface.pairs is None else "joint forces and stretching"
    missing = "none: the result has no reactions" if link is None else "none: a plate in a leg has its bending alone"
    included = missing if forces is None else kept
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


def plate_links(robot: Robot) -> dict[str, tuple[int, int]]:
    """Plates that are bodies of legs, as ``leg.body``: leg and link."""
    return {
        f"{leg.name}.{link.body.name}": (i, k)
        for i, leg in enumerate(robot.legs)
        for k, link in enumerate(leg.links)
        if link.body is not None and link.body.rooted is not None and link.body.flexible.type == "plate"  # type: ignore[union-attr]
    }


def _chosen(robot: Robot, body: str | None) -> tuple[int, int] | None:
    """Leg and link of the plate that is meant; None for the platform."""
    known = plate_links(robot)
    if body is None:
        return next(iter(known.values())) if not robot.platform_modes and len(known) == 1 else None
    if body == "platform":
        return None
    if body not in known:
        raise InputError(f"body: {body!r} is not a plate of {robot.name}; there are: {', '.join(known) or 'none in its legs'}")
    return known[body]


@lru_cache(maxsize=8)
def _link_surface(robot: Robot, link: tuple[int, int]) -> PlateSurface:
    """Stress shapes of a plate that is a link, by the coordinates that it was reduced from."""
    from flexapod.flexible.plate_surface import plate_surface
    from flexapod.robot.flexible_platform import plate_arguments
    from flexapod.robot.modal_link import held_places, plate_link

    body = robot.legs[link[0]].links[link[1]].body
    assert body is not None
    assert body.rooted is not None
    assert body.flexible is not None
    return plate_surface(**plate_arguments(plate_link(body.flexible), held_places(body.rooted.places), {}))


def _of_link(robot: Robot, link: tuple[int, int], elastic: Array) -> Array:
    """Coordinates (n, N) of the plate that a link was reduced from, for elastic coordinates of the robot."""
    leg = robot.legs[link[0]]
    body, at = leg.links[link[1]].body, sum(len(other.moving) for other in robot.legs[: link[0]])
    assert body is not None
    assert body.rooted is not None
    modes = elastic.shape[1] - len(robot.elastic_indices)
    by_name = {leg.links[i].coordinate: at + k for k, i in enumerate(leg.moving) if leg.links[i].elastic}
    own = [list(robot.elastic_indices).index(by_name[f"{body.name}.{name}"]) for name in body.rooted.body.names]
    return np.asarray(elastic[:, [modes + k for k in own]] @ body.rooted.basis.T)


def _joint_forces(robot: Robot, result: xr.Dataset, places: int) -> Array | None:
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
        plates = ", ".join(plate_links(robot))
        others = f"; give body=, one of its plates: {plates}" if plates else "; it needs `flexible: {type: plate, ...}`"
        raise InputError(f"plate stress: the platform of {robot.name} {kind}{others}")
    joints = {leg.name: leg.closing.on_platform.position for leg in robot.legs}
    return plate_surface(**plate_arguments(spec, joints, robot.platform.points), stiffening=body.stiffened)


def _peak(equal: Array, surface: PlateSurface, over: xr.DataArray) -> dict[str, Any]:
    if not np.isfinite(equal).any():
        return {}
    sample, point = np.unravel_index(int(np.nanargmax(equal)), equal.shape)
    found = {"peak": float(equal[sample, point]), "peak_place": surface.points[point].tolist()}
    if "time" in over.coords and over.ndim == 2:
        found["peak_time"] = float(over.time.values[sample])
    return found
