"""Rank of the identifiable inertial parameters from energies, in many digits: an independent derivation.

A parameter changes forces exactly if it changes the total energy H(q, qd) by more than a constant (Gautier, Khalil, Direct
calculation of
minimum set of inertial parameters of serial robots, 1990). H is linear in (m, m c, I) of every body and in rotor inertias; only
poses and twists of bodies enter. All loops are closed together by Newton in mpmath, from the double-precision solution.
"""

from __future__ import annotations

import mpmath as mp
import numpy as np

import flexapod as fp
from flexapod.analysis.verbs.sampling import random_states
from flexapod.robot.leg_positions import ROWS


def cross(a, b):
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def dot(a, b):
    return sum(x * y for x, y in zip(a, b, strict=True))


def apply(R, v):
    return [dot(row, v) for row in R]


def product(A, B):
    return [[sum(A[i][k] * B[k][j] for k in range(3)) for j in range(3)] for i in range(3)]


def column(R, j):
    return [R[i][j] for i in range(3)]


def exact(matrix):
    """A rotation of doubles made orthonormal to all digits (Newton on R^T R = 1)."""
    R = [[mp.mpf(float(x)) for x in row] for row in matrix]
    for _ in range(8):
        G = [[sum(R[k][i] * R[k][j] for k in range(3)) for j in range(3)] for i in range(3)]
        C = [[(3 * (i == j) - G[i][j]) / 2 for j in range(3)] for i in range(3)]
        R = product(R, C)
    return R


class Chain:
    """A leg at coordinates q: poses of its links and closing rows with their derivatives by the coordinates and the platform."""

    def __init__(self, leg) -> None:
        self.leg = leg
        self.places = [([mp.mpf(float(x)) for x in k.placement.position], exact(k.placement.rotation)) for k in leg.links]
        self.halves = [
            ([mp.mpf(float(x)) for x in h.position], exact(h.rotation)) for h in (leg.closing.on_link, leg.closing.on_platform)
        ]

    def links(self, q):
        eye, none = [[mp.mpf(i == j) for j in range(3)] for i in range(3)], [mp.mpf(0)] * 3
        result, values = [], iter(q)
        for link, (p0, R0) in zip(self.leg.links, self.places, strict=True):
            R, p = (eye, none) if link.parent < 0 else result[link.parent]
            p = [a + b for a, b in zip(p, apply(R, p0), strict=True)]
            R = product(R, R0)
            if link.kind == "R":
                angle = next(values) + mp.mpf(float(link.zero))
                c, s = mp.cos(angle), mp.sin(angle)
                R = product(R, [[c, -s, 0], [s, c, 0], [0, 0, 1]])
            elif link.kind == "P":
                shift = next(values) + mp.mpf(float(link.zero))
                p = [a + shift * b for a, b in zip(p, column(R, 2), strict=True)]
            result.append((R, p))
        return result

    def columns(self, frames):
        """Per moving link the twist (linear at a point x as a function, angular) of everything beyond it."""
        return [(i, self.leg.links[i].kind, column(frames[i][0], 2), frames[i][1]) for i in self.leg.moving]

    def above(self, i):
        chain = []
        while i >= 0:
            chain.append(i)
            i = self.leg.links[i].parent
        return set(chain)

    def twist(self, frames, qd, link, point):
        v, w = [mp.mpf(0)] * 3, [mp.mpf(0)] * 3
        own = self.above(link)
        for (i, kind, axis, origin), rate in zip(self.columns(frames), qd, strict=True):
            if i not in own:
                continue
            if kind == "P":
                v = [a + rate * b for a, b in zip(v, axis, strict=True)]
            else:
                arm = [a - b for a, b in zip(point, origin, strict=True)]
                v = [a + rate * b for a, b in zip(v, cross(axis, arm), strict=True)]
                w = [a + rate * b for a, b in zip(w, axis, strict=True)]
        return v, w

    def residual(self, frames, R, p):
        """Closing rows, and (linear, angular) of each on the relative velocity of the link half."""
        (pl, Rl), (pp, Rp) = self.halves
        RL, pL = (
            frames[self.leg.closing.link]
            if self.leg.closing.link >= 0
            else ([[mp.mpf(i == j) for j in range(3)] for i in range(3)], [mp.mpf(0)] * 3)
        )
        xl = [a + b for a, b in zip(pL, apply(RL, pl), strict=True)]
        xp = [a + b for a, b in zip(p, apply(R, pp), strict=True)]
        HL, HP = product(RL, Rl), product(R, Rp)
        gap = [a - b for a, b in zip(xl, xp, strict=True)]
        rows = []
        for kind, i, *rest in ROWS[self.leg.closing.type]:
            if kind == "axes":
                a, c = column(HP, int(i)), column(HL, int(rest[0]))
                rows.append((dot(a, c), [mp.mpf(0)] * 3, cross(c, a)))
            else:
                a = [mp.mpf(j == int(i)) for j in range(3)] if kind == "point" else column(HP, int(i))
                rows.append((dot(a, gap), a, [mp.mpf(0)] * 3))
        return rows, xl, xp

    def rows(self, frames, R, p):
        """Residuals, their derivatives by the coordinates (rows, n) and by the platform's twist (rows, 6)."""
        found, xl, xp = self.residual(frames, R, p)
        n, link = len(self.leg.moving), self.leg.closing.link
        units = [[mp.mpf(j == m) for m in range(n)] for j in range(n)]
        twists = [self.twist(frames, unit, link, xl) if link >= 0 else (NONE, NONE) for unit in units]
        arm = [a - b for a, b in zip(xp, p, strict=True)]
        by_joints = [[dot(linear, v) + dot(angular, w) for v, w in twists] for _, linear, angular in found]
        by_platform = [
            [-a for a in linear] + [-(a + b) for a, b in zip(cross(arm, linear), angular, strict=True)]
            for _, linear, angular in found
        ]
        return [r for r, _, _ in found], by_joints, by_platform


NONE = [mp.mpf(0)] * 3
SOFT = mp.mpf(10) ** -30
"""Regularisation of the solves: rows of over-constrained robots depend on each other. What it spoils, Newton repairs."""


def system(chains, q, R, p):
    """Residuals and Jacobian of all loops by (joints of all legs, platform twist), and the frames of every leg."""
    n = sum(len(c.leg.moving) for c in chains)
    residuals, J, frames, at = [], [], [], 0
    for chain in chains:
        k = len(chain.leg.moving)
        own = chain.links(q[at : at + k])
        r, by_joints, by_platform = chain.rows(own, R, p)
        for value, row, last in zip(r, by_joints, by_platform, strict=True):
            residuals.append(value)
            J.append([mp.mpf(0)] * at + row + [mp.mpf(0)] * (n - at - k) + last)
        frames.append(own)
        at += k
    return residuals, J, frames


def correction(J, r):
    """The smallest change x with J x = r."""
    m = len(J)
    G = mp.matrix(m, m)
    for i in range(m):
        for j in range(i, m):
            G[i, j] = G[j, i] = dot(J[i], J[j])
        G[i, i] += SOFT
    y = mp.lu_solve(G, mp.matrix(r))
    return [sum(J[i][k] * y[i] for i in range(m)) for k in range(len(J[0]))]


def rotated(R, w):
    """exp(w) R."""
    angle = mp.sqrt(dot(w, w))
    if angle == 0:
        return R
    a = [x / angle for x in w]
    c, s = mp.cos(angle), mp.sin(angle)
    K = [[mp.mpf(0), -a[2], a[1]], [a[2], mp.mpf(0), -a[0]], [-a[1], a[0], mp.mpf(0)]]
    K2 = product(K, K)
    E = [[mp.mpf(i == j) + s * K[i][j] + (1 - c) * K2[i][j] for j in range(3)] for i in range(3)]
    return product(E, R)


def features(m_twist, R, p, g):
    """Kinetic plus potential energy per unit of (m, mc, I) in body axes: v, w in body axes, tensor entries with their
    symmetry."""
    v, w = m_twist
    vb, wb = [dot(column(R, j), v) for j in range(3)], [dot(column(R, j), w) for j in range(3)]
    mc = cross(vb, wb)  # T = m v.v/2 + mc.(v x w) + w.I w/2
    gb = [dot(column(R, j), g) for j in range(3)]
    row = [dot(v, v) / 2 - dot(g, p)]
    row += [a - b for a, b in zip(mc, gb, strict=True)]
    row += [wb[0] ** 2 / 2, wb[1] ** 2 / 2, wb[2] ** 2 / 2, wb[0] * wb[1], wb[0] * wb[2], wb[1] * wb[2]]
    return row


def energy_row(robot: fp.Robot, chains, state, joints, rates):
    R, p = exact(state["rotation"]), [mp.mpf(float(x)) for x in state["position"]]
    q = [mp.mpf(float(x)) for x in joints]
    for _ in range(5):
        r, J, _ = system(chains, q, R, p)
        x = correction(J, [-value for value in r])
        q = [a + b for a, b in zip(q, x, strict=False)]
        p = [a + b for a, b in zip(p, x[len(q) : len(q) + 3], strict=True)]
        R = rotated(R, x[len(q) + 3 :])
    r, J, frames = system(chains, q, R, p)
    assert max(map(abs, r)) < mp.mpf(10) ** -40, "loops are closed to 40 digits"
    u = [mp.mpf(float(x)) for x in (*rates, *state["velocity"], *state["angular_velocity"])]
    for _ in range(3):
        u = [a - b for a, b in zip(u, correction(J, [dot(row, u) for row in J]), strict=True)]
    V, g = u[len(q) :], [mp.mpf(float(x)) for x in robot.gravity]
    row = [] if robot.description.file.platform.body is not None else features((V[:3], V[3:]), R, p, g)
    at = 0
    for chain, own in zip(chains, frames, strict=True):
        qd = u[at : at + len(chain.leg.moving)]
        at += len(chain.leg.moving)
        for i, link in enumerate(chain.leg.links):
            if link.body is not None:
                row += features(chain.twist(own, qd, i, own[i][1]), *own[i], g)
        row += [qd[k] ** 2 / 2 for k, i in enumerate(chain.leg.moving) if chain.leg.links[i].actuated]
    return row


def energy_rank(robot: fp.Robot) -> tuple[int, float]:
    """Rank, and the smallest kept over the largest dropped pivot of Gaussian elimination with full pivoting by columns."""
    chains = [Chain(leg) for leg in robot.legs]
    width = (0 if robot.description.file.platform.body is not None else 10) + sum(
        10 * sum(k.body is not None for k in leg.links) + sum(k.actuated for k in leg.links) for leg in robot.legs
    )
    count = RANKS_AT_MOST.get(robot.name, width) + 12
    states = random_states(robot, count, seed=11)
    motion = fp.Motion(time=np.arange(float(count)), **states)
    found = fp.inverse_kinematics(robot, motion)
    joints, rates = found.joint_position.values, found.joint_velocity.values
    rows = [energy_row(robot, chains, {k: v[i] for k, v in states.items()}, joints[i], rates[i]) for i in range(count)]
    rows = [[a - b for a, b in zip(row, rows[0], strict=True)] for row in rows[1:]]
    return eliminate(rows)


RANKS_AT_MOST = {"five-bar": 30, "planar-4-prr": 40, "tripteron": 40, "delta": 60}
"""Enough states for robots of low mobility; the others take as many as they have parameters."""


def eliminate(rows):
    scale = [max(abs(row[j]) for row in rows) for j in range(len(rows[0]))]
    live = [j for j in range(len(scale)) if scale[j] > mp.mpf(10) ** -40]
    A = [[row[j] / scale[j] for j in live] for row in rows]
    rank, smallest = 0, mp.mpf(1)
    while rank < min(len(A), len(live)):
        best = max(((abs(A[i][j]), i, j) for i in range(rank, len(A)) for j in range(rank, len(live))), key=lambda t: t[0])
        if best[0] < DROPPED:
            return rank, float(smallest / max(best[0], mp.mpf(10) ** -60))
        smallest = min(smallest, best[0])
        A[rank], A[best[1]] = A[best[1]], A[rank]
        for row in A:
            row[rank], row[best[2]] = row[best[2]], row[rank]
        top = A[rank]
        for i in range(rank + 1, len(A)):
            factor = A[i][rank] / top[rank]
            if factor:
                A[i][rank:] = [a - factor * b for a, b in zip(A[i][rank:], top[rank:], strict=True)]
        rank += 1
    return rank, float(smallest / mp.mpf(10) ** -60)


DROPPED = mp.mpf(10) ** -25
"""Scaled pivots below are dependent: loops are closed to 40 digits, independent ones are above 1e-12."""
