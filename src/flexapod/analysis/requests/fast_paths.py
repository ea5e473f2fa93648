"""Choice of the derivation for a request: one ordered list per verb, fast paths first, the general model last.

A fast path says when it applies, by properties of the robot and by what is asked for; the first that does is taken, here and
nowhere else. All paths of a verb take the same arguments and give the same numbers: the general one is what they are checked
against (tests/analysis/test_fast_paths.py).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from flexapod.analysis.requests.properties import holds
from flexapod.errors import InputError
from flexapod.motions.motion import ActuatorMotion
from flexapod.robot.chosen_dependents import led_by_platform
from flexapod.robot.elastic_plan import chosen_drives

if TYPE_CHECKING:
    from flexapod.analysis.requests.request import Request
    from flexapod.robot.robot import Robot

Applies = Callable[["Robot", "Request"], bool]
GENERAL = "general"
"""Name of the last path of every verb, and the formulation that asks for it."""


@dataclass(frozen=True, kw_only=True)
class FastPath:
    """One path by which a verb evaluates a request.

    Args:
        name: as documented.
        applies: whether it has a result for a robot and a request.
        place: ``module.function`` of this folder; called with robot, request and what the verb passes on.
    """

    name: str
    applies: Applies
    place: str

    def __call__(self, robot: Robot, request: Request, *more: object) -> Any:
        """The result of a request."""
        module, _, function = self.place.rpartition(".")
        return getattr(import_module(f"flexapod.analysis.{module}"), function)(robot, request, *more)


def _always(robot: Robot, request: Request) -> bool:
    return True


def _is(name: str) -> Applies:
    """Whether the robot has a property, and the general model was not requested by name."""

    def applies(robot: Robot, request: Request) -> bool:
        return request.formulation != GENERAL and holds(robot, name)

    return applies


def carries_springs(robot: Robot, request: Request) -> bool:
    """The platform's motion is given and motors drive through springs, whose acceleration it does not determine."""
    return holds(robot, "elastic drive") and not isinstance(request.at, ActuatorMotion)


def _chosen_forces(request: Request) -> bool:
    return request.weights is not None or request.preload is not None


def _more(request: Request) -> bool:
    """Whether the request needs results that the compiled equations of flexible robots do not have."""
    beside = request.reactions or request.contributions is not None or request.legs == "massless"
    return beside or _chosen_forces(request)


def _rigid_inverse(robot: Robot, request: Request) -> bool:
    if not _is("rigid")(robot, request):
        return False
    redundant = holds(robot, "redundant actuators")
    by_loads = request.friction and holds(robot, "friction by loads")
    return not (redundant and (by_loads or _chosen_forces(request)))


def _platform_inverse(robot: Robot, request: Request) -> bool:
    if not _is("flexible platform")(robot, request) or _more(request):
        return False
    return not (request.friction and holds(robot, "friction")) and not isinstance(request.at, ActuatorMotion)


def _legs_inverse(robot: Robot, request: Request) -> bool:
    if not _is("flexible legs")(robot, request) or _more(request):
        return False
    if holds(robot, "redundant actuators") and not isinstance(request.at, ActuatorMotion):
        return False  # of the forces that give the platform's motion one must be chosen
    own, _ = chosen_drives(robot)
    return len(own) == len(robot.actuators) and not (request.friction and holds(robot, "friction by loads"))


def _rigid_forward(robot: Robot, request: Request) -> bool:
    if not _is("rigid")(robot, request) or isinstance(request.at, ActuatorMotion):
        return False
    if request.friction and holds(robot, "friction") and holds(robot, "under-actuated"):
        return False  # its friction would come from the inverse model, which the robot does not have
    by_loads = request.friction and holds(robot, "friction by loads") and holds(robot, "redundant actuators")
    return not by_loads and not (request.reactions and holds(robot, "other actuators than DOF"))


def _platform_terms(robot: Robot, request: Request) -> bool:
    return _is("flexible platform")(robot, request) and not isinstance(request.at, ActuatorMotion)


def _platform_coriolis(robot: Robot, request: Request) -> bool:
    return _platform_terms(robot, request) and request.coordinates != "actuator"


def _undeformed(robot: Robot, request: Request) -> bool:
    """Forward kinematics of the undeformed robot gives the pose."""
    return holds(robot, "rigid") or (holds(robot, "flexible platform") and request.elastic is None)


def _rigid_linear(robot: Robot, request: Request) -> bool:
    return _is("rigid")(robot, request) and not (request.prestress and robot.plan.constraints)


def _paths(general: str, **fast: tuple[Applies, str]) -> tuple[FastPath, ...]:
    named = [FastPath(name=name.replace("_", " "), applies=when, place=place) for name, (when, place) in fast.items()]
    return (*named, FastPath(name=GENERAL, applies=_always, place=general))


def _terms(on_platform: Applies) -> tuple[FastPath, ...]:
    """Paths of the mass matrix and of generalized forces."""
    return _paths(
        "model.leg_dynamics.general_term",
        rigid_legs=(_is("rigid"), "model.rigid_terms.rigid_term"),
        closed_form_legs_on_a_flexible_platform=(on_platform, "model.flexible_dynamics.flexible_term"),
    )


FAST_PATHS: dict[str, tuple[FastPath, ...]] = {
    "inverse_kinematics": _paths(
        "model.general_kinematics.general_inverse_kinematics",
        legs_one_by_one=(_is("rigid"), "verbs.inverse_kinematics.legs_one_by_one"),
        closed_form_legs_on_a_flexible_platform=(_platform_terms, "model.flexible_kinematics.flexible_inverse_kinematics"),
    ),
    "point_motion": _paths(
        "model.general_kinematics.general_point_motion",
        legs_one_by_one=(_is("rigid"), "verbs.point_motion.point_of_body"),
        closed_form_legs_on_a_flexible_platform=(_platform_terms, "verbs.point_motion.point_of_flexible_platform"),
    ),
    "closed_state": _paths(
        "model.closed_state.from_elastic_legs",
        legs_one_by_one=(_is("rigid"), "model.closed_state.from_platform"),
        closed_form_legs_on_a_flexible_platform=(_platform_terms, "model.closed_state.from_flexible_platform"),
    ),
    "inverse_dynamics": _paths(
        "model.general_verbs.general_inverse_dynamics",
        springs_carried_along=(carries_springs, "model.elastic_drives.carried_inverse_dynamics"),
        rigid_legs=(_rigid_inverse, "model.rigid_dynamics.rigid_inverse_dynamics"),
        closed_form_legs_on_a_flexible_platform=(_platform_inverse, "model.flexible_dynamics.flexible_platform_inverse_dynamics"),
        compiled_flexible_legs=(_legs_inverse, "model.leg_dynamics.leg_inverse_dynamics"),
    ),
    "forward_dynamics": _paths(
        "model.general_verbs.general_forward_dynamics",
        rigid_legs=(_rigid_forward, "model.rigid_dynamics.rigid_forward_dynamics"),
        closed_form_legs_on_a_flexible_platform=(_platform_inverse, "model.flexible_dynamics.flexible_platform_forward_dynamics"),
        compiled_flexible_legs=(_legs_inverse, "model.leg_dynamics.leg_forward_dynamics"),
    ),
    "mass_matrix": _terms(_platform_terms),
    "gravity_force": _terms(_platform_terms),
    "coriolis_force": _terms(_platform_coriolis),
    "energy": _paths(
        "model.leg_dynamics.general_energy",
        rigid_legs=(_is("rigid"), "model.rigid_terms.rigid_energy"),
        closed_form_legs_on_a_flexible_platform=(_platform_terms, "model.flexible_kinematics.flexible_energy"),
    ),
    "linear_model": _paths(
        "model.leg_statics.general_linear_model",
        rigid_legs=(_rigid_linear, "model.rigid_vibration.rigid_model"),
        closed_form_legs_on_a_flexible_platform=(_platform_terms, "model.flexible_vibration.flexible_model"),
    ),
    "static_deflection": _paths(
        "model.leg_statics.general_static_deflection",
        closed_form_legs_on_a_flexible_platform=(_is("flexible platform"), "verbs.static_deflection.static_platform"),
    ),
    "state_from_actuators": _paths(
        "model.general_kinematics.general_state_from_actuators",
        legs_one_by_one=(_undeformed, "verbs.platform_motion.pose_from_actuators"),
    ),
}  # fmt: skip
"""Verb -> its paths, in the order in which they are tried."""


LED = ("inverse_kinematics", "point_motion", "closed_state", "inverse_dynamics")
"""Verbs whose result follows from the platform's motion where that is given, whichever coordinates are independent else."""


def choose(robot: Robot, verb: str, request: Request) -> FastPath:
    """The path that answers a request."""
    return next(path for path in FAST_PATHS[verb] if path.applies(robot, request))


def answer(robot: Robot, verb: str, request: Request, *more: object) -> Any:
    """The result of a verb for a request.

    Checked by: tests/analysis/test_fast_paths.py.
    """
    path = choose(robot, verb, request)
    if verb in LED and not isinstance(request.at, ActuatorMotion):
        robot = led_by_platform(robot)
    if path.name == GENERAL and request.formulation not in ("auto", GENERAL):
        raise InputError(
            f"formulation={request.formulation!r}: gives the forces of {robot.name} alone, and the other results asked for come "
            "from the general model; leave formulation out"
        )
    return path(robot, request, *more)
