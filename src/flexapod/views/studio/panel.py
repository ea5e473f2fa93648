"""Base of the panels of the page: a widget's events become requests to the studio's thread."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    import viser

    from flexapod.views.studio.app import Studio

    Widget = viser.GuiInputHandle[Any] | viser.GuiButtonHandle | viser.GuiButtonGroupHandle | viser.GuiUploadButtonHandle

_count = itertools.count()
W = TypeVar("W", bound="Widget")


@dataclass(frozen=True, kw_only=True, eq=False)
class Asked:
    """Request of a person: from which page, by which widget, and its value then.

    The widget itself may have another value when the request is carried out: that of an earlier one, which ended meanwhile.
    """

    client: viser.ClientHandle
    target: Any
    value: Any


class Panel:
    """A tab of the page. Subclasses build their widgets once and refresh them from the session.

    Args:
        studio: whose session it shows.
        tab: container of the page.
    """

    def __init__(self, studio: Studio, tab: viser.GuiTabHandle) -> None:
        self.studio, self.tab, self.gui = studio, tab, studio.server.gui
        with tab:
            self.build()

    def build(self) -> None:
        """Make the widgets; inside the tab."""

    def new_robot(self) -> None:
        """Called when another robot, or another variant of it, is shown."""

    def refresh(self) -> None:
        """The numbers have changed."""

    def on(self, widget: W, action: Callable[[Asked], None], *, always: bool = False) -> W:
        """Run `action(asked)` in the studio's thread when a person uses the widget; the latest of several waits.

        Args:
            always: also before the first robot is there.
        """
        key = f"{type(self).__name__} {next(_count)}"

        def run(asked: Asked) -> None:
            if self.studio.entered or always:
                action(asked)
            else:
                self.studio.say("the robot is not ready yet", "busy")

        async def request(event: viser.GuiEvent[Any]) -> None:
            if event.client is not None:
                asked = Asked(client=event.client, target=event.target, value=getattr(event.target, "value", None))
                self.studio.loop.post(key, lambda: run(asked))

        register = next(getattr(widget, name) for name in ("on_upload", "on_click", "on_update") if hasattr(widget, name))
        register(request)
        return widget
