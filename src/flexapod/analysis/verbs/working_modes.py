"""`working_modes`: all leg branches of inverse kinematics at a pose; closed form for UPS, PUS and RUS legs."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from flexapod.analysis.poses.complex_loops import leg_closure, leg_origins
from flexapod.analysis.requests.abilities import refuse
from flexapod.analysis.requests.arguments import checked
from flexapod.analysis.requests.results import labels
from flexapod.analysis.requests.state import State
from flexapod.arrays import Array
from flexapod.errors import FlexapodError, InputError

if TYPE_CHECKING:
    import xarray as xr

    from flexapod.robot.architecture import ClosedFormLeg
    from flexapod.robot.model import Leg
    from flexapod.robot.robot import Robot


STARTS = 128
"""Random starts of Newton's method for legs without a closed form."""

SAME = 1e-6
"""Branches whose joints are nearer than this, relative, are one."""

CLOSED = 1e-9
"""Largest closing error of a branch, relative; Newton ends near 1e-15."""

FREE = 1e-7
"""Smallest singular value of a leg's rows, relative, with which it can move by itself."""

MOST = 4096
"""Largest number of combinations that are listed."""


class NoBranchError(FlexapodError):
    """A leg cannot reach the pose."""


@checked
def working_modes(robot: Robot, pose: State) -> xr.Dataset:
    """All actuator coordinates with which the robot can hold a pose: every combination of the branches of its legs.

    UPS legs have one branch, PUS and RUS legs two (closed form). Other legs are solved by Newton's method from many starts: each
    branch that has a fair part of the starts is found, but their number is not proven. Branches that differ only in the flip
    of a universal joint count once. Flexible bodies are taken undeformed.

    Args:
        robot: any robot.
        pose: one `State`; its orientation counts, also for robots that cannot control it.
    Returns:
        Dataset over `working_mode`: `actuator_position` (working_mode, actuator), `branch` (working_mode, leg) numbered from 0,
        the branch nearest to home first, `home` (working_mode): all legs on that branch; `branches` (leg) and `closed_form`
        (leg).
    Raises:
        NoBranchError: names the leg that cannot reach.

    Checked by: tests/analysis/test_working_modes.py.
    """
    import xarray as xr

    refuse(robot, "working_modes")
    if not isinstance(pose, State) or not pose.single:
        raise InputError("pose: expected one State")
    if not np.all(np.isfinite(pose.position)) or not np.all(np.isfinite(pose.rotation)):
        raise InputError("pose: every entry of position and rotation must be a finite number")
    branches = []
    for leg, form in zip(robot.legs, robot.closed_forms, strict=True):
        found = _closed(leg, form, pose) if form is not None else _searched(robot, leg, pose)
        if len(found) == 0:
            raise NoBranchError(
                f"working modes of {robot.name}: leg {leg.name} cannot reach the pose; check_pose reports by how much"
            )
        branches.append(_nearest_first(leg, found))
    count = int(np.prod([len(b) for b in branches]))
    if count > MOST:
        raise InputError(f"{robot.name} has {count} working modes at this pose, more than the {MOST} that are listed")
    chosen = np.array(list(product(*[range(len(b)) for b in branches])), dtype=np.int64)
    positions = np.array([np.concatenate([b[k] for b, k in zip(branches, row, strict=True)]) for row in chosen])
    coords = {k: v for k, v in labels(robot).items() if v[0] in ("actuator", "leg")}
    closed = [form is not None for form in robot.closed_forms]
    data: dict[str, Any] = {
        "actuator_position": (("working_mode", "actuator"), positions, {"units": "m or rad"}),
        "branch": (("working_mode", "leg"), chosen, {"units": ""}),
        "home": (("working_mode",), np.all(chosen == 0, axis=1), {"units": ""}),
        "branches": (("leg",), np.array([len(b) for b in branches]), {"units": ""}),
        "closed_form": (("leg",), np.array(closed), {"units": ""}),
    }
    return xr.Dataset(data, coords=coords, attrs={"robot": robot.name})


def _nearest_first(leg: Leg, found: list[Array]) -> list[Array]:
    """Branches by their distance from home, angles brought within half a revolution of it."""
    driven = [k for k, i in enumerate(leg.moving) if leg.links[i].actuated]
    rotating = np.array([leg.links[leg.moving[k]].kind == "R" for k in driven], dtype=bool)
    home = leg.home[driven]
    near = [np.where(rotating, home + (q - home + np.pi) % (2.0 * np.pi) - np.pi, q) for q in found]
    return sorted(near, key=lambda q: float(np.abs(q - home).sum()))


def _closed(leg: Leg, form: ClosedFormLeg, pose: State) -> list[Array]:
    """Actuator coordinates of a UPS, PUS or RUS leg.

    PUS: |w - d u|^2 = l^2 with w from U at zero to S. RUS: A cos d + B sin d = C with the crank's plane.
    """
    zero = next(leg.links[i] for i in leg.moving if leg.links[i].actuated).zero
    S = pose.position + pose.rotation @ form.S
    if leg.architecture == "UPS":
        return [np.array([np.linalg.norm(S - form.U) - form.length - zero])]
    if leg.architecture == "PUS":
        w = S - form.U
        along = float(w @ form.drive)
        square = form.length**2 - float(w @ w) + along**2
        return [] if square < 0.0 else [np.array([along + sign * np.sqrt(square) - zero]) for sign in (1.0, -1.0)]
    z, arm, w = form.drive, form.U - form.pivot, S - form.pivot
    axial = z * (z @ arm)
    across, side = arm - axial, np.cross(z, arm)
    A, B = float(w @ across), float(w @ side)
    C = 0.5 * float(w @ w + arm @ arm - form.length**2) - float(w @ axial)
    reach = float(np.hypot(A, B))
    if abs(C) > reach:
        return []
    middle, half = np.arctan2(B, A), np.arccos(C / reach)
    return [np.array([middle + sign * half - zero]) for sign in (1.0, -1.0)]


def _searched(robot: Robot, leg: Leg, pose: State) -> list[Array]:
    """Actuator coordinates of all branches that Newton's method finds from random starts."""
    random, length, n = np.random.default_rng(4), robot.characteristic_length, len(leg.moving)
    links = [leg.links[i] for i in leg.moving]
    rotating = np.array([link.kind == "R" for link in links])
    free = [k for k, link in enumerate(links) if not link.elastic]
    home = np.where([link.elastic for link in links], 0.0, leg.home)
    q = np.tile(home, (STARTS, 1))
    stroke = np.maximum(length, 2.0 * np.abs(home + [link.zero for link in links]))  # a slider may have to go beyond its zero
    spread = np.where(rotating, np.pi, stroke) * random.uniform(-1.0, 1.0, (STARTS, n))
    q[1:, free] += spread[1:, free]
    p, R = np.tile(pose.position, (STARTS, 1)), np.tile(pose.rotation, (STARTS, 1, 1))
    size = np.where(rotating, 1.0, length)
    for _ in range(40):
        residual, rows, _, _ = leg_closure(leg, q, p, R, length)
        step = -(np.linalg.pinv((rows * size)[:, :, free].real, rcond=1e-9) @ residual.real[..., None])[..., 0]
        step *= np.minimum(1.0, 0.7 / np.maximum(np.abs(step).max(axis=1, initial=0.0), 1e-300))[:, None]
        q[:, free] += step * size[free]
    residual, rows, _, aligned = leg_closure(leg, q, p, R, length)
    closed = (np.abs(residual).max(axis=1) < CLOSED) & aligned
    q, rows = q[closed], (rows * size)[closed][:, :, free].real
    driven = [k for k, link in enumerate(links) if link.actuated]
    keys = np.concatenate([leg_origins(leg, q).real / length, np.cos(q[:, driven]), np.sin(q[:, driven])], axis=1)
    kept: list[int] = []
    for i in range(len(q)):
        if not kept or np.abs(keys[kept] - keys[i]).max(axis=1).min() > SAME:
            kept.append(i)
    sizes = np.linalg.svd(rows[kept], compute_uv=False)
    if free and int(np.sum(sizes[:, -1] < FREE * sizes[:, 0])) > STARTS // 8:
        raise InputError(
            f"{robot.name}: leg {leg.name} can move while the platform is at rest at this pose (type 1 singularity): its "
            "branches are a curve and cannot be listed"
        )
    return [q[i, driven] for i in kept]
