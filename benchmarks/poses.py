"""All poses of a platform: one at a time, in batches, certified.

    python benchmarks/poses.py [--quick]
"""

from __future__ import annotations

import os
import time

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from reporting import Effort, joined, print_section, shown, table

import flexapod as fp
from flexapod.analysis.poses.platform_poses import real_poses, solve_platforms
from flexapod.analysis.poses.pose_certificate import certify_quadrics, leg_quadrics, study_quadric
from flexapod.analysis.poses.pose_certificate import joined as joined_quadrics
from flexapod.analysis.poses.quaternion_algebra import matrix, random_unit


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


def each(family, pairs, count):
    """CPU seconds (count,) of single platforms."""
    a, b, s = platforms(count + 5, 1, pairs)
    found = []
    for i in range(count + 5):
        start = time.process_time()
        solved(a[i : i + 1], b[i : i + 1], s[i : i + 1], family, i)
        found.append(time.process_time() - start)
    return np.array(found[5:])


def batch(family, pairs, count):
    """CPU seconds per platform in a batch, and platforms without all solutions."""
    a, b, s = platforms(count, 2, pairs)
    solved(a[:4], b[:4], s[:4], family)
    start = time.process_time()
    found, _ = solved(a, b, s, family)
    return (time.process_time() - start) / count, int((found.found.sum(axis=1) < found.x.shape[1]).sum())


def certification(count):
    """CPU seconds of the certification of all 40 solutions, and platforms where all were proven."""
    a, b, s = platforms(count, 3)
    found, real = solved(a, b, s, "six_legs")
    flags = np.zeros((count, 40), dtype=bool)
    flags[real.platform, real.index] = True
    start, proven = time.process_time(), 0
    for i in range(count):
        Q = joined_quadrics(leg_quadrics(a[i], b[i], s[i]), study_quadric())
        proof = certify_quadrics(Q, found.x[i], flags[i], quaternion=4)
        proven += bool((proof.real | proof.complex).all() and proof.distinct)
    return (time.process_time() - start) / count, proven


def verb(certify, effort):
    """CPU seconds of the whole call of `assembly_modes` on gough-stewart, mean of some seeds."""
    robot, count = fp.load("gough-stewart"), effort.size(20, 1)
    q = np.concatenate([leg.home for leg in robot.legs])[list(robot.driven)]
    return effort.best(lambda: [fp.assembly_modes(robot, q, certify=certify, seed=k) for k in range(count)], 0.5, 2) / count


def section(effort: Effort) -> str:
    """Table of single platforms, batches, certification and the verb."""
    single, many, few = effort.size(300, 2), effort.size(1000, 4), effort.size(50, 2)
    rows, lacking = [], 0
    for label, family, pairs in (("6-6", "six_legs", False), ("6-3 (16 poses)", "six_three", True)):
        seconds = each(family, pairs, single)
        mean, failed = batch(family, pairs, many)
        lacking += failed
        rows += [
            (f"{label}, one platform at a time", shown(seconds.mean()), shown(np.quantile(seconds, 0.99))),
            (f"{label}, each of a batch of {many}", shown(mean), None),
        ]
    proof, proven = certification(few)
    rows.append(("certification of all 40", shown(proof), None))
    for certify, label in ((True, "certified"), (False, "not certified")):
        rows.append((f"`assembly_modes` of `gough-stewart`, {label}", shown(verb(certify, effort)), None))
    said = f"{lacking} of {2 * many} platforms in batches lacked a solution; all were proven for {proven} of {few} platforms."
    return joined(HEAD, table(["", "mean", "99 of 100 below"], rows), said)


HEAD = """## All poses

All 40 complex poses of random platforms on six legs, real ones polished.
"""

if __name__ == "__main__":
    print_section(section, __doc__)
