r"""The check page of an imported body: its modes beside those of the full matrices, with the modal assurance criterion.

.. math:: MAC_{ij} = \frac{(\phi_i^T M \psi_j)^2}{(\phi_i^T M \phi_i)(\psi_j^T M \psi_j)}

with the mass as weight, phi modes of the reduced body and psi those of the matrices.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from flexapod.arrays import Array
from flexapod.errors import InputError
from flexapod.files import write_whole

if TYPE_CHECKING:
    from flexapod.flexible.block_lanczos import Sparse
    from flexapod.flexible.body import FlexibleBody

SAME_FREQUENCY = 1e-3
"""Modes this near in frequency count as one family in the check."""
DENSE = 3000
"""Degrees of freedom up to which all modes of the matrices are computed for the check."""
SHIFT = 400.0
"""[rad^2/s^2] below zero, about which a large model is factorised: rigid motions do not make it singular."""
NO_INERTIA = 1e-13
"""Smallest eigenvalue of a mass with unit diagonal below which it is singular beyond rounding."""
EXTRA_MODES = 2
"""Modes of the matrices beyond those of the body that the picture shows."""
CELL = 22
"""Side of a square of the picture [px]."""
STYLE = (
    "body{font:15px sans-serif;margin:2em;max-width:60em}td,th{padding:.1em .8em;text-align:right}svg text{font:10px sans-serif}"
)


@dataclass(frozen=True, kw_only=True, eq=False)
class ImportedBody:
    """A reduced body and the model that it was reduced from.

    Args:
        body: for `Robot.with_flexible_body` or `flexible.save_modes`.
        frequency: [Hz] of the reduced body; full_frequency: of the matrices, elastic ones.
        mac: (reduced, full) modal assurance criterion, mass-weighted.
        notes: what of the files was left out.
    """

    body: FlexibleBody
    frequency: Array
    full_frequency: Array
    mac: Array
    notes: tuple[str, ...] = ()

    @property
    def rows(self) -> list[tuple[float, float, float]]:
        """Per mode: frequency of the matrices and of the reduced body [Hz], and how alike they are (0 to 1)."""
        found = []
        for k, f in enumerate(self.frequency):
            full = self.full_frequency[k] if k < len(self.full_frequency) else np.nan
            alike = np.abs(self.full_frequency - f) <= SAME_FREQUENCY * f  # equal frequencies: any mixture is a mode
            found.append((float(full), float(f), float(self.mac[k, alike].sum() if np.any(alike) else self.mac[k].max())))
        return found

    def _facts(self) -> list[str]:
        b = self.body
        com = ", ".join(f"{x:.6g}" for x in np.asarray(b.MS_r) / b.mass)
        about = ", ".join(f"{x:.6g}" for x in np.diag(b.I_rr))
        facts = [f"mass: {b.mass:.6g} kg", f"centre of mass: {com} m"]
        return [*facts, f"moments of inertia about the frame origin: {about} kg m^2", *self.notes]

    @property
    def check_page(self) -> str:
        """Mass, centre, inertia, frequencies before and after, and how alike the modes are, as Markdown."""
        lines = ["# Imported body", "", *self._facts(), "", "| mode | full [Hz] | reduced [Hz] | MAC |", "|---|---|---|---|"]
        lines += [f"| {k} | {full:.6g} | {f:.6g} | {mac:.4f} |" for k, (full, f, mac) in enumerate(self.rows, 1)]
        return "\n".join(lines) + "\n"

    def write_check_page(self, path: str | os.PathLike[str]) -> Path:
        """The check page as one HTML file, with a picture of the modal assurance criterion; returns its path."""
        target = Path(path)
        if target.suffix.lower() != ".html" or target.is_dir() or not target.parent.is_dir():
            raise InputError(f"write_check_page: {target} must be a file that ends in .html, in a folder that exists")
        rows = "".join(
            f"<tr><td>{k}</td><td>{full:.6g}</td><td>{f:.6g}</td><td>{mac:.4f}</td></tr>"
            for k, (full, f, mac) in enumerate(self.rows, 1)
        )
        facts = "".join(f"<p>{escape(line)}</p>" for line in self._facts())
        head = "<tr><th>mode</th><th>full [Hz]</th><th>reduced [Hz]</th><th>MAC</th></tr>"
        text = (
            f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Imported body</title>'
            f"<style>{STYLE}</style></head>"
            f"<body><h1>Imported body</h1>{facts}<table>{head}{rows}</table><h2>Modal assurance criterion</h2>{self.picture()}"
            "</body></html>\n"
        )
        write_whole({target: text.encode()})
        return target

    def picture(self) -> str:
        """The modal assurance criterion as SVG: a row per reduced mode, a column per mode of the matrices, dark is alike."""
        shown = self.mac[:, : len(self.frequency) + EXTRA_MODES]
        n, m = shown.shape
        parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{60 + CELL * m}" height="{50 + CELL * n}" role="img">']
        parts.append('<text x="60" y="12">modes of the matrices</text><text x="2" y="42">reduced</text>')
        for j in range(m):
            parts.append(f'<text x="{60 + CELL * j + 4}" y="28">{j + 1}</text>')
        for i in range(n):
            parts.append(f'<text x="40" y="{35 + CELL * i + 15}">{i + 1}</text>')
            for j in range(m):
                shade = round(255 * (1 - min(1.0, float(shown[i, j]))))
                parts.append(
                    f'<rect x="{60 + CELL * j}" y="{35 + CELL * i}" width="{CELL}" height="{CELL}" stroke="#999" '
                    f'fill="rgb({shade},{shade},{shade})"><title>{i + 1} / {j + 1}: {shown[i, j]:.4f}</title></rect>'
                )
        return "".join([*parts, "</svg>"])


def full_modes(mass: sparse.csr_matrix, stiffness: sparse.csr_matrix, R: Array, count: int) -> tuple[Array, Array]:
    """Frequencies [Hz] and mass-normalised shapes of the matrices behind their rigid motions, at least `count` or all.

    Args:
        R: (n, r) the rigid motions without energy.

    Degrees of freedom without inertia (lumped masses, rotations of shells) follow the others statically.
    """
    from flexapod.flexible.normal_modes import all_modes, normal_modes

    M, K = sparse.csc_array(mass), sparse.csc_array(stiffness)
    heavy = int(np.count_nonzero(M.diagonal() > 0.0))
    found = _massive_modes(M, K, R.shape[1], count) if heavy == M.shape[0] else None
    if found is None:
        few = M.shape[0] > DENSE // 3 and count <= heavy // 3
        found = normal_modes(K, M, R, count, EXTRA_MODES) if few else all_modes(K, M, R)
    value, V = found
    return np.sqrt(np.clip(value, 0, None)) / (2 * np.pi), V


def _massive_modes(M: Sparse, K: Sparse, rigid: int, count: int) -> tuple[Array, Array] | None:
    """omega^2 and shapes of a mass without zeros on its diagonal; None where it is singular (masses off their nodes)."""
    from scipy.linalg import LinAlgError, eigh
    from scipy.sparse.linalg import eigsh

    if M.shape[0] <= DENSE:
        inside = M.toarray()
        size = 1.0 / np.sqrt(np.diag(inside))
        if np.linalg.eigvalsh(size[:, None] * inside * size)[0] <= NO_INERTIA:
            return None
        try:
            value, V = eigh(K.toarray(), inside)
        except LinAlgError:
            return None
    else:
        value, V = eigsh(K, k=min(rigid + count + EXTRA_MODES, M.shape[0] - 1), M=M, sigma=-SHIFT, v0=np.ones(M.shape[0]))
        order = np.argsort(value)
        value, V = value[order], V[:, order]
    return value[rigid:], V[:, rigid:]


def checked(
    body: FlexibleBody, M: sparse.csr_matrix, K: sparse.csr_matrix, width: int, R: Array, notes: tuple[str, ...]
) -> ImportedBody:
    """Frequencies before and after, and the modal assurance criterion weighted by the mass; R: rigid motions without energy."""
    from scipy.linalg import eigh

    full, V = full_modes(M, K, R, len(body.names))
    value, Q = eigh(np.asarray(body.K_ee), np.asarray(body.M_ee))
    picture = body.nodes
    assert picture is not None
    parts = [picture.Phi_d, *([picture.Phi_r] if width == 6 and picture.Phi_r is not None else [])]
    Phi = np.concatenate(parts, axis=1).reshape(-1, len(value)) @ Q
    own = np.einsum("ik,ik->k", Phi, M @ Phi)
    return ImportedBody(body=body, frequency=np.sqrt(np.clip(value, 0, None)) / (2 * np.pi), full_frequency=full,
                        mac=(Phi.T @ (M @ V)) ** 2 / own[:, None], notes=notes)  # fmt: skip
