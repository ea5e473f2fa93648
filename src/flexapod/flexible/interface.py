"""A point of a flexible body where a joint or a load may act, with its shapes.

r0 place; Phi_d, Phi_r displacement and rotation per elastic coordinate, Q quadratic displacement; N coordinates q_e, body axes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from flexapod.flexible.checked_arrays import Floats, floats, symmetric

SYMMETRY = 1e-9
"""Largest asymmetry of a symmetric constant, of its largest entry: sums over some thousand nodes are good to 1e-13."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Interface:
    """A point of the body where a joint or a load may act: r0 (3,) [m], shapes Phi_d, Phi_r (3, N).

    Phi_r is None where the source gives no rotations (a modal file without `phi_r`, solid elements): the point then supports
    joints that pass no moment. Q (3, N, N), symmetric: quadratic displacement q_e^T Q q_e / 2, minus the geometric stiffness of
    the body per unit force at the point; None for a body without stiffening. Q_r (3, N, N): quadratic rotation, the same per unit
    moment; None where it is not known.

    Args:
        r0: (3,) position of the undeformed body [m], body axes.
        Phi_d, Phi_r: (3, N) displacement and rotation per coordinate.
        Q, Q_r: (3, N, N) quadratic displacement and rotation.
    """

    r0: Floats
    Phi_d: Floats
    Phi_r: Floats | None = None
    Q: Floats | None = None
    Q_r: Floats | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "r0", floats("interface.r0", self.r0, (3,)))
        Phi_d = floats("interface.Phi_d", self.Phi_d, (3, None))
        object.__setattr__(self, "Phi_d", Phi_d)
        if self.Phi_r is not None:
            object.__setattr__(self, "Phi_r", floats("interface.Phi_r", self.Phi_r, Phi_d.shape))
        for name in ("Q", "Q_r"):
            if getattr(self, name) is not None:
                N = Phi_d.shape[1]
                Q = floats(f"interface.{name}", getattr(self, name), (3, N, N))
                object.__setattr__(self, name, np.stack([symmetric(f"interface.{name}", each, SYMMETRY) for each in Q]))

    def position(self, elastic: ArrayLike) -> Floats:
        """Deformed position r0 + Phi_d q_e + q_e^T Q q_e / 2, (3,) [m].

        Source: Briot 2014, Eq. (3). Checked by: tests/flexible/test_flexible_body.py, tests/flexible/test_plate_membrane.py.
        """
        q = floats("elastic", elastic, (self.Phi_d.shape[1],))
        result: Floats = self.r0 + self.Phi_d @ q
        return result if self.Q is None else result + np.einsum("aij,i,j->a", self.Q, q, q) / 2.0

    def transformed(self, basis: Floats) -> Interface:
        """The same point with shapes for new coordinates p, q_e = basis p."""
        return Interface(
            r0=self.r0, Phi_d=self.Phi_d @ basis, Phi_r=None if self.Phi_r is None else self.Phi_r @ basis,
            Q=None if self.Q is None else np.einsum("aij,ip,jq->apq", self.Q, basis, basis),
            Q_r=None if self.Q_r is None else np.einsum("aij,ip,jq->apq", self.Q_r, basis, basis),
        )  # fmt: skip
