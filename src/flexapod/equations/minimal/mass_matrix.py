r"""Mass matrix of platform and legs about one platform joint O, lower triangle.

Letters: s_j = S_j - O, M_j mass matrix of a leg at S_j (3 x 3, world axes).

.. math:: A = \begin{bmatrix} E_{00} & -\tilde f \\ \tilde f & (\mathrm{tr}\,T) 1 - T + \text{spin}\end{bmatrix}
          + \sum_j \begin{bmatrix} M_j & -M_j\tilde s_j \\ \tilde s_j M_j & -\tilde s_j M_j\tilde s_j\end{bmatrix},
          \qquad f = \sum_k E_{0k} D_k,\quad T = \sum_{kl} E_{kl} D_k D_l^T

Legs with one platform joint share one 3 x 3 matrix, and those at O need no lever at all.
"""

from __future__ import annotations

from collections.abc import Sequence

from flexapod.equations.minimal.model import MinimalModel
from flexapod.equations.minimal.planning import MinimalPlan
from flexapod.equations.minimal.platform_levers import Levers, PseudoInertia
from flexapod.equations.minimal.vectors import Scalar, Triple, combine, cross, dot, subtract, total

Symmetric = tuple[Scalar, Scalar, Scalar, Scalar, Scalar, Scalar]
"""xx, xy, yy, xz, yz, zz: the lower triangle by rows."""
Block = list[list[Scalar]]


def mass_matrix(
    m: MinimalModel, plan: MinimalPlan, body: PseudoInertia, levers: Levers, legs: Sequence[Symmetric]
) -> list[list[Scalar]]:
    """The matrix on (acceleration of O, alpha).

    Args:
        body: pseudo-inertia about O, the platform joint of the plan's first lever.
        legs: M_j per leg.

    Checked by: tests/equations/test_minimal.py.
    """
    moving, mixed, rotating = _platform(m, body, levers)
    names, joints = plan.platform_joints, m.basis.joints
    pole = plan.levers[0]
    for name, M in _per_joint(names, legs).items():
        rows = (M[0], M[1], M[3]), (M[1], M[2], M[4]), (M[3], M[4], M[5])
        _add(moving, rows)
        if name != names[pole]:
            s = subtract(levers.position(joints[names.index(name)]), levers.position(joints[pole]))
            x, y, z = (cross(s, row) for row in rows)  # columns of s~ M
            lever = [(x[i], y[i], z[i]) for i in range(3)]
            _add(mixed, lever, full=True)
            _add(rotating, [cross(s, row) for row in lever])
    return [*(moving[i][: i + 1] for i in range(3)), *([*mixed[i], *rotating[i][: i + 1]] for i in range(3))]


def _per_joint(names: Sequence[str], legs: Sequence[Symmetric]) -> dict[str, Symmetric]:
    joints: dict[str, Symmetric] = {}
    for name, M in zip(names, legs, strict=True):
        known = joints.get(name, (0,) * 6)
        xx, xy, yy, xz, yz, zz = (total(pair) for pair in zip(known, M, strict=True))
        joints[name] = xx, xy, yy, xz, yz, zz
    return joints


def _platform(m: MinimalModel, body: PseudoInertia, levers: Levers) -> tuple[Block, Block, Block]:
    E, n, D = body.E, body.normal, (*levers.D, levers.D3)
    f = combine((E[0][1], E[0][2], n[0]), D)
    q: list[Triple] = [
        combine((E[1][1], E[1][2], n[1]), D),
        combine((E[1][2], E[2][2], n[2]), D),
        combine((n[1], n[2]), levers.D),
    ]
    b1, b2 = m.basis.b1, m.basis.b2
    trace = E[1][1] * dot(b1, b1) + 2 * E[1][2] * dot(b1, b2) + E[2][2] * dot(b2, b2) + body.spin
    T = [[total(D[k][i] * q[k][j] for k in range(3)) for j in range(3)] for i in range(3)]
    moving: Block = [[E[0][0] if i == j else 0 for j in range(3)] for i in range(3)]
    rotating: Block = [[trace - T[i][j] if i == j else -T[i][j] for j in range(3)] for i in range(3)]
    return moving, [[0, -f[2], f[1]], [f[2], 0, -f[0]], [-f[1], f[0], 0]], rotating


def _add(target: Block, term: Sequence[Triple], *, full: bool = False) -> None:
    for i in range(3):
        for j in range(3 if full else i + 1):
            target[i][j] = total((target[i][j], term[i][j]))
