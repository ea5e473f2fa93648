"""Properties of a robot that decide which verbs apply to it, and their names in messages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from flexapod.errors import amount
from flexapod.robot.build import has_inner_loops
from flexapod.robot.elastic_plan import driven_columns
from flexapod.robot.leg_positions import closes_alone

if TYPE_CHECKING:
    from flexapod.robot.model import Closing, Link
    from flexapod.robot.robot import Robot

ALWAYS = "always"
COMPILED = 24
"""Coordinates up to which a whole model with its solve is one kernel; beyond, it would take minutes to compile."""


def _parts(robot: Robot) -> list[Link | Closing]:
    links: list[Link | Closing] = [link for leg in robot.legs for link in leg.links]
    return links + [closing for leg in robot.legs for closing in leg.closings]


def has_friction(robot: Robot) -> bool:
    """Whether some joint of the robot has friction."""
    return any(part.friction is not None and part.friction.given() for part in _parts(robot))


def _six_that_spin(robot: Robot) -> bool:
    from flexapod.equations.newton_euler.constraint_plan import plain

    return plain(robot)


def _joint(parts: Sequence[Link | Closing]) -> str:
    return parts[0].joint if parts else ""


def _loaded(robot: Robot) -> list[Link | Closing]:
    """Joints whose friction depends on their load."""
    return [part for part in _parts(robot) if part.friction is not None and part.friction.given(by_load=True)]


def depends_on_loads(robot: Robot) -> bool:
    """Whether some joint's friction depends on its load."""
    return bool(_loaded(robot))


def _elastic_drives(robot: Robot) -> list[Link]:
    return [link for leg in robot.legs for link in leg.links if link.elastic and link.spring]


def _massless_drives(robot: Robot) -> list[Link]:
    """Actuators that drive through a spring and have no mass on their own side of it."""
    sprung = {link.joint for link in _elastic_drives(robot)}
    links = [link for leg in robot.legs for link in leg.links]
    return [k for k in links if k.actuated and k.joint in sprung and k.inertia == 0.0 and k.body is None]


def _mobility(robot: Robot) -> int:
    return robot.mobility.rank if robot.floats else len(robot.plan.platform_independent)


def _independent_count(robot: Robot) -> int:
    return len(robot.elastic_plan.independent)


def _minimal(robot: Robot) -> str:
    """Reason why the minimal equations do not apply; empty where they do."""
    from flexapod.equations.minimal.planning import applies

    return applies(robot) or ""


def _legs_elastic(robot: Robot) -> bool:
    return any(link.elastic for leg in robot.legs for link in leg.links)


def _more_than_masses(robot: Robot) -> bool:
    """Legs deform, springs or force elements act, or the base floats."""
    springs = any(link.spring for leg in robot.legs for link in leg.links)
    return bool(robot.elastic_indices or robot.floats or robot.forces or springs)


def _deflects(robot: Robot) -> bool:
    """Forces depend on deflections that no actuator measures; springs, dampers and stops of joints do not deflect unseen."""
    elastic = any(link.elastic for leg in robot.legs for link in leg.links)
    return elastic or robot.flexible_platform is not None


def _without_columns(robot: Robot) -> bool:
    """Forces that are no part of the linear model: of force elements, preloads and bump stops, and of dampers of drives."""
    return bool(robot.forces) or any(
        link.spring and (link.actuated or link.preload or link.stop) for leg in robot.legs for link in leg.links
    )


def _unproven(robot: Robot) -> bool:
    """Whether neither intervals nor contraction bound the legs over boxes of poses."""
    from flexapod.analysis.space.contraction import contracts

    return PROPERTIES["legs without bounds"](robot) and not contracts(robot)


PROPERTIES: dict[str, Callable[[Robot], bool]] = {
    ALWAYS: lambda robot: True,
    "rigid": lambda robot: robot.flexible_platform is None and not robot.elastic_legs,
    "rigid platform": lambda robot: robot.flexible_platform is None,
    "flexible platform": lambda robot: robot.flexible_platform is not None and not robot.elastic_legs,
    "flexible legs": lambda robot: robot.elastic_legs,
    "elastic legs": _legs_elastic,
    "more than masses": _more_than_masses,
    "inner loops": lambda robot: has_inner_loops(robot.legs),
    "loops between legs": lambda robot: not closes_alone(robot.legs),
    "flexible platform on flexible legs": lambda robot: robot.flexible_platform is not None and robot.elastic_legs,
    "unmeasured deflections": _deflects,
    "forces outside the regressor": _without_columns,
    "elastic drive": lambda robot: bool(_elastic_drives(robot)),
    "friction of an elastic drive": lambda robot: any(
        link.actuated and link.friction is not None and link.joint in {spring.joint for spring in _elastic_drives(robot)}
        for leg in robot.legs
        for link in leg.links
    ),
    "massless drive": lambda robot: bool(_massless_drives(robot)),
    "tied actuators": lambda robot: robot.elastic_legs and not set(driven_columns(robot)) <= set(robot.elastic_plan.independent),
    "under-actuated": lambda robot: len(robot.actuators) < _mobility(robot),
    "fully actuated": lambda robot: not PROPERTIES["under-actuated"](robot),
    "other actuators than DOF": lambda robot: len(robot.actuators) != _mobility(robot),
    "mobility below 6": lambda robot: _mobility(robot) < 6,
    "friction": has_friction,
    "redundant actuators": lambda robot: len(robot.actuators) > _mobility(robot),
    "actuators not redundant": lambda robot: len(robot.actuators) <= _mobility(robot),
    "elastic coordinates": lambda robot: bool(robot.elastic_names),
    "no elastic coordinates": lambda robot: not robot.elastic_names,
    "no independent elastic coordinates": lambda robot: (
        robot.elastic_legs and len(robot.elastic_plan.independent) <= len(robot.actuators)
    ),
    "tied coordinates": lambda robot: robot.elastic_legs and _independent_count(robot) != len(robot.elastic_names) + 6,
    "not six U-P-S, P-U-S or R-U-S legs": lambda robot: not _six_that_spin(robot),
    "legs without bounds": lambda robot: (
        len(robot.legs) != 6 or bool(robot.plan.constraints) or any(form is None for form in robot.closed_forms)
    ),
    "no proofs over boxes": _unproven,
    "no determinant": lambda robot: len(robot.actuators) + len(robot.plan.constraints) != 6,
    "no link plan": lambda robot: robot.no_link_plan is not None,
    "no minimal equations": lambda robot: bool(_minimal(robot)),
    "friction by loads": lambda robot: bool(_loaded(robot)),
    "friction at the platform": lambda robot: any(leg.closing.friction is not None for leg in robot.legs),
}
"""Property -> whether a robot has it."""


def holds(robot: Robot, name: str) -> bool:
    """Whether a robot has a property; found once and kept with the robot."""
    key = ("property", name)
    if key not in robot.kept:
        robot.kept[key] = bool(PROPERTIES[name](robot))
    found: bool = robot.kept[key]
    return found


PLACES: dict[str, Callable[[Robot], Any]] = {
    "robot": lambda robot: robot.name,
    "part": lambda robot: (
        "flexible platform" if robot.flexible_platform is not None and not _legs_elastic(robot)
        else "elastic drives" if _elastic_drives(robot)
        else "flexible legs" if _legs_elastic(robot)
        else "inner loops" if has_inner_loops(robot.legs) else "force elements" if robot.forces
        else "floating bodies" if robot.floats else "joint springs" if _more_than_masses(robot) else "cranks"
    ),
    "actuators": lambda robot: len(robot.actuators),
    "driven": lambda robot: amount(len(robot.actuators), "actuator"),
    "own": lambda robot: _independent_count(robot),
    "wanted": lambda robot: len(robot.elastic_names) + 6,
    "minimal": lambda robot: _minimal(robot),
    "no_links": lambda robot: robot.no_link_plan,
    "mobility": _mobility,
    "motor": lambda robot: _joint(_elastic_drives(robot)),
    "massless": lambda robot: _joint(_massless_drives(robot)),
}  # fmt: skip
"""Placeholder of a reason -> what it becomes for a robot; `option`, `value`, `verb` come from the request."""
