"""Abilities of the verbs of design: rows of the table of `abilities`."""

from __future__ import annotations

from collections.abc import Mapping

Row = Mapping[str, str]
ANY = ""

UNDETERMINED = (
    "{robot} has {driven} for {mobility} DOF of its platform; actuator coordinates do not determine its pose"
)
CRITERIA = (
    "criteria: the named criteria do not cover the {part} of {robot}; give criteria as functions of a robot: "
    "Criterion(name=..., unit=..., function=lambda robot: ...)"
)
GEOMETRY = "{verb}: available for rigid robots; {robot} has {part}. Load a rigid version of it"
RIGID_GEOMETRY: Row = {"flexible platform": GEOMETRY, "flexible legs": GEOMETRY, "under-actuated": UNDETERMINED}
SIMULATED = (
    "elastic='simulate': integrates the deformation of one robot along the whole motion, so that parameters may not vary from "
    "sample to sample. Give one value per design, shape (designs, 1), or leave elastic out"
)
SEQUENCE = (
    "sequence: follows the equilibria of one robot, so that parameters may not vary from sample to sample. "
    "Give one value per design, shape (designs, 1), or leave sequence out"
)
ALONG = (
    "parameters: the deflection rates of the springs of {motor} follow from the motion of one robot, so that parameters may not "
    "vary from sample to sample. Give one value per design, shape (designs, 1), or States"
)
DESIGNS: dict[str, Row] = {"parameters": {}, "variation=sample": {}}
MOVING: dict[str, Row] = {"parameters": {}, "variation=sample": {"elastic=simulate": SIMULATED}}
"""Rows of `parameters`; values that differ from sample to sample have no meaning where one sample follows from those before."""


def _of_vocabulary(argument: str) -> Row:
    """Robots that the named criteria do not cover."""
    kinds = ("flexible platform", "elastic legs", "flexible platform on flexible legs")
    return {f"{kind} & {argument}=vocabulary": CRITERIA for kind in kinds}


DESIGN: dict[str, dict[str, Row]] = {
    "study": {
        ANY: _of_vocabulary("criteria"), "at": {}, "plan": {}, "count": {}, "seed": {}, "save": {}, "keep": {},
        "threads": {"with scheduler": "threads: workers of a cluster have their own; leave out threads, or scheduler"},
        "scheduler": {}, "progress": {},
    },
    "sensitivity": {ANY: _of_vocabulary("criteria"), "at": {}, "samples": {}, "seed": {}},
    "optimise": {
        ANY: _of_vocabulary("objectives"), "constraints": {}, "at": {}, "method": {}, "searches": {}, "plan": {},
        "population": {}, "generations": {}, "seed": {},
    },
    "tolerance": {
        ANY: {**RIGID_GEOMETRY, **_of_vocabulary("criteria")}, "at": {}, "criteria": {}, "clearances": {},
        "wrench": {
            "no clearances": "wrench: decides to which side clearances are taken up; give clearances as well, or leave it out",
        },
        "samples": {}, "distribution": {}, "seed": {}, "threads": {},
    },
    "calibrate": {ANY: RIGID_GEOMETRY, "sigma": {}, "loss": {}, "unidentifiable": {}, "validate": {}},
    "select_poses": {ANY: RIGID_GEOMETRY},
}  # fmt: skip
"""Verb -> option -> condition -> reason, as in `abilities`."""
