"""Loop files of public collections of parallel robots in URDF: pairs of links that coincide.

Their form, with links that fixed joints put where a loop closes: ``closed_loop: [[link, link], ...]``; ``type: ["3d", ...]``;
6d (position and rotation) is the usual one, 3d the position alone; ``name_mot: [joint, ...]``, the actuated joints.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from flexapod.bridges.imported import ImportedModelError

TYPES = {"3d": "spherical", "6d": "fixed"}
GRAVITY = [0.0, 0.0, -9.81]
"""Gravity [m/s^2], which the form does not state: tools that read it take z upwards."""


def loop_document(extra: dict[str, Any], file: Path) -> dict[str, Any]:
    """Document of loops in the form of our own files, from one with pairs of links; other documents as they are.

    Checked by: tests/bridges/test_urdf.py.
    """
    if "closed_loop" not in extra:
        return extra
    pairs = extra["closed_loop"] or []
    types = [str(kind).lower() for kind in extra.get("type") or ["6d"] * len(pairs)]
    if len(types) != len(pairs) or any(not isinstance(pair, list) or len(pair) != 2 for pair in pairs):
        raise ImportedModelError(f"{file}: closed_loop needs pairs of links and one type for each, 3d or 6d")
    unknown = next((kind for kind in types if kind not in TYPES), None)
    if unknown is not None:
        raise ImportedModelError(f"{file}: a pair of closed_loop has the type {unknown!r}; types: {', '.join(TYPES)}")
    changed = [name for name, kind in zip(extra.get("joint_name") or [], extra.get("joint_type") or [], strict=False)
               if str(kind).upper() != "FIXED"]  # fmt: skip
    if changed:
        raise ImportedModelError(
            f"{file}: joint_type gives {changed[0]!r} another type than the URDF; write three hinges there"
        )
    here: dict[str, Any] = {"xyz": [0.0, 0.0, 0.0]}
    loops = [
        {"name": f"{first}-{second}", "type": TYPES[kind], "link1": first, "at1": here, "link2": second, "at2": here}
        for (first, second), kind in zip(pairs, types, strict=True)
    ]
    remarks = (
        [] if "gravity" in extra else [f"{file.name} gives no gravity: {GRAVITY} m/s^2 is taken; write another as `gravity`"]
    )
    return {"gravity": extra.get("gravity", GRAVITY), "actuated": extra.get("name_mot") or [], "loops": loops,
            "home": extra.get("home") or {}, "remarks": remarks}  # fmt: skip
