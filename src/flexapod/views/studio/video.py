"""A video of what is seen, recorded by the page itself: MP4 where its browser writes that, else WebM."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import flexapod as fp

if TYPE_CHECKING:
    from flexapod.views.studio.app import Studio

SECONDS = 5.0
"""Length of a video where no motion is loaded [s]."""
LONGEST = 60.0
"""Longest video [s]."""


def record_video(studio: Studio, client: Any) -> float:
    """Record the page of one client: the motion of the timeline from its start, or some seconds of what is seen.

    Returns:
        its length [s].

    Checked by: tests/studio/test_studio_view.py.
    """
    from flexapod.views.studio.viser_private import run_script

    if client is None:
        raise fp.InputError("video: a page has to ask for it")
    timeline = studio.motion.timeline
    seconds, name = SECONDS, studio.session.robot.name
    if timeline.recording is not None:
        seconds = min(timeline.recording.duration / float(timeline.speed.value), LONGEST)
        name = f"{name}-{timeline.recording.name}".replace(" ", "-")
        timeline.scrubbed(0.0)
        timeline.toggle()
    run_script(client, f"window.flexapodRecord && window.flexapodRecord({seconds:.3f}, {json.dumps(name)});")
    studio.say(f"recording {seconds:.1f} s of what is seen; the file is saved by the browser", "busy")
    return seconds
