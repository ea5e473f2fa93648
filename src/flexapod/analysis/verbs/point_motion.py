"""`point_motion`: pose, twist and acceleration of a named point of the platform or of any body."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from flexapod.analysis.model.flexible_kinematics import flexible_point_motion
from flexapod.analysis.requests.abilities import kind_of, refuse
from flexapod.analysis.requests.arguments import checked
from flexapod.analysis.requests.fast_paths import answer
from flexapod.analysis.requests.over_designs import over_designs
from flexapod.analysis.requests.request import Request
from flexapod.analysis.requests.results import OnError, dataset
from flexapod.analysis.requests.state import State
from flexapod.analysis.verbs.inverse_kinematics import inverse_kinematics
from flexapod.analysis.verbs.platform_motion import as_platform
from flexapod.arrays import Array
from flexapod.errors import InputError, did_you_mean
from flexapod.motions.motion import ActuatorMotion, Motion

if TYPE_CHECKING:
    import xarray as xr

    from flexapod.analysis.requests.results import Variable
    from flexapod.robot.robot import Robot


UNITS = {
    "position": "m",
    "velocity": "m/s",
    "angular_velocity": "rad/s",
    "acceleration": "m/s^2",
    "angular_acceleration": "rad/s^2",
}


@checked
@over_designs
def point_motion(
    robot: Robot,
    motion: State | Motion | ActuatorMotion,
    point: str,
    *,
    elastic: ArrayLike | None = None,
    elastic_velocity: ArrayLike | None = None,
    elastic_acceleration: ArrayLike | None = None,
    on_error: OnError = "raise",
    parameters: Mapping[str, ArrayLike] | None = None,
) -> xr.Dataset:
    r"""Motion of a named point of a body; on a flexible platform, of the deformed material there.

    .. math:: \dot p = v + \omega\times r,\qquad \ddot p = a + \alpha\times r + \omega\times(\omega\times r)

    Args:
        motion: a `Motion`, an `ActuatorMotion`, or `State`s (then at zero acceleration of the platform).
        point: of the platform by name (``tool``), or of a body (``A.cylinder.name``); ``platform`` and ``A.cylinder`` are
            the origins of their frames.
        elastic, elastic_velocity, elastic_acceleration: of flexible robots, as for `inverse_kinematics`.
        on_error: ``"raise"``, or ``"mask"`` to get `valid` and `reason` per sample.
        parameters: designs: paths of the robot file to values: (k,) of k designs, for n samples (n,), (k, 1) or (k, n); see
            `docs/design.md`, Many designs in one line.
    Returns:
        Dataset: `position`, `velocity`, `acceleration` of the point, `rotation` (world-from-body), `angular_velocity`,
        `angular_acceleration` of its body; world axes.

    Checked by: tests/analysis/test_point_motion.py.
    """
    refuse(
        robot, "point_motion", motion=kind_of(motion, State),
        elastic=elastic, elastic_velocity=elastic_velocity, elastic_acceleration=elastic_acceleration,
    )  # fmt: skip
    request = Request(
        at=motion, point_name=point, elastic=elastic, elastic_velocity=elastic_velocity,
        elastic_acceleration=elastic_acceleration, on_error=on_error,
    )  # fmt: skip
    return answer(robot, "point_motion", request)  # type: ignore[no-any-return]


def point_of_flexible_platform(robot: Robot, request: Request) -> xr.Dataset:
    """A point of the deformed platform, or of a body of the legs that follow it."""
    body, place = named_point(robot, request.point_name)
    return flexible_point_motion(robot, request, place) if body == "platform" else point_of_body(robot, request)


def point_of_body(robot: Robot, request: Request) -> xr.Dataset:
    """A point of a body whose motion inverse kinematics gives."""
    (body, r_B), on_error = named_point(robot, request.point_name), request.on_error
    if body != "platform" and robot.bodies_by_name[body].flexible is not None and np.any(r_B):
        raise InputError(
            f"point: {request.point_name} of {robot.name} is on a flexible body and moves as it deforms there; hold a body at "
            "the interface by a joint of type `fixed`, and name a point of that body"
        )
    given: dict[str, Any] = dict(zip(("elastic", "elastic_velocity", "elastic_acceleration"), request.given, strict=True))
    moved = request.at if robot.elastic_names else as_platform(robot, request.at)
    found = inverse_kinematics(robot, moved, joints=False, bodies=True, on_error=on_error, **given).sel(body=body)
    R, w, alpha = (found[f"body_{name}"].values for name in ("rotation", "angular_velocity", "angular_acceleration"))
    single = R.ndim == 2
    r = R @ r_B
    spin = np.cross(w, r)
    values = {
        "position": found["body_position"].values + r,
        "rotation": R,
        "velocity": found["body_velocity"].values + spin,
        "angular_velocity": w,
        "acceleration": found["body_acceleration"].values + np.cross(alpha, r) + np.cross(w, spin),
        "angular_acceleration": alpha,
    }
    variables: dict[str, Variable] = {
        name: (("axis", "body_axis") if name == "rotation" else ("axis",), array[None] if single else array, UNITS.get(name, ""))
        for name, array in values.items()
    }
    reasons = np.atleast_1d(found["reason"].values) if on_error == "mask" else None
    return dataset(robot, variables, moved, reasons).assign_attrs(point=request.point_name, body=body)


def named_point(robot: Robot, name: str) -> tuple[str, Array]:
    """Body of a named point, and the point (3,) in the body's own axes [m].

    Raises:
        InputError: no such point; names the nearest.
    """
    points: dict[str, tuple[str, Array]] = {}
    for body, data in robot.bodies_by_name.items():
        points[body] = (body, np.zeros(3))
        for key, p in data.points.items():
            points[f"{body}.{key}"] = (body, data.body_axes.T @ p)
            if body == "platform":
                points.setdefault(key, points[f"{body}.{key}"])
    if name in points:
        return points[name]
    hint = did_you_mean(name, points, ".", before=", ")
    own = ", ".join(key for key in points if not key.startswith("platform."))
    raise InputError(f"{robot.name} has no point {name!r}{hint} Points: {own}")
