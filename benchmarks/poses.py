"""Times of all poses: one platform at a time, batches, 3-3 and 6-3, certification apart; one core.

Usage: python benchmarks/poses.py [results.json]
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

import flexapod as fp
from flexapod.analysis.poses.platform_poses import real_poses, solve_platforms
from flexapod.analysis.poses.pose_certificate import certify_quadrics, joined, leg_quadrics, study_quadric
from flexapod.analysis.poses.quaternions import matrix, random_unit

SINGLE = 300
BATCH = 1000


def platforms(count, seed, pairs=False):
    """Random platforms with the squared lengths of a random pose; platform points in pairs for 6-3."""
    random = np.random.default_rng(seed)
    a, b = random.uniform(-1, 1, (count, 6, 3)), random.uniform(-1, 1, (count, 6, 3))
    if pairs:
        b[:, 1::2] = b[:, ::2]
    R, p = matrix(random_unit(random, count)), random.uniform(-1, 1, (count, 3))
    return a, b, ((p[:, None] + b @ np.swapaxes(R, 1, 2) - a) ** 2).sum(axis=2)


def solved(a, b, s, family, seed=0):
    """Complex solutions and real poses."""
    found = solve_platforms(a, b, s, family=family, seed=seed)
    return found, real_poses(a, b, s, found)


def each(family, pairs):
    """Mean, median and 99th percentile of single platforms, wall time and time of this process [ms]."""
    a, b, s = platforms(SINGLE + 5, 1, pairs)
    wall, own = [], []
    for i in range(SINGLE + 5):
        start, cpu = time.perf_counter(), time.process_time()
        solved(a[i : i + 1], b[i : i + 1], s[i : i + 1], family, i)
        wall.append(time.perf_counter() - start)
        own.append(time.process_time() - cpu)
    return {
        name: {k: round(1e3 * float(f(np.array(times[5:]))), 3) for k, f in STATISTICS.items()}
        for name, times in (("wall", wall), ("process", own))
    }


STATISTICS = {"mean": np.mean, "median": np.median, "p99": lambda t: np.quantile(t, 0.99)}


def batch(family, pairs):
    """Time per platform in a batch, wall and process [ms], and platforms without all solutions."""
    a, b, s = platforms(BATCH, 2, pairs)
    solved(a[:4], b[:4], s[:4], family)
    start, cpu = time.perf_counter(), time.process_time()
    found, _ = solved(a, b, s, family)
    wall, own = time.perf_counter() - start, time.process_time() - cpu
    lacking = int((found.found.sum(axis=1) < found.x.shape[1]).sum())
    return {"wall": round(1e3 * wall / BATCH, 3), "process": round(1e3 * own / BATCH, 3), "lacking": lacking}


def certification():
    """Certification of all 40 solutions [ms of this process], over 50 platforms."""
    a, b, s = platforms(50, 3)
    found, real = solved(a, b, s, "six_legs")
    flags = np.zeros((50, 40), dtype=bool)
    flags[real.platform, real.index] = True
    start, proven = time.process_time(), 0
    for i in range(50):
        Q = joined(leg_quadrics(a[i], b[i], s[i]), study_quadric())
        proof = certify_quadrics(Q, found.x[i], flags[i], quaternion=4)
        proven += bool((proof.real | proof.complex).all() and proof.distinct)
    return {"process": round(1e3 * (time.process_time() - start) / 50, 3), "proven": proven}


def verb():
    """The whole call of `assembly_modes` on gough-stewart, certified and not [ms of this process]."""
    robot = fp.load("gough-stewart")
    q = np.concatenate([leg.home for leg in robot.legs])[list(robot.driven)]
    result = {}
    for certify in (True, False):
        fp.assembly_modes(robot, q, certify=certify)
        start = time.process_time()
        for seed in range(20):
            fp.assembly_modes(robot, q, certify=certify, seed=seed)
        result["certified" if certify else "not certified"] = round(1e3 * (time.process_time() - start) / 20, 3)
    return result


def main():
    result = {
        "6-6, one at a time": each("six_legs", False),
        "6-6, batch of 1000": batch("six_legs", False),
        "6-3, one at a time": each("six_three", True),
        "6-3, batch of 1000": batch("six_three", True),
        "certification of 40": certification(),
        "verb on gough-stewart": verb(),
    }
    for name, values in result.items():
        print(f"{name:24s} {values}")
    if len(sys.argv) > 1:
        Path(sys.argv[1]).write_text(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
