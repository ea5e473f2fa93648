"""Axial force of a linear modal link, relative to its lateral stiffness: the measure `axial_ratio` of `validity`.

K stiffness by the link's coordinates, l distance from root to tip, k stiffness across the line between them, all else free.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from flexapod.arrays import Array
from flexapod.robot.beams import ElasticElement


def axial_row(beam: ElasticElement, columns: list[int], N: int) -> Array | None:
    """Axial forces towards the tips of a linear body in modes over k l, (tips, N); None where no tip moves along its line.

    Checked by: tests/robot/test_modal_links.py.
    """
    if beam.rooted is None or beam.quadratic is not None:
        return None
    K, names, found = np.asarray(beam.body.K_ee), list(beam.body.names), []
    flexibility = np.linalg.inv(K)
    for k, (place, components) in enumerate(zip(beam.rooted.places, beam.rooted.components, strict=True)):
        at = [names.index(c if k == 0 else f"{k + 1}.{c}") for c in components if c in ("u", "v", "w")]
        along = np.array([place["uvw".index(c)] for c in components if c in ("u", "v", "w")]) / np.linalg.norm(place)
        if len(at) < 2 or np.linalg.norm(along) < 0.99:
            continue
        along = along / np.linalg.norm(along)
        across = np.eye(len(at)) - np.outer(along, along)
        softest = float(np.linalg.eigvalsh(across @ flexibility[np.ix_(at, at)] @ across)[-1])
        row = np.zeros(N)
        row[columns] = along @ K[at] * softest / np.linalg.norm(place)
        found.append(row)
    return np.array(found) if found else None


def axial_ratios(rows: Sequence[Array | None], elastic: Array) -> Array:
    """Axial force by the stiffness across the tip times the length (n, parts), of elastic coordinates (n, N) and the rows of
    all parts; NaN for parts without.

    Checked by: tests/robot/test_modal_links.py.
    """
    none = np.full(len(elastic), np.nan)
    columns = [none if row is None else np.abs(elastic @ row.T).max(axis=1) for row in rows]
    return np.stack(columns, axis=1) if columns else np.zeros((len(elastic), 0))
