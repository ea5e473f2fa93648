r"""Poses of platforms whose points lie on spheres or in planes: equations in Study's coordinates.

x = (e, g) in P^7: e is the quaternion of the platform's rotation, g = p e with the position p, and e.g = 0 (Study's quadric).
A leg from base point a to platform point b of squared length s:

.. math:: D\cdot D - s\,e\cdot e = 0,\qquad D = g + W e,\quad W e = e\,b - a\,e,\quad
          W = \begin{bmatrix} 0 & -m^T \\ m & -[n]_\times\end{bmatrix},\; m = b - a,\; n = a + b

Source: M. Husty, An algorithm for solving the direct kinematics of general Stewart-Gough platforms (1996).
"""

from __future__ import annotations

import casadi as ca

from flexapod.equations.homotopy.complex_pairs import SX
from flexapod.equations.homotopy.tracker import System


def lever(m: SX, n: SX, e: SX) -> SX:
    """W e = e b - a e with m = b - a and n = a + b (quaternion products)."""
    v = e[1:4]
    return ca.vertcat(-ca.dot(m, v), m * e[0] - ca.cross(n, v))


def six_legs() -> System:
    """The general 6-6 platform: parameters m (6 x 3), n (6 x 3), s (6); 40 solutions."""
    x, p = ca.SX.sym("x", 8), ca.SX.sym("p", 42)
    e, g = x[:4], x[4:]
    m, n, s = ca.reshape(p[:18], 3, 6), ca.reshape(p[18:36], 3, 6), p[36:]
    norm = ca.dot(e, e)
    D = [g + lever(m[:, i], n[:, i], e) for i in range(6)]
    legs = [(ca.dot(d, d) - s[i] * norm) / 2 for i, d in enumerate(D)]
    return System(name="six_legs", x=x, p=p, equations=ca.vertcat(*legs, ca.dot(e, g)), leading=4)
