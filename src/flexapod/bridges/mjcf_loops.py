"""Closing joints of an MJCF file: `connect` and `weld` between sites, or between bodies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from xml.etree.ElementTree import Element

import numpy as np

from flexapod.bridges.body_tree import ClosingLoop
from flexapod.bridges.mjcf_refused import is_active
from flexapod.bridges.mjcf_tendons import HELD, tendon_sites
from flexapod.robot.geometry import frame_along, pose, unit

if TYPE_CHECKING:
    from flexapod.arrays import Array
    from flexapod.bridges.mjcf_in import Reader


def read_loops(root: Element, reader: Reader) -> tuple[ClosingLoop, ...]:
    """Closing joints. Two `connect` between the same bodies are a revolute joint, more a fixed one, one with a tendon a universal
    joint."""
    pairs: dict[tuple[str, str], list[tuple[str, Any, Any]]] = {}
    loops: list[ClosingLoop] = []
    names: set[str] = set()
    for element in (e for e in root.findall("equality/*") if is_active(e, reader)):
        a = element.attrib
        name = a.get("name") or f"loop{len(names) + 1}"
        if name in names:
            raise reader.error(f"two loops have the name {name!r}")
        names.add(name)
        if element.tag in ("tendon", "joint"):
            continue
        if element.tag not in ("connect", "weld"):
            raise reader.error(f"the equality <{element.tag}> {name!r} is not a joint that closes a loop")
        one, two = reader.end(a, 1), reader.end(a, 2)
        if one is None or two is None:
            one, two = reader.bodies(a, name)
        (first, at), (second, on) = one, two
        if element.tag == "weld":
            loops.append(ClosingLoop(name=name, type="fixed", first=first, on_first=at, second=second, on_second=on))
        else:
            known = pairs.setdefault((first, second), [])
            if not any(np.array_equal(at.position, k[1].position) and np.array_equal(on.position, k[2].position) for k in known):
                known.append((name, at, on))  # the same points again make the constraint stiffer, not another one
    bends = {t.get("name"): tendon_sites(t, reader) for t in root.findall("tendon/spatial")}
    for (first, second), group in pairs.items():
        name, at, on = group[0]
        kind, at_R, on_R = "spherical", np.eye(3), np.eye(3)
        if len(group) == 2:
            kind = "revolute"
            at_R, on_R = (frame_along(unit(g.position - h.position)) for g, h in ((group[1][1], at), (group[1][2], on)))
        elif len(group) > 2:
            kind = "fixed"
            at_R, on_R = _spanned(reader, [[g[1].position for g in group], [g[2].position for g in group]], name)
        elif name in bends:
            kind, both = "universal", dict(bends[name])
            at_R, on_R = (frame_along(unit(both[b].position - h.position)) for b, h in ((first, at), (second, on)))
        loops.append(ClosingLoop(name=name, type=kind, first=first, on_first=pose(at.position, at_R), second=second,
                          on_second=pose(on.position, on_R)))  # fmt: skip
    return tuple(loops)


def _spanned(reader: Reader, sides: list[list[Array]], name: str) -> list[Array]:
    """Axes of the frame that connected points span on either side: the first two, and the one farthest from their line."""
    levers = [np.linalg.norm(np.cross(unit(sides[0][1] - sides[0][0]), p - sides[0][0])) for p in sides[0]]
    third = int(np.argmax(levers))
    if levers[third] <= HELD:
        raise reader.error(f"the points connected like {name!r} lie on one line; two of them are a revolute joint")
    found = []
    for points in sides:
        x = unit(points[1] - points[0])
        z = unit(np.cross(x, points[third] - points[0]))
        found.append(np.column_stack([x, np.cross(z, x), z]))
    return found
