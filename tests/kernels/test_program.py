"""Writing programs: scopes, statuses and the mistakes that are refused."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

from flexapod.kernels.errors import ProgramError
from flexapod.kernels.tape.program import Program
from flexapod.kernels.tape.signature import Parameter
from flexapod.kernels.tape.tape import make_tape
from support.plain import compile_kernel


def test_symbols_of_outer_scopes_are_captured():
    b = Program("capture")
    x, y = b.input("x", (3,)), b.input("y")

    def outer(b, u):
        def inner(b, v):
            return (v * y + u,)

        (w,) = b.map(inner, 3, each=[x.T], unroll=False)
        return (ca.sum2(w),)

    (z,) = b.map(outer, 3, each=[x.T], unroll=False)
    b.output("z", z, (3,))
    result = compile_kernel(b)(x=[1.0, 2.0, 3.0], y=10.0)["z"]
    np.testing.assert_allclose(result, 60 + 3 * np.array([1, 2, 3]))


def test_a_symbol_from_nowhere_is_named():
    b = Program("stray")
    b.output("y", b.input("x") + ca.SX.sym("elsewhere"))
    with pytest.raises(ProgramError, match="the symbol elsewhere is not an input, a parameter or a result"):
        make_tape(b)


def test_maps_unroll_by_size():
    def body(terms):
        return lambda b, u: (sum((ca.sin(k * u) for k in range(1, terms)), ca.SX(0)),)

    for terms, looped in ((10, False), (3000, True)):
        b = Program("sized")
        (y,) = b.map(body(terms), 3, each=[b.input("x", (3,)).T])
        b.output("y", y, (3,))
        assert ("loop" in make_tape(b).main.ops) == looped


def test_three_axes_are_row_major():
    b = Program("axes")
    x = b.input("x", (2, 3, 4))
    assert x.shape == (2, 12)
    b.output("y", x, (2, 3, 4))
    value = np.arange(24.0).reshape(2, 3, 4)
    np.testing.assert_array_equal(compile_kernel(b)(x=value)["y"], value)


@pytest.mark.parametrize(
    ("write", "message"),
    [
        (lambda b, x: b.input("x", (2,)), "the name 'x' is used twice"),
        (lambda b, x: b.input("a b"), "'a b' cannot be the name of an array"),
        (lambda b, x: b.input("z", (0,)), "shape (0,) must consist of positive integers"),
        (lambda b, x: b.output("y", x, (4,)), "output 'y': shape (4,) does not fit an expression of shape (3, 1)"),
        (lambda b, x: b.output("y", x, (3,), dims=("a", "b")), "output 'y': 2 dims for shape (3,)"),
        (lambda b, x: b.map(lambda b, u: (u,), 4, each=[x.T]), "each[0] must have 4 columns"),
        (lambda b, x: b.map(lambda b, u: (u,), 0), "count must be a positive integer, got 0"),
        (lambda b, x: b.map(lambda b, u: u, 3, each=[x.T]), "the body must return a tuple of columns"),
        (lambda b, x: b.map(lambda b, u: (u.T @ x.T,), 3, each=[x.T]), "output 0 of the body must be a column"),
        (
            lambda b, x: b.scan(lambda b, i, u: ([u[0]], []), 3, carry=[x]),
            "the next carry must have the shapes [(3, 1)], got [(1, 1)]",
        ),
        (
            lambda b, x: b.iterate(lambda b, u: ([u], u), start=[x], limit=3, tolerance=0.1),
            "iterate: the error must be a scalar, got shape (3, 1)",
        ),
        (lambda b, x: b.fail_if(x, "no"), "fail_if 'no': the condition must be a scalar"),
        (
            lambda b, x: b.map(lambda b, u: (b.fail_if(u, "{a}", a=[1, 2]), (u,))[1], 3, each=[x.T]),
            "fail_if '{a}': field 'a' has 2 values, expected 3",
        ),
        (lambda b, x: make_tape(b), "program 'wrong' has no output"),
        (
            lambda b, x: (b.output("y", x), make_tape(b, ["mass"])),
            "zero pattern names unknown parameters: mass",
        ),
        (
            lambda b, x: b.parameters([Parameter(name="m"), Parameter(name="m")]),
            "parameters declared twice: m",
        ),
    ],
)
def test_mistakes_are_refused_in_words(write, message):
    b = Program("wrong")
    x = b.input("x", (3,))
    with pytest.raises(ProgramError) as caught:
        write(b, x)
    assert message in str(caught.value)


def test_first_failing_check_decides():
    b = Program("order")
    x = b.input("x", (3,))
    assert b.fail_if(x[0] > 1, "first") == 1
    (y,) = b.map(
        lambda b, u: (b.fail_if(u > 2, "instance {index} is {word}", word="large"), (u,))[1], 3, each=[x.T], unroll=False
    )
    b.fail_if(x[2] > 3, "last")
    b.output("y", y, (3,))
    for backend in ("llvm", "numpy"):
        kernel = compile_kernel(b, backend=backend)
        batch = kernel.batch({"x": [[0, 0, 0], [5, 5, 5], [0, 5, 5], [0, 0, 5], [0, 0, 2.5]]})
        texts = [kernel.signature.status(code).text for code in batch.status]
        assert texts == ["evaluated", "first", "instance 1 is large", "instance 2 is large", "instance 2 is large"]


def test_signature_prints_as_a_table():
    b = Program("printed")
    p = b.parameters([Parameter(name="platform.mass", unit="kg", doc="all of it")])
    x = b.input("position", (3,), unit="m", doc="of the platform")
    b.fail_if(x[0] > 1, "too far")
    b.output("force", x * p, (3,), unit="N", dims=("axis",))
    assert str(b.signature) == "\n".join(
        [
            "printed",
            "  input      position       (3,)    m   of the platform",
            "  output     force          (3,)    N",
            "  parameter  platform.mass  scalar  kg  all of it",
            "  status 1: too far",
        ]
    )
