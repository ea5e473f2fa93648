"""Results derived from each state: rotation, actuators, joints, energies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import casadi as ca
import numpy as np

from flexapod.equations.elastodynamics.dissipation import rates_of
from flexapod.equations.elastodynamics.link_assembly import link_equation_at
from flexapod.equations.elastodynamics.potential import potentials
from flexapod.equations.elastodynamics.program_state import RobotAt
from flexapod.equations.values import Values
from flexapod.kernels.tape.program import Program
from flexapod.simulation.system.attitude import matrix
from flexapod.simulation.system.closure import determinant
from flexapod.simulation.system.energies import energies
from flexapod.simulation.system.independent import IndependentLayout, carried_loops, drive_determinant, observed_moment
from flexapod.simulation.system.plant import JointCoordinates, Moment, coordinates
from flexapod.simulation.system.scope import Scope

if TYPE_CHECKING:
    from flexapod.arrays import SX
    from flexapod.kernels.kernel import Kernel
    from flexapod.simulation.system.layout import Layout


def observe_program(layout: Layout) -> Program:
    """The program: inputs p, quat, v, w, joints (and e, ed); outputs by the names of the result."""
    if isinstance(layout, IndependentLayout):
        return _independent(layout)
    root, robot = Program("observe"), layout.robot
    given = {"p": 3, "quat": 4, "v": 3, "w": 3} | {name: layout.extra[name] for name in ("e", "ed") if name in layout.extra}
    symbols: dict[str, SX] = {name: root.input(name, (size,)) for name, size in given.items()}
    joints = layout.places["joints"]
    general = joints.stop > joints.start
    symbols["joints"] = root.input("joints", (joints.stop - joints.start,)) if general else ca.SX(0, 1)
    R = matrix(symbols["quat"])
    p, v, w, joint_symbols = (symbols[name] for name in ("p", "v", "w", "joints"))
    moment = Moment(p=p, R=R, v=v, w=w, joints=joint_symbols, e=symbols.get("e"), ed=symbols.get("ed"))
    scope = Scope(root, root)
    c = coordinates(scope, robot, moment)
    moment, scope = replace(moment, joints=c.joints), scope.under("", solved=True)
    kinetic, potential, elastic = energies(scope, robot, moment)
    if layout.controller is not None:
        elastic = elastic + layout.controller.elastic_energy(scope, robot, c)
    n = layout.actuators
    root.output("rotation", R, shape=(3, 3))
    root.output("actuator_position", c.q, shape=(n,))
    root.output("actuator_velocity", c.qd, shape=(n,))
    root.output("joint_position", c.joints, shape=(len(robot.coordinates),))
    root.output("energy", ca.vertcat(kinetic, potential, elastic), shape=(3,))
    return root


def _carried(root: Program, layout: IndependentLayout) -> dict[str, SX]:
    """Inputs of a state in independent coordinates."""
    place = layout.places
    names = [name for name in ("p", "R", "joints", "modes", "ud") if place[name].stop > place[name].start]
    found = {name: root.input(name, (place[name].stop - place[name].start,)) for name in names}
    return {"modes": ca.SX.zeros(0), **found}


def _independent(layout: IndependentLayout) -> Program:
    """The program of simulations in independent coordinates: pose, actuators, joints, elastic coordinates, energies."""
    root, robot = Program("observe"), layout.robot
    values, now = Values(root), carried_loops(root, layout, _carried(root, layout))
    moment, c = observed_moment(layout, now)
    at = RobotAt(b=root, values=values, robot=robot, state=now.state)
    q = link_equation_at(at)
    rates = rates_of(robot, now.state)
    weight, elastic = potentials(at, now.motion)
    if layout.controller is not None:
        elastic = elastic + layout.controller.elastic_energy(Scope(root, root), robot, c)
    assert c.joint_rates is not None
    n, e = layout.actuators, list(robot.elastic_indices)
    root.output("rotation", moment.R, shape=(3, 3))
    root.output("actuator_position", c.q, shape=(n,))
    root.output("actuator_velocity", c.qd, shape=(n,))
    root.output("joint_position", c.joints, shape=(len(robot.coordinates),))
    root.output("joint_velocity", c.joint_rates, shape=(len(robot.coordinates),))
    if layout.elastic:
        root.output("elastic", ca.vertcat(now.state.e, c.joints[e]), shape=(layout.elastic,))
        root.output("elastic_velocity", ca.vertcat(now.state.ed, c.joint_rates[e]), shape=(layout.elastic,))
    kinetic = ca.dot(rates, ca.mtimes(q.M, rates)) / 2
    root.output("energy", ca.vertcat(kinetic, weight, elastic), shape=(3,))
    return root


def determinant_program(layout: Layout) -> Program:
    """The program: determinant of the Jacobian at a pose, to compare a simulation with."""
    root = Program("determinant")
    if isinstance(layout, IndependentLayout):
        root.output("determinant", drive_determinant(root, layout, _carried(root, layout)))
        return root
    p, quat = root.input("p", (3,)), root.input("quat", (4,))
    joints = layout.places["joints"]
    general = joints.stop > joints.start
    q = root.input("joints", (joints.stop - joints.start,)) if general else ca.SX(0, 1)
    still = ca.SX.zeros(3)
    e = root.input("e", (layout.elastic,)) if layout.elastic else None
    moment = Moment(p=p, R=matrix(quat), v=still, w=still, joints=q, e=e)
    root.output("determinant", determinant(Scope(root, root), layout.robot, moment))
    return root


def observed_at(layout: Layout, values: Mapping[str, float], states: np.ndarray) -> dict[str, np.ndarray]:
    """Outputs of `observe_program` at carried vectors (n, size): by its kernel, or in numbers for robots with long beams."""
    from flexapod.analysis.model.long_places import has_looped_elements
    from flexapod.simulation.integrators.runner import compiled

    if isinstance(layout, IndependentLayout) and has_looped_elements(layout.robot):
        return _in_numbers(layout, values, states)
    kernel, parameters = compiled(layout, "observe", observe_program, values)
    return kernel.batch(pick_inputs(layout, kernel, states), parameters).outputs


def _in_numbers(layout: IndependentLayout, values: Mapping[str, float], states: np.ndarray) -> dict[str, np.ndarray]:
    from flexapod.analysis.model.leg_dynamics import energies as energies_at
    from flexapod.simulation.integrators.numeric_rows import NumericRows
    from flexapod.simulation.integrators.runner import compiled

    robot, reasons = layout.robot, np.full(len(states), "", dtype=object)
    state = NumericRows(layout, values).closed(states, reasons)
    kinetic, weight, elastic = energies_at(robot, state)
    (q, qd), (e, ed) = state.actuators(robot), state.elastic(robot)
    if layout.controller is not None:
        kernel, parameters = compiled(layout, "stored", _stored, values)
        elastic = elastic + kernel.batch({"q": np.ascontiguousarray(q)}, parameters).outputs["energy"]
    found = {
        "rotation": state.rotation, "actuator_position": q, "actuator_velocity": qd, "joint_position": state.joint_position,
        "joint_velocity": state.joint_velocity, "energy": np.stack([kinetic, weight, elastic], axis=1),
    }  # fmt: skip
    return found | ({"elastic": e, "elastic_velocity": ed} if layout.elastic else {})


def _stored(layout: Layout) -> Program:
    """The program: actuators in; energy that the controller stores out."""
    root, n = Program("stored"), layout.actuators
    q, none = root.input("q", (n,)), ca.SX(0, 1)
    assert layout.controller is not None
    c = JointCoordinates(q=q, qd=ca.SX.zeros(n), joints=none, joint_rates=None)
    root.output("energy", ca.SX(layout.controller.elastic_energy(Scope(root, root), layout.robot, c)), shape=())
    return root


def pick_inputs(layout: Layout, kernel: Kernel, states: np.ndarray) -> dict[str, np.ndarray]:
    """Inputs of a kernel from carried vectors (n, size)."""
    return {i.name: np.ascontiguousarray(states[:, layout.places[i.name]]) for i in kernel.signature.inputs}


def elastic_samples(layout: Layout, states: np.ndarray, seen: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Elastic coordinates and rates of carried vectors (.., size), as controllers in Python and conditions of events see them.

    Args:
        seen: outputs of the observing kernel there.
    """
    if isinstance(layout, IndependentLayout):
        return {name: np.array(seen[name]) for name in ("elastic", "elastic_velocity") if name in seen}
    names = {"elastic": "e", "elastic_velocity": "ed"} if layout.elastic else {}
    return {name: np.array(states[..., layout.places[part]]) for name, part in names.items()}
