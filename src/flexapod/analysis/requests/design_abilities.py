"""What the verbs of design cannot do for some robots: rows of the table of `abilities`."""

from __future__ import annotations

from collections.abc import Mapping

from flexapod.analysis.requests.properties import ALWAYS

Row = Mapping[str, str]
ANY = ""

UNDETERMINED = (
    "{robot} has {actuators} actuators for {mobility} DOF of its platform; actuator coordinates do not determine its pose"
)
CRITERIA = (
    "criteria: the vocabulary does not cover the {part} of {robot}; give criteria as functions of a robot: "
    "Criterion(name=..., unit=..., function=lambda robot: ...)"
)
GEOMETRY = "{verb}: known for rigid robots; {robot} has {part}. Load a rigid version of it"
RIGID_GEOMETRY: Row = {"flexible platform": GEOMETRY, "flexible legs": GEOMETRY, "under-actuated": UNDETERMINED}
PER_SAMPLE = (
    "parameters: {verb} of {robot} takes designs, of shape (designs, 1) for a batch of samples; values that differ from sample "
    "to sample are known of verbs that one kernel evaluates for rigid robots"
)
DESIGNS: dict[str, Row] = {"parameters": {}, "variation=sample": {"flexible platform": PER_SAMPLE, "flexible legs": PER_SAMPLE}}
EACH_DESIGN: dict[str, Row] = {"parameters": {}, "variation=sample": {ALWAYS: PER_SAMPLE}}
"""Rows of `parameters`: verbs that one kernel evaluates for all designs of a rigid robot, and those that take one by one."""


def _of_vocabulary(argument: str) -> Row:
    """Robots that the named criteria do not cover."""
    kinds = ("flexible platform", "elastic legs", "flexible platform on flexible legs")
    return {f"{kind} & {argument}=vocabulary": CRITERIA for kind in kinds}


DESIGN: dict[str, dict[str, Row]] = {
    "study": {
        ANY: _of_vocabulary("criteria"), "at": {}, "plan": {}, "count": {}, "seed": {}, "save": {}, "keep": {},
        "threads": {"with scheduler": "threads: belong to the workers of the cluster; leave out threads, or scheduler"},
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
            "no clearances": "wrench: is the load that decides where clearances lie; give clearances as well, or leave it out",
        },
        "samples": {}, "distribution": {}, "seed": {}, "threads": {},
    },
    "calibrate": {ANY: RIGID_GEOMETRY, "sigma": {}, "loss": {}, "unidentifiable": {}, "validate": {}},
    "select_poses": {ANY: RIGID_GEOMETRY},
}  # fmt: skip
"""Verb -> option -> condition -> reason, as in `abilities`."""
