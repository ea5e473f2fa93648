r"""Suspicious values of a robot file: links whose inertia does not fit between their joints.

.. math:: k = \sqrt{I_{max}/m} \le r

k is the radius of gyration about the centre of mass, r the distance from there to the farthest joint of the link: mass within r
of the centre of mass has I_max <= m r^2. A link may be longer than its joints are apart, so this is reported, never refused.
Checked by: tests/views/test_remarks.py.
"""

from __future__ import annotations

import numpy as np

import flexapod as fp

SLACK = 1.001
"""Rounding of printed inertias, as a factor on r."""


def remarks(robot: fp.Robot) -> dict[str, str]:
    """Path of the robot file -> what is odd there; legs that are alike are reported once."""
    found: dict[str, str] = {}
    alike: dict[tuple[str, str], list[str]] = {}
    for k, leg in enumerate(robot.legs):
        for index, link in enumerate(leg.links):
            if link.body is not None and not link.from_table and (text := _odd_link(robot, k, index)):
                alike.setdefault((link.body.name, text), []).append(leg.name)
    for (body, text), legs in alike.items():
        paths = [f"legs.{body}.inertia"] if len(legs) == len(robot.legs) else [f"legs.{leg}.{body}.inertia" for leg in legs]
        found |= dict.fromkeys(paths, text)
    return found


def _odd_link(robot: fp.Robot, k: int, index: int) -> str:
    """Suspicious inertia of a link; nothing for sliding parts and bodies with a single joint centre."""
    leg = robot.legs[k]
    body = leg.links[index].body
    behind = [link for link in leg.links if link.parent == index]
    if body is None or body.mass <= 0 or any(link.kind == "P" for link in behind):
        return ""
    centres = [np.zeros(3), *(link.placement.position for link in behind)]
    if leg.closing.link == index:
        centres.append(leg.closing.on_link.position)
    if max(float(np.linalg.norm(p)) for p in centres) == 0.0:
        return ""
    c = body.first_moment / body.mass
    central = body.inertia - body.mass * (c @ c * np.eye(3) - np.outer(c, c))
    gyration = float(np.sqrt(max(np.linalg.eigvalsh(central)[-1], 0.0) / body.mass))
    reach = max(float(np.linalg.norm(p - c)) for p in centres)
    if gyration <= SLACK * reach:
        return ""
    return (
        f"radius of gyration {gyration:.4g} m about the centre of mass, but the farthest joint is {reach:.4g} m away: "
        "more inertia than mass between the joints can have; check the value and `about`; it is used as it is"
    )
