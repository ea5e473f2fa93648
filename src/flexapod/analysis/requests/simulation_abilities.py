"""Abilities of `simulate`, `simulate_study` and the exporting verbs: rows of the table of `abilities`."""

from __future__ import annotations

from collections.abc import Mapping

Row = Mapping[str, str]
MASSLESS_DRIVE = (
    "{verb}: actuator {massless} of {robot} drives through a spring and has no mass on its own side, so that nothing determines "
    "its acceleration; give the joint `inertia`"
)
FOLLOWED = "{option}: with drive='actuators' the actuators follow the motion exactly, so that it has no effect; leave it out"
GIVE_FORCES = (
    "drive='platform': actuator {motor} of {robot} drives through a spring: its force does not act on the platform's "
    "acceleration directly; use drive='force' with the forces of inverse_dynamics, or drive='actuators'"
)
TIED = (
    "drive='actuators': {actuators} actuators for {mobility} DOF of {robot} act against each other through its elasticity; "
    "their coordinates do not determine its deflection. Use drive='platform' or 'force'"
)
FIXED = "{option}: a tolerance of the adaptive methods 'dopri' and 'cvode'; other methods take `step`. Leave it out"
REFERENCE = (
    "{option}: needs the steps of the other methods; method='cvode' chooses its own from output to output; "
    "leave it out"
)


def simulation_rows() -> dict[str, dict[str, Row]]:
    """Verb -> option -> condition -> reason, of simulations."""
    return {
        "simulate": {
            "drive=platform": {"elastic drive": GIVE_FORCES}, "drive=force": {"massless drive": MASSLESS_DRIVE},
            "drive=actuators": {"tied actuators & elastic coordinates": TIED},
            "drive": {}, "duration": {}, "step": {}, "output_step": {}, "progress": {},
            "controller": {"drive=actuators": FOLLOWED},
            "force": {
                "drive=actuators": FOLLOWED,
                "drive=platform": "drive='platform' computes the forces itself: leave out `force`",
            },
            "wrench": {},
            "start": {"rigid & drive=actuators": FOLLOWED},
            "method": {"rigid & drive=actuators": FOLLOWED},
            "method=cvode": {}, "method=implicit": {}, "method=radau": {},
            "rtol": {f"method={method}": FIXED for method in ("rk4", "implicit", "radau")},
            "atol": {f"method={method}": FIXED for method in ("rk4", "implicit", "radau")},
            "friction": {
                "rigid & drive=actuators & friction=constant & friction by loads":
                    "friction='constant': with drive='actuators' friction is that of the file, loads included; use True or False",
            },
            "events": {"rigid & drive=actuators": FOLLOWED},
            "watch": {"drive=actuators": FOLLOWED, "method=cvode": REFERENCE},
            "reactions": {},
            "save": {"rigid & drive=actuators": FOLLOWED, "method=cvode": REFERENCE},
        },
        "simulate_study": {
            "robots": {}, "values": {}, "starts": {}, "controller": {}, "force": {}, "wrench": {}, "duration": {}, "step": {},
            "output_step": {},
            "friction": {},
        },
    }  # fmt: skip


NO_FLEXIBLE = "{robot} has {part}, which MJCF and URDF cannot describe; export an FMU instead"
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
