"""Keys of the studio. They are commands of the page's palette, which is their sheet: Ctrl-K lists them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from flexapod.views.studio.app import Studio


def add_shortcuts(studio: Studio) -> list[Any]:
    """Register the keys: view, home, play, worst moment, handles."""
    timeline = studio.motion.timeline
    keys: list[tuple[str, str, str, Callable[[], Any]]] = [
        ("F", "Fit the view", "the whole robot, from a little above", lambda: studio.scene.look("fit")),
        ("T", "View from the top", "against gravity", lambda: studio.scene.look("top")),
        ("R", "View from the right", "a side view", lambda: studio.scene.look("side")),
        ("G", "View from the front", "a front view", lambda: studio.scene.look("front")),
        ("H", "Home", "the robot back to its home pose", lambda: studio.moved(studio.session.home)),
        ("P", "Play or pause", "the motion of the timeline", timeline.toggle),
        ("J", "Jump to the worst moment", "where a limit is exceeded most, or nearest", timeline.jump),
        ("X", "Handle to drag", "show or hide it", lambda: studio.scene.show_handles(not studio.scene.handles_shown)),
    ]
    return [_added(studio, *key) for key in keys]


def _added(studio: Studio, key: Any, label: str, text: str, action: Callable[[], Any]) -> Any:
    command = studio.server.gui.add_command(label, description=text, hotkey=key)

    async def triggered(_: Any) -> None:
        studio.loop.post(f"key {key}", lambda: action() if studio.entered else None)

    command.on_trigger(triggered)
    return command
