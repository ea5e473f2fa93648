r"""Spheres of legs without a closed form: the locus of a platform point for given actuators.

- **sphere**: a universal joint and a spherical one at the platform; the distance of their centres is given.
- **circle**: one passive revolute joint and a spherical one at the platform; the latter stays on a circle about the axis.
- **hinge**: a spherical joint, then a revolute joint at the platform (RSR); seen from the platform, the centre B of the spherical
  joint stays on a circle about the axis.
- **rods**: several rods side by side (parallelograms), each between a universal joint and a spherical one at the platform: a
  sphere each.

A circle of radius r about c with axis z is where the spheres about :math:`c \pm r z` of squared radius :math:`2 r^2` meet.
Letters: a centre of a sphere (world), b platform point (platform axes), s squared radius. Elastic coordinates are zero.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Literal

import numpy as np

from flexapod.arrays import Array
from flexapod.errors import InputError
from flexapod.robot.architecture import EXACT
from flexapod.robot.leg_positions import ancestors, link_poses

if TYPE_CHECKING:
    from flexapod.robot.model import Closing, Leg


Locus = Literal["sphere", "circle", "hinge", "rods"]

SPHERES: dict[Locus, int] = {"sphere": 1, "circle": 2, "hinge": 2}
"""Spheres of a leg; of rods, one each."""

_JOINTS = {("spherical", 2): "sphere", ("spherical", 1): "circle", ("revolute", 3): "hinge"}
"""Locus by the closing joint and the number of passive revolute joints before it."""


def locus(leg: Leg) -> Locus | None:
    """Locus of a platform point for a given leg; None if it is none of these."""
    passive = _passive(leg)
    if leg.couplings:
        return None
    if leg.cuts:
        return "rods" if _are_rods(leg) else None
    if leg.closing.to is not None or not set(passive) <= set(ancestors(leg, leg.closing.link)):
        return None
    if any(leg.links[i].kind != "R" for i in passive):
        return None
    found: Locus | None = _JOINTS.get((leg.closing.type, len(passive)))  # type: ignore[assignment]
    concurrent = all(leg.links[j].parent == i and axes_meet(leg, j) for i, j in pairwise(passive))
    return found if concurrent else None


def sphere_count(leg: Leg) -> int:
    """Number of spheres of a leg with a `locus`, or of one in closed form; 0 without."""
    if leg.architecture != "general":
        return 1
    found = locus(leg)
    return len(leg.closings) if found == "rods" else SPHERES[found] if found else 0


def _are_rods(leg: Leg) -> bool:
    """Whether every loop of a leg closes by a spherical joint at the platform, behind a universal joint of its own; no
    others are passive."""
    used: list[int] = []
    for closing in leg.closings:
        own = _before(leg, closing)
        if closing.type != "spherical" or closing.to is not None or len(own) != 2:
            return False
        if any(leg.links[i].kind != "R" for i in own) or leg.links[own[1]].parent != own[0] or not axes_meet(leg, own[1]):
            return False
        used += own
    return sorted(used) == sorted(_passive(leg))


def _before(leg: Leg, closing: Closing) -> list[int]:
    """Links with a passive joint on the way to a closing joint, from the base on."""
    way = set(ancestors(leg, closing.link))
    return [i for i in _passive(leg) if i in way]


def _passive(leg: Leg) -> list[int]:
    """Links with a passive joint, from the base on."""
    return [i for i in leg.moving if not leg.links[i].elastic and not leg.links[i].actuated]


def axes_meet(leg: Leg, j: int) -> bool:
    """The axis of a link meets that of the link before it at one point and a right angle: together they reach all directions."""
    place = leg.links[j].placement
    return bool(np.linalg.norm(place.position) < EXACT and abs(place.rotation[2, 2]) < EXACT)


def chain_spheres(leg: Leg, q: Array) -> list[tuple[Array, Array, Array]]:
    """Centre (k, 3), platform point (k, 3) and squared radius (k,) of each sphere of a leg with a `locus`.

    Args:
        q: (k, actuators of the leg).
    """
    make = {"sphere": _sphere, "circle": _circle, "hinge": _hinge, "rods": _rods}[str(locus(leg))]
    found = [make(leg, values) for values in q]
    return [
        (np.array([one[i][0] for one in found]), np.array([one[i][1] for one in found]), np.array([one[i][2] for one in found]))
        for i in range(len(found[0]))
    ]


_Sphere = tuple[Array, Array, float]


def _poses(leg: Leg, values: Array) -> list[tuple[Array, Array]]:
    """Frames of the links with passive joints as at home."""
    coordinates = np.where([leg.links[i].elastic for i in leg.moving], 0.0, leg.home)
    coordinates[[k for k, i in enumerate(leg.moving) if leg.links[i].actuated]] = values
    return link_poses(leg, coordinates)


def _end(leg: Leg, poses: list[tuple[Array, Array]]) -> Array:
    """Centre of the closing joint on its link, (3,) world."""
    R, p = poses[leg.closing.link]
    return np.asarray(p + R @ leg.closing.on_link.position)


def _sphere(leg: Leg, values: Array) -> list[_Sphere]:
    poses = _poses(leg, values)
    centre = poses[_passive(leg)[1]][1]
    return [(centre, leg.closing.on_platform.position, float(np.sum((_end(leg, poses) - centre) ** 2)))]


def _rods(leg: Leg, values: Array) -> list[_Sphere]:
    poses, found = _poses(leg, values), list[_Sphere]()
    for closing in leg.closings:
        centre, (R, p) = poses[_before(leg, closing)[1]][1], poses[closing.link]
        end = p + R @ closing.on_link.position
        found.append((centre, closing.on_platform.position, float(np.sum((end - centre) ** 2))))
    return found


def _circle(leg: Leg, values: Array) -> list[_Sphere]:
    c, r, z = hinge_circle(leg, values)
    b = leg.closing.on_platform.position
    return [(c + r * z, b, 2.0 * r**2), (c - r * z, b, 2.0 * r**2)]


def _hinge(leg: Leg, values: Array) -> list[_Sphere]:
    closing, poses = leg.closing, _poses(leg, values)
    B = poses[_passive(leg)[-1]][1]
    R, p = poses[closing.link]
    v = closing.on_link.rotation.T @ (R.T @ (B - p) - closing.on_link.position)
    r, z = float(np.hypot(v[0], v[1])), closing.on_platform.rotation[:, 2]
    _check_radius(leg, r, "centre of the spherical joint")
    c = closing.on_platform.position + v[2] * z
    return [(B, c + r * z, 2.0 * r**2), (B, c - r * z, 2.0 * r**2)]


def has_one_hinge(leg: Leg) -> bool:
    """A leg is a plain chain to its closing joint with one passive revolute joint."""
    passive = _passive(leg)
    chain = [link.parent for link in leg.links] == list(range(-1, len(leg.links) - 1))
    return chain and leg.closing.link == len(leg.links) - 1 and len(passive) == 1 and leg.links[passive[0]].kind == "R"


def hinge_circle(leg: Leg, values: Array) -> tuple[Array, float, Array]:
    """Circle of the closing joint's centre about the one passive revolute joint of a leg: centre (3,), radius, axis (3,).

    Args:
        values: coordinates of the leg's actuators.
    """
    poses = _poses(leg, values)
    joint, (R, origin) = _end(leg, poses), poses[_passive(leg)[0]]
    axis = R[:, 2]
    centre = origin + axis * (axis @ (joint - origin))
    radius = float(np.linalg.norm(joint - centre))
    _check_radius(leg, radius, "end")
    return centre, radius, axis


def _check_radius(leg: Leg, radius: float, what: str) -> None:
    if radius < EXACT:
        raise InputError(f"actuator_position: the {what} of leg {leg.name} lies on the axis of its revolute joint")
