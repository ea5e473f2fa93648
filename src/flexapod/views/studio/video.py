"""Videos of what is seen: recorded by the page itself (MP4 where its browser can, else WebM), or picture by picture as GIF."""

from __future__ import annotations

import io
import json
import threading
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

import flexapod as fp

if TYPE_CHECKING:
    import viser
    from numpy.typing import ArrayLike, NDArray

    from flexapod.views.studio.app import Studio
    from flexapod.views.studio.jobs import JobReport

SECONDS = 5.0
"""Length of a video where no motion is loaded [s]."""
LONGEST = 60.0
"""Longest video [s]."""
WAITED = 60.0
"""Seconds that the page may take to draw a picture."""
RATE, MOST, WIDTH = 12.5, 150, 640
"""Pictures per second of a GIF, how many of them it has at most, and its width [pixels]."""


def record_video(studio: Studio, client: viser.ClientHandle) -> float:
    """Record the page of one client: the motion of the timeline from its start, or some seconds of what is seen.

    Returns:
        its length [s].

    Checked by: tests/studio/test_studio_view.py.
    """
    from flexapod.views.studio.viser_private import run_script

    if client is None:
        raise fp.InputError("video: can be recorded from the studio's page only; open it in a browser")
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


def save_gif(studio: Studio, client: viser.ClientHandle) -> None:
    """A GIF of the motion of the timeline, or of one cycle of the mode that is shown; the page draws it picture by picture.

    Checked by: tests/studio/test_studio_view.py.
    """
    if client is None:
        raise fp.InputError("GIF: can be recorded from the studio's page only; open it in a browser")
    name, moments, show = _gif_moments(studio)

    def work(report: JobReport) -> bytes:
        try:
            return gif_bytes(drawn(report), RATE)
        finally:
            studio.loop.post("GIF end", studio.modes.go_on)

    def drawn(report: JobReport) -> list[NDArray[np.uint8]]:
        pictures = []
        height = int(WIDTH * float(client.camera.image_height) / max(float(client.camera.image_width), 1.0))
        for k, moment in enumerate(moments):
            report(k / len(moments))
            if client.client_id not in studio.server.get_clients():
                raise fp.InputError("GIF: the page that asked for it was closed")
            _drawn(studio, partial(show, moment))
            pictures.append(client.get_render(height=height, width=WIDTH, transport_format="png", timeout=WAITED))
        return pictures

    def done(content: bytes) -> None:
        client.send_file_download(f"{name}.gif", content, save_immediately=True)
        studio.say(f"saved {name}.gif")

    studio.jobs.start("GIF", work, done)


def _gif_moments(studio: Studio) -> tuple[str, list[float], Callable[[float], Any]]:
    """Name of the file, moments [s] of its pictures, and what shows one of them."""
    timeline, modes, robot = studio.motion.timeline, studio.modes, studio.session.robot.name
    if timeline.recording is not None and timeline.shows:
        seconds = timeline.recording.duration / float(timeline.speed.value)
        count = int(min(max(seconds * RATE, 2), MOST))
        times = np.linspace(0.0, timeline.recording.duration, count)
        return f"{robot}-{timeline.recording.name}".replace(" ", "-"), [float(t) for t in times], timeline.scrubbed
    if modes.playing:
        count = int(min(max(RATE / float(modes.speed.value), 2), MOST))
        return f"{robot}-mode", [float(k) / count for k in range(count)], modes.show_phase
    raise fp.InputError("GIF: compute a motion or animate a mode first; a pose is saved by Save picture")


def _drawn(studio: Studio, show: Callable[[], object]) -> None:
    """Run an action in the studio's thread, and wait for it."""
    ready = threading.Event()

    def run() -> None:
        try:
            show()
        finally:
            ready.set()

    studio.loop.post("GIF picture", run)
    if not ready.wait(WAITED):
        raise fp.InputError("GIF: the studio was busy for too long; try again")


def gif_bytes(pictures: Sequence[ArrayLike], rate: float) -> bytes:
    """Pictures (height, width, 3 or 4) as a GIF that repeats, so many of them per second."""
    from PIL import Image

    kind = Image.Quantize.MAXCOVERAGE  # small parts, such as legs, keep their colours
    frames = [
        Image.fromarray(np.asarray(one)[..., :3]).quantize(256, kind, kmeans=1, dither=Image.Dither.NONE) for one in pictures
    ]
    stored = io.BytesIO()
    frames[0].save(stored, "GIF", save_all=True, append_images=frames[1:], duration=round(1000.0 / rate), loop=0)
    return stored.getvalue()
