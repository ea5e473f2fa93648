r"""Friction by joint loads in rows of numbers (`numeric_rows`): the fixed point of `loaded_joints`, with kernels for its terms.

.. math:: M_{xx}\ddot u_x = \big(A^T\Gamma + N^TQ(y) - c - M\ddot u_o\big)_x,\qquad y = Y(\ddot z, \lambda, Q)

x: unknown coordinates; o: those of actuators that follow a motion, whose forces keep them on it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from flexapod.analysis.model.general_dynamics import solution
from flexapod.analysis.model.linear_solve import MASSLESS, solved
from flexapod.arrays import Array
from flexapod.equations.newton_euler.friction_points import SOURCES

if TYPE_CHECKING:
    from flexapod.analysis.model.closed_legs import ClosedLegs
    from flexapod.analysis.model.leg_model import LegTerms
    from flexapod.analysis.requests.sample_blocks import Reasons
    from flexapod.simulation.integrators.numeric_rows import NumericRows


def loaded_friction(
    rows: NumericRows, at: ClosedLegs, terms: LegTerms, wrench: Array, given: Array, reasons: Reasons, *,
    force: Array | None,
) -> Array:  # fmt: skip
    """Friction (n, z) against the coordinates, with the loads that belong to it.

    Args:
        terms: of the states, without friction.
        given: (n, u) accelerations, zero of the unknowns.
        force: (n, actuators), or None where they follow a motion.

    Source: Kim 2002 Eqs. (30)-(32), on the tree of Briot 2014. Checked by: tests/simulation/test_loaded_beams.py.
    """
    robot, x = rows.layout.robot, rows.layout.unknown
    rest = np.einsum("nij,nj->ni", terms.M, given) + terms.c
    if force is not None:
        rest = rest - np.einsum("nau,na->nu", terms.A, force)

    def move(Q: Array) -> tuple[Array, Array]:
        left, u = np.einsum("nzu,nz->nu", terms.N, Q) - rest, given.copy()
        u[:, x] = solved(terms.M[:, x][:, :, x], left[:, x])
        if force is not None:
            return force, u
        held = np.zeros((len(u), rows.layout.actuators))
        held[:, rows.own] = (np.einsum("nij,nj->ni", terms.M[:, :, x], u[:, x]) - left)[:, rows.places]
        return held, u

    found = solution(robot, at, wrench, terms, move, reasons, sources=SOURCES, singular=MASSLESS, determined=True)
    return -found.friction
