"""modelDescription.xml of FMI 2.0 and 3.0, and buildDescription.xml: variables, units, structure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from flexapod.bridges.fmu.model_kernels import FMUVariable, Plant

FLAGS2 = {"canGetAndSetFMUstate": "true", "canSerializeFMUstate": "true", "providesDirectionalDerivative": "true"}
FLAGS3 = {"canGetAndSetFMUState": "true", "canSerializeFMUState": "true", "providesDirectionalDerivatives": "true",
          "providesAdjointDerivatives": "true"}  # fmt: skip
BASE = {
    "kg": {"kg": 1}, "m": {"m": 1}, "s": {"s": 1}, "rad": {"rad": 1}, "N": {"kg": 1, "m": 1, "s": -2},
    "J": {"kg": 1, "m": 2, "s": -2}, "W": {"kg": 1, "m": 2, "s": -3}, "Pa": {"kg": 1, "m": -1, "s": -2},
}  # fmt: skip
"""Exponents of SI base units."""


def exponents(unit: str) -> dict[str, int] | None:
    """Exponents of SI base units, e.g. of ``"kg m^2/s"``; None where the text is no single unit."""
    found: dict[str, int] = {}
    for part, text in enumerate(unit.split("/")):
        for word in text.split():
            if word == "1":
                continue
            match = re.fullmatch(r"([A-Za-z]+)(?:\^(-?\d+))?", word)
            if match is None or match[1] not in BASE:
                return None
            power = int(match[2] or 1) * (1 if part == 0 else -1)
            for base, n in BASE[match[1]].items():
                found[base] = found.get(base, 0) + n * power
    return {base: n for base, n in found.items() if n}


class VariableLayout:
    """Variables with their value references, in the order of core.h."""

    def __init__(self, plant: Plant) -> None:
        self.plant = plant
        at = 1
        self.first: dict[str, int] = {}
        sizes = {
            "state": len(plant.states), "derivative": len(plant.states), "input": len(plant.inputs), "output": len(plant.outputs),
            "margin": len(plant.margins), "parameter": len(plant.parameters), "step": 1,
        }  # fmt: skip
        for name, size in sizes.items():
            self.first[name], at = at, at + size

    def rows(self) -> Iterator[tuple[str, int, FMUVariable]]:
        """Kind, value reference and variable."""
        p = self.plant
        rates = [FMUVariable(name=f"der({v.name})", unit=_rate(v.unit), doc=f"rate of {v.name}") for v in p.states]
        step = [FMUVariable(name="step", unit="s", start=p.step, doc="longest inner step of co-simulation")]
        groups = {"state": p.states, "derivative": rates, "input": p.inputs, "output": p.outputs, "margin": p.margins,
                  "parameter": p.parameters, "step": step}  # fmt: skip
        for kind, variables in groups.items():
            for k, variable in enumerate(variables):
                yield kind, self.first[kind] + k, variable


def _rate(unit: str) -> str:
    if not unit:
        return "1/s"
    match = re.fullmatch(r"(.*)/s(?:\^(\d+))?", unit)
    return f"{match[1]}/s^{int(match[2] or 1) + 1}" if match else f"{unit}/s"


ATTRIBUTES = {
    "state": {"causality": "output", "variability": "continuous", "initial": "exact"},
    "derivative": {"causality": "local", "variability": "continuous", "initial": "calculated"},
    "input": {"causality": "input", "variability": "continuous"},
    "output": {"causality": "output", "variability": "continuous", "initial": "calculated"},
    "margin": {"causality": "local", "variability": "continuous", "initial": "calculated"},
    "parameter": {"causality": "parameter", "variability": "tunable", "initial": "exact"},
    "step": {"causality": "parameter", "variability": "fixed", "initial": "exact"},
}
STARTED = ("state", "input", "parameter", "step")


def description(plant: Plant, version: str, token: str, identifier: str, files: Sequence[str]) -> str:
    """Text of modelDescription.xml.

    Args:
        version: ``"2.0"`` or ``"3.0"``.
        files: C sources, listed in FMI 2.0.
    """
    return _text(_two(plant, token, identifier, files) if version == "2.0" else _three(plant, token, identifier))


def _root(plant: Plant, version: str, **own: str) -> Element:
    return Element("fmiModelDescription", {
        "fmiVersion": version, "modelName": plant.name, **own, "description": plant.about, "generationTool": "flexapod",
        "variableNamingConvention": "flat",
    })  # fmt: skip


def _experiment(root: Element, plant: Plant) -> None:
    times = {"startTime": "0.0", "stopTime": "1.0", "tolerance": "1e-9", "stepSize": repr(plant.step)}
    SubElement(root, "DefaultExperiment", times)


def _categories(root: Element) -> None:
    categories = SubElement(root, "LogCategories")
    for name in ("logEvents", "logStatusError"):
        SubElement(categories, "Category", {"name": name})


def _units(root: Element, plant: Plant, layout: VariableLayout) -> None:
    names = sorted({v.unit for _, _, v in layout.rows() if v.unit})
    if not names:
        return
    units = SubElement(root, "UnitDefinitions")
    for name in names:
        unit = SubElement(units, "Unit", {"name": name})
        found = exponents(name)
        if found is not None:
            SubElement(unit, "BaseUnit", {base: str(n) for base, n in found.items()})


def _two(plant: Plant, token: str, identifier: str, files: Sequence[str]) -> Element:
    layout = VariableLayout(plant)
    root = _root(plant, "2.0", guid=token)
    root.set("numberOfEventIndicators", str(len(plant.margins)))
    for kind, more in (("ModelExchange", {}), ("CoSimulation", {"canHandleVariableCommunicationStepSize": "true"})):
        part = SubElement(root, kind, {"modelIdentifier": identifier, **FLAGS2, **more})
        sources = SubElement(part, "SourceFiles")
        for name in files:
            SubElement(sources, "File", {"name": name})
    _units(root, plant, layout)
    _categories(root)
    _experiment(root, plant)
    variables = SubElement(root, "ModelVariables")
    index: dict[str, list[int]] = {}
    for k, (kind, reference, v) in enumerate(layout.rows()):
        index.setdefault(kind, []).append(k + 1)
        scalar = SubElement(variables, "ScalarVariable", {"name": v.name, "valueReference": str(reference), **ATTRIBUTES[kind]})
        if v.doc:
            scalar.set("description", v.doc)
        real = SubElement(scalar, "Real", _numbers(kind, v))
        if kind == "derivative":
            real.set("derivative", str(index["state"][reference - layout.first["derivative"]]))
    structure = SubElement(root, "ModelStructure")
    outputs, derivatives = [*index.get("state", []), *index.get("output", [])], index.get("derivative", [])
    initial = sorted([*index.get("output", []), *derivatives])
    for name, group in (("Outputs", outputs), ("Derivatives", derivatives), ("InitialUnknowns", initial)):
        if group:
            parent = SubElement(structure, name)
            for k in group:
                SubElement(parent, "Unknown", {"index": str(k)})
    return root


def _numbers(kind: str, v: FMUVariable) -> dict[str, str]:
    found = {"unit": v.unit} if v.unit else {}
    return found | ({"start": repr(v.start)} if kind in STARTED else {})


def _three(plant: Plant, token: str, identifier: str) -> Element:
    layout = VariableLayout(plant)
    root = _root(plant, "3.0", instantiationToken=token)
    SubElement(root, "ModelExchange", {"modelIdentifier": identifier, **FLAGS3, "needsCompletedIntegratorStep": "true"})
    SubElement(root, "CoSimulation", {
        "modelIdentifier": identifier, **FLAGS3, "canHandleVariableCommunicationStepSize": "true",
        "mightReturnEarlyFromDoStep": "true", "fixedInternalStepSize": repr(plant.step),
    })  # fmt: skip
    _units(root, plant, layout)
    _categories(root)
    _experiment(root, plant)
    variables = SubElement(root, "ModelVariables")
    time = {"name": "time", "valueReference": "0", "causality": "independent", "variability": "continuous"}
    SubElement(variables, "Float64", time)
    for kind, reference, v in layout.rows():
        number = SubElement(variables, "Float64", {"name": v.name, "valueReference": str(reference)})
        if v.doc:
            number.set("description", v.doc)
        for key, value in {**ATTRIBUTES[kind], **_numbers(kind, v)}.items():
            number.set(key, value)
        if kind == "derivative":
            number.set("derivative", str(layout.first["state"] + reference - layout.first["derivative"]))
    structure = SubElement(root, "ModelStructure")
    states, outputs = len(plant.states), len(plant.outputs)
    count = {"state": states, "output": outputs, "derivative": states, "margin": len(plant.margins)}
    shown = [("Output", "state"), ("Output", "output"), ("ContinuousStateDerivative", "derivative"),
             ("InitialUnknown", "derivative"), ("InitialUnknown", "output"), ("EventIndicator", "margin")]  # fmt: skip
    for tag, kind in shown:
        for k in range(count[kind]):
            SubElement(structure, tag, {"valueReference": str(layout.first[kind] + k)})
    return root


def build_description(identifier: str, files: Sequence[str]) -> str:
    """Text of sources/buildDescription.xml of FMI 3.0."""
    root = Element("fmiBuildDescription", {"fmiVersion": "3.0"})
    configuration = SubElement(root, "BuildConfiguration", {"modelIdentifier": identifier})
    sources = SubElement(configuration, "SourceFileSet", {"language": "C99"})
    for name in files:
        SubElement(sources, "SourceFile", {"name": name})
    return _text(root)


def _text(root: Element) -> str:
    indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(root, encoding="unicode") + "\n"
