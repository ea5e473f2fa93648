"""Robots with flexible platforms for tests: the catalogue's, and `gough-stewart` with the modal files of the reference values."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import numpy as np

import flexapod as fp
from flexapod.robot.robot import Robot

DATA = Path(__file__).parent.parent / "data"
REFERENCE: dict[str, Any] = json.loads((DATA / "reference" / "gough-stewart-flexible.json").read_text(encoding="utf-8"))


@cache
def rigid() -> Robot:
    """`gough-stewart`: the same legs, the platform rigid."""
    return fp.load("gough-stewart")


@cache
def plate_robot() -> Robot:
    """`gough-stewart-flexible` of the catalogue."""
    return fp.load("gough-stewart-flexible")


@cache
def curving_robot(modes: tuple[int, ...] | None = (0, 2, 4)) -> Robot:
    """The catalogue's robot with `stiffening: true`, of some of its modes so as to compile quickly."""
    text = (Path(fp.__file__).parent / "robots" / "gough-stewart-flexible.yaml").read_text(encoding="utf-8")
    path = Path(mkdtemp()) / "gough-stewart-stiffened.yaml"
    path.write_text(text.replace("    damping: 0.4\n", "    damping: 0.4\n    stiffening: true\n"), encoding="utf-8")
    robot = fp.load(path)
    body = robot.flexible_platform
    assert body is not None
    return robot if modes is None else robot.with_flexible_body("platform", body.truncated(modes))


@cache
def reference_robot(kind: str) -> Robot:
    """`gough-stewart` with the platform of a modal file, its joints where the file attaches them."""
    path = DATA / "flexible" / f"gough-stewart-modes-{kind}.npz"
    with np.load(path) as modes:
        at = modes["attach_r"]
    legs = rigid().with_parameters({f"legs.{i + 1}.ball.on": at[i].tolist() for i in range(6)})
    return legs.with_flexible_body("platform", fp.flexible.from_modes(path))


def stiffened(robot: Robot, factor: float) -> Robot:
    """The robot with all elastic stiffness times a factor."""
    body = robot.flexible_platform
    assert body is not None
    return robot.with_flexible_body("platform", replace(body, K_ee=body.K_ee * factor))


def reference_states(kind: str) -> list[tuple[str, dict[str, Any], dict[str, Any]]]:
    """Name, inputs in world axes and the whole entry of each reference state."""
    result = []
    for entry in REFERENCE[f"states_{kind}"]:
        given = entry["input"]
        R = np.array(given["R"])
        inputs = {
            "position": np.array(given["p"]),
            "rotation": R,
            "velocity": np.array(given["v_world"]),
            "angular_velocity": R @ given["omega_platform"],
            "acceleration": np.array(given["acc_p_world"]),
            "angular_acceleration": R @ given["omega_dot_platform"],
            "elastic": np.array(given["qe"]),
            "elastic_velocity": np.array(given["qe_dot"]),
        }
        result.append((entry["name"], inputs, entry))
    return result


def random_flexible(robot: Robot, count: int, seed: int, size: float = 0.01) -> dict[str, np.ndarray]:
    """Random states of the sampling box with elastic coordinates, loads and forces."""
    from flexapod.analysis.verbs.sampling import random_states

    random, N = np.random.default_rng(seed), len(robot.elastic_names)
    return {
        **random_states(rigid(), count, seed),
        "elastic": random.normal(size=(count, N)) * size,
        "elastic_velocity": random.normal(size=(count, N)) * 50.0 * size,
        "wrench": random.normal(size=(count, 6)) * 100.0,
        "elastic_load": random.normal(size=(count, N)) * 10.0,
        "force": random.normal(size=(count, 6)) * 1000.0,
        "guess": np.tile(np.concatenate([leg.home for leg in robot.legs]), (count, 1)),
    }


def at_home(robot: Robot, **changes: Any) -> fp.State:
    """The robot at its home pose."""
    return fp.State(position=robot.home.position, rotation=robot.home.rotation, **changes)


def run(robot: Robot, quantity: str, inputs: dict[str, np.ndarray], **options: Any) -> dict[str, np.ndarray]:
    """Outputs of a kernel; every sample must be valid."""
    bound = fp.kernel(robot, quantity, **options)
    return outputs_of(bound, inputs)


def run_by_energy(robot: Robot, quantity: str, inputs: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Outputs as `run` of ``flexible_<quantity>`` has them, by the second derivation of `platform_by_energy`."""
    from flexapod.analysis.model.kernels import RobotKernel
    from support import platform_by_energy
    from support.plain import plain_kernel

    program = getattr(platform_by_energy, f"general_{quantity}")(robot)
    return outputs_of(RobotKernel(robot, plain_kernel(program)), inputs)


def outputs_of(bound: Any, inputs: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Outputs of a bound kernel; every sample must be valid."""
    batch = bound.batch({i.name: np.ascontiguousarray(inputs[i.name]) for i in bound.signature.inputs})
    assert not np.any(batch.status), "no sample fails"
    return batch.outputs


def off(found: Any, expected: Any) -> float:
    """Largest difference, of the largest entry of the expected quantity."""
    expected = np.asarray(expected)
    return float(np.abs(np.asarray(found) - expected).max() / np.abs(expected).max())
