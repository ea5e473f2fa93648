r"""Softness of the loops of an exported model in MuJoCo's solver, and the number of copies that makes them stiff enough.

MuJoCo regularises each row of a constraint by R, a part of an estimate w of the diagonal of A = J M^-1 J^T. The multipliers f of
hard loops become f_s, and k copies of a row divide R by k:

.. math:: (A + R/k)\,f_s = A f,\qquad R = \tfrac{1-d}{d}\,w,\qquad
    \epsilon = \max_f\frac{\|J^T(f_s - f)\|}{\|J^T f\|}\ \text{in the norm of}\ M^{-1}

d is the impedance. Of each `connect`, w is the sum of the mobilities of both bodies at coordinates zero, w_b = tr(J_b M^-1
J_b^T)/3 at the centre of mass. f are the multipliers of weight and of every acceleration of the mechanism at home.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import scipy.linalg

from flexapod.arrays import Array
from flexapod.bridges.body_tree import WORLD, Tree, displacement
from flexapod.robot.geometry import Pose, pose
from flexapod.rotation_arrays import skew

IMPEDANCE = 0.9999
"""Largest impedance of a constraint that MuJoCo accepts."""
MOST_COPIES = 16
"""Most copies of a constraint, since more make steps slow; only directions of motion that hardly load the loops ask for them
(`h4`: 54)."""
LEAST = 1e-14
"""Moments of inertia below this are written as this."""
RANK = 1e-10
"""Singular values below this part of the largest are zero."""


@dataclass(frozen=True, kw_only=True)
class MovingPlace:
    """A node in the world, and the velocity of its origin and its angular velocity per rate of every joint, (3, n) each."""

    pose: Pose
    v: Array
    w: Array

    def at(self, point: Array) -> Array:
        """(3, n) velocity of a point (3,) of the node's frame per rate."""
        return np.asarray(self.v - skew(self.pose.rotation @ point) @ self.w)


def copies_for(tree: Tree, points: Mapping[str, list[Array]], most: float) -> int:
    """Copies of each point with which the solver leaves at most `most` of the loops' change at home.

    Args:
        tree: as it is written; points: per loop, the points (3,) of its frames that are held together.

    Checked by: tests/bridges/test_mjcf.py.
    """
    return min(MOST_COPIES, max(1, int(np.ceil(softness(tree, points) / most))))


def softness(tree: Tree, points: Mapping[str, list[Array]]) -> float:
    """epsilon of one copy of each loop; 0 where there are none, and with couplings or welds, which have a single copy."""
    loops = tree.loops
    if not loops or tree.gears or not all(points.get(loop.name) for loop in loops):
        return 0.0
    home, mobility = _places(tree, True), mobilities(tree)
    M = _mass(tree, home)
    J = np.vstack([
        home[loop.first].at(loop.on_first.point(p)) - home[loop.second].at(loop.on_second.point(p))
        for loop in loops for p in points[loop.name]
    ])  # fmt: skip
    w = np.concatenate([np.full(3 * len(points[k.name]), mobility[k.first] + mobility[k.second]) for k in loops])
    R = np.diag((1.0 - IMPEDANCE) / IMPEDANCE * w)
    A = J @ np.linalg.solve(M, J.T)
    F = _multipliers(tree, home, M, J)
    left = np.linalg.solve(A + R, A @ F) - F
    changed = F.T @ A @ F
    values, vectors = np.linalg.eigh(changed)
    kept = vectors[:, values > RANK * values.max()] if values.size else vectors
    if not kept.size:
        return 0.0
    ratio = scipy.linalg.eigh(kept.T @ left.T @ A @ left @ kept, kept.T @ changed @ kept, eigvals_only=True)
    return float(np.sqrt(max(0.0, ratio.max())))


def _places(tree: Tree, at_home: bool) -> dict[str, MovingPlace]:
    """Every node at home, or at coordinates zero."""
    columns = _columns(tree)
    n = sum(len(c) for c in columns.values())
    found = {WORLD: MovingPlace(pose=pose(), v=np.zeros((3, n)), w=np.zeros((3, n)))}
    for node in tree.nodes:
        parent = found[node.parent]
        where = parent.pose @ node.place @ displacement(node.kind, node.start if at_home else 0.0)
        v, w = parent.at(parent.pose.rotation.T @ (where.position - parent.pose.position)), parent.w.copy()
        own = columns[node.name]
        if node.kind == "free":
            v[:, own[:3]], w[:, own[3:]] = np.eye(3), np.eye(3)
        elif own:
            (w if node.kind == "R" else v)[:, own[0]] = where.rotation[:, 2]
        found[node.name] = MovingPlace(pose=where, v=v, w=w)
    return found


def _columns(tree: Tree) -> dict[str, list[int]]:
    """Rates of each node."""
    found: dict[str, list[int]] = {}
    at = 0
    for node in tree.nodes:
        count = {"free": 6, "R": 1, "P": 1}.get(node.kind, 0)
        found[node.name], at = list(range(at, at + count)), at + count
    return found


def _mass(tree: Tree, places: Mapping[str, MovingPlace]) -> Array:
    """(n, n) mass matrix of the tree."""
    columns = _columns(tree)
    n = places[WORLD].v.shape[1]
    M = np.zeros((n, n))
    for node in tree.nodes:
        place, body = places[node.name], node.inertial
        v, R = place.at(body.com), place.pose.rotation
        M += body.mass * v.T @ v + place.w.T @ R @ body.tensor @ R.T @ place.w
        if node.kind in "RP":
            M[columns[node.name][0], columns[node.name][0]] += max(node.rotor, LEAST)
    return M


def mobilities(tree: Tree) -> dict[str, float]:
    """Mean of the inverse masses [1/kg] that each body shows at its centre of mass, coordinates zero; MuJoCo's `invweight0`."""
    places, found = _places(tree, False), {WORLD: 0.0}
    M = _mass(tree, places)
    for node in tree.nodes:
        J = places[node.name].at(node.inertial.com)
        found[node.name] = float(np.trace(J @ np.linalg.solve(M, J.T)) / 3.0)
    return found


def _multipliers(tree: Tree, places: Mapping[str, MovingPlace], M: Array, J: Array) -> Array:
    """(rows, k) multipliers of weight and of each acceleration that the loops allow, driven by the actuators."""
    columns = _columns(tree)
    N = scipy.linalg.null_space(J, rcond=RANK)
    S = np.eye(M.shape[0])[:, [columns[k.name][0] for k in tree.nodes if k.actuated]]
    weight = np.zeros(len(M))
    for node in tree.nodes:
        weight -= node.inertial.mass * places[node.name].at(node.inertial.com).T @ tree.gravity
    demands = np.column_stack([M @ N, weight])
    demands = demands - S @ np.linalg.lstsq(N.T @ S, N.T @ demands, rcond=RANK)[0]
    return np.asarray(np.linalg.lstsq(J.T, demands, rcond=RANK)[0])
