"""Natural modes for the studio: frequencies and damping at the shown pose, and the robot displaced along a mode.

A displacement is x = (v, omega) of the platform frame in world axes and elastic coordinates; a rigid robot vibrates on springs
at its actuators.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

import flexapod as fp
from flexapod.arrays import Array
from flexapod.views.drives import chosen_drives
from flexapod.views.scene.frames import drawn_pose, platform_points
from flexapod.views.studio.moved_coordinates import PoseCoordinates, undeformed
from flexapod.views.studio.numbers import FILE, Origin

PEAK = 0.5 * np.pi
HALVES = 8
"""Times that an amplitude is halved at most until the legs reach the platform."""
TWIST = ("vx", "vy", "vz", "wx", "wy", "wz")
SHOWN = 0.07
"""Largest displacement of the animation, of the robot's characteristic length, at a factor of one."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Modes:
    """Modes at one pose.

    Args:
        frequency, damping: (m,) [Hz], fraction of critical.
        twist, push, bend: displacements of the platform (m, 6), the actuators (m, actuators), the elastic coordinates (m, N);
            on legs that bend the platform follows from the other two, and `twist` is zero.
        elastic: (N,) the static shape.
        origin: the robot, its parameters and the pose of these modes.
        held: what holds the actuators, as text; `assumed` where nobody gave their stiffness.
    """

    origin: Origin
    state: fp.State
    frequency: Array
    damping: Array
    stable: NDArray[np.bool_]
    twist: Array
    push: Array
    bend: Array
    elastic: Array
    held: str = "actuators locked"
    assumed: bool = False


def modes_of(robot: fp.Robot, state: fp.State, stiffness: Mapping[str, float] | None = None, variant: str = FILE) -> Modes:
    """Modes about the equilibrium under gravity, with locked actuators, or of a rigid robot on actuator springs.

    Args:
        stiffness: of the springs by the actuators' unit [N/m, N m/rad]; what is left out is assumed as in reports.

    Checked by: tests/studio/test_studio_model.py.
    """
    springs = None if robot.elastic_names else dict(stiffness or {})
    drives = chosen_drives(robot, springs, hint="the drawer Modes takes yours")
    found = fp.natural_frequencies(robot, undeformed(state), actuators=drives.actuators)
    names = [str(n) for n in found.coordinate.values]
    shape = found["shape"].values.T
    known = [k for k, n in enumerate(names) if n in TWIST]
    bend = np.zeros((len(shape), len(robot.elastic_names)))
    for k, name in enumerate(names):
        if name in robot.elastic_names:
            bend[:, robot.elastic_names.index(name)] = shape[:, k]
    elastic = found.elastic.values if "elastic" in found else np.zeros(bend.shape[1])
    if known:
        twist = _full_twists(robot, state, [names[k] for k in known], shape[:, known])
    else:
        twist = np.zeros((len(shape), 6)) if robot.elastic_names else shape @ _twists(robot, state, drives.actuators).T
    if set(robot.actuators) <= set(names):
        push = shape[:, [names.index(name) for name in robot.actuators]]
    else:
        push = twist @ fp.jacobian(robot, undeformed(state)).jacobian.values.T
    return Modes(
        origin=Origin.of(robot, state, variant), state=state, frequency=found.frequency.values,
        damping=found.damping.values, stable=found.stable.values.astype(bool), twist=twist, push=push, bend=bend, elastic=elastic,
        held=drives.label, assumed=drives.assumed,
    )  # fmt: skip


def _twists(robot: fp.Robot, state: fp.State, actuators: ArrayLike) -> Array:
    """Twist of the platform (6, u) per coordinate of the modes of a rigid robot that its actuators move."""
    system = fp.linearize(robot, undeformed(state), outputs=("platform",), actuators=actuators)
    return np.asarray(system.C[:, : system.C.shape[1] // 2])


def _full_twists(robot: fp.Robot, state: fp.State, names: list[str], parts: Array) -> Array:
    """Twists (m, 6) from their independent components (m, k): the others follow from the constraints."""
    picked = np.array([[1.0 if name == other else 0.0 for other in TWIST] for name in names]).reshape(-1, 6)
    if len(names) == 6:
        return np.asarray(parts @ picked)
    G = fp.jacobian(robot, undeformed(state))
    rows = np.vstack([G.constraint_jacobian.values, picked]) if "constraint_jacobian" in G else picked
    given = np.hstack([np.zeros((len(parts), len(rows) - len(names))), parts])
    return np.asarray(np.linalg.lstsq(rows, given.T, rcond=None)[0].T)


def displaced(
    robot: fp.Robot, coordinates: PoseCoordinates, modes: Modes, mode: int, phase: float, *, factor: float, deformation: float
) -> tuple[fp.State, Array]:
    """The robot at a phase [rad] of a mode: its pose, and elastic coordinates divided by the factor of the drawing.

    Args:
        mode: from 0.
        factor: on the shown displacement.
        deformation: what the drawing multiplies elastic coordinates with: the mode is drawn at its own scale.
    """
    at, x = modes.state, np.sin(phase) * factor * amplitude(robot, modes, mode)
    v, w = x * modes.twist[mode, :3], x * modes.twist[mode, 3:]
    elastic = modes.elastic + x * modes.bend[mode] / (deformation or 1.0)
    if coordinates.kind == "pose" and robot.moved_by == "platform":
        return fp.State(position=at.position + v, rotation=fp.motions.rotvec_rotation(w) @ at.rotation), elastic
    q = fp.inverse_kinematics(robot, at, joints=False).actuator_position.values + x * modes.push[mode]
    if robot.moved_by == "actuators":
        return fp.State.from_actuators(robot, q, elastic=elastic), elastic
    return fp.State.from_actuators(robot, q, guess=at), elastic


def amplitude(robot: fp.Robot, modes: Modes, mode: int) -> float:
    """Factor on a mode shape that makes the platform's largest displacement a visible share of the robot's size."""
    r0, shapes, _ = platform_points(robot)
    arms = r0 @ modes.state.rotation.T
    bent = np.zeros_like(r0)
    if shapes is not None:
        bent = np.einsum("kij,j->ki", shapes, modes.bend[mode, : shapes.shape[2]]) @ modes.state.rotation.T
    move = modes.twist[mode, :3] + np.cross(modes.twist[mode, 3:], arms) + bent
    largest = float(np.linalg.norm(move, axis=1).max())
    tips = [k for k, name in enumerate(robot.elastic_names) if name.rsplit(".", 1)[-1] in ("u", "v", "w")]
    largest = max([largest, *np.abs(modes.bend[mode, tips])])
    return SHOWN * robot.characteristic_length / largest if largest > 0 else 0.0


def room_of_mode(
    robot: fp.Robot, coordinates: PoseCoordinates, modes: Modes, mode: int, factor: float, deformation: float
) -> float:
    """The part of a factor at which the legs still reach the platform at both ends of the swing: 1, 1/2, 1/4, ..., or 0."""
    part = 1.0
    for _ in range(HALVES):
        try:
            scales = {"factor": part * factor, "deformation": deformation}
            ends = [displaced(robot, coordinates, modes, mode, phase, **scales) for phase in (PEAK, -PEAK)]
            if all(np.all(np.isfinite(drawn_pose(robot, state, deformation * elastic)[1])) for state, elastic in ends):
                return part
        except fp.FlexapodError:
            pass
        part *= 0.5
    return 0.0
