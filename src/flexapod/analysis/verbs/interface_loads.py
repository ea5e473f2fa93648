"""`interface_loads`: forces and moments at the joints and clamps of flexible bodies, from joint reactions; peak with place and
time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from flexapod.analysis.requests.arguments import checked
from flexapod.errors import InputError

if TYPE_CHECKING:
    import xarray as xr

    from flexapod.robot.model import Leg
    from flexapod.robot.robot import Robot


@checked
def interface_loads(robot: Robot, result: xr.Dataset) -> xr.Dataset:
    """Force and moment at the joints where flexible bodies begin and end.

    Args:
        result: of a flexible robot with ``reactions=True`` (`inverse_dynamics`, `forward_dynamics`, `simulate`).
    Returns:
        Dataset over (.., joint), the joints and clamps at flexible bodies alone: `reaction_force`, `reaction_moment` as in the
        result (.., joint, axis), their sizes `force` [N], `moment` [N m]; `body`: the flexible bodies at each joint; attributes
        `peak_force`, `peak_force_joint`, `peak_moment`, `peak_moment_joint` and, where the result has time, `peak_force_time`,
        `peak_moment_time` [s]. The actuator's own force is not in a reaction.

    Raises:
        InputError: a robot without flexible bodies, or a result without reactions.

    Checked by: tests/analysis/test_interface_loads.py.
    """
    bodies = flexible_joints(robot)
    if not bodies:
        raise InputError(f"interface loads: {robot.name} has no flexible bodies; `reactions=True` gives the loads of its joints")
    if "reaction_force" not in result:
        raise InputError("result: has no `reaction_force`; take a result with reactions=True")
    dim = "reaction_joint" if "reaction_joint" in result.reaction_force.dims else "joint"
    names = [name for name in result.reaction_force[dim].values.tolist() if name in bodies]
    chosen = result[["reaction_force", "reaction_moment"]].sel({dim: names})
    if dim != "joint":
        chosen = chosen.rename({dim: "joint"})
    data = chosen.assign(
        force=np.sqrt((chosen.reaction_force**2).sum("axis", skipna=False)).assign_attrs(units="N"),
        moment=np.sqrt((chosen.reaction_moment**2).sum("axis", skipna=True)).assign_attrs(units="N m"),
    ).assign_coords(body=("joint", [bodies[name] for name in names]))
    peaks: dict[str, Any] = {}
    for name in ("force", "moment"):
        peaks |= _peak(name, data[name])
    return data.assign_attrs(robot=robot.name, **peaks)


def flexible_joints(robot: Robot) -> dict[str, str]:
    """Joints and clamps at flexible bodies, as `leg.joint`, with the names of the bodies there."""
    found: dict[str, str] = {}
    for leg in robot.legs:
        for link in leg.links:
            if link.elastic:
                continue
            at = [_carrying(leg, link.parent)] if link.parent >= 0 else []
            at += [link.body.name if link.body is not None and link.body.flexible is not None else None]
            _add(found, f"{leg.name}.{link.joint}", at)
        end = _carrying(leg, leg.closing.link) if leg.closing.link >= 0 else None
        _add(found, f"{leg.name}.{leg.closing.joint}", [end, "platform" if robot.platform_modes else None])
    return found


def _carrying(leg: Leg, index: int) -> str | None:
    """The flexible body whose deformed end a link's frame is, if any."""
    if not leg.links[index].elastic:
        return None
    while leg.links[index].elastic:
        index = leg.links[index].parent
    body = leg.links[index].body
    return body.name if body is not None else None


def _add(found: dict[str, str], joint: str, bodies: list[str | None]) -> None:
    names = [name for name in bodies if name is not None]
    if names:
        found[joint] = ", ".join(names)


def _peak(name: str, values: xr.DataArray) -> dict[str, Any]:
    array = values.values
    if not np.isfinite(array).any():
        return {}
    at = np.unravel_index(int(np.nanargmax(array)), array.shape)
    found = {f"peak_{name}": float(array[at]), f"peak_{name}_joint": str(values.joint.values[at[-1]])}
    if "time" in values.dims:
        found[f"peak_{name}_time"] = float(values.time.values[at[values.dims.index("time")]])
    return found
