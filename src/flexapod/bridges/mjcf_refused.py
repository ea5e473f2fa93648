"""Contents of an MJCF file that a robot file cannot describe: refused by name, so that nothing is ignored."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING
from xml.etree.ElementTree import Element

from flexapod.bridges.imported import label, no_strangers, values

if TYPE_CHECKING:
    from flexapod.bridges.mjcf_in import Reader

Harmless = dict[str, tuple[str, ...]]
ACTUATOR: Harmless = {"gear": ("1",), "armature": ("0",), "damping": ("0",), "delay": ("0",), "nsample": ("0",)}
TENDON: Harmless = {"frictionloss": ("0",), "armature": ("0",), "springyield": ("0",)}
HARMLESS: dict[str, Harmless] = {
    "compiler": {"inertiafromgeom": ("auto", "false"), "settotalmass": ("-1",), "boundmass": ("0",), "boundinertia": ("0",),
                 "balanceinertia": ("false",)},
    "option": {"density": ("0",), "viscosity": ("0",), "actuatorgroupdisable": ()},
    "flag": dict.fromkeys(("equality", "constraint", "actuation", "spring", "damper", "passive", "frictionloss"), ("enable",)),
    "body": {"gravcomp": ("0",), "mocap": ("false",)},
    "joint": {"springdamper": ("0 0",), "actuatorgravcomp": ("false",), "springyield": ("0",)},
    "general": {"dyntype": ("none",), "gaintype": ("fixed",), "gainprm": ("1",), "biastype": ("none",), **ACTUATOR},
    "motor": ACTUATOR,
    "spatial": TENDON,
    "fixed": {"stiffness": ("0",), "damping": ("0",), **TENDON},
}  # fmt: skip
"""Element -> attribute -> values without effect; every other value is refused."""
FREE = ("damping", "armature", "frictionloss", "stiffness")
"""Attributes of a free joint that a robot file cannot express."""
LINEAR = ("damping", "stiffness")
"""Attributes of joints and tendons that may have terms of higher order."""
ELEMENTS = ("composite", "flexcomp", "replicate", "attach")
"""Elements that make bodies."""
OF_JOINT = "write it at the joint itself"
ADVICE = {
    "general": {"gear": "forces of a robot file act at the joint itself: write gear 1 and multiply the control"},
    "fixed": {"stiffness": "write springs and dampers at joints, or between two sites (`spatial`)"},
}
ADVICE["general"] |= {"armature": OF_JOINT, "damping": OF_JOINT}
ADVICE["motor"], ADVICE["fixed"]["damping"] = ADVICE["general"], ADVICE["fixed"]["stiffness"]


def check_words(root: Element, reader: Reader) -> None:
    """Refuse what would change the mechanism and is not read; joints are checked where their bodies are read.

    Checked by: tests/bridges/test_mjcf.py.
    """
    for part in (part for part in root if part.tag != "default"):
        for element in part.iter():
            if element.tag in ELEMENTS:
                raise reader.error(f"{label(element)} makes bodies, which is not read; write them out, as `mj_saveLastXML` does")
            if element.tag in HARMLESS and element.tag != "joint":
                kind = "tendon" if part.tag == "tendon" else None
                check_attributes(element, reader.defaults.of(element, "main", kind), reader)


def check_attributes(element: Element, a: Mapping[str, str], reader: Reader) -> None:
    """Refuse attributes that would change the mechanism and are not read; `a`: with those of the default class."""
    for key, harmless in HARMLESS.get(element.tag, {}).items():
        if key in a and not any(_equal(a[key], known) for known in harmless):
            usual = f"leave it out, or write {harmless[0]!r}" if harmless else "leave it out"
            advice = ADVICE.get(element.tag, {}).get(key, usual)
            raise reader.error(f"{label(element)} has {key} {a[key]!r}, which a robot file cannot describe; {advice}")
    if element.tag not in ("joint", "spatial", "fixed"):
        return
    for key in (key for key in LINEAR if key in a):
        if any(values(a, key, reader.where(element))[1:]):
            text = f"has {key} {a[key]!r}: a spring or damper of a robot file is linear; write its first number alone"
            raise reader.error(f"{label(element)} {text}")
    if a.get("type") == "free" and (lost := next((key for key in FREE if key in a and not _equal(a[key], "0")), None)):
        text = f"floats and has {lost} {a[lost]!r}, which a robot file cannot describe; leave it out"
        raise reader.error(f"{label(element)} {text}")
    if element.tag != "joint" and "range" in a and reader.limited(a, "limited"):
        raise reader.error(f"{label(element)} has range {a['range']!r}, and limits of tendons are not read; leave it out")


def _equal(text: str, known: str) -> bool:
    """Whether two attributes have equal words or numbers; numbers beyond the known ones may be zeros."""
    try:
        given, wanted = [float(word) for word in text.split()], [float(word) for word in known.split()]
    except ValueError:
        return text == known
    return given[: len(wanted)] == wanted and not any(given[len(wanted) :])


def driven_joints(root: Element, reader: Reader) -> dict[str, Element]:
    """Joints with a motor, in the order of the motors; other actuators are refused."""
    known, found = [n.joint for n in reader.nodes if n.kind in "RP"], dict[str, Element]()
    for element in root.findall("actuator/*"):
        if element.tag not in ("motor", "general"):
            raise reader.error(f"{label(element)} is a controller, and robots are driven by forces; write a <motor>")
        a = reader.attributes(element, "main")
        joint = a.get("joint", a.get("jointinparent"))
        if joint is None:
            raise reader.error(
                f"{label(element)} does not drive a joint; only joint actuators are supported, so give it a `joint`"
            )
        no_strangers([joint], known, f"{reader.file}: {label(element)}")
        if joint in found:
            raise reader.error(f"two actuators drive the joint {joint!r}; keep one")
        found[joint] = element
    return found


def force_limits(driven: dict[str, Element], reader: Reader) -> tuple[dict[str, float], tuple[str, ...]]:
    """Largest forces of actuators by joint, and remarks on ranges that are not the same both ways, which are not read."""
    found: dict[str, float] = {}
    remarks = []
    for joint, element in driven.items():
        a, where = reader.attributes(element, "main"), reader.where(element)
        ranges = [a[f"{key}range"] for key in ("ctrl", "force") if f"{key}range" in a and reader.limited(a, f"{key}limited")]
        for text in [*ranges, *([reader.most[joint]] if joint in reader.most else [])]:
            low, high = values({"range": text}, "range", where, 2)
            if -low != high or high <= 0.0:
                remarks.append(f"the force limit of {joint!r} is {low:g} to {high:g}; limits of robot files are symmetric, "
                               "so this one is left out")  # fmt: skip
            else:
                found[joint] = min(high, found.get(joint, high))
    return found, tuple(remarks)


def is_active(element: Element, reader: Reader) -> bool:
    """The equality holds; one that is switched off is left out."""
    return reader.defaults.of(element, "main", "equality").get("active", "true") != "false"
