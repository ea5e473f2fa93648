"""Setup of a compiled simulation from the arguments: structure, numbers, signals, start."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from flexapod.analysis.requests.properties import holds
from flexapod.arrays import Array
from flexapod.errors import InputError
from flexapod.motions.motion import ActuatorMotion, Motion
from flexapod.simulation.controllers import ComputedTorque, Controller, Springs, per_actuator
from flexapod.simulation.integrators.collocation import METHODS
from flexapod.simulation.system import signals as sig
from flexapod.simulation.system.flexible_start import check_internal
from flexapod.simulation.system.friction_wrench import check_friction
from flexapod.simulation.system.independent import IndependentLayout
from flexapod.simulation.system.independent_start import independent_start
from flexapod.simulation.system.joint_torque import JointTorque, check_held
from flexapod.simulation.system.layout import Layout
from flexapod.simulation.system.load_friction import smooth
from flexapod.simulation.system.start import start_vector

if TYPE_CHECKING:
    from flexapod.analysis.requests.state import State, StateOrMotion
    from flexapod.equations.minimal.planning import MinimalPlan
    from flexapod.robot.link_plan import LinkPlan
    from flexapod.robot.robot import Robot
    from flexapod.simulation.events import Event

ROWS = {"rk4": 16, "dopri": 4, **dict.fromkeys(METHODS, 8)}
"""Rows per call of a kernel: more would compile longer, fewer would return to Python more often."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Setup:
    """A simulation before it starts.

    Args:
        layout: structure of the compiled loop.
        values: its numbers by name.
        signals: functions of time by name.
        start: (size,) carried numbers at time 0.
        function: a controller in Python, called at every step.
    """

    layout: Layout
    values: Mapping[str, float]
    signals: Mapping[str, sig.Signal]
    start: Array
    function: Any = None

    def changed(self, robot: Robot, gains: Mapping[str, float]) -> Setup:
        """The same simulation with other numbers of the robot, and gains of failing actuators."""
        robot = smooth(robot) if self.layout.friction == "load" else robot
        if robot.elastic_names and robot.structure != self.layout.robot.structure:
            raise InputError(
                f"event: its parameters change the modes of the flexible bodies of {robot.name}, which a simulation cannot change"
            )
        plan = None if isinstance(self.layout, IndependentLayout) else fast_plan(robot, self.layout.inputs, self.layout.friction)
        layout = replace(self.layout, robot=robot, fast=plan)
        return replace(self, layout=layout, values={**self.values, **robot.values, **gains})


def check_watch(watch: Sequence[str]) -> None:
    """Refuse what cannot be watched."""
    from flexapod.analysis.requests.results import check_option

    for name in watch:
        check_option("watch", name, ("stroke", "singular"))


def fast_plan(robot: Robot, inputs: Sequence[str], friction: bool | str) -> MinimalPlan | LinkPlan | None:
    """Plan of the minimal equations, where no wrench acts on the platform beside its own weight; else of those in link axes."""
    from flexapod.equations.minimal.planning import applies, plan

    if robot.elastic_names or robot.no_link_plan is not None:
        return None
    return robot.link_plan if "wrench" in inputs or friction or applies(robot) is not None else plan(robot)


def make_setup(
    robot: Robot, motion: StateOrMotion | None, *, drive: str, controller: Controller | Callable[..., ArrayLike] | None,
    force: sig.Given | None, wrench: sig.Given | None, friction: bool | str, method: str, events: Sequence[Event],
    watch: Sequence[str], start: State | None, tolerance: tuple[float, float], step: float, rows: int | None = None,
) -> Setup:  # fmt: skip
    """Check the arguments and put the simulation together."""
    function = controller if callable(controller) and not isinstance(controller, Controller) else None
    control = None if function is not None else controller
    if control is not None and not isinstance(control, Controller):
        raise InputError(f"controller: expected a controller, a function or None, got {type(control).__name__}")
    sliding = check_friction(robot, friction)
    robot = smooth(robot) if sliding == "load" else robot
    reference = motion if isinstance(motion, Motion | ActuatorMotion) else None
    if control is not None and control.feels and not robot.elastic_names:
        raise InputError(f"ka: {robot.name} is rigid, so that accelerometers measure what encoders do; leave it out")
    if isinstance(control, JointTorque) and robot.elastic_names:
        check_held(robot, reference)
    independent = in_independent(robot, drive, method, friction)
    if sliding == "load" and independent:
        _check_loads(robot)
    if independent:
        _check_controller(robot, control)
    if robot.platform_modes and robot.moved_by == "platform" and (drive == "platform" or not independent):
        _check_flexible(robot, motion, drive, control)
    inputs, found = _inputs(robot, reference, drive, force, wrench, function is not None)
    failing = any(event.failing for event in events)
    for event in events:
        unknown = [a for a in event.failing if a not in robot.actuators]
        if unknown:
            raise InputError(f"event: {robot.name} has no actuator {unknown[0]!r} (actuators: {', '.join(robot.actuators)})")
    layout = (IndependentLayout if independent else Layout)(
        robot=robot, controller=control, method=method, rows=1 if function is not None else rows or ROWS[method], inputs=inputs,
        friction=sliding, failing=failing, watch=tuple(watch), fast=None if independent else fast_plan(robot, inputs, sliding),
    )  # fmt: skip
    found |= _references(robot, reference, control)
    begin = start if start is not None else motion if independent else _start(robot, motion)
    control_values = _control(robot, control, begin)
    values = {**robot.values, **control_values, **_limits(robot)}
    values |= {f"actuator.{a}.gain": 1.0 for a in robot.actuators}
    values |= {"tolerance.relative": tolerance[0], "tolerance.absolute": tolerance[1]}
    setup = Setup(layout=layout, values=values, signals=found, start=np.zeros(layout.size), function=function)
    return _with_start(setup, begin, step)


def in_independent(robot: Robot, drive: str, method: str | None = None, friction: object = False) -> bool:
    """Whether the simulation uses independent coordinates: something in the legs deforms; actuators are followed, joints
    have friction at a platform that deforms or by their loads below it; redundant actuators load joints with friction by
    what they push against each other; or an implicit method integrates a platform that its legs constrain."""
    held = drive == "actuators" or (friction is not False and holds(robot, "friction at the platform"))
    held = held or by_loads(robot, friction)
    if robot.moved_by == "actuators" or (bool(robot.elastic_names) and held):
        return True
    if drive != "actuators" and by_loads(robot, friction) and holds(robot, "redundant actuators"):
        return True
    constrained = len(robot.plan.platform_independent) < 6 and not robot.elastic_names
    return constrained and method in ("implicit", "radau") and drive != "actuators"


def by_loads(robot: Robot, friction: object) -> bool:
    """Whether the friction of the simulation depends on joint loads."""
    return friction is True and holds(robot, "friction by loads")


def _check_loads(robot: Robot) -> None:
    """Friction by joint loads needs loads that rigid bodies determine, as forward dynamics does."""
    from flexapod.analysis.requests.state import State
    from flexapod.analysis.verbs.forward_dynamics import forward_dynamics

    home = np.concatenate([leg.home for leg in robot.legs])[list(robot.driven)]
    rest = State.from_actuators(robot, home, elastic="zero" if robot.elastic_names else None)
    forward_dynamics(robot, rest, np.zeros(len(home)), friction=True)


def _check_controller(robot: Robot, controller: Controller | None) -> None:
    """Computed torque drives a robot with flexible legs by a model that is rigid and closes its legs by formulas."""
    if not isinstance(controller, ComputedTorque):
        return
    model = controller.model
    if model is None or model.elastic_names or model.moved_by == "actuators" or any(form is None for form in model.closed_forms):
        raise InputError(
            f"controller: ComputedTorque would invert the platform's acceleration through the deformations of {robot.name}, "
            "which is not stable; give it a rigid `model` on U-P-S, P-U-S or R-U-S legs, or use FeedForwardPD"
        )


def _check_flexible(robot: Robot, motion: StateOrMotion | None, drive: str, controller: Controller | None) -> None:
    """A flexible platform needs a motion of its frame, and a stable internal dynamics where an inverse model drives it."""
    if isinstance(motion, ActuatorMotion):
        raise InputError("motion: the actuators alone do not fix a flexible platform; give a Motion of the platform frame")
    inverse = drive == "platform" or (isinstance(controller, ComputedTorque) and controller.model is None)
    if inverse and isinstance(motion, Motion):
        check_internal(robot, motion)


def _inputs(
    robot: Robot, motion: Motion | ActuatorMotion | None, drive: str, force: sig.Given | None, wrench: sig.Given | None,
    function: bool,
) -> tuple[tuple[str, ...], dict[str, sig.Signal]]:  # fmt: skip
    """Given forces and loads as signals."""
    found: dict[str, sig.Signal] = {}
    n = len(robot.actuators)
    if wrench is not None:
        found["wrench"] = sig.over_time("wrench", wrench, 6)
    if drive == "actuators":
        found["driven"] = sig.driven(robot, motion)
    elif drive == "platform":
        if motion is None:
            raise InputError("drive='platform' needs the platform's motion: give a Motion, not a State")
        if robot.moved_by == "platform" and robot.platform_modes:  # the forces follow the modes at every stage
            assert isinstance(motion, Motion)  # `_check_flexible` refuses others
            found["acceleration"] = sig.platform_acceleration(motion)
        else:
            found["force"] = sig.demanded_force(robot, as_moved(robot, motion))
    elif force is not None:
        found["force"] = sig.over_time("force", force, n)
    elif function:
        found["force"] = lambda t: np.zeros((len(t), n))
    return tuple(name for name in ("force", "wrench", "acceleration", "driven") if name in found), found


def as_platform(robot: Robot, motion: Motion | ActuatorMotion) -> Motion:
    """A motion as one of the platform."""
    if isinstance(motion, ActuatorMotion):
        from flexapod.analysis.verbs.platform_motion import platform_motion

        return platform_motion(robot, motion)
    return motion


def as_moved(robot: Robot, motion: Motion | ActuatorMotion) -> Motion | ActuatorMotion:
    """The motion that drives the robot: of the platform, or the given one where the actuators determine a state."""
    return as_platform(robot, motion) if robot.moved_by == "platform" else motion


def _references(robot: Robot, motion: Motion | ActuatorMotion | None, controller: Controller | None) -> dict[str, sig.Signal]:
    """Signals that the controller needs."""
    if controller is None or not controller.signals:
        return {}
    if motion is None:
        raise InputError(f"controller: {type(controller).__name__} follows a motion; give a Motion or an ActuatorMotion")
    found: dict[str, sig.Signal] = {}
    for name in controller.signals:
        if name == "actuators":
            found[name] = sig.actuator_reference(_assumed(robot, controller), motion)
        elif name == "platform":
            found[name] = sig.platform_reference(as_platform(robot, motion))
        else:
            assumed = _assumed(robot, controller)
            given = as_moved(assumed, motion)
            make = {"inertia": sig.actuator_inertia, "coupling": sig.deformation_coupling}.get(name, sig.demanded_force)
            found[name] = make(robot if name == "coupling" else assumed, given)
    return found


def _assumed(robot: Robot, controller: Controller) -> Robot:
    """The robot that a controller believes to drive."""
    return getattr(controller, "model", None) or robot


def _start(robot: Robot, motion: StateOrMotion | None) -> State:
    """State at the start: that of the motion, or the one given."""
    from flexapod.analysis.requests.state import State

    if isinstance(motion, State):
        if not motion.single:
            raise InputError("simulate starts from one State; `simulate_study` takes many")
        return motion
    if not isinstance(motion, Motion | ActuatorMotion):
        raise InputError(f"motion: expected a Motion, an ActuatorMotion or a State, got {type(motion).__name__}")
    if isinstance(motion, ActuatorMotion):
        motion = as_platform(robot, motion)
    at = sig.motion_at(motion, np.zeros(1))
    return State(
        position=at.position[0], rotation=at.rotation[0], velocity=at.velocity[0], angular_velocity=at.angular_velocity[0]
    )


def _limits(robot: Robot) -> dict[str, float]:
    """Ends of the actuators' strokes."""
    found: dict[str, float] = {}
    links = [link for leg in robot.legs for link in leg.links if link.actuated]
    for name, link in zip(robot.actuators, links, strict=True):
        stroke = link.limits.stroke if link.limits is not None else None
        low, high = (float(stroke[0]), float(stroke[1])) if stroke is not None else (-np.inf, np.inf)
        found |= {f"stroke.{name}.low": low, f"stroke.{name}.high": high}
    return found


def _control(robot: Robot, controller: Controller | None, start: StateOrMotion | None) -> dict[str, float]:
    if controller is None:
        return {}
    if isinstance(controller, Springs) and controller.free is None:
        from flexapod.analysis.verbs.inverse_dynamics import inverse_dynamics
        from flexapod.analysis.verbs.inverse_kinematics import inverse_kinematics

        assert start is not None
        rest = at_rest(robot, start)
        force = np.ravel(inverse_dynamics(robot, rest, friction=False).force.values)
        q = np.ravel(inverse_kinematics(robot, rest, joints=False).actuator_position.values)
        controller = replace(controller, free=q + force / per_actuator(robot, "stiffness", controller.stiffness))
    period = 1.0 / controller.rate if controller.rate is not None else 1.0
    return {**controller.parameters(robot), "controller.period": period}


def at_rest(robot: Robot, start: StateOrMotion) -> State | ActuatorMotion:
    """Start of a simulation, without velocity: a State, or the actuators of a motion."""
    from flexapod.analysis.requests.state import State

    if not isinstance(start, ActuatorMotion):
        pose = start if isinstance(start, State) else sig.motion_at(start, np.zeros(1))
        return State(position=pose.position.reshape(-1, 3)[0], rotation=pose.rotation.reshape(-1, 3, 3)[0])
    at = sig.motion_at(start, np.zeros(1))
    still = np.zeros_like(at.position)
    return ActuatorMotion(time=np.zeros(1), position=at.position, velocity=still, acceleration=still)


def _with_start(setup: Setup, state: StateOrMotion | None, step: float) -> Setup:
    """Carried numbers at time 0; the start is brought onto the loops exactly."""
    if isinstance(setup.layout, IndependentLayout):
        start, values = independent_start(setup, setup.layout, state, step)
    else:
        from flexapod.analysis.requests.state import State

        assert isinstance(state, State)  # of `_start`
        start, values = start_vector(setup, state, step)
    return replace(setup, start=start, values=values)
