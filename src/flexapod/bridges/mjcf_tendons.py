"""Tendons and coupled joints of an MJCF file: gears (fixed tendons held by an equality, `equality/joint`) and springs."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree.ElementTree import Element

import numpy as np

from flexapod.bridges.tree import Gear, Node, Strut

if TYPE_CHECKING:
    from flexapod.bridges.mjcf_in import Reader

HELD = 1e-9
"""Difference of a coupled sum from its value at home [m or rad]: rounding of decimal numbers."""


def read_gears(root: Element, reader: Reader, nodes: tuple[Node, ...]) -> tuple[Gear, ...]:
    """Couplings; every one must hold at the coordinates of the key frame.

    Checked by: tests/bridges/test_mjcf.py.
    """
    fixed = {t.get("name"): [(j.attrib["joint"], float(j.attrib["coef"])) for j in t.findall("joint")]
             for t in root.findall("tendon/fixed")}  # fmt: skip
    found = []
    for k, element in enumerate(root.findall("equality/*")):
        a, name = element.attrib, element.get("name", f"loop{k + 1}")
        c = [*_floats(a.get("polycoef", "0 1 0 0 0")), 0.0, 0.0, 0.0, 0.0][:5]
        if element.tag == "joint":
            if "joint2" not in a or any(c[2:]):
                raise reader.error(f"the equality {name!r} is no linear relation of two joints, which alone is read")
            terms = [(a["joint1"], 1.0), (a["joint2"], -c[1])]
        elif element.tag == "tendon" and a.get("tendon1") in fixed:
            terms = fixed[a["tendon1"]]
            if "tendon2" in a:
                raise reader.error(f"the equality {name!r} ties two tendons, which is not read")
        else:
            continue
        found.append(_gear(reader, name, terms, c[0], {n.joint: n.start for n in nodes}))
    return tuple(found)


def _gear(reader: Reader, name: str, terms: list[tuple[str, float]], shift: float, starts: dict[str, float]) -> Gear:
    unknown = [joint for joint, _ in terms if joint not in starts]
    if unknown:
        raise reader.error(f"the equality {name!r} names the joint {unknown[0]!r}, which does not exist")
    wanted = shift + sum(factor * reader.reference.get(joint, 0.0) for joint, factor in terms)
    home = sum(factor * starts[joint] for joint, factor in terms)
    if abs(home - wanted) > HELD * max(1.0, abs(wanted)):
        raise reader.error(f"the equality {name!r} does not hold at home: the sum of its joints is {home:.9g}, not {wanted:.9g}")
    return Gear(name=name, terms=tuple(terms), home=home)


def read_struts(root: Element, reader: Reader) -> tuple[Strut, ...]:
    """Springs and dampers between two sites."""
    found = []
    for tendon in root.findall("tendon/spatial"):
        a, sites = tendon.attrib, [s.attrib["site"] for s in tendon.findall("site")]
        k, d = (float(_floats(a.get(key, "0"))[0]) for key in ("stiffness", "damping"))
        if k == 0.0 and d == 0.0:
            continue
        name, free = a.get("name", ""), set(_floats(a.get("springlength", "-1")))
        if len(sites) != 2 or len(tendon) != 2 or (k and (len(free) != 1 or min(free) < 0.0)):
            raise reader.error(f"the tendon {name!r} is no spring between two sites with one `springlength`, which alone is read")
        ends = [reader.sites[s] for s in sites]
        found.append(Strut(
            name=name, first=ends[0][0], at=np.asarray(ends[0][1].position), second=ends[1][0],
            on=np.asarray(ends[1][1].position), stiffness=k, length=max(0.0, *free), damping=d,
        ))  # fmt: skip
    return tuple(found)


def _floats(text: str) -> list[float]:
    return [float(word) for word in text.split()]
