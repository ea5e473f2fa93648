"""What an MJCF file may say that a robot file has no word for: refused by name, so that nothing is left out in silence."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree.ElementTree import Element

from flexapod.bridges.imported import no_strangers, said, values

if TYPE_CHECKING:
    from flexapod.bridges.mjcf_in import Reader

HARMLESS: dict[str, dict[str, tuple[str, ...]]] = {
    "compiler": {"inertiafromgeom": ("auto", "false"), "settotalmass": ("-1",), "boundmass": ("0",), "boundinertia": ("0",)},
    "option": {"density": ("0",), "viscosity": ("0",)},
    "flag": {"equality": ("enable",), "constraint": ("enable",), "actuation": ("enable",)},
    "body": {"gravcomp": ("0",), "mocap": ("false",)},
    "joint": {"springdamper": ("0 0",), "actuatorgravcomp": ("false",)},
    "general": {"dyntype": ("none",), "gaintype": ("fixed",), "gainprm": ("1",), "biastype": ("none",), "gear": ("1",)},
    "motor": {"gear": ("1",)},
}
"""Element -> attribute -> values without effect; every other value is refused."""
ELEMENTS = ("composite", "flexcomp", "replicate", "attach")
"""Elements that make bodies."""
ADVICE = {"gear": "forces of a robot file act at the joint itself: write gear 1 and multiply the control"}


def check_words(root: Element, reader: Reader) -> None:
    """Refuse what would change the mechanism and is not read.

    Checked by: tests/bridges/test_mjcf.py.
    """
    for element in (e for part in root if part.tag != "default" for e in part.iter()):
        if element.tag in ELEMENTS:
            raise reader.error(f"{said(element)} makes bodies, which is not read; write them out, as `mj_saveLastXML` does")
        for key, harmless in HARMLESS.get(element.tag, {}).items():
            text = reader.attributes(element, "main").get(key)
            if text is not None and not any(_equal(text, known) for known in harmless):
                advice = ADVICE.get(key, f"leave it out, or write {harmless[0]!r}")
                raise reader.error(f"{said(element)} has {key} {text!r}, which a robot file has no word for; {advice}")


def _equal(text: str, known: str) -> bool:
    """The same words or numbers; numbers that follow may be zeros."""
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
            raise reader.error(f"{said(element)} is a controller, and robots are driven by forces; write a <motor>")
        a = reader.attributes(element, "main")
        joint = a.get("joint", a.get("jointinparent"))
        if joint is None:
            raise reader.error(f"{said(element)} drives no joint, which alone is read; give it a `joint`")
        no_strangers([joint], known, f"{reader.file}: {said(element)}")
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
                remarks.append(f"the motor of {joint!r} may give {low:g} to {high:g}; limits of robot files are the same both "
                               "ways, so this one is left out")  # fmt: skip
            else:
                found[joint] = min(high, found.get(joint, high))
    return found, tuple(remarks)


def is_active(element: Element, reader: Reader) -> bool:
    """The equality holds; one that is switched off is left out."""
    return element.get("active", reader.defaults["main"].get("equality", {}).get("active", "true")) != "false"
