"""The state of a studio as a part of an address, and back: robot, changed parameters, pose, motion with its moment, camera.

A link holds numbers and names only. Robots are those of the catalogue, or the one that the studio shows: a link opens no file.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Required, TypedDict
from urllib.parse import parse_qs, urlencode

import numpy as np

import flexapod as fp

if TYPE_CHECKING:
    import viser

    from flexapod.views.studio.app import Studio

LONGEST = 8000
"""Longest state that is read [characters]."""


class LinkState(TypedDict, total=False):
    """State in an address: robot, its changes, coordinates, motion with its factor on time, place and moment [s], camera."""

    robot: Required[str]
    changes: list[str]
    values: list[float]
    motion: str
    slowed: float
    place: bool
    time: float
    camera: list[list[float]]


def link_query(studio: Studio, client: viser.ClientHandle | None = None) -> str:
    """`state=...`, the part of the address behind the question mark.

    Checked by: tests/studio/test_studio_view.py.
    """
    session, timeline = studio.session, studio.motion.timeline
    found: LinkState = {
        "robot": session.robot.name,
        "changes": list(session.variant.changes),
        "values": [round(v, 9) for v in session.values],
    }
    if timeline.recording is not None and timeline.recording.kind == "motion" and timeline.shows:
        name, slowed, home = studio.motion.asked()
        if name == timeline.recording.name:
            found |= {"motion": name, "slowed": slowed, "place": home, "time": round(float(timeline.scrub.value), 4)}
    if client is not None:
        camera = client.camera
        found["camera"] = [[round(float(x), 5) for x in v] for v in (camera.position, camera.look_at, camera.up_direction)]
    return urlencode({"state": json.dumps(found, separators=(",", ":"))})


def read_state(query: str) -> LinkState | None:
    """The state in an address, checked; None where there is none or it is broken."""
    try:
        text = parse_qs(query, max_num_fields=4).get("state", [""])[0]
        state: LinkState | None = json.loads(text) if 0 < len(text) <= LONGEST else None
        known = set(LinkState.__annotations__)
        if not isinstance(state, dict) or not set(state) <= known or not isinstance(state.get("robot"), str):
            return None
        values, camera = (
            np.array(state.get("values", []), dtype=float),
            np.array(state.get("camera", np.zeros((3, 3))), dtype=float),
        )
        numbers = [float(state.get("slowed", 1.0)), float(state.get("time", 1.0))]
        if not all(isinstance(c, str) for c in state.get("changes", [])) or camera.shape != (3, 3) or values.ndim != 1:
            return None
        return state if np.isfinite([*values, *camera.ravel(), *numbers]).all() else None
    except (ValueError, TypeError, OverflowError, RecursionError):
        return None


def restore(studio: Studio, state: LinkState) -> None:
    """Show the state of a link; what it asks for is done step by step as jobs end."""
    name = state["robot"]
    if studio.entered and studio.session.robot.name == name:
        _apply(studio, state)
        return
    if name not in fp.catalogue():
        raise fp.InputError(f"link: {name[:60]!r} is neither shown nor in the catalogue; open its file first, then the link")
    studio.open(name)
    studio.after_opening = lambda: _apply(studio, state)


def _apply(studio: Studio, state: LinkState) -> None:
    from flexapod.views.commands.options import value_of

    session = studio.session
    while session.can_undo:
        session.undo()
    for text in state.get("changes", []):
        path, _, value = text.partition(" = ")
        studio.varied(lambda path=path, value=value: session.change(path, value_of(value)), text)  # type: ignore[misc]
    if state.get("values"):
        studio.moved(lambda: session.move(state["values"]))
    if "camera" in state:
        position, look_at, up = state["camera"]
        studio.scene.place_cameras(position, look_at, up)
    if "motion" in state:
        studio.motion.ask(
            state["motion"], float(state.get("slowed", 1.0)), bool(state.get("place", True)), float(state.get("time", 0.0))
        )
    studio.say(f"{session.robot.name}: state of the link restored")
