r"""Elastodynamics with Lagrange multipliers, for tests: a second derivation that shares no equation with the package.

.. math:: M a + h = G^T\lambda + A^T\tau,\qquad G a + \gamma = 0,\qquad A a + \gamma_A = \ddot q_a

a are accelerations of all frames (linear in world axes, angular in body axes) and elastic coordinates. Each rigid body has
Newton's and Euler's equations about its frame origin, each flexible body the sum of m J^T (acceleration - g) over its points.
Inverse: q_a'' given, tau is one more multiplier. Direct: tau given. Rows of G that repeat others are left out.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.linalg
from maximal import Maximal, rotation

import flexapod as fp

RANK = 1e-9
"""Pivots of the constraint Jacobian below this part of the largest belong to repeated rows."""

STEPS, APPROACH, CORRECTIONS = 4, 9, 3
"""Steps from home to the wanted coordinates, Newton's iterations towards them, and those that close the loops alone."""

RELUCTANT = 1e-5
"""Weight of elastic coordinates when the last gaps are closed: 1e-16 m of a stiff beam is an acceleration of 1e-7 m/s^2."""

DRIVEN = 1e-5
"""Deviation of an actuator [m, rad] that weighs as much as the `scale` of an elastic coordinate: actuators do not give way."""


def hat(v: np.ndarray) -> np.ndarray:
    x, y, z = v
    return np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])


@dataclass(frozen=True, kw_only=True, eq=False)
class ClosedState:
    """Poses of all frames, elastic coordinates, velocities v (linear world, angular body, elastic) that keep every joint."""

    p: np.ndarray
    R: np.ndarray
    e: np.ndarray
    v: np.ndarray
    joints: dict[str, float]
    rates: dict[str, float]
    gap: float
    slip: float

    @property
    def ed(self) -> np.ndarray:
        return self.v[len(self.v) - len(self.e) :]


@dataclass(frozen=True, kw_only=True, eq=False)
class Accelerations:
    """Result of the equations: forces, accelerations of elastic coordinates, actuators, platform (world axes) and all frames."""

    force: np.ndarray
    elastic: np.ndarray
    actuators: np.ndarray
    platform: np.ndarray
    angular: np.ndarray
    all: np.ndarray
    multipliers: np.ndarray
    """Of all constraints; zero for those that repeat others."""


class Multipliers:
    """The model of one robot."""

    def __init__(self, robot: fp.Robot) -> None:
        self.robot, self.maximal = robot, Maximal(robot)
        names = self.maximal.coordinate_names
        driven = [f"{leg.name}.{k.coordinate}" for leg in robot.legs for k in leg.links if k.actuated]
        self.driven = [names.index(n) for n in driven]
        self.rotors = [
            (names.index(f"{leg.name}.{k.coordinate}"), k.inertia) for leg in robot.legs for k in leg.links if k.inertia != 0.0
        ]

        self.springs = [
            (names.index(f"{leg.name}.{k.coordinate}"), k.stiffness, k.damping, float(leg.home[leg.moving.index(i)]))
            for leg in robot.legs
            for i, k in enumerate(leg.links)
            if k.spring and not k.elastic
        ]
        self.series = [
            (self.maximal.elastic[leg.name, i], k.stiffness, k.damping)
            for leg in robot.legs
            for i, k in enumerate(leg.links)
            if k.spring and k.elastic
        ]

    def rows(self, p: np.ndarray, R: np.ndarray, e: np.ndarray, v: np.ndarray) -> list[np.ndarray]:
        """c, G, bias and the same of the joint coordinates."""
        found = self.maximal.equations(p.T, np.hstack(list(R)), e, v)
        return [np.array(m) if m.shape[1] > 1 else np.array(m)[:, 0] for m in found]

    # -- closed states ---------------------------------------------------------------------------------
    def closed_state(
        self, actuators: np.ndarray, elastic: np.ndarray, rates: np.ndarray, elastic_rates: np.ndarray, scale: np.ndarray
    ) -> ClosedState:
        """The closed state nearest to the wanted coordinates: where loops tie elastic coordinates together, these give way.

        Args:
            actuators: displacements from home. elastic: wanted elastic coordinates.
            scale: (elastic,) sizes by which deviations are weighed.
        """
        m = self.maximal
        home = dict(zip(self.robot.coordinates, np.concatenate([leg.home for leg in self.robot.legs]), strict=True))
        q, e = dict(home), np.zeros(m.count)
        p, R = m.poses(q, e)
        start = np.array([home[m.coordinate_names[k]] for k in self.driven])
        for n in range(APPROACH + CORRECTIONS):
            part = min(1.0, (n + 1) / STEPS)
            c, G, _, a, A, _ = self.rows(p, R, e, np.zeros(m.size))
            a = self._unwound(a, q)
            weight = np.ones(m.size)  # loops are closed by frames; elastic coordinates give way only where they must
            weight[6 * m.frames :] = RELUCTANT if n >= APPROACH else 1.0
            kept, Q, r, N = _independent(G * weight)
            x = -weight * (Q @ scipy.linalg.solve_triangular(r, c[kept], trans="T"))
            if n < APPROACH:
                W = np.vstack([A[self.driven] / DRIVEN, np.eye(m.size)[6 * m.frames :] / scale[:, None]])
                wanted = np.concatenate([(start + part * actuators - a[self.driven]) / DRIVEN, (part * elastic - e) / scale])
                x = x + N @ np.linalg.lstsq(W @ N, wanted - W @ x, rcond=None)[0]
            p, e = p + x[: 6 * m.frames].reshape(-1, 6)[:, :3], e + x[6 * m.frames :]
            R = np.array([R[k] @ rotation(x[6 * k + 3 : 6 * k + 6]) for k in range(m.frames)])
            q = dict(zip(m.coordinate_names, self._unwound(a + A @ x, q), strict=True))
        c, G, _, a, A, _ = self.rows(p, R, e, np.zeros(m.size))
        a = self._unwound(a, q)
        N = _independent(G)[3]
        W = np.vstack([A[self.driven] / DRIVEN, np.eye(m.size)[6 * m.frames :] / scale[:, None]])
        v = N @ np.linalg.lstsq(W @ N, np.concatenate([rates / DRIVEN, elastic_rates / scale]), rcond=None)[0]
        return ClosedState(
            p=p, R=R, e=e, v=v, joints=dict(zip(m.coordinate_names, a, strict=True)),
            rates=dict(zip(m.coordinate_names, A @ v, strict=True)), gap=float(np.abs(c).max()), slip=float(np.abs(G @ v).max()),
        )  # fmt: skip

    def actuator_steps(self, twist: np.ndarray) -> np.ndarray:
        """Actuator displacements that move the platform by a small twist (linear world, angular platform axes) from home."""
        m = self.maximal
        q = dict(zip(self.robot.coordinates, np.concatenate([leg.home for leg in self.robot.legs]), strict=True))
        _, G, _, _, A, _ = self.rows(*m.poses(q, np.zeros(m.count)), np.zeros(m.count), np.zeros(m.size))
        rigid = np.vstack([G, np.eye(m.size)[6 * m.frames :]])
        N = _independent(rigid)[3]
        return A[self.driven] @ N @ np.linalg.lstsq(N[:6], twist, rcond=RANK)[0]

    def _unwound(self, a: np.ndarray, near: dict[str, float]) -> np.ndarray:
        """Angles within half a revolution of known ones; displacements as they are."""
        kinds = {f"{leg.name}.{k.coordinate}": k.kind for leg in self.robot.legs for k in leg.links}
        result = np.array(a)
        for i, name in enumerate(self.maximal.coordinate_names):
            if kinds[name] == "R":
                result[i] += 2 * np.pi * np.round((near[name] - a[i]) / (2 * np.pi))
        return result

    def actuator_rates(self, s: ClosedState) -> np.ndarray:
        return np.array([s.rates[self.maximal.coordinate_names[k]] for k in self.driven])

    # -- equations of motion ---------------------------------------------------------------------------
    def motion(self, s: ClosedState) -> tuple[np.ndarray, np.ndarray]:
        """M and h: inertia, weight and elastic forces of all bodies, unconnected."""
        m, g = self.maximal, self.robot.gravity
        M, h = np.zeros((m.size, m.size)), np.zeros(m.size)
        if self.robot.flexible_platform is None:
            self._rigid(s, 0, self.robot.platform, g, M, h)
        for leg in self.robot.legs:
            for i, link in enumerate(leg.links):
                if link.body is not None and link.body.flexible is None:
                    self._rigid(s, m.where[leg.name, i], link.body, g, M, h)
        for body in m.flexed:
            R, w = s.R[body.frame], s.v[6 * body.frame + 3 : 6 * body.frame + 6]
            e, ed, points = s.e[body.where], s.ed[body.where], body.points
            Phi = np.einsum("xy,pyk->pxk", body.axes, points.Phi)
            r, u = points.r0 @ body.axes.T + Phi @ e, Phi @ ed
            J = np.concatenate([np.tile(R.T, (len(r), 1, 1)), -np.array([hat(x) for x in r]), Phi], axis=2)
            bias = np.cross(w, np.cross(w, r)) + 2 * np.cross(w, u) - R.T @ g
            at = [*range(6 * body.frame, 6 * body.frame + 6), *(6 * m.frames + k for k in body.where)]
            M[np.ix_(at, at)] += np.einsum("p,pxi,pxj->ij", points.mass, J, J)
            h[at] += np.einsum("p,pxi,px->i", points.mass, J, bias)
            h[at[6:]] += points.K @ e + points.D @ ed
        for k, stiffness, damping in self.series:
            h[6 * m.frames + k] += stiffness * s.e[k] + damping * s.ed[k]
        return M, h

    @staticmethod
    def _rigid(s: ClosedState, k: int, body: object, g: np.ndarray, M: np.ndarray, h: np.ndarray) -> None:
        mass, c, inertia = body.mass, np.asarray(body.first_moment), np.asarray(body.inertia)  # type: ignore[attr-defined]
        R, w, at = s.R[k], s.v[6 * k + 3 : 6 * k + 6], slice(6 * k, 6 * k + 6)
        M[at, at] += np.block([[mass * np.eye(3), -R @ hat(c)], [hat(c) @ R.T, inertia]])
        h[at] += np.concatenate([R @ np.cross(w, np.cross(w, c)) - mass * g, np.cross(w, inertia @ w) - np.cross(c, R.T @ g)])

    def _terms(self, s: ClosedState) -> tuple[np.ndarray, ...]:
        M, h = self.motion(s)
        _, G, bias, _, A, bias_A = self.rows(s.p, s.R, s.e, s.v)
        for k, inertia in self.rotors:
            M += inertia * np.outer(A[k], A[k])
            h += inertia * A[k] * bias_A[k]
        for k, stiffness, damping, rest in self.springs:
            h += A[k] * (stiffness * (s.joints[self.maximal.coordinate_names[k]] - rest) + damping * (A[k] @ s.v))
        self.kept = _independent(G)[0]
        self.constraints = G
        return M, h, G[self.kept], bias[self.kept], A[self.driven], bias_A[self.driven]

    def inverse(self, s: ClosedState, wanted: np.ndarray) -> Accelerations:
        """Forces and accelerations at given actuator accelerations."""
        M, h, G, bias, A, bias_A = self._terms(s)
        a, multipliers = _saddle(M, np.vstack([G, A]), -h, np.concatenate([-bias, wanted - bias_A]))
        return self._result(s, a, multipliers[len(G) :], A @ a + bias_A, multipliers[: len(G)])

    def direct(self, s: ClosedState, force: np.ndarray) -> Accelerations:
        """All accelerations under given actuator forces."""
        M, h, G, bias, A, bias_A = self._terms(s)
        a, multipliers = _saddle(M, G, A.T @ force - h, -bias)
        return self._result(s, a, force, A @ a + bias_A, multipliers)

    def _result(
        self, s: ClosedState, a: np.ndarray, force: np.ndarray, actuators: np.ndarray, multipliers: np.ndarray
    ) -> Accelerations:
        n, every = 6 * self.maximal.frames, np.zeros(len(self.constraints))
        every[self.kept] = multipliers
        return Accelerations(
            force=force, elastic=a[n:], actuators=actuators, platform=a[:3], angular=s.R[0] @ a[3:6], all=a, multipliers=every
        )

    def reactions(self, s: ClosedState, found: Accelerations) -> np.ndarray:
        """Force and moment (joints, 6) of every joint on its outer body, about the joint's place there, world axes; the joints
        of each leg, then the one to the platform."""
        m, result = self.maximal, []
        for rows, frame, place in m.joints(s.p, s.R, s.e):
            wrench = self.constraints[rows, 6 * frame : 6 * frame + 6].T @ found.multipliers[rows]
            force, moment = wrench[:3], s.R[frame] @ wrench[3:]
            result.append(np.concatenate([force, moment - np.cross(place - s.p[frame], force)]))
        return np.array(result)

    def static_elastic(self, s: ClosedState, wanted: np.ndarray) -> np.ndarray:
        """Elastic coordinates that carry the motion with wanted actuator accelerations and no elastic ones, to first order."""
        M, _, G, bias, A, bias_A = self._terms(s)
        rows, right = np.vstack([G, A]), np.concatenate([-bias, wanted - bias_A])
        n = 6 * self.maximal.frames
        rigid = np.vstack([rows, np.eye(len(M))[n:]])
        a = np.linalg.lstsq(rigid, np.append(right, np.zeros(len(M) - n)), rcond=RANK)[0]
        N, e = _independent(rows)[3], np.zeros(self.maximal.count)
        compliance = np.linalg.inv(N.T @ self.stiffness() @ N)
        for _ in range(4):  # refinement: axial and bending stiffness are far apart
            h = self._terms(replace(s, e=e))[1]
            e = e - (N @ compliance @ N.T @ (M @ a + h))[n:]
        return e

    def stiffness(self) -> np.ndarray:
        """Stiffness of all beams, modes and series springs at all coordinates."""
        K, n = np.zeros((self.maximal.size, self.maximal.size)), 6 * self.maximal.frames
        for body in self.maximal.flexed:
            at = [n + k for k in body.where]
            K[np.ix_(at, at)] += body.points.K
        for k, stiffness, _ in self.series:
            K[n + k, n + k] += stiffness
        return K

    def energies(self, s: ClosedState) -> np.ndarray:
        """Kinetic energy, elastic energy, energy of weight [J]."""
        M, _ = self.motion(s)
        *_, a, A, _ = self.rows(s.p, s.R, s.e, s.v)
        a = self._unwound(a, s.joints)
        kinetic = s.v @ M @ s.v + sum(inertia * (A[k] @ s.v) ** 2 for k, inertia in self.rotors)
        elastic = sum(s.e[b.where] @ b.points.K @ s.e[b.where] for b in self.maximal.flexed)
        elastic += sum(stiffness * s.e[k] ** 2 for k, stiffness, _ in self.series)
        elastic += sum(stiffness * (a[k] - rest) ** 2 for k, stiffness, _, rest in self.springs)
        heavy = np.zeros(3)
        bodies = [(0, self.robot.platform)] if self.robot.flexible_platform is None else []
        bodies += [
            (self.maximal.where[leg.name, i], link.body)
            for leg in self.robot.legs
            for i, link in enumerate(leg.links)
            if link.body is not None and link.body.flexible is None
        ]
        for k, body in bodies:
            heavy += body.mass * s.p[k] + s.R[k] @ body.first_moment
        for b in self.maximal.flexed:
            r = (b.points.r0 + b.points.Phi @ s.e[b.where]) @ b.axes.T
            heavy += b.points.mass @ (s.p[b.frame] + r @ s.R[b.frame].T)
        return np.array([kinetic / 2, elastic / 2, -heavy @ self.robot.gravity])

    def energy_rates(self, s: ClosedState, a: np.ndarray, step: float = 2e-4) -> np.ndarray:
        """Rates of kinetic, elastic and weight energy, and what damping takes [W].

        v^T M a, and what changes with the poses at constant v by differences of fourth order.
        """
        n, size = 6 * self.maximal.frames, self.maximal.frames
        found = {}
        for k in (-2, -1, 1, 2):
            x = s.v * k * step
            R = np.array([s.R[i] @ rotation(x[6 * i + 3 : 6 * i + 6]) for i in range(size)])
            found[k] = self.energies(replace(s, p=s.p + x[:n].reshape(-1, 6)[:, :3], R=R, e=s.e + x[n:]))
        rates = (8 * (found[1] - found[-1]) - (found[2] - found[-2])) / (12 * step)
        rates[0] += s.v @ self._terms(s)[0] @ a
        lost = sum(s.ed[b.where] @ b.points.D @ s.ed[b.where] for b in self.maximal.flexed)
        lost += sum(damping * s.ed[k] ** 2 for k, _, damping in self.series)
        lost += sum(damping * s.rates[self.maximal.coordinate_names[k]] ** 2 for k, _, damping, _ in self.springs)
        return np.append(rates, lost)

    def frequencies(self, s: ClosedState, count: int) -> np.ndarray:
        """Lowest natural frequencies [Hz] with locked actuators, about an undeformed state without loads."""
        M, _, G, _, A, _ = self._terms(s)
        N = _independent(np.vstack([G, A]))[3]
        return lowest_frequencies(N.T @ M @ N, N.T @ self.stiffness() @ N, count)


def lowest_frequencies(M: np.ndarray, K: np.ndarray, count: int) -> np.ndarray:
    """Lowest natural frequencies [Hz], as the largest 1 / omega^2: stretching modes do not drown their digits."""
    n = len(M)
    values = scipy.linalg.eigh(M, K, eigvals_only=True, subset_by_index=[n - count, n - 1])
    return 1 / np.sqrt(values[::-1]) / (2 * np.pi)


def _independent(G: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Rows that do not repeat others, with G[rows] = r^T Q^T, and a basis N of what they leave free."""
    Q, r, order = scipy.linalg.qr(G.T, pivoting=True)
    rank = int(np.sum(np.abs(np.diag(r)) > RANK * abs(r[0, 0])))
    return order[:rank], Q[:, :rank], r[:rank, :rank], Q[:, rank:]


def _saddle(M: np.ndarray, G: np.ndarray, f: np.ndarray, g: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """a and lambda of M a - G^T lambda = f, G a = g; scaled, with one step of refinement."""
    n, k = len(M), len(G)
    whole = np.block([[M, G.T], [G, np.zeros((k, k))]])
    right = np.concatenate([f, g])
    size = np.sqrt(np.maximum(np.diag(M), 1e-8 * np.diag(M).max()))
    rows = np.linalg.norm(G / size, axis=1)
    scale = np.concatenate([1 / size, 1 / rows])
    factor = scipy.linalg.lu_factor(whole * scale[:, None] * scale)
    x = np.zeros(n + k)
    for _ in range(3):
        x = x + scale * scipy.linalg.lu_solve(factor, scale * (right - whole @ x))
    return x[:n], -x[n:]
