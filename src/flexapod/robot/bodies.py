"""Inertial data of the robot file in one form: mass, first moment and tensor about the frame origin."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from flexapod.arrays import Array
from flexapod.description.schema import Body, KhalilInertia, Payload, Tensor
from flexapod.robot.geometry import frozen, rotation_matrix
from flexapod.robot.model import RigidBody
from flexapod.rotation_arrays import skew


def steiner(mass: float, c: Array) -> Array:
    """Tensor about the origin of a point mass at c: m (c.c 1 - c c^T)."""
    return mass * (skew(c).T @ skew(c))


def rigid_body(name: str, body: Body, body_axes: Array) -> RigidBody:
    """A body of the file, written in its link frame.

    Args:
        name: its name.
        body: the file's words, in the body frame.
        body_axes: (3, 3) body axes seen from the link frame (same origin).
    """
    if body.base_parameters is not None:
        result = khalil_body(name, body.base_parameters, {n: np.array(p) for n, p in body.points.items()})
    else:
        com = np.array(body.com)
        axes = np.eye(3) if body.inertia.axes == "body" else rotation_matrix(body.frames[body.inertia.axes])
        tensor = axes @ _tensor(body.inertia) @ axes.T
        at = {"com": com, "origin": np.zeros(3)}.get(body.inertia.about)
        point = np.array(body.points[body.inertia.about]) if at is None else at
        about_com = tensor - steiner(body.mass, point - com)
        result = RigidBody(
            name=name,
            mass=body.mass,
            first_moment=frozen(body.mass * com),
            inertia=frozen(tensor if body.inertia.about == "origin" else about_com + steiner(body.mass, com)),
            points={n: frozen(p) for n, p in body.points.items()},
            body_axes=frozen(np.eye(3)),
            flexible=body.flexible,
        )
    for payload in body.payloads.values() if body.flexible is None else ():  # see `flexible_body_payloads`
        result = loaded(result, payload)
    return result.seen_from(body_axes)


def loaded(body: RigidBody, payload: Payload) -> RigidBody:
    r"""The body with something fixed to it, about the same origin.

    .. math:: m' = m + M,\quad (m c)' = m c + M p,\quad J' = J + R I R^T + M (p^T p\,1 - p p^T)

    Args:
        payload: mass M, centre p in the body frame, tensor I about p in its own axes R.

    Checked by: tests/robot/test_payloads.py.
    """
    M, p, R = payload.mass, np.array(payload.com), rotation_matrix(payload.rotation)
    return replace(
        body,
        mass=body.mass + M,
        first_moment=frozen(body.first_moment + M * p),
        inertia=frozen(body.inertia + R @ _tensor(payload.inertia) @ R.T + steiner(M, p)),
    )


def khalil_body(name: str, k: KhalilInertia, points: dict[str, Array]) -> RigidBody:
    """Base inertial parameters of a table row: already about the frame origin."""
    return RigidBody(
        name=name,
        mass=k.M,
        first_moment=frozen([k.MX, k.MY, k.MZ]),
        inertia=frozen([[k.XX, k.XY, k.XZ], [k.XY, k.YY, k.YZ], [k.XZ, k.YZ, k.ZZ]]),
        points={n: frozen(p) for n, p in points.items()},
        body_axes=frozen(np.eye(3)),
    )


def _tensor(i: Tensor) -> Array:
    xx, yy, zz = i.diagonal if i.diagonal is not None else (i.xx, i.yy, i.zz)
    return np.array([[xx, i.xy, i.xz], [i.xy, yy, i.yz], [i.xz, i.yz, zz]])
