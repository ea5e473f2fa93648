"""Miss rate of the guard of `forward_kinematics`: `python tools/measure_branch_guard.py [cases] [robot ...]`.

A case is a guess and the actuator coordinates of another pose, both drawn from the robot's sampling box, twice as large. The
reference moves the actuators straight in steps of at most 1/64 of the way, each of which must keep the sign of the determinant
and stay within a tenth of its first Newton step; disputed cases on six closed-form legs are settled by the certificate
(`certify_path`).
"""

from __future__ import annotations

import sys

import numpy as np

import flexapod as fp
from flexapod.analysis.poses import pose_search
from flexapod.analysis.poses.path_certificate import certify_path
from flexapod.analysis.poses.pose_guess import start_poses
from flexapod.analysis.poses.pose_projection import onto_constraints
from flexapod.analysis.poses.pose_search import Poses, PoseSearch
from flexapod.robot.geometry import rotation_from_vector

CHUNK = 2000
NEAR = 1e-6
ROBOTS = ("stewart-3-3", "gough-stewart", "hexapod", "hexaslide", "hexa", "delta", "five-bar", "tripteron", "hexaglide")


def draw(robot: fp.Robot, count: int, random: np.random.Generator) -> fp.State:
    """Poses from the sampling box, twice as large."""
    box = robot.sampling
    position = robot.home.position + 2.0 * random.uniform(-1.0, 1.0, (count, 3)) * np.asarray(box.position)
    vectors = 2.0 * random.uniform(-1.0, 1.0, (count, 3)) * np.asarray(box.rotation)
    rotation = np.array([rotation_from_vector(v) for v in vectors]) @ robot.home.rotation
    if robot.plan.constraints:  # components that the robot cannot choose follow
        position, rotation, _ = onto_constraints(robot, position, rotation, list(robot.plan.platform_dependents))
    return fp.State(position=position, rotation=rotation)


def careful(search: PoseSearch, target: np.ndarray, start: Poses, own: np.ndarray) -> tuple[Poses, np.ndarray]:
    """Poses after small steps of the actuators, and which samples arrived."""
    usual, pose_search.DEPARTURE = pose_search.DEPARTURE, 0.1
    try:
        at, way = start.copy(), search._shortest(target - own)
        done, step = np.zeros(len(target)), np.full(len(target), 1.0 / 64)
        while len(active := np.flatnonzero((done < 1.0) & (step >= 2.0**-20))):
            aim = np.minimum(1.0, done[active] + step[active])
            trial = search.newton(own[active] + aim[:, None] * way[active], at.at(active))
            good = trial.solved & trial.same
            at.put(active[good], trial.poses.at(good))
            done[active[good]] = aim[good]
            step[active] = np.where(good, np.minimum(2.0 * step[active], 1.0 / 64), 0.5 * step[active])
    finally:
        pose_search.DEPARTURE = usual
    return at, done >= 1.0


def measure(name: str, cases: int) -> str:
    """One line of figures."""
    robot, random = fp.load(name), np.random.default_rng(17)
    search = PoseSearch(robot)
    closed = len(robot.legs) == 6 and all(form is not None for form in robot.closed_forms)
    count = {"cases": 0, "found": 0, "accepted": 0, "wrong": 0, "blocked": 0, "refused": 0, "certified against": 0}
    while count["cases"] < cases:
        start, own, bad = start_poses(search, draw(robot, CHUNK, random), CHUNK)
        _, target, worse = start_poses(search, draw(robot, CHUNK, random), CHUNK)
        fine = np.flatnonzero((bad == "") & (worse == ""))[: cases - count["cases"]]
        start, own, target = start.at(fine), own[fine], target[fine]
        found = search.search(target, start, own)
        accepted = found.solved & found.same
        reference, arrived = careful(search, target, start, own)
        gap = np.abs(found.poses.position - reference.position).max(axis=1) / robot.characteristic_length
        gap = np.maximum(gap, np.abs(found.poses.rotation - reference.rotation).max(axis=(1, 2)))
        wrong, blocked = accepted & arrived & (gap > NEAR), accepted & ~arrived
        count["cases"] += len(fine)
        count["found"] += int(arrived.sum())
        count["accepted"] += int(accepted.sum())
        count["wrong"] += int(wrong.sum())
        count["blocked"] += int(blocked.sum())
        count["refused"] += int((~accepted & arrived).sum())
        for i in np.flatnonzero(wrong)[:20] if closed else ():
            end = own[i] + search._shortest(target[i] - own[i])
            proof = certify_path(robot, start.position[i], start.rotation[i], own[i], end)
            far = np.abs(proof.position - found.poses.position[i]).max() > NEAR * robot.characteristic_length
            count["certified against"] += int(not proof.reason and far)
    return f"{name}: " + ", ".join(f"{key} {value}" for key, value in count.items())


if __name__ == "__main__":
    cases = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    for robot_name in sys.argv[2:] or ROBOTS:
        print(measure(robot_name, cases), flush=True)
