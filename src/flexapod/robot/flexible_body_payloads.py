"""Payloads of flexible bodies of a leg: rigid bodies of their own, held at the place that is nearest to them.

A beam holds them at its nearest node, a plate above or below its middle plane where they are, a body of a file at the nearest
place where something is attached, its root included. From there a rigid arm leads to the payload's centre of mass.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from flexapod.description import schema
from flexapod.robot.bodies import rigid_body

if TYPE_CHECKING:
    from flexapod.robot.leg_tree import TreeBuilder
    from flexapod.robot.modal_link import Place


def held_at(spec: schema.Leg, body: str) -> tuple[Place, ...]:
    """Places of a plate where its payloads are held; other bodies have places of their own."""
    own = spec.bodies.get(body)
    if own is None or own.flexible is None or own.flexible.type != "plate":
        return ()
    return tuple((float(p.com[0]), float(p.com[1]), float(p.com[2])) for p in own.payloads.values())


def add_payloads(tree: TreeBuilder, spec: schema.Leg) -> None:
    """Append a fixed link `body/payload` with its inertia for every payload of a flexible body.

    Checked by: tests/robot/test_payloads.py.
    """
    for name, body in spec.bodies.items():
        if body.flexible is None or name not in tree.nodes:
            continue
        for key, payload in body.payloads.items():
            com = np.array(payload.com)
            place, link, seat = min(tree.nodes[name], key=lambda node: float(np.linalg.norm(node[0] - com)))
            alone = schema.Body(payloads={key: payload.model_copy(update={"com": [float(x) for x in com - place]})})
            tree.add(link, seat, "fixed", f"{name}/{key}", body=rigid_body(f"{name}/{key}", alone, np.eye(3)))
