"""Elements of a beam between its nodes: forces and moments per elastic coordinate."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from flexapod.arrays import Array
from flexapod.robot.beams import beam_elements, tip_names

if TYPE_CHECKING:
    from flexapod.description.schema_flexible import Flexible
    from flexapod.flexible.section import Section
    from flexapod.robot.beams import ElasticElement
    from flexapod.robot.robot import Robot


@dataclass(frozen=True, kw_only=True, eq=False)
class Piece:
    """An element between two nodes of a beam; rows by the beam's coordinates (N,), moments (2, N) at root and tip.

    Args:
        number: of the element along its beam, from 1.
        axial: axial force per stretching of the beam.
    """

    number: int
    section: Section
    young: float
    axial: Array
    moment_z: Array
    moment_y: Array
    torque: Array


def beam_pieces(robot: Robot, number: int, beam: ElasticElement) -> list[Piece]:
    """The element itself, or all elements of a reduced beam.

    Args:
        number: of the leg.
    """
    spec = beam_description(robot, number, beam)
    names, d = list(beam.body.names), len(tip_names(beam.body.names))
    own = int(beam.name.rpartition(".beam")[2])
    parts = beam_elements(spec, robot.planar)
    reduced = beam.basis is not None
    chosen = (
        list(enumerate(parts, 1))
        if reduced
        else [(own, replace(parts[own - 1], length=float(beam.body.interfaces["tip"].r0[0])))]
    )
    axial = np.zeros(len(names))
    axial[0] = beam.body.K_ee[0, 0]
    found = []
    for k, part in chosen:
        nodes = np.vstack([np.zeros((d, d)), np.eye(d)]) if beam.basis is None else beam.basis[(k - 1) * d : (k + 1) * d]
        force = part.stiffness() @ nodes  # at both ends; the root's is against the beam
        none = np.zeros(len(names))
        rows = {name: (-force[names.index(name)], force[d + names.index(name)]) for name in names[:d]}
        found.append(
            Piece(
                number=k, section=part.section, young=part.material.young, axial=axial,
                moment_z=np.array(rows["theta" if "theta" in names else "thz"]), moment_y=np.array(rows.get("thy", (none, none))),
                torque=np.array(rows.get("thx", (none, none))),
            )
        )  # fmt: skip
    return found


def beam_description(robot: Robot, number: int, beam: ElasticElement) -> Flexible:
    """What the robot file says of the beam of an element."""
    name = beam.name.rpartition(".beam")[0]
    body = next(b for link in robot.legs[number].links if (b := link.body) is not None and b.name == name)
    assert body.flexible is not None
    return body.flexible
