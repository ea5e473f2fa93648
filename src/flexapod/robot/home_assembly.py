"""Assembly of the legs at the home pose: directions given as `home`, and the coordinates of every link there."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np

from flexapod.arrays import Array
from flexapod.description import schema
from flexapod.robot.expanded_joints import END
from flexapod.robot.geometry import Pose, about, rotation_matrix, unit
from flexapod.robot.leg_positions import closures, link_poses
from flexapod.robot.leg_tree import RobotBuildError
from flexapod.robot.model import Closing, Leg
from flexapod.rotation_arrays import rotation_vector

CLOSED = 1e-11
"""Largest closing residual at home [m, rad], relative to the robot's size: a few roundings of sums of lengths."""
ROTATED = 1e-6
"""Angle between the halves of a fixed joint [rad] above which it is in a wrong root of its rows."""
ROOTS = (0.0, np.pi, 2.0 * np.pi / 3.0, -2.0 * np.pi / 3.0)
"""Angles by which a joint in a wrong root is tried again [rad]."""

PARALLEL = 1.0 - 1e-9
"""Smallest cosine of axes that are parallel."""

ALONG_X = schema.Rotation.model_validate({"matrix": [[0.0, 0.0, -1.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]})
"""Axes of a beam, seen from a leg that runs along z."""


def home_direction(leg: str, spec: schema.Leg, base: Pose, platform: Pose, on: Array) -> tuple[Array, dict[str, float]]:
    """Direction U to S at home for U-P-S, P-U-S and R-U-S legs (or with U at the end), and coordinates found on the way.

    The direction is in the `from` frame of the universal joint.

    Args:
        base: the leg's base frame in the world.
        platform: home pose of the platform.
        on: the leg's joint on the platform, in the platform frame.
    """
    joints = list(spec.joints.items())
    types = [j.type for _, j in joints]
    S = platform.point(on)
    (name, first), universal = joints[0], next(j for _, j in joints if j.type == "universal")
    if types[0] == "universal":
        _refuse_beams_across(leg, spec, first)
        return base.rotation.T @ (S - base.point(np.array(first.at))), {}
    target = joints[2][1].to if len(joints) > 2 else ""
    ends = types[2:3] in (["spherical"], ["universal"]) and (target == "platform" or "." in target or target.endswith(END))
    if types[:2] == ["prismatic", "universal"] and ends:
        e, length = base.rotation @ unit(first.axis or []), _rod(leg, spec, joints[2])
        U0 = base.point(np.array(first.at)) + base.rotation @ np.array(universal.at)
        d = S - U0
        along = float(d @ e)
        across = float(np.linalg.norm(d - along * e))
        if across >= length:
            _out_of_reach(leg, across - length)
        travel = along + spec.branch * np.sqrt(length**2 - across**2)
        return base.rotation.T @ (d - travel * e), {name: travel - first.zero}
    if types[:2] == ["revolute", "universal"] and ends:
        e, length = base.rotation @ unit(first.axis or []), _rod(leg, spec, joints[2])
        pivot, crank = base.point(np.array(first.at)), base.rotation @ np.array(universal.at)
        angle = crank_angle(S - pivot, e, crank, length, spec.branch)
        if angle is None:
            _crank_out_of_reach(leg, S - pivot, e, crank, length)
        R = about(e, float(angle or 0.0))
        return base.rotation.T @ (R.T @ (S - pivot - R @ crank)), {name: float(angle or 0.0) - first.zero}
    raise RobotBuildError(
        f"leg {leg}: `direction: home` is available for U-P-S, P-U-S and R-U-S legs; give the direction as a vector"
    )


def crank_angle(d: Array, axis: Array, crank: Array, length: float, branch: int) -> float | None:
    """Angle at which a crank's end is `length` away from d; None out of reach.

    |d - Rot(axis, t) crank| = length gives A cos t + B sin t = C; the branch is the sign in t = atan2(B, A) +- acos(C/|A,B|).
    """
    along = float(axis @ crank)
    A = float(d @ crank) - along * float(axis @ d)
    B = float(d @ np.cross(axis, crank))
    C = (float(d @ d) + float(crank @ crank) - length**2) / 2.0 - along * float(axis @ d)
    size = float(np.hypot(A, B))
    if size == 0.0 or abs(C) > size:
        return None
    return float(np.arctan2(B, A) + branch * np.arccos(C / size))


def is_beam(spec: schema.Leg, body: str) -> bool:
    """A body of a leg is a beam, which runs along its own x axis; rigid rods of `direction: home` run along z."""
    flexible = spec.bodies[body].flexible if body in spec.bodies else None
    return flexible is not None and flexible.type == "beam"


def _rod(leg: str, spec: schema.Leg, joint: tuple[str, schema.Joint]) -> float:
    """Length of the rod between universal joint and platform joint."""
    name, ball = joint
    beam = is_beam(spec, ball.from_)
    length, *off = ball.at if beam else ball.at[::-1]
    if any(off) or length <= 0.0:
        place = "[length, 0, 0] of the beam, which runs along its x axis" if beam else "[0, 0, length] of the rod"
        raise RobotBuildError(f"leg {leg}, joint {name}: with `direction: home` the joint must lie at {place}")
    return float(length)


def _refuse_beams_across(leg: str, spec: schema.Leg, universal: schema.Joint) -> None:
    """A beam in a U-P-S leg whose slide does not move along it."""
    for name, joint in spec.joints.items():
        if joint.type != "prismatic" or joint.from_ != universal.to:
            continue
        along = np.abs(unit(joint.axis or []))
        if is_beam(spec, joint.from_) and along[0] < PARALLEL:
            raise RobotBuildError(
                f"leg {leg}, joint {name}: `direction: home` lays the beam {joint.from_} along the leg by its own x axis, so "
                "that the joint moves across the leg; write axis: [1, 0, 0]"
            )
        if is_beam(spec, joint.to) and abs(float(unit(joint.axis or []) @ rotation_matrix(joint.rotation)[:, 0])) < PARALLEL:
            raise RobotBuildError(
                f"leg {leg}, joint {name}: the beam {joint.to} runs along its own x axis and lies across the leg; turn it by "
                "`rotation`, e.g. rotation: {Y: -90 deg} for axis: [0, 0, 1]"
            )


def _crank_out_of_reach(leg: str, d: Array, axis: Array, crank: Array, length: float) -> None:
    """The distances from the crank's circle to the platform joint span an interval; the rod's length lies outside."""
    along, size = (
        float(axis @ crank) * float(axis @ d),
        float(np.linalg.norm(np.cross(axis, crank)) * np.linalg.norm(np.cross(axis, d))),
    )
    middle = float(d @ d) + float(crank @ crank) - 2.0 * along
    near, far = np.sqrt(max(0.0, middle - 2.0 * size)), np.sqrt(max(0.0, middle + 2.0 * size))
    if length > far:
        raise RobotBuildError(
            f"leg {leg} does not fit at home: its rod is too long by {length - far:.6g} m. "
            "Check home, the joint positions and lengths"
        )
    _out_of_reach(leg, float(near) - length)


def _out_of_reach(leg: str, by: float) -> None:
    raise RobotBuildError(
        f"leg {leg} cannot reach the platform at home: it is short by {by:.6g} m. Check home, the joint positions and lengths"
    )


def home_coordinates(leg: Leg, platform: Pose, start: Array, size: float) -> Array:
    """Coordinates of a leg at home by damped Newton from `start`; elastic ones stay at rest.

    Raises:
        RobotBuildError: the loop does not close near the start values; says by how much.
    """
    return assembled((leg,), [start], platform, size)[0]


def assembled(legs: Sequence[Leg], starts: Sequence[Array], platform: Pose, size: float) -> list[Array]:
    """Coordinates of legs at home, all loops together, by damped Newton from `starts`; elastic ones stay at rest.

    Raises:
        RobotBuildError: loops do not close near the start values; says by how much.
    """
    first, _ = _ends_moved(legs, starts, platform, size, started=False)
    found, left = _newton(legs, first, platform, size)
    nearer, moved = _ends_moved(legs, found, platform, size)
    if moved:
        found, left = _newton(legs, nearer, platform, size)
    if not left <= CLOSED * max(size, 1.0):
        raise RobotBuildError(_open_loop(legs, found, platform, left))
    for leg in legs:
        for closing in leg.closings:
            _refuse_rotated(legs, leg, closing, found, platform)
    return found


def _newton(
    legs: Sequence[Leg], starts: Sequence[Array], platform: Pose, size: float, only: Sequence[Array] | None = None
) -> tuple[list[Array], float]:
    """Coordinates where damped Newton ends, and the residual that it leaves; `only` has 1 at those that may move."""
    counts = [len(start) for start in starts]
    q = np.concatenate([*starts, np.zeros(0)])
    rigid = np.array([0.0 if leg.links[i].elastic else 1.0 for leg in legs for i in leg.moving])
    rigid *= 1.0 if only is None else np.concatenate(only)

    def split(x: Array) -> list[Array]:
        return list(np.split(x, np.cumsum(counts)[:-1]))

    def residual(x: Array) -> tuple[Array, Array]:
        parts = closures(legs, split(x), platform)
        return np.concatenate([r for r, _, _ in parts]), np.concatenate([J for _, J, _ in parts])

    r, J = residual(q)
    best = float(np.linalg.norm(r))
    for _ in range(100):
        if best <= 1e-14 * size:
            break
        step = -np.linalg.pinv(J * rigid, rcond=1e-10) @ r * rigid
        largest = float(np.max(np.abs(step), initial=0.0)) / max(size, 1.0)
        scale = min(1.0, 0.5 / largest) if largest > 0 else 1.0
        for _ in range(30):
            r_new, J_new = residual(q + scale * step)
            value = float(np.linalg.norm(r_new))
            if value < best:
                break
            scale /= 2.0
        else:
            break
        q, r, J, best = q + scale * step, r_new, J_new, value
    return split(q), best


def _ends_moved(
    legs: Sequence[Leg], found: Sequence[Array], platform: Pose, size: float, started: bool = True
) -> tuple[list[Array], bool]:
    """Coordinates with the joints alone moved to their far sides that a fixed joint behind them holds, and whether any was off.

    Their angles are chosen among thirds and halves of a revolution first: the rows of the fixed joint vanish there too.

    Args:
        started: also move joints with `start` values.
    """
    result, own = [q.copy() for q in found], [np.zeros(len(q)) for q in found]
    for q, mine, leg in zip(result, own, legs, strict=True):
        for closing in leg.closings:
            name = closing.joint.removesuffix(END)
            held = [k for k, i in enumerate(leg.moving) if leg.links[i].joint == name]
            given = any(leg.links[leg.moving[k]].start is not None for k in held)
            if name == closing.joint or (given and not started) or _angle(legs, leg, closing, result, platform) < ROTATED:
                continue
            angles = [k for k in held if leg.links[leg.moving[k]].kind == "R"]
            here, choices = q[angles].copy(), []
            for steps in product(ROOTS, repeat=len(angles)):
                q[angles] = here + np.array(steps)
                choices.append((_angle(legs, leg, closing, result, platform), steps))
            q[angles] = here + np.array(min(choices)[1])
            mine[held] = 1.0
    moved = any(mine.any() for mine in own)
    return (_newton(legs, result, platform, size, own)[0], True) if moved else (result, False)


def _open_loop(legs: Sequence[Leg], coordinates: Sequence[Array], platform: Pose, left: float) -> str:
    """Message about the leg that does not close, with its gap."""
    sizes = [float(np.linalg.norm(r)) for r, _, _ in closures(legs, coordinates, platform)]
    worst = legs[int(np.argmax(sizes))]
    where = f"leg {worst.name}" + (f" (joints {', '.join(c.joint for c in worst.closings)})" if worst.cuts else "")
    return (
        f"{where} does not close at home: {left:.3g} m (or rad) remain. "
        "Check home, the joint positions, or give `start` values nearer to the assembled leg"
    )


def _angle(legs: Sequence[Leg], leg: Leg, closing: Closing, found: Sequence[Array], platform: Pose) -> float:
    """Angle between the halves of a closing joint [rad]."""
    i = next(i for i, other in enumerate(legs) if other is leg)
    R_l = link_poses(leg, found[i])[closing.link][0] if closing.link >= 0 else np.eye(3)
    R_t = platform.rotation
    if closing.to is not None:
        k, link = closing.to if len(legs) > 1 else (0, closing.to[1])
        R_t = link_poses(legs[k], found[k])[link][0] if link >= 0 else np.eye(3)
    R_p = R_t @ closing.on_platform.rotation
    return float(np.linalg.norm(rotation_vector(R_p.T @ R_l @ closing.on_link.rotation)))


def _refuse_rotated(legs: Sequence[Leg], leg: Leg, closing: Closing, found: Sequence[Array], platform: Pose) -> None:
    """Refuse joints whose halves are rotated by a third or half of a revolution, where the rows of fixed and prismatic
    joints vanish, too."""
    if closing.type not in ("fixed", "prismatic"):
        return
    angle = _angle(legs, leg, closing, found, platform)
    if angle > ROTATED:
        raise RobotBuildError(
            f"leg {leg.name} meets its {closing.type} joint {closing.joint} at home rotated by {np.degrees(angle):.4g} deg. "
            "Give `start` values nearer to the assembled leg, or correct the joint's `rotation`"
        )
