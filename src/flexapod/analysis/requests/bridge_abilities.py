"""What the verbs that carry a robot into other programs can do: rows of the table `abilities.ABILITIES`."""

from __future__ import annotations

from collections.abc import Mapping

Row = Mapping[str, str]

NO_FLEXIBLE = "{robot} has {part}, which MJCF and URDF cannot describe; export an FMU instead"
MASSLESS_DRIVE = (
    "{verb}: actuator {massless} of {robot} drives through a spring and has no mass on its own side, so that nothing determines "
    "its acceleration; give the joint `inertia`"
)
ALL_MASSES = "physical equivalent: {robot} has {part}, whose mass is that of their shapes"
RIGID_ONLY: dict[str, Row] = {"": {"elastic legs": NO_FLEXIBLE, "elastic drive": NO_FLEXIBLE, "flexible platform": NO_FLEXIBLE}}
STEPS: dict[str, Row] = {
    "start": {}, "step": {}, "method": {}, "wrench": {}, "friction": {}, "watch": {},
}  # fmt: skip

BRIDGES: dict[str, dict[str, Row]] = {
    "export_mjcf": {**RIGID_ONLY, "copies": {}},
    "export_urdf": RIGID_ONLY,
    "export_fmu": {**STEPS, "quantity": {}, "version": {}, "general": {}, "binary": {}, "check": {}},
    "stepper": {"": {"massless drive": MASSLESS_DRIVE}, **STEPS},
    "casadi_function": {"parameters": {}, "passes": {}},
    "physical_equivalent": {"": {"flexible legs": ALL_MASSES, "flexible platform": ALL_MASSES}},
}
"""Verb -> option -> condition -> reason why it has no result; an empty row: it works for every robot."""
