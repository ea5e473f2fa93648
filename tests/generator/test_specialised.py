"""Unrolled tapes and tapes with numbers are the same functions: random numbers in random places, loops of every kind."""

from __future__ import annotations

import numpy as np
import pytest
from generated_models import interpreted, looped

from flexapod.kernels.errors import ProgramError
from flexapod.kernels.tape.specialised import numeric_tape, unrolled_tape
from flexapod.kernels.tape.tape import make_tape

SAME = 1e-14
"""Same operations; sums of constants are folded in another order."""

VALUES = {"legs.A.rod.mass": 1.3, "legs.B.rod.mass": 0.7}


@pytest.fixture
def inputs() -> dict[str, np.ndarray]:
    random = np.random.default_rng(8)
    return {"double": random.uniform(-1, 1, (20, 5)), "lambda_": random.uniform(-1, 1, 20)}


def test_counted_loops_are_written_out(inputs: dict[str, np.ndarray]) -> None:
    kept, written = make_tape(looped()), unrolled_tape(looped())
    assert len(kept.main.loops) == 3
    assert [loop.tolerance for loop in written.main.loops.values()] == [1e-13], "iterate-until stays a loop"
    given = np.array([VALUES[p.name] for p in kept.signature.parameters])
    one, two = interpreted(kept, inputs, given), interpreted(written, inputs, given)
    for name, wanted in one.items():
        assert np.allclose(two[name], wanted, rtol=SAME, atol=SAME)


def test_long_loops_stay() -> None:
    assert len(unrolled_tape(looped(3000)).main.loops) == 3


def test_numbers_give_the_same_function(inputs: dict[str, np.ndarray]) -> None:
    symbolic, numeric = make_tape(looped()), numeric_tape(looped(), VALUES)
    assert not numeric.signature.parameters
    given = np.array([VALUES[p.name] for p in symbolic.signature.parameters])
    one, two = interpreted(symbolic, inputs, given), interpreted(numeric, inputs, None)
    for name, wanted in one.items():
        assert np.allclose(two[name], wanted, rtol=SAME, atol=SAME)


def test_zero_and_one_disappear(inputs: dict[str, np.ndarray]) -> None:
    """a = 0 leaves nothing of a / c, and of a * a."""
    some = numeric_tape(looped(), VALUES).operations.total
    none = numeric_tape(looped(), {"legs.A.rod.mass": 0.0, "legs.B.rod.mass": 1.0}).operations.total
    assert none < some


def test_missing_values_are_named() -> None:
    with pytest.raises(ProgramError, match=r"no value for legs\.B\.rod\.mass"):
        numeric_tape(looped(), {"legs.A.rod.mass": 1.0})
