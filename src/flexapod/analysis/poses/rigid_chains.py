"""Legs without deformation: elastic and fixed links are merged into the placement of the next link.

A flexible robot, undeformed, then has the equations of its rigid twin, and shares what is stored for it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from flexapod.robot.geometry import Pose, about

if TYPE_CHECKING:
    from flexapod.robot.model import Leg, Link


def rigid_chain(leg: Leg) -> Leg:
    """The leg with the links that move as rigid ones; home coordinates are theirs.

    Checked by: tests/analysis/test_loop_poses.py.
    """
    links: list[Link] = []
    seat: list[tuple[int, Pose]] = []  # link that carries a frame, and the frame in it
    for link in leg.links:
        parent, before = seat[link.parent] if link.parent >= 0 else (-1, _NOTHING)
        placement = before @ link.placement
        if link.kind == "fixed" or link.elastic:
            seat.append((parent, placement @ _displaced(link)))
        else:
            links.append(replace(link, parent=parent, placement=placement))
            seat.append((len(links) - 1, _NOTHING))
    closing = leg.closing
    carrier, before = seat[closing.link] if closing.link >= 0 else (-1, _NOTHING)
    kept = [k for k, i in enumerate(leg.moving) if not leg.links[i].elastic]
    closing = replace(closing, link=carrier, on_link=before @ closing.on_link)
    return replace(leg, links=tuple(links), closing=closing, home=leg.home[kept])


def _displaced(link: Link) -> Pose:
    """Contribution of a link that is at rest at coordinate zero to its placement."""
    if link.kind == "R":
        return Pose(position=np.zeros(3), rotation=about(np.array([0.0, 0.0, 1.0]), link.zero))
    along = link.zero if link.kind == "P" else 0.0
    return Pose(position=np.array([0.0, 0.0, along]), rotation=np.eye(3))


_NOTHING = Pose(position=np.zeros(3), rotation=np.eye(3))
