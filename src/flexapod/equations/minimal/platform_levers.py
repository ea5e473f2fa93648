r"""Platform on a basis of two joint levers: D1 = R b1, D2 = R b2, to two joints of the platform.

Letters: s a joint in platform axes, (c1, c2) its coordinates on b1, b2; p reference point in the plane of joints;
V = omega x D, W = D'' of a lever; E pseudo-inertia on (1, b1, b2) of the platform and of the leg masses that are moved
to its joints.

.. math:: S_j = p + c_{1j} D_1 + c_{2j} D_2,\qquad
          U_k = E_{k0}\,\ddot p + E_{k1} W_1 + E_{k2} W_2,\qquad
          F = U_0,\quad M_p = \textstyle\sum_k D_k\times U_k + (I_{xx}+I_{yy}-I_{zz})\,\alpha

The last term represents the extension of the platform along its normal, by :math:`\sum_k R_k\times\ddot R_k = 2\alpha`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from flexapod.equations.minimal.planning import MinimalPlan
from flexapod.equations.minimal.vectors import Scalar, Triple, add, combine, cross, scale, subtract, times, total, triple
from flexapod.equations.platform_inputs import FrameMotion
from flexapod.equations.values import Values

Place = tuple[Scalar, Scalar]
"""Coordinates in a plane."""
Coordinates = tuple[Scalar, ...]
"""Coordinates of a joint: (c1, c2) on the levers, and c3 along the normal where the joints do not lie in one plane."""


@dataclass(frozen=True, kw_only=True)
class Basis:
    """Levers in platform axes, and coordinates of the joints on them.

    Args:
        b1, b2: (x, y) of the levers in the platform plane.
        area: b1 x b2.
        height: of the first lever's joint above the platform frame.
        joints: per leg.
    """

    b1: Place
    b2: Place
    area: Scalar
    height: Scalar
    joints: tuple[Coordinates, ...]

    def seen_from(self, plan: MinimalPlan, leg: int) -> list[Coordinates]:
        """Coordinates of the joints less those of one of them; exact zeros where joints coincide."""
        names, origin = plan.platform_joints, self.joints[leg]
        return [
            (0,) * len(origin) if n == names[leg] else tuple(x - o for x, o in zip(c, origin, strict=True))
            for n, c in zip(names, self.joints, strict=True)
        ]


def lever_basis(plan: MinimalPlan, values: Values) -> Basis:
    """The basis that the plan chose."""
    S = [values.of(f"legs.{name}") for name in plan.platform_joints]
    at = [(s.scalar("S.x"), s.scalar("S.y")) for s in S]
    first, second = plan.levers
    b1, b2 = at[first], at[second]
    area = b1[0] * b2[1] - b1[1] * b2[0]
    names, height = plan.platform_joints, S[first].scalar("S.z")
    known: dict[str, Coordinates] = {names[first]: (1, 0), names[second]: (0, 1)}
    for name, s in zip(names, at, strict=True):
        known.setdefault(name, on_levers(s, b1, b2, area))
    if not plan.flat_platform:
        for name, leg in zip(names, S, strict=True):
            if len(known[name]) == 2:
                known[name] = (*known[name], 0 if name == names[first] else leg.scalar("S.z") - height)
    return Basis(b1=b1, b2=b2, area=area, height=height, joints=tuple(known[n] for n in names))


def on_levers(s: Sequence[Scalar], b1: Sequence[Scalar], b2: Sequence[Scalar], area: Scalar) -> Place:
    """Coordinates of a plane vector on the levers."""
    return (s[0] * b2[1] - s[1] * b2[0]) / area, (b1[0] * s[1] - b1[1] * s[0]) / area


@dataclass(frozen=True, kw_only=True)
class PseudoInertia:
    """Hoisted inertia of the platform and of the leg masses at its joints.

    Args:
        E: 3 x 3 on (1, b1, b2).
        normal: coefficients of (1, b1, b2) with the platform normal: first moment and products.
        spin: Ixx + Iyy - Izz about the reference point.
        weightless: (1, b1, b2) moments of what has inertia but no weight, less what has weight but no inertia.
        weightless_normal: the same along the normal.
    """

    E: tuple[Triple, Triple, Triple]
    normal: Triple
    spin: Scalar
    weightless: Triple
    weightless_normal: Scalar = 0

    def row(self, k: int, pole: Coordinates = (0, 0)) -> tuple[Scalar, Scalar, Scalar, Scalar, Scalar]:
        """Coefficients of U_k on p'', W1, W2, W3 and the weightless moment; moments about a pole on the levers."""
        shift = pole[k - 1] if k else 0
        own, first = ((*self.E[i], self.normal[i], self.weightless[i]) for i in (k, 0))
        if isinstance(shift, int) and shift == 0:
            return own
        e0, e1, e2, e3, w = (x - times(shift, x0) for x, x0 in zip(own, first, strict=True))
        return e0, e1, e2, e3, w

    def about(self, pole: Coordinates) -> PseudoInertia:
        """The same masses on levers that start at a pole (as high as p) instead of p."""
        rows = [self.row(k, pole) for k in range(3)]
        shifts = (0, *pole[:2])
        E = [[r[j] - times(shifts[j], r[0]) if j else r[0] for j in range(3)] for r in rows]
        return PseudoInertia(
            E=((E[0][0], E[0][1], E[0][2]), (E[0][1], E[1][1], E[1][2]), (E[0][2], E[1][2], E[2][2])),
            normal=(rows[0][3], rows[1][3], rows[2][3]),
            spin=self.spin,
            weightless=(rows[0][4], rows[1][4], rows[2][4]),
            weightless_normal=self.weightless_normal,
        )


def pseudo_inertia(values: Values, basis: Basis, masses: Sequence[Scalar], weightless: Sequence[Scalar]) -> PseudoInertia:
    """E of the platform with point masses at its joints.

    Args:
        masses: inertial mass per joint [kg].
        weightless: part of it that gravity does not act on [kg].
    """
    v, h = values.of("platform"), basis.height
    m = v.scalar("mass")
    fx, fy, fz = (v.scalar(f"first_moment.{k}") for k in "xyz")
    xx, yy, zz, xy, xz, yz = (v.scalar(f"inertia.{k}") for k in ("xx", "yy", "zz", "xy", "xz", "yz"))
    # second moments less their zz part: Sxx - Szz = Izz - Ixx; about the plane of joints, h above the frame
    lift = h * (m * h - 2 * fz) + _moment(basis, masses, 3, 3)
    first = on_levers((fx, fy), basis.b1, basis.b2, basis.area)
    rows = [on_levers(row, basis.b1, basis.b2, basis.area) for row in ((zz - xx - lift, -xy), (-xy, zz - yy - lift))]
    second = [on_levers(column, basis.b1, basis.b2, basis.area) for column in zip(*rows, strict=True)]
    products = on_levers((-xz - h * fx, -yz - h * fy), basis.b1, basis.b2, basis.area)

    own = ((m, first[0], first[1]), (first[0], second[0][0], second[0][1]), (first[1], second[0][1], second[1][1]))
    E = tuple(tuple(own[i][j] + _moment(basis, masses, min(i, j), max(i, j)) for j in range(3)) for i in range(3))
    lifted = (fz - m * h, products[0], products[1])
    normal = tuple(x + _moment(basis, masses, i, 3) for i, x in enumerate(lifted))
    return PseudoInertia(
        E=E,  # type: ignore[arg-type]
        normal=(normal[0], normal[1], normal[2]),
        spin=xx + yy - zz + 2 * lift,
        weightless=(_moment(basis, weightless, 0, 0), _moment(basis, weightless, 0, 1), _moment(basis, weightless, 0, 2)),
        weightless_normal=_moment(basis, weightless, 0, 3),
    )


def _moment(basis: Basis, masses: Sequence[Scalar], i: int, j: int) -> Scalar:
    """Sum of m c_i c_j over the joints, on (1, b1, b2, normal)."""
    at = [(1, *c, *(0,) * (3 - len(c))) for c in basis.joints]
    return total(times(c[i] * c[j], mass) for mass, c in zip(masses, at, strict=True))


@dataclass(frozen=True, kw_only=True)
class Levers:
    """Motion of the reference point p and of the levers; D3 is the platform normal."""

    p: Triple
    v: Triple
    a: Triple
    D: tuple[Triple, Triple]
    V: tuple[Triple, Triple]
    W: tuple[Triple, Triple]
    D3: Triple
    V3: Triple
    W3: Triple

    def position(self, c: Coordinates) -> Triple:
        """Position of a joint."""
        return combine((1, *c), (self.p, *self.D, self.D3)[: 1 + len(c)])

    def velocity(self, c: Coordinates) -> Triple:
        """Velocity of a joint."""
        return combine((1, *c), (self.v, *self.V, self.V3)[: 1 + len(c)])

    def acceleration(self, c: Coordinates) -> Triple:
        """Acceleration of a joint."""
        return add(self.a, self.drift(c))

    def drift(self, c: Coordinates) -> Triple:
        """Second rate of the lever with these coordinates."""
        return combine(c, (*self.W, self.W3)[: len(c)])


def lever_motion(platform: FrameMotion, basis: Basis, origin: Triple) -> Levers:
    """Levers, their rates and second rates; `origin` is subtracted from the position."""
    R, w, alpha = platform.R.expr, triple(platform.w.expr), triple(platform.alpha.expr)

    def lever(s: Sequence[Scalar]) -> Triple:
        x, y, z = (R[i, 0] * s[0] + R[i, 1] * s[1] for i in range(3))
        return x, y, z

    def second_rate(D: Triple, V: Triple) -> Triple:
        return add(cross(alpha, D), cross(w, V))

    D = lever(basis.b1), lever(basis.b2)
    V = cross(w, D[0]), cross(w, D[1])
    W = second_rate(D[0], V[0]), second_rate(D[1], V[1])
    normal: Triple = (R[0, 2], R[1, 2], R[2, 2])
    spin = cross(w, normal)
    W3 = second_rate(normal, spin)
    h = basis.height
    p = triple(platform.p.expr)
    return Levers(
        p=add(subtract(p, origin), scale(h, normal)),
        v=add(triple(platform.v.expr), scale(h, spin)),
        a=add(triple(platform.a.expr), scale(h, W3)),
        D=D, V=V, W=W, D3=normal, V3=spin, W3=W3,
    )  # fmt: skip
