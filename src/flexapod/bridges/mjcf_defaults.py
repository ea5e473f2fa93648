"""Default classes of an MJCF file: attributes that an element inherits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from xml.etree.ElementTree import Element

ACTUATORS = ("general", "motor", "position", "velocity", "intvelocity", "damper", "cylinder", "muscle", "adhesion", "dcmotor")
"""Elements that share one set of defaults, whichever of them it is written under."""
OWN = ("dyntype", "gaintype", "biastype", "dynprm", "gainprm", "biasprm", "kp", "kv", "dampratio", "timeconst", "inheritrange")
"""Attributes that a `motor` sets itself, whatever the defaults of other actuators are."""
Tags = dict[str, dict[str, str]]


class Defaults:
    """Attributes by class and element.

    Args:
        root: of the file.
        error: makes the error of a file that names a class which does not exist.
    """

    def __init__(self, root: Element, error: Callable[[str], Exception]) -> None:
        self.error, self.classes = error, dict[str, Tags]({"main": {}})
        for part in root.findall("default"):
            self._add(part, part.get("class", "main"), self.classes["main"])

    def _add(self, part: Element, name: str, above: Mapping[str, dict[str, str]]) -> None:
        own = {tag: dict(values) for tag, values in above.items()}
        for child in (c for c in part if c.tag != "default"):
            own.setdefault(child.tag, {}).update(child.attrib)
            if child.tag in ACTUATORS:
                own.setdefault("actuator", {}).update({k: v for k, v in child.attrib.items() if k not in OWN})
        self.classes[name] = own
        for child in part.findall("default"):
            self._add(child, child.get("class", "main"), own)

    def of(self, element: Element, inherited: str = "main", kind: str | None = None) -> dict[str, str]:
        """Attributes of an element, its own before those of its class, that before the class of the body around it.

        Args:
            kind: word of the defaults where it is not the element's own: `tendon`, `equality`.

        Checked by: tests/bridges/test_mjcf.py.
        """
        name = element.get("class", inherited)
        if name not in self.classes:
            raise self.error(f"<{element.tag}> names the default class {name!r}, which does not exist")
        found = self.classes[name]
        shared = found.get("actuator", {}) if element.tag in ACTUATORS else {}
        return {**found.get(kind or element.tag, {}), **shared, **element.attrib}
