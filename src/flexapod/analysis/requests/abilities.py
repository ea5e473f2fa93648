"""Abilities: which verb and option is available for which robot; one table of data, from which refusals are raised.

`ABILITIES[verb][option]` maps conditions to the reason why the option has no result there; an empty row works for all robots.
The option `ANY` represents the verb itself. A condition is a property of the robot (`PROPERTIES`), of the request
(``"drive=actuators"``, ``"no wrench"``, ``"with wrench"``), or several of them joined by ``" & "``.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING

from flexapod.analysis.requests.arguments import SIGNATURES
from flexapod.analysis.requests.design_abilities import ALONG, DESIGN, DESIGNS, MOVING, SEQUENCE, UNDETERMINED
from flexapod.analysis.requests.identification_abilities import identification_rows
from flexapod.analysis.requests.properties import PLACES, PROPERTIES, has_friction
from flexapod.analysis.requests.simulation_abilities import BRIDGES, MASSLESS_DRIVE, simulation_rows
from flexapod.analysis.requests.space_abilities import space_rows
from flexapod.errors import InputError

if TYPE_CHECKING:
    from flexapod.robot.robot import Robot

Row = Mapping[str, str]
ANY = ""

OTHER_DERIVATION = "formulation={value!r}: is derived for rigid robots alone; {robot} has {part}. Leave it out"
RIGID_SPIN = "spin='neglected': a simplification of papers on rigid robots; {robot} has {part}. Use spin='exact'"
IS_RIGID = "{verb}: {robot} is rigid; load a flexible robot or use robot.with_flexible_body"
NO_ELASTIC = "elastic: {robot} is rigid and has no elastic coordinates; leave it out"
NO_COORDINATES = "{option}: {robot} has {part} and no elastic coordinates; leave it out"
NO_WRENCH = "{option}: says how the wrench is given; give `wrench` as well, or leave {option} out"
UNDERACTUATED = (
    "{verb}: {robot} is under-actuated: {driven} cannot control {mobility} components of the platform's motion. "
    "Actuate more joints; forward_dynamics and simulate accept it as it is"
)
NO_INVERSE = (
    "{option}: needs inverse dynamics, which the under-actuated {robot} does not have ({driven} for {mobility} "
    "degrees of freedom); leave it out"
)
TOO_MANY = (
    "{robot} has {driven} for {mobility} degrees of freedom: arbitrary actuator coordinates contradict the "
    "loops; use forward_kinematics, which finds the pose and checks that they agree"
)
NO_PATHS = (
    "certify: paths of {robot} cannot be certified; that is available for robots on six U-P-S, P-U-S or R-U-S legs. "
    "method='all' lists the poses of any robot"
)
LOOPS = (
    "{verb}: lists the branches of each leg by itself, and {robot} has loops inside or between its legs, so that its legs have "
    "no branches of their own; assembly_modes lists the poses of all loops together"
)
NO_REACH = (
    "{verb}: actuator {motor} of {robot} drives through a spring: its force does not act on the platform's acceleration "
    "directly, so that there is no derivative by it. Use linearize, whose model has the spring's states, or remove the spring"
)
MOTOR = (
    "{verb}: actuator {motor} of {robot} drives through a spring: its force does not act on the platform's acceleration "
    "directly, so that the platform's motion does not determine it. Give an ActuatorMotion"
)
MOTOR_FRICTION = (
    "friction of {motor}: depends on the rate of a motor behind a spring, which the platform's motion does not give directly; "
    "set friction=False, or give an ActuatorMotion"
)
GIVE = MOTOR + ", or `elastic_acceleration`"
CARRIED = (
    "{option}: with the platform's motion given, the springs of {motor} deflect quasi-statically, and their part of the force "
    "belongs to no single source; give an ActuatorMotion"
)
DETERMINED = (
    "{option}: {robot} is not redundantly actuated ({actuators} actuators), so that its forces are unique; leave it out"
)
TIED_PARTS = (
    "contributions: {robot} has more actuators ({actuators}) than its loops leave independent; how they divide a part of the "
    "force is a choice, not a contribution. Leave it out"
)
MASSLESS = (
    "legs='massless': the legs of {robot} deform, and without mass their deformations have no equation of motion; leave it out"
)
UNUSED = "wrench: affects small motions only through the prestress that it causes; leave it out, or set prestress=True"
POSE_HELD = (
    "sequence: available for robots with flexible legs; the deflection of the flexible platform of {robot} does not depend on "
    "the loads before, so leave it out"
)
LOCKED_MOTION = "actuators='locked': the state has a velocity, so that its actuators move; give 'free', or their stiffness"
MOVING_FORCES = (
    "prestress=False: a model about a motion always has the forces along it; leave prestress out, or give a State at rest"
)
LEG_DEFORMATION = (
    "{verb}: describes a flexible platform; the platform of {robot} is rigid and it has {part}. static_deflection and "
    "inverse_dynamics return their coordinates as `elastic`, point_motion gives the motion of any point"
)
LEG_INTERNAL = (
    "{verb}: available for a flexible platform on rigid U-P-S, P-U-S or R-U-S legs, which {robot} does not have; "
    "natural_frequencies and linearize describe its small motions"
)
NO_SPIN = (
    "spin='neglected': {robot} does not consist of six legs between a universal and a spherical joint (U-P-S, P-U-S or R-U-S), "
    "and only for these can the spin about the leg's own axis be left out; use spin='exact'"
)
SMOOTH = "formulation={value!r} does not include friction; set friction=False, or leave it out"
MINIMAL: Row = {
    "flexible platform": "formulation='minimal' does not apply to {robot}: its platform is flexible",
    "rigid & no minimal equations": "formulation='minimal' does not apply to {robot}: {minimal}",
    "rigid & with wrench": "formulation='minimal' does not apply to {robot}: it takes no external wrench",
}
LINKS: Row = {
    "flexible platform": "formulation='links' does not apply to {robot}: {no_links}",
    "rigid & no link plan": "formulation='links' does not apply to {robot}: {no_links}",
}
OTHER: Row = {"flexible platform": OTHER_DERIVATION, "flexible legs": OTHER_DERIVATION}
FORMULATION: dict[str, Row] = {
    "formulation": {},
    "formulation=general": {"elastic drive & motion=platform": MOTOR},
    "formulation=virtual_power": {"flexible legs": OTHER_DERIVATION},
    "formulation=virtual_work": OTHER,
    "formulation=newton_euler": OTHER,
    "formulation=minimal": {"flexible legs": OTHER_DERIVATION, **MINIMAL},
    "formulation=links": {"flexible legs": OTHER_DERIVATION, **LINKS},
}
LOCKED = (
    "{verb}: {robot} has {part}, but with its actuators locked nothing in it can move; "
    "give actuators='free', or the stiffness of each actuator"
)
LOAD: dict[str, Row] = {"wrench": {}, "point": {"no wrench": NO_WRENCH}, "axes": {"no wrench": NO_WRENCH}}
OWN: Row = {"rigid": NO_ELASTIC, "no elastic coordinates": NO_COORDINATES}
ELASTIC: dict[str, Row] = {"elastic": OWN, "elastic_velocity": OWN}
SQUARE = "coordinates='actuator' needs as many actuators as degrees of freedom; {robot} has {actuators} and {mobility}"
TERMS: dict[str, Row] = {
    "on_error": {}, **DESIGNS,
    "coordinates=platform": {
        "tied coordinates":
            "coordinates='platform' needs mobility 6 and no ties between elastic coordinates; {robot} has {own} DOF for "
            "{wanted} coordinates. Use 'independent'",
        "rigid & mobility below 6":
            "coordinates='platform' needs mobility 6; {robot} has {mobility}. Use 'actuator' or 'independent'",
    },
    "coordinates=actuator": {
        "rigid & other actuators than DOF": SQUARE,
        "tied actuators": SQUARE,
    },
    "coordinates": {},
}  # fmt: skip
SMALL: dict[str, Row] = {
    "actuators=locked": {
        "rigid":
            "{verb}: {robot} is rigid, and with actuators 'locked' nothing in it is elastic; "
            "give actuators=<stiffness of each actuator>, or make its platform flexible",
        "no independent elastic coordinates": LOCKED,
    },
    "actuators=free": {
        "rigid":
            "{verb}: {robot} is rigid, and with actuators 'free' nothing in it is elastic; "
            "give actuators=<stiffness of each actuator>, or make its platform flexible",
    },
    "actuators": {}, "prestress": {},
    "wrench": {"prestress=False": UNUSED},
    "on_error": {},
}  # fmt: skip
HANGING: dict[str, Row] = {  # a body that no actuator holds moves under its weight, like a pendulum
    option: {"rigid & fully actuated" if name == "rigid" else name: why for name, why in SMALL[option].items()}
    for option in ("actuators=locked", "actuators=free")
}

ABILITIES: dict[str, dict[str, Row]] = {
    "inverse_kinematics": {
        ANY: {"elastic drive & motion=platform & no elastic_acceleration": GIVE},
        "joints": {}, "on_error": {}, **ELASTIC, **MOVING,
        "bodies": {},
        "elastic_acceleration": OWN,
    },
    "forward_kinematics": {
        ANY: {"under-actuated": UNDETERMINED}, "guess": {}, "on_error": {}, "continuation": {}, "assembly": {},
        "method": {}, "method=all": {"redundant actuators": TOO_MANY}, **DESIGNS,
        "certify": {"method=newton & not six U-P-S, P-U-S or R-U-S legs": NO_PATHS},
    },
    "assembly_modes": {
        ANY: {"under-actuated": UNDETERMINED, "redundant actuators": TOO_MANY},
        "certify": {}, "seed": {}, "on_error": {},
    },
    "working_modes": {ANY: {"inner loops": LOOPS}},
    "platform_motion": {ANY: {"under-actuated": UNDETERMINED}, "guess": {}},
    "point_motion": {
        ANY: {"elastic drive & motion=platform & no elastic_acceleration": GIVE},
        **ELASTIC, "elastic_acceleration": OWN, "on_error": {}, **MOVING,
    },
    "deformation": {
        ANY: {"rigid": IS_RIGID, "rigid platform & flexible legs": LEG_DEFORMATION},
        "elastic": {}, "elastic_velocity": {}, "on_error": {},
    },
    "inverse_dynamics": {
        ANY: {"under-actuated": UNDERACTUATED},
        "friction": {"friction of an elastic drive & motion=platform & friction=True": MOTOR_FRICTION},
        "reactions": {},
        "contributions": {"elastic drive & motion=platform": CARRIED, "tied actuators": TIED_PARTS},
        "legs": {"elastic legs": MASSLESS}, **MOVING,
        "variation=sample": {**MOVING["variation=sample"], "elastic drive & motion=platform": ALONG},
        "weights": {"actuators not redundant": DETERMINED}, "preload": {"actuators not redundant": DETERMINED},
        "spin": {
            "flexible platform": RIGID_SPIN, "flexible legs": RIGID_SPIN, "rigid & not six U-P-S, P-U-S or R-U-S legs": NO_SPIN,
        },
        **FORMULATION,
        **LOAD, **ELASTIC, "on_error": {},
    },
    "forward_dynamics": {
        ANY: {"massless drive": MASSLESS_DRIVE},
        "friction": {}, "reactions": {}, **FORMULATION,
        "formulation=general": {}, **MOVING,
        "formulation=links": {**FORMULATION["formulation=links"], "rigid & friction & friction=True": SMOOTH},
        "formulation=minimal": {**FORMULATION["formulation=minimal"], "rigid & friction & friction=True": SMOOTH},
        **LOAD, **ELASTIC, "on_error": {},
    },
    "inverse_dynamics_derivatives": {
        ANY: {"under-actuated": UNDERACTUATED, "elastic drive": NO_REACH},
        "parameters": {}, "wrench": {},
    },
    "mass_matrix": TERMS,
    "gravity_force": TERMS,
    "coriolis_force": TERMS,
    "energy": {**DESIGNS},
    "static_deflection": {
        ANY: {"rigid": IS_RIGID},
        **LOAD, "on_error": {},
        "parameters": {}, "variation=sample": {"sequence=True": SEQUENCE}, "sequence": {"flexible platform": POSE_HELD},
    },
    "internal_dynamics": {ANY: {"rigid": IS_RIGID, "flexible legs": LEG_INTERNAL}, **LOAD, "on_error": {}},
    "natural_frequencies": {
        **SMALL, **HANGING, **DESIGNS, **{k: v for k, v in LOAD.items() if k != "wrench"},
    },
    "cartesian_stiffness": {**SMALL, **DESIGNS, "point": {}},
    "linearize": {
        "velocity": {},
        "inputs": {}, "outputs": {}, "actuators": {},
        "actuators=locked": {**HANGING["actuators=locked"], "with velocity": LOCKED_MOTION},
        "prestress": {}, "prestress=False": {"with velocity": MOVING_FORCES},
        "wrench": SMALL["wrench"],
    },
    "jacobian": {"on_error": {}, **DESIGNS},
    "conditioning": {"length": {}, "on_error": {}, **DESIGNS},
    "check_pose": {},
    "check_motion": {"friction": {}, "wrench": {}},
    "fit_motion": {"tolerance": {}, "friction": {}, "wrench": {}},
    "workspace": {
        name: {} for name in ("grid", "orientation", "limits", "max_condition", "details", "block", "threads", "progress", "save")
    },
    **space_rows(determines=UNDETERMINED, drives=UNDERACTUATED, inverse=NO_INVERSE),
    **simulation_rows(),
    **identification_rows(UNDERACTUATED),
    **DESIGN,
    **BRIDGES,
}  # fmt: skip
"""Verb -> option -> condition -> reason why it has no result; an empty row: it works for every robot."""


@cache
def _defaults(verb: str) -> Mapping[str, object]:
    """Defaults of a verb's options."""
    if verb not in SIGNATURES:  # not loaded yet, or not among those whose arguments are checked by name
        function = getattr(importlib.import_module("flexapod"), verb)
        SIGNATURES.setdefault(verb, inspect.signature(function))
    found = SIGNATURES[verb].parameters.values()
    return {p.name: p.default for p in found if p.default is not inspect.Parameter.empty}


def _asked(robot: Robot, verb: str, options: Mapping[str, object]) -> Iterator[str]:
    """Options in use: those that differ from the verb's default; words and yes/no also with their value."""
    for name, value in options.items():
        if isinstance(value, str | bool):
            yield f"{name}={value}"
        if name == "friction":
            if value is not False and has_friction(robot):
                yield name
            continue
        default = _defaults(verb).get(name)
        same = value is default or (isinstance(value, str | bool | int | float | tuple) and value == default)
        if not same and not (isinstance(value, list | tuple) and len(value) == 0):
            yield name


def _holds(robot: Robot, condition: str, options: Mapping[str, object]) -> bool:
    for part in condition.split(" & "):
        if part in PROPERTIES:
            if not PROPERTIES[part](robot):
                return False
        elif part.startswith(("no ", "with ")):
            kind, _, name = part.partition(" ")
            if (options.get(name) is None) is not (kind == "no"):
                return False
        else:
            name, _, value = part.partition("=")
            if str(options.get(name)) != value:
                return False
    return True


def wording(robot: Robot, verb: str, option: str, text: str) -> str:
    """A reason of the table as a robot's refusal says it."""
    name, _, value = option.partition("=")
    found = {key: make(robot) for key, make in PLACES.items() if f"{{{key}}}" in text}
    return text.format(option=name, value=value, verb=verb.replace("_", " "), **found)


def reason(robot: Robot, verb: str, options: Mapping[str, object]) -> str | None:
    """The reason why a verb is not available for a request, or None.

    Args:
        options: by name, as the verb was given them; besides ``motion``: ``"platform"`` or ``"actuators"``, ``velocity``.
    """
    for option in (ANY, *_asked(robot, verb, options)):
        for condition, text in ABILITIES[verb].get(option, {}).items():
            if _holds(robot, condition, options):
                return wording(robot, verb, option, text)
    return None


def refuse(robot: Robot, verb: str, **options: object) -> None:
    """Raise where the table has a reason against a request.

    Checked by: tests/analysis/test_abilities.py.
    """
    found = reason(robot, verb, options)
    if found is not None:
        raise InputError(found)


def kind_of(motion: object, still: type | None = None) -> str:
    """``"actuators"`` for a motion of the actuators, ``"state"`` for what is of the type `still`, else ``"platform"``."""
    if still is not None and isinstance(motion, still):
        return "state"
    return "actuators" if type(motion).__name__ == "ActuatorMotion" else "platform"
