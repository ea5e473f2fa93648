"""Robots of the laws, and random poses and motions that they can follow, found without any kernel."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import flexapod as fp
from flexapod.analysis.model.kernels import RobotKernel
from flexapod.robot.geometry import Pose, pose, rotation_from_vector
from flexapod.robot.mobility import loop_jacobian, move
from flexapod.robot.robot import Robot
from support.jets import constant, half_on_link, link_jets, platform_jet, row_seconds

CLOSED = 1e-12
"""Gap of all loops [m, rad] where Newton's method ends."""

DATA = Path(__file__).parent.parent / "data"
OWN = {path.stem: path for path in sorted((DATA / "robots").glob("*.yaml"))}
LOOPS = ("delta-parallelograms", "h4", "hexapod-floating", "orthoglide", "par4")
"""Robots of the catalogue that only the general model supports; their laws are in tests/laws/test_loops.py."""
FILES: dict[str, Path] = {**{k: v for k, v in fp.catalogue().items() if k not in ("dualemps-8", *LOOPS)}, **OWN}
"""Every robot that the laws are checked on: the catalogue, and the files of the tests. `dualemps-8` is `dualemps` with more
elements: its 72 held coordinates would take long to compile and check nothing more."""

RIGID = sorted(
    name for name, path in fp.catalogue().items() if name not in LOOPS and "flexible:" not in path.read_text(encoding="utf-8")
)
"""Robots of the catalogue without flexible bodies, whose legs are closed one by one; known without building any."""

_loaded: dict[str, Robot] = {}


def robot_named(name: str) -> Robot:
    """A robot of the laws, read once."""
    if name not in _loaded:
        _loaded[name] = fp.load(FILES.get(name, name))
    return _loaded[name]


def home(robot: Robot) -> np.ndarray:
    """All joint coordinates at home."""
    return np.concatenate([leg.home for leg in robot.legs])


def split(robot: Robot, values: np.ndarray) -> list[np.ndarray]:
    """Columns of all joint coordinates, leg by leg."""
    return np.split(values, np.cumsum([len(leg.moving) for leg in robot.legs])[:-1], axis=-1)


def run(bound: RobotKernel, motion: dict[str, np.ndarray]) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Outputs and statuses of a kernel, general legs started from home unless the motion says otherwise."""
    known = {"guess": np.tile(home(bound.robot), (len(motion["position"]), 1)), **motion}
    batch = bound.batch({i.name: np.ascontiguousarray(known[i.name]) for i in bound.signature.inputs})
    return batch.outputs, batch.status


def drawn_motion(robot: Robot, count: int, seed: int) -> dict[str, np.ndarray]:
    """Pose, twist and acceleration from the sampling box, whether the robot can follow or not."""
    random, box = np.random.default_rng(seed), robot.sampling

    def cube(half: object) -> np.ndarray:
        return random.uniform(-1.0, 1.0, (count, 3)) * np.asarray(half)

    rotations = np.array([rotation_from_vector(v) for v in cube(box.rotation)])
    return {
        "position": robot.home.position + cube(box.position),
        "rotation": rotations @ robot.home.rotation,
        "velocity": cube(max(box.velocity, 0.1)),
        "angular_velocity": cube(max(box.angular_velocity, 0.1)),
        "acceleration": cube(max(box.acceleration, 0.1)),
        "angular_acceleration": cube(max(box.angular_acceleration, 0.1)),
    }


def possible_motion(robot: Robot, count: int, seed: int) -> dict[str, np.ndarray]:
    """Like `drawn_motion`, brought onto the robot's constraints with the loop Jacobian in numbers.

    Poses by Newton on all closing joints at once, twists by projection on its null space, accelerations likewise with the
    second derivative of the rows from jets.
    """
    drawn = drawn_motion(robot, count, seed)
    if robot.mobility.platform == 6:
        return drawn
    for k in range(count):
        q, platform = _assembled(robot, pose(drawn["position"][k], drawn["rotation"][k]))
        drawn["position"][k], drawn["rotation"][k] = platform.position, platform.rotation
        _, J = loop_jacobian(robot.legs, q, platform)
        n = J.shape[1] - 6
        wish = np.concatenate([np.zeros(n), drawn["velocity"][k], drawn["angular_velocity"][k]])
        rate = _null(J) @ wish
        drawn["velocity"][k], drawn["angular_velocity"][k] = rate[n : n + 3], rate[n + 3 :]
        bias = _bias(robot, q, rate, {name: values[k : k + 1] for name, values in drawn.items()})
        wish = np.concatenate([np.zeros(n), drawn["acceleration"][k], drawn["angular_acceleration"][k]])
        second = _null(J) @ wish - np.linalg.pinv(J, rcond=1e-9) @ bias
        drawn["acceleration"][k], drawn["angular_acceleration"][k] = second[n : n + 3], second[n + 3 :]
    return drawn


def _bias(robot: Robot, q: list[np.ndarray], rate: np.ndarray, sample: dict[str, np.ndarray]) -> np.ndarray:
    """Second derivative of all closing rows where nothing accelerates."""
    platform = platform_jet({**sample, "acceleration": np.zeros((1, 3)), "angular_acceleration": np.zeros((1, 3))})
    rows, at = [], 0
    for leg, own in zip(robot.legs, q, strict=True):
        qd = rate[at : at + len(own)][None]
        links = link_jets(leg, own[None], qd, np.zeros_like(qd))
        half = platform @ constant(leg.closing.on_platform, 1)
        rows.append(row_seconds(leg.closing, half_on_link(leg, links, 1), half)[0])
        at += len(own)
    return np.concatenate(rows)


def _null(J: np.ndarray) -> np.ndarray:
    """Projector on the null space."""
    return np.eye(J.shape[1]) - np.linalg.pinv(J, rcond=1e-9) @ J


def _assembled(robot: Robot, platform: Pose) -> tuple[list[np.ndarray], Pose]:
    """Coordinates and platform pose with closed loops: legs go to the drawn pose one by one, then all loops close together."""
    q = [leg.home.copy() for leg in robot.legs]
    for weight in (1e-3, 1.0):  # first the platform is held close to the drawn pose
        for _ in range(30):
            r, J = loop_jacobian(robot.legs, q, platform)
            if np.linalg.norm(r) < 1e-13:
                break
            scale = np.concatenate([np.ones(J.shape[1] - 6), np.full(6, weight)])
            step = -scale * (np.linalg.pinv(J * scale, rcond=1e-9) @ r)
            q, platform = move(q, platform, step * min(1.0, 0.3 / np.max(np.abs(step))))
    assert np.linalg.norm(loop_jacobian(robot.legs, q, platform)[0]) < CLOSED
    return q, platform
