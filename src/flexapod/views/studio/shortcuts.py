"""Keys of the studio. They are commands of the page's palette (Ctrl-K), and listed on a sheet that `?` opens."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import viser

    from flexapod.views.studio.app import Studio
    from flexapod.views.studio.viser_private import HotkeyKey


def add_shortcuts(studio: Studio) -> list[viser.CommandHandle]:
    """Register the keys: view, home, play, worst moment, handles."""
    timeline = studio.motion.timeline
    keys: list[tuple[HotkeyKey, str, str, Callable[[], object]]] = [
        ("F", "Fit the view", "the whole robot, from a little above", lambda: studio.scene.look("fit")),
        ("T", "View from the top", "against gravity", lambda: studio.scene.look("top")),
        ("R", "View from the right", "a side view", lambda: studio.scene.look("side")),
        ("G", "View from the front", "a front view", lambda: studio.scene.look("front")),
        ("H", "Home", "the robot back to its home pose", lambda: studio.moved(studio.session.home)),
        ("P", "Play or pause", "the motion of the timeline", timeline.toggle),
        ("J", "Jump to the worst moment", "where a limit is exceeded most, or nearest", timeline.jump),
        (
            "O",
            "Orthographic view",
            "or central projection again",
            lambda: studio.view_panel.set_parallel(not studio.scene.parallel),
        ),
        (
            "L",
            "Projector theme",
            "large letters for a lecture, or small ones again",
            lambda: studio.view_panel.set_theme("screen" if studio.theme == "projector" else "projector"),
        ),
        ("X", "Handle to drag", "show or hide it", lambda: studio.scene.show_handles(not studio.scene.handles_shown)),
    ]
    studio.keys.content = sheet_html([(key, label, text) for key, label, text, _ in keys])
    return [_added(studio, *key) for key in keys]


def sheet_html(keys: list[tuple[str, str, str]]) -> str:
    """The sheet of keys; the page's script shows it when `?` is pressed."""
    more = [("?", "This sheet", "Escape closes it"), ("Ctrl-K", "All commands", "search them by name")]
    rows = "".join(
        f"<div><kbd>{escape(key)}</kbd><b>{escape(label)}</b>: {escape(text)}</div>" for key, label, text in [*keys, *more]
    )
    mouse = "left button: rotate; right button: shift; wheel: zoom; click a leg: its row and curves light up"
    head, last = "<h3 style='margin:0 0 .4em'>Keys</h3>", f"<div style='margin-top:.6em'>{mouse}</div>"
    return f"<div id='keys-source' hidden>{head}{rows}{last}</div>"


def _added(studio: Studio, key: HotkeyKey, label: str, text: str, action: Callable[[], object]) -> viser.CommandHandle:
    command: viser.CommandHandle = studio.server.gui.add_command(label, description=text, hotkey=key)

    async def triggered(_: object) -> None:
        studio.loop.post(f"key {key}", lambda: action() if studio.entered else None)

    command.on_trigger(triggered)
    return command
