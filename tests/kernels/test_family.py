"""Values never compile; a structural zero that becomes non-zero compiles at most once."""

from __future__ import annotations

import numpy as np
from kernel_programs import PARAMETERS, inputs_for, straight_line

from flexapod.kernels.family import KernelFamily
from flexapod.kernels.kernel import compilations

ROUNDING = 1e-12
"""Of a difference of numbers of size 1 to 10; found 7e-16."""


def test_family_compiles_twice_at_most():
    family = KernelFamily(straight_line, "family", ["p2"])
    inputs = inputs_for(straight_line().signature, 10)
    start = compilations()
    family.batch(inputs, PARAMETERS)
    assert compilations() == start + 1
    for factor in (1.1, 0.5, 3.0):
        family.batch(inputs, factor * PARAMETERS)
    assert compilations() == start + 1
    bent = PARAMETERS + np.array([0, 0, 0.25, 0, 0, 0])
    batch = family.batch(inputs, bent)
    assert compilations() == start + 2
    family.batch(inputs, 2 * bent)
    family.batch(inputs, PARAMETERS)
    assert compilations() == start + 2
    difference = batch.outputs["power"] - family.batch(inputs, PARAMETERS).outputs["power"]
    np.testing.assert_allclose(difference, 0.25 * inputs["s"], rtol=0, atol=ROUNDING)


def test_specialised_kernel_is_smaller():
    family = KernelFamily(straight_line, "family", ["p2"])
    assert family.pick(PARAMETERS) is family.specialised
    assert family.specialised.operations.total < family.general.operations.total


def test_parameter_studies_pick_by_all_rows():
    family = KernelFamily(straight_line, "family", ["p2"])
    rows = np.tile(PARAMETERS, (4, 1))
    assert family.pick(rows) is family.specialised
    rows[3, 2] = 1e-9
    assert family.pick(rows) is family.general
