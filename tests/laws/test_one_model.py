"""One model: every derivation of every robot of the catalogue gives the same numbers, with friction and reactions, and back.

General model, fast paths and the papers' formulations are compared with each other; tests/equations compares them with mass
points under multipliers. `make test` takes a robot of every kind and few states, `make test-full` all robots and 10 000 states.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import flexapod as fp
from flexapod.analysis.verbs.sampling import PARTS, random_leg_states, random_states

AGREES = 1e-10
"""Of the largest entry of all states: rounding of derivations and solves, 1e-15 to 1e-12."""
ITERATED = 1e-9
"""With friction by joint loads: fixed points and Newton's iterations that stop at 1e-11 of the loads."""
BACK = 1e-9
"""Accelerations that come back: rounding of the forces times the largest mass over the smallest."""
HELD = 0.98
"""Least part of random states whose plate does not buckle: 247 of 250 were found."""
FORMULATIONS = ("minimal", "links", "virtual_power", "virtual_work", "newton_euler", "general")
STATES = 250
"""Per robot in the full run: forty robots make 10 000."""
FEW = 12
SAMPLE = ("hexaslide", "five-bar", "planar-4-prr", "gough-stewart-flexible", "dualemps", "orthoglide")
"""Friction by loads, a plane, redundant drives, a flexible platform, flexible legs, loops inside legs."""
LARGE = ("dualemps-8",)
"""Its equations are those of `dualemps` with eight elements per link; they take minutes to compile."""
CASES = [
    pytest.param(n, FEW if n in SAMPLE else STATES, marks=[] if n in SAMPLE else pytest.mark.full)
    for n in sorted(fp.catalogue())
    if n not in LARGE
] + [pytest.param(n, STATES, marks=pytest.mark.full) for n in SAMPLE]


def motion_of(robot: fp.Robot, count: int) -> Any:
    """A motion that the robot can have, at random states."""
    time = np.arange(float(count))
    if not robot.elastic_indices and not robot.floats:
        drawn = random_states(robot, count, seed=6)
        motion = fp.Motion(time=time, **{name: drawn[name] for name in PARTS})
        return _held(robot, motion) if robot.elastic_names else motion
    at, drawn = list(robot.driven), random_leg_states(robot, count, seed=6)
    acceleration = np.random.default_rng(6).uniform(-1.0, 1.0, (count, len(at)))
    return fp.ActuatorMotion(
        time=time, position=drawn["joint_position"][:, at], velocity=drawn["joint_velocity"][:, at], acceleration=acceleration
    )


def _held(robot: fp.Robot, motion: fp.Motion) -> fp.Motion:
    """The samples at which a platform has a static deflection: near singular poses random accelerations buckle it."""
    good = fp.inverse_dynamics(robot, motion, on_error="mask").valid.values
    assert good.mean() >= HELD
    return fp.Motion(time=motion.time[good], **{name: getattr(motion, name)[good] for name in PARTS})


def undeformed(robot: fp.Robot) -> dict[str, str]:
    """Legs that deform start straight: with their actuators held some robots have no equilibrium."""
    return {"elastic": "zero"} if robot.elastic_indices else {}


def answer(verb: str, robot: fp.Robot, *given: Any, **options: Any) -> Any:
    """The result, or None where the table of abilities refuses the request for this robot."""
    try:
        return getattr(fp, verb)(robot, *given, **options)
    except fp.InputError:
        return None


def assert_same(robot: fp.Robot, found: Any, expected: Any, bound: float, what: Any) -> None:
    for name in (n for n in ("force", "reaction_force", "reaction_moment") if n in expected and n in found):
        ours, theirs = found[name].values, expected[name].values
        known = ~(np.isnan(ours) | np.isnan(theirs))
        assert np.array_equal(np.isnan(ours), np.isnan(theirs)), (what, name)
        error = np.abs(ours - theirs)[known].max(initial=0.0)
        size = np.abs(theirs[known]).max(initial=0.0)
        if name == "reaction_moment":  # zero in many joints: of the forces at the robot's size, and of the drives
            around = np.nanmax(np.abs(expected["reaction_force"]), initial=0.0) * robot.characteristic_length
            size = max(size, around, np.abs(expected["force"]).max())
        assert error <= bound * max(size, 1e-6), (what, name, error)


@pytest.mark.parametrize(("name", "count"), CASES)
def test_every_derivation_gives_the_same_forces(name: str, count: int) -> None:
    robot = fp.load(name)
    motion = motion_of(robot, count)
    for options in ({"friction": False}, {"friction": True}, {"friction": False, "reactions": True}):
        expected = answer("inverse_dynamics", robot, motion, **options, **undeformed(robot))
        if expected is None:
            continue
        bound = ITERATED if options["friction"] else AGREES
        compared = []
        for formulation in FORMULATIONS:
            found = answer("inverse_dynamics", robot, motion, formulation=formulation, **options, **undeformed(robot))
            if found is not None:
                compared.append(formulation)
                assert_same(robot, found, expected, bound, (formulation, options))
        assert "general" in compared


@pytest.mark.parametrize(("name", "count"), CASES)
def test_forward_after_inverse_returns(name: str, count: int) -> None:
    """Under the forces of a motion its accelerations come back, by every derivation."""
    robot = fp.load(name)
    motion = motion_of(robot, count)
    for friction in (False, True):
        drive = answer("inverse_dynamics", robot, motion, friction=friction, **undeformed(robot))
        if drive is None:
            continue
        state, wanted = state_of(robot, motion, drive)
        for formulation in ("auto", *FORMULATIONS):
            found = answer("forward_dynamics", robot, state, drive.force.values, formulation=formulation, friction=friction)
            for key, values in wanted.items() if found is not None else ():
                error = np.abs(found[key].values - values).max()
                assert error <= BACK * max(np.abs(values).max(), 1.0), (formulation, friction, key, error)


def state_of(robot: fp.Robot, motion: Any, drive: Any) -> tuple[fp.State, dict[str, np.ndarray]]:
    """The states of a motion with the deflections of its forces, and the accelerations that belong to them."""
    elastic = {k: drive[k].values for k in ("elastic", "elastic_velocity") if robot.elastic_names}
    if isinstance(motion, fp.ActuatorMotion):
        state = fp.State.from_actuators(robot, motion.position, motion.velocity, **elastic)
        return state, {"actuator_acceleration": motion.acceleration}
    parts = {name: getattr(motion, name) for name in PARTS}
    state = fp.State(**{k: v for k, v in parts.items() if "acceleration" not in k}, **elastic)
    return state, {k: v for k, v in parts.items() if "acceleration" in k}
