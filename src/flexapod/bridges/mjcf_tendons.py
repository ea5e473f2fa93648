"""Tendons and coupled joints of an MJCF file: gears (fixed tendons held by an equality, `equality/joint`) and springs."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree.ElementTree import Element

import numpy as np

from flexapod.bridges.body_tree import Gear, Node, Strut
from flexapod.bridges.imported import label, value, values, word
from flexapod.bridges.mjcf_refused import is_active

if TYPE_CHECKING:
    from flexapod.bridges.mjcf_in import Reader
    from flexapod.robot.geometry import Pose

HELD = 1e-9
"""Difference of a coupled sum from its value at home [m or rad]: rounding of decimal numbers."""


def read_gears(root: Element, reader: Reader, nodes: tuple[Node, ...]) -> tuple[Gear, ...]:
    """Couplings; every one must hold at the coordinates of the key frame.

    Checked by: tests/bridges/test_mjcf.py.
    """
    fixed = {t.get("name"): [(word(j, "joint", reader.where(t)), value(j.attrib, "coef", reader.where(t)))
                             for j in t.findall("joint")] for t in root.findall("tendon/fixed")}  # fmt: skip
    crosses = {e.get("name") for e in root.findall("equality/connect")}  # such a tendon holds the cross of a universal joint
    found = []
    for k, element in enumerate(root.findall("equality/*")):
        a, name = element.attrib, element.get("name", f"loop{k + 1}")
        if not is_active(element, reader):
            continue
        c = [*values(a, "polycoef", reader.where(element), None, "0 1 0 0 0"), 0.0, 0.0, 0.0, 0.0][:5]
        if element.tag == "joint":
            if "joint2" not in a or any(c[2:]):
                raise reader.error(f"the equality {name!r} is not a linear relation of two joints; only these are supported")
            terms = [(word(element, "joint1", reader.where(element)), 1.0), (a["joint2"], -c[1])]
        elif element.tag == "tendon" and a.get("tendon1") in fixed:
            terms = fixed[a["tendon1"]]
            if "tendon2" in a:
                raise reader.error(f"the equality {name!r} ties two tendons, which is not read")
        elif element.tag == "tendon" and a.get("tendon1") not in crosses:
            raise reader.error(f"the equality {name!r} holds no fixed tendon; only these are supported: {a.get('tendon1')!r}")
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
    found: list[Strut] = []
    for tendon in root.findall("tendon/spatial"):
        a, where = reader.defaults.of(tendon, "main", "tendon"), reader.where(tendon)
        k, d = (values(a, key, where, None, "0")[0] for key in ("stiffness", "damping"))
        if k == 0.0 and d == 0.0:
            continue
        name, free = a.get("name") or f"tendon{len(found) + 1}", set(values(a, "springlength", where, None, "-1"))
        if len(tendon.findall("site")) != 2 or len(tendon) != 2 or (k and (len(free) != 1 or min(free) < 0.0)):
            raise reader.error(
                f"the tendon {name!r} is not a spring between two sites with one `springlength`; only these are supported"
            )
        ends = tendon_sites(tendon, reader)
        found.append(Strut(
            name=name, first=ends[0][0], at=np.asarray(ends[0][1].position), second=ends[1][0],
            on=np.asarray(ends[1][1].position), stiffness=k, length=max(0.0, *free), damping=d,
        ))  # fmt: skip
    return tuple(found)


def tendon_sites(tendon: Element, reader: Reader) -> list[tuple[str, Pose]]:
    """Bodies and places that a tendon runs through."""
    names = [word(site, "site", reader.where(tendon)) for site in tendon.findall("site")]
    unknown = next((name for name in names if name not in reader.sites), None)
    if unknown is not None:
        raise reader.error(f"{label(tendon)} names the site {unknown!r}, which does not exist")
    return [reader.sites[name] for name in names]
