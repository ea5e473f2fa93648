"""Beams inside a leg: each element's tip moves against its root by a few coordinates, written as links.

Along the beam's x axis, from the root of an element to its tip: planar u, v, theta; spatial u, v, w, thx, thy, thz. The
displacement is along root axes, then the rotation turns what follows: the true rotation of the tip. A curved beam is a row of
straight elements between points of its arc. A reduced beam (`modes`) is one element, and its modes are links beyond the tip that
carry nothing: they have coordinates, and no frame that anything is attached to.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from flexapod.arrays import Array
from flexapod.robot.geometry import about, frame_along, pose, snap
from flexapod.robot.model import Kind

if TYPE_CHECKING:
    from flexapod.description.schema_flexible import Flexible
    from flexapod.robot.leg_tree import TreeBuilder

PLANAR: tuple[tuple[str, Kind, int], ...] = (("u", "P", 0), ("v", "P", 1), ("theta", "R", 2))
SPATIAL: tuple[tuple[str, Kind, int], ...] = (
    ("u", "P", 0),
    ("v", "P", 1),
    ("w", "P", 2),
    ("thx", "R", 0),
    ("thy", "R", 1),
    ("thz", "R", 2),
)


def add_beam(tree: TreeBuilder, name: str, flexible: Flexible, root: int, axes: Array, planar: bool) -> None:
    """Append the elastic links of a beam and note where its nodes are.

    Args:
        name: of the body; coordinates are `name.u`, and `name.2.u` for the second element.
        root: link that carries the beam's root.
        axes: (3, 3) body axes seen from that link.
        planar: the robot moves in a plane whose normal is the body's z axis.
    """
    length, parts = float(flexible.length or 0.0), beam_parts(flexible)
    chord, half = arc_chord(flexible)
    parent, K_before = root, half.T @ axes.T
    nodes = [(np.zeros(3), root, pose(rotation=axes))]
    for element in range(1, parts + 1):
        label = name if element == 1 else f"{name}.{element}"
        step = np.array([chord, 0.0, 0.0])
        for key, kind, axis in PLANAR if planar else SPATIAL:
            K = frame_along(np.eye(3)[axis])
            placement = pose(K_before.T @ step, snap(K_before.T @ K))
            parent = tree.add(parent, placement, kind, name, body=None, elastic=True, coordinate=f"{label}.{key}")
            K_before, step = K, np.zeros(3)
        place = np.array([length * element / parts, 0.0, 0.0])
        nodes.append((place, parent, pose(rotation=K_before.T @ half)))  # along the tangent
        K_before = (half @ half).T @ K_before
    tree.nodes[name] = nodes
    for k in range(flexible.modes or 0):
        parent = tree.add(parent, pose(), "P", name, body=None, elastic=True, coordinate=f"{name}.mode{k + 1}")


def beam_parts(flexible: Flexible) -> int:
    """Parts of a beam with a frame of their own: its elements, or one where it is reduced."""
    return flexible.elements if flexible.modes is None else 1


def arc_chord(flexible: Flexible) -> tuple[float, Array]:
    r"""Length of each element and rotation (3, 3) by half the angle that it represents, about z.

    .. math:: l = 2 R \sin\frac{\varphi}{2 n},\qquad R = L / \varphi

    with both ends on the arc; the length over n of a straight beam.
    """
    length, parts, bend = float(flexible.length or 0.0), beam_parts(flexible), float(flexible.bend or 0.0)
    if bend == 0.0:
        return length / parts, np.eye(3)
    return 2.0 * length / bend * float(np.sin(bend / parts / 2.0)), about(np.eye(3)[2], bend / parts / 2.0)
