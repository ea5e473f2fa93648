r"""Robots with rigid legs, platform rigid or flexible, as plants: states p, quaternion, v, omega (world axes), e, e'.

.. math:: \dot p = v,\quad \dot q = \tfrac12 (0, \omega)\otimes q,\quad (\dot v, \dot\omega, \ddot e) = f(x, \Gamma)

The quaternion may have any length. Robots of limited mobility are evaluated at the state with its dependent components on the
loops (`simulation.closure`), so that an integrator's drift changes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import casadi as ca

from flexapod.bridges.fmu.model_kernels import FMUVariable, Plant, Stepping, vector
from flexapod.bridges.fmu.units import parameter_meaning, parameter_unit
from flexapod.kernels.tape.program import Program
from flexapod.kernels.tape.tape import Tape, make_tape
from flexapod.robot.link_plan import LinkPlan
from flexapod.simulation.integrators.compiled_rows import step_program
from flexapod.simulation.integrators.runner import zeros_of
from flexapod.simulation.stepper import step_setup
from flexapod.simulation.system.closure import closed
from flexapod.simulation.system.layout import MOTION, Layout
from flexapod.simulation.system.leg_terms import margin_output
from flexapod.simulation.system.plant import coordinates
from flexapod.simulation.system.right_hand_side import rates_of, situation
from flexapod.simulation.system.scope import Scope
from flexapod.simulation.system.setup import Setup
from flexapod.spatial.rotation import normalised

if TYPE_CHECKING:
    from flexapod.analysis.requests.state import State
    from flexapod.arrays import SX
    from flexapod.equations.minimal.planning import MinimalPlan
    from flexapod.motions.motion import ActuatorMotion
    from flexapod.robot.robot import Robot
    from flexapod.simulation.system.plant import JointCoordinates
    from flexapod.simulation.system.right_hand_side import Rates

STATE = ("p", "quat", "v", "w", "e", "ed")


def rates_program(layout: Layout) -> Program:
    """The program of the rates; see `flexapod.bridges.fmu.model_kernels`.

    Checked by: tests/bridges/test_fmu.py.
    """
    root, robot = Program("rates"), layout.robot
    names = [name for name in STATE if name in layout.places]
    sizes = {name: layout.places[name].stop - layout.places[name].start for name in (*names, "joints")}
    x = root.input("state", (sum(sizes[name] for name in names),))
    memory = root.input("memory", (sizes["joints"],)) if sizes["joints"] else ca.SX(0, 1)
    signals = root.input("signals", (layout.width,))
    parts, at = {"joints": memory}, 0
    for name in names:
        parts[name], at = x[at : at + sizes[name]], at + sizes[name]
    scope = Scope(root, root)
    parts["quat"] = normalised(parts["quat"])
    if robot.plan.constraints:
        parts |= closed(scope, robot, parts)
        scope = scope.under("", solved=True)
    none = ca.SX.zeros(layout.increments)
    inner, now = situation(scope, layout, parts, none, signals)
    found = rates_of(inner, layout, now, none)
    c = coordinates(inner, robot, now.moment)
    _outputs(root, layout, parts, found, c, names)
    root._absorb(inner.code)
    return root


def _outputs(root: Program, layout: Layout, parts: dict[str, SX], found: Rates, c: JointCoordinates, names: list[str]) -> None:
    w, q = parts["w"], parts["quat"]
    derivative = {
        "p": parts["v"], "quat": ca.vertcat(-ca.dot(w, q[1:]), w * q[0] + ca.cross(w, q[1:])) / 2,
        "v": found.acceleration[:3], "w": found.acceleration[3:6],
    }  # fmt: skip
    at = MOTION
    for name, size in layout.extra.items():
        derivative[name], at = found.dy[at : at + size], at + size
    root.output("derivative", ca.vertcat(*[derivative[name] for name in names]))
    root.output("result", ca.vertcat(c.q, c.qd, found.acceleration[:6]))
    joints = layout.places["joints"]
    if joints.stop > joints.start:
        root.output("closed", c.joints)
    root.output("settled", ca.vertcat(*[parts[name] for name in names]))
    margin_output(root, layout, c.q)


def tape_for(layout: Layout, program: Program, general: bool) -> Tape:
    """The tape, relying on structural zeros unless every parameter is to be tunable."""
    known = {p.name for p in program.signature.parameters}
    return make_tape(program, None if general else zeros_of(layout) & known)


def tunable_plan(layout: Layout) -> MinimalPlan | LinkPlan | None:
    """Plan of the fast equations, where they apply, with as few facts about the robot's numbers as they allow.

    What is left: bodies of legs are axisymmetric about their leg, and the platform joints of P-U-S legs lie in one plane.
    """
    from flexapod.equations.minimal.planning import plan

    if layout.fast is None or isinstance(layout.fast, LinkPlan):
        return layout.fast
    found = plan(layout.robot, coincident=False)
    return found if found.architecture == "PUS" else replace(found, flat_platform=False, flat_base=False)


def rigid_plant(
    robot: Robot,
    start: State | ActuatorMotion,
    *,
    wrench: bool,
    friction: bool | str,
    method: str,
    step: float,
    watch: bool,
    general: bool,
) -> Plant:
    """The plant of forward dynamics."""
    watched = ("stroke",) if watch else ()
    setup = step_setup(robot, start, step=step, method=method, wrench=wrench, friction=friction, watch=watched)
    fast = None if general else tunable_plan(setup.layout)
    setup = replace(setup, layout=replace(setup.layout, fast=fast, looped=True))
    layout = setup.layout
    rates = tape_for(layout, rates_program(layout), general)
    run = tape_for(layout, step_program(layout), general)
    names = [name for name in STATE if name in layout.places]
    joints = layout.places["joints"]
    return Plant(
        name=robot.name, about=f"forward dynamics of {robot.name}", states=_states(setup), inputs=inputs(setup),
        outputs=_results(robot), rates=rates, step=step, fixed=setup.values,
        memory=[float(x) for x in setup.start[joints]],
        **strokes(robot, layout.strokes),
        parameters=[v for v in union(robot, [rates, run], setup.values) if not _is_plane(layout, v.name)],
        stepping=Stepping(
            tape=run, lead=2, nodes=len(layout.nodes), carried=[float(x) for x in setup.start],
            code=layout.places["code"].start,
            state_places=[k for name in names for k in range(layout.places[name].start, layout.places[name].stop)],
            memory_place=joints.start,
        ),
    )  # fmt: skip


def union(robot: Robot, tapes: list[Tape], values: Mapping[str, float]) -> list[FMUVariable]:
    """Parameters of several tapes, each once; what a tape takes as a structural zero is left out."""
    found: dict[str, FMUVariable] = {}
    for tape in tapes:
        for p in tape.signature.parameters:
            if p.name not in found and p.name not in tape.zeros:
                unit = parameter_unit(robot, p.name, p.unit)
                doc = p.doc or parameter_meaning(p.name)
                found[p.name] = FMUVariable(name=p.name, unit=unit, start=float(values[p.name]), doc=doc)
    return list(found.values())


def _is_plane(layout: Layout, name: str) -> bool:
    """Heights of platform joints that the minimal equations of P-U-S legs take as equal."""
    flat = layout.fast is not None and not isinstance(layout.fast, LinkPlan) and layout.fast.architecture == "PUS"
    return flat and name.startswith("legs.") and name.endswith(".S.z")


def strokes(robot: Robot, watched: tuple[bool, ...]) -> dict[str, Any]:
    """Margins to the ends of strokes, and what to say where an actuator leaves them."""
    names = [name for name, has in zip(robot.actuators, watched, strict=True) if has]
    unit = dict(zip(robot.actuators, robot.actuator_units, strict=True))
    margins = [FMUVariable(name=f"margin.{name}.{end}", unit=unit[name], doc="distance to the end of the stroke")
               for name in names for end in ("low", "high")]  # fmt: skip
    return {"margins": margins, "leaving": [f"leg {name} leaves its stroke" for name in names for _ in range(2)]}


def _states(setup: Setup) -> list[FMUVariable]:
    place, start, robot = setup.layout.places, setup.start, setup.layout.robot
    found = [
        *vector("position", "m", start[place["p"]], "platform frame origin, world"),
        *vector("quat_wxyz", "", start[place["quat"]], "platform orientation", "wxyz"),
        *vector("velocity", "m/s", start[place["v"]], "of the platform frame origin, world"),
        *vector("angular_velocity", "rad/s", start[place["w"]], "of the platform, world"),
    ]
    if setup.layout.elastic:
        found += vector("elastic", "", start[place["e"]], "elastic coordinate", robot.elastic_names)
        found += vector("elastic_velocity", "", start[place["ed"]], "its rate", robot.elastic_names)
    return found


def inputs(setup: Setup) -> list[FMUVariable]:
    """Actuator forces, and the load where it is an input."""
    robot = setup.layout.robot
    found = forces(robot)
    if "wrench" in setup.layout.signals:
        found += vector("wrench", "N", [0.0] * 3, "force on the platform at its origin, world", ("fx", "fy", "fz"))
        found += vector("wrench", "N m", [0.0] * 3, "moment on the platform, world", ("mx", "my", "mz"))
    return found


def forces(robot: Robot) -> list[FMUVariable]:
    """Actuator forces as inputs."""
    units = ["N" if unit == "m" else "N m" for unit in robot.actuator_units]
    named = zip(robot.actuators, units, strict=True)
    return [FMUVariable(name=f"force.{a}", unit=u, doc="actuator force or torque") for a, u in named]


def actuators(robot: Robot) -> list[FMUVariable]:
    """Actuator coordinates and rates as outputs."""
    both = [(f"actuator_position.{a}", u) for a, u in zip(robot.actuators, robot.actuator_units, strict=True)]
    both += [(f"actuator_velocity.{a}", f"{u}/s") for a, u in zip(robot.actuators, robot.actuator_units, strict=True)]
    return [FMUVariable(name=name, unit=unit) for name, unit in both]


def _results(robot: Robot) -> list[FMUVariable]:
    none = [0.0] * 3
    return [
        *actuators(robot), *vector("acceleration", "m/s^2", none, "of the platform frame origin, world"),
        *vector("angular_acceleration", "rad/s^2", none, "of the platform, world"),
    ]  # fmt: skip
