"""Programs that the kernel tests share, each with inputs and parameters that exercise it."""

from __future__ import annotations

import casadi as ca
import numpy as np

from flexapod.kernels.tape.program import Program
from flexapod.kernels.tape.signature import Parameter

SAMPLES = 1000
PATIENCE = 900.0
"""Seconds after which a process hangs; a busy machine needs minutes."""
PARAMETERS = np.array([0.9, 1.7, 0.0, 1.3, 0.6, 1.1])


def _start(name):
    b = Program(name)
    p = b.parameters([Parameter(name=f"p{k}", unit="m") for k in range(len(PARAMETERS))])
    return b, p


def straight_line():
    b, p = _start("straight_line")
    x, A, s = b.input("x", (3,), unit="m"), b.input("A", (3, 3)), b.input("s")
    wide = b.input("wide", (7,))
    n = x / ca.norm_2(x)
    b.output("n", n, (3,))
    b.output("product", A @ x * p[0] / p[1], (3,), unit="m")
    b.output("matrix", A @ A.T, (3, 3))
    b.output("pair", ca.vertcat(s * s, -s), (2,))
    b.output("power", s**3 + wide[6] * ca.dot(wide, wide) / (1 + s**2) + p[2] * s)
    return b


def functions():
    b, _p = _start("functions")
    x, s = b.input("x", (3,)), b.input("s")
    unit = x[0] / (1 + ca.fabs(x[0]))
    above = 1 + x[1] ** 2
    values = [
        ca.sin(s), ca.cos(s), ca.tan(unit), ca.asin(unit), ca.acos(unit), ca.atan(s), ca.atan2(x[0], s), ca.sinh(s),
        ca.cosh(s), ca.tanh(s), ca.asinh(s), ca.acosh(above), ca.atanh(unit), ca.exp(-above), ca.log(above),
        ca.log1p(above), ca.expm1(unit), above**s, above**2.5, ca.fmod(x[0], above), ca.floor(x[0] * 3),
        ca.ceil(x[1] * 3), ca.fabs(x[2]), ca.sign(x[0]), ca.sign(x[0] - x[0] + 0), ca.copysign(above, x[2]),
        ca.fmin(x[0], x[1]), ca.fmax(x[0], x[1]), ca.sqrt(above), 1 / above, x[0] ** -2, ca.hypot(x[0], x[1]),
    ]  # fmt: skip
    b.output("values", ca.vertcat(*values))
    return b


def selections():
    b, _p = _start("selections")
    x, s = b.input("x", (3,)), b.input("s")
    both, either = ca.logic_and(x[0] < 0, x[1] <= s), ca.logic_or(x[0] < 0, ca.logic_not(x[1] <= s))
    values = [
        ca.if_else(x[0] < 0, ca.sqrt(-x[0]), ca.sqrt(x[0])),  # the root of the branch not taken is not a number
        ca.if_else(x[0] > 0, ca.log(x[0]), -1), ca.if_else(both, x[2], s), either, both, x[0] != x[1],
        ca.eq(x[0], x[0] + 0 * s), ca.if_else(either, 2, 3) * (x[0] >= x[1]), -ca.if_else(both, x[0], 0),
    ]  # fmt: skip
    b.output("values", ca.vertcat(*values))
    b.fail_if(x[2] > 1.5, "x[2] is above {limit}", limit=1.5)
    b.fail_if(s < -1.5, "s is low")
    return b


def _leg(b, a, c, x, s):
    d = a - x
    length = ca.norm_2(d)
    b.fail_if(length > 4.5, "leg {leg} cannot reach", leg=["A", "B", "C", "D"])
    b.fail_if(length < 0.2, "a leg is short")
    return d / length, length * c[0] / c[1] - s, c[0] * c[1] + 1


def _map(name, unroll):
    b, p = _start(name)
    x, A, s = b.input("x", (3,)), b.input("A", (3, 3)), b.input("s")
    points, own = ca.horzcat(A, x), ca.horzcat(p[0:2], p[1:3] + 1, p[2:4] + 2, p[3:5])
    n, length, const = b.map(_leg, 4, each=[points, own], shared=[x * s, s], unroll=unroll)
    b.output("n", n, (3, 4))
    b.output("length", length, (4,))
    b.output("const", const, (4,))
    return b


def map_looped():
    return _map("map_looped", False)


def map_unrolled():
    return _map("map_unrolled", True)


def scan():
    b, p = _start("scan")
    x, A = b.input("x", (3,)), b.input("A", (3, 3))

    def step(b, i, u, v, a, q):
        following = ca.vertcat(u[1], u[2], ca.dot(u, a) / (1 + q**2) + 0.1 * i)
        return [following, v + u[0] * p[3]], [u * p[1], v / p[4]]

    (u, v), (us, vs) = b.scan(step, 3, carry=[x, p[0]], each=[A], shared=[p[1]])
    b.output("u", u, (3,))
    b.output("v", v)
    b.output("us", us, (3, 3))
    b.output("vs", vs, (3,))
    return b


def _kepler(b, e, mean):
    """Newton's method for E - e sin E = M."""

    def newton(b, E, e, mean):
        b.fail_if(e >= 1, "not an ellipse")
        step = (E - e * ca.sin(E) - mean) / (1 - e * ca.cos(E))
        return [E - step], ca.fabs(step)

    return b.iterate(newton, start=[mean], shared=[e, mean], limit=6, tolerance=1e-13)


def kepler():
    b, p = _start("kepler")
    mean, e = b.input("mean"), b.input("e")
    (E,), converged, n = _kepler(b, e * p[0], mean)
    b.fail_if(ca.logic_not(converged), "Kepler's equation does not converge")
    b.output("E", E)
    b.output("passes", n)
    return b


def nested():
    b, p = _start("nested")
    A, e = b.input("A", (3, 3)), b.input("e")

    def row(b, a, scale):
        (E,), converged, n = _kepler(b, e * 0.8, a[0])

        def add(b, i, total, y):
            return [total + y * scale / p[1] * i], [total]

        def weigh(b, y):
            return (y * scale * p[3] + ca.sin(p[4]) * E,)

        (weighed,) = b.map(weigh, 3, each=[a.T], unroll=False)
        (total,), (partial,) = b.scan(add, 3, carry=[E], each=[weighed])
        b.fail_if(1 - converged, "row {index} does not converge")
        return total, partial[0, :].T, n

    total, partial, n = b.map(row, 3, each=[A, p[0:3].T + 1], unroll=False)
    b.output("total", total, (3,))
    b.output("partial", partial, (3, 3))
    b.output("passes", n, (3,))
    return b


ALL = [straight_line, functions, selections, map_looped, map_unrolled, scan, kepler, nested]


def inputs_for(signature, count=SAMPLES, seed=1):
    """Random inputs; eccentricities stay below 1 except for a few samples."""
    rng = np.random.default_rng(seed)
    arrays = {i.name: rng.normal(size=(count, *i.shape)) for i in signature.inputs}
    if "e" in arrays:
        arrays["e"] = rng.uniform(0, 1.2, size=count)
    return arrays
