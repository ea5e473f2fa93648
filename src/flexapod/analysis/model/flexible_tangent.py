r"""Equilibrium of a robot with a flexible platform and its derivative, for as many modes as the platform has.

Few modes are written out in the kernel `flexible_tangent`. With many, a small kernel gives what frame and legs have
(`flexible_held_joints`), and the rows and columns of the modes are products of matrices: with Phi (3 legs, N) the shapes at the
joints, S (3, N) the first moments of the modes, K their stiffness, l, G, r of the legs in platform axes,

.. math:: \rho_e = K e - S^T g + \Phi^T l - \text{load},\qquad
          K_{ee} = K + \Phi^T G\,\Phi,\qquad
          K_{re} = \begin{bmatrix} G\,\Phi\\ \hat g\,S + (\hat r G - \hat l)\,\Phi + \hat f\,\Phi_p\end{bmatrix}
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from flexapod.analysis.model.kernels import RobotKernel, kernel
from flexapod.arrays import Array
from flexapod.kernels.kernel import Batch
from flexapod.robot.flexible_platform import UNROLLED
from flexapod.rotation_arrays import skew

if TYPE_CHECKING:
    from flexapod.kernels.tape.signature import Signature
    from flexapod.robot.robot import Robot


def tangent_of(robot: Robot) -> RobotKernel | ModesTangent:
    """Tangent of a flexible platform: its `batch` returns `residual` (n, 6 + N), `stiffness` and `actuator_map`, as the kernel
    `flexible_tangent`.

    Checked by: tests/analysis/test_flexible_static.py::test_many_modes_have_the_tangent_of_the_kernel.
    """
    shape, _ = robot.flexible_shape
    linear = not shape.quadratic and not shape.stretches
    if shape.modes <= UNROLLED or not linear or robot.varied is not None:
        return kernel(robot, "flexible_tangent")
    key = ("flexible tangent",)
    if key not in robot.kept:
        robot.kept[key] = ModesTangent(robot=robot)
    found: ModesTangent = robot.kept[key]
    return found


@dataclass(frozen=True, kw_only=True, eq=False)
class ModesTangent:
    """The tangent of a linear platform with many modes."""

    robot: Robot

    @property
    def signature(self) -> Signature:
        """Signature of the kernel of frame and legs, for its statuses."""
        return self._held.signature

    @property
    def _held(self) -> RobotKernel:
        return kernel(self.robot, "flexible_held_joints")

    @cached_property
    def _shapes(self) -> _Shapes:
        """Shapes of the platform from the numbers that kernels read."""
        values, modes = self.robot.values, range(self.robot.flexible_shape[0].modes)
        joints = [f"legs.{leg.name}.Phi" for leg in self.robot.legs]
        Phi = np.array([[values.get(f"{name}.{k}.{a}", 0.0) for k in modes] for name in joints for a in "xyz"])
        S = np.array([[values.get(f"platform.flex.S.{k}.{a}", 0.0) for k in modes] for a in "xyz"])
        K = np.array([[values[f"platform.flex.K.{min(i, k)}.{max(i, k)}"] for k in modes] for i in modes])
        i, k = np.nonzero(K)
        return _Shapes(Phi=Phi, S=S, K=(i, k, K[i, k]), rows=np.flatnonzero(Phi.any(axis=1)))

    def batch(self, inputs: dict[str, Array]) -> Batch:
        """Evaluate samples, inputs as of the kernel `flexible_tangent`."""
        own, e = self._shapes, inputs["elastic"]
        shift = np.einsum("nk,rk->nr", e, own.Phi).reshape(len(e), -1, 3)  # no BLAS: its threads would wait for each other
        point = inputs["point_position"] + np.einsum("nak,nk->na", inputs["point_shape"], e)
        given = {name: inputs[name] for name in ("position", "rotation", "force", "wrench", "point_wrench")}
        moved = np.einsum("nk,ak->na", e, own.S)
        held = self._held.batch({**given, "joint_shift": shift, "moment_shift": moved, "point_position": point})
        return Batch(outputs=_tangent_terms(own, held.outputs, inputs), status=held.status)


@dataclass(frozen=True, kw_only=True, eq=False)
class _Shapes:
    """Phi (3 legs, N), S (3, N), K (N, N) as rows, columns and values of its entries that are not zero; `rows`: those of Phi that
    are not zero, as a plate moves its joints along one axis."""

    Phi: Array
    S: Array
    K: tuple[NDArray[np.intp], NDArray[np.intp], Array]
    rows: NDArray[np.intp]


def _tangent_terms(own: _Shapes, held: dict[str, Array], inputs: dict[str, Array]) -> dict[str, Array]:
    """Residual, stiffness and actuator map."""
    (S, rows), e, Phi = (own.S, own.rows), inputs["elastic"], own.Phi[own.rows]
    n, N = e.shape
    g, r, l, a, by_frame = (held[name] for name in ("gravity", "joint", "joint_force", "direction", "by_frame"))
    G = by_frame[..., :3]
    legs, tilted = G.shape[1], skew(g) @ S  # (n, 3, N)
    arms = skew(r)
    below = np.concatenate([G, arms @ G - skew(l)], axis=2)  # (n, legs, 6, 3): wrench on the frame per shift of a joint
    G_all = np.zeros((n, legs, 3, legs, 3))
    G_all[:, range(legs), :, range(legs)] = G.swapaxes(0, 1)
    stiffness = np.empty((n, 6 + N, 6 + N))
    stiffness[:, :6, :6] = held["frame_stiffness"]
    stiffness[:, :6, 6:] = below.transpose(0, 2, 1, 3).reshape(n, 6, 3 * legs)[:, :, rows] @ Phi
    stiffness[:, 6:, :6] = Phi.T @ by_frame.reshape(n, 3 * legs, 6)[:, rows]
    elastic = np.matmul(Phi.T, G_all.reshape(n, 3 * legs, 3 * legs)[:, rows[:, None], rows] @ Phi, out=stiffness[:, 6:, 6:])
    i, k, K = own.K  # the diagonal alone, of normal modes
    elastic[:, i, k] += K
    rho = np.einsum("nr,rk->nk", l.reshape(n, 3 * legs)[:, rows], Phi) - np.einsum("na,ak->nk", g, S)
    np.add.at(rho.T, k, (e[:, i] * K).T)
    if inputs["point_wrench"].any():
        R, at, at_r = inputs["rotation"], inputs["point_shape"], inputs["point_rotation"]
        f, m = (np.einsum("nji,nj->ni", R, part) for part in np.split(inputs["point_wrench"], 2, axis=1))
        tilted = tilted + skew(f) @ at
        stiffness[:, 6:, 3:6] += np.swapaxes(skew(m) @ at_r, 1, 2)
        rho -= np.einsum("nak,na->nk", at, f) + np.einsum("nak,na->nk", at_r, m)
    stiffness[:, 3:6, 6:] += tilted
    stiffness[:, 6:, 3:6] += np.swapaxes(tilted, 1, 2)
    directions = np.concatenate([a, (arms @ a[..., None])[..., 0]], axis=2)  # (n, legs, 6)
    per_force = np.zeros((n, 3 * legs, legs))
    per_force[:, range(3 * legs), np.repeat(range(legs), 3)] = a.reshape(n, 3 * legs)
    B = np.concatenate([np.swapaxes(directions, 1, 2), Phi.T @ per_force[:, rows]], axis=1)
    return {"residual": np.concatenate([held["frame_residual"], rho], axis=1), "stiffness": stiffness, "actuator_map": B}
