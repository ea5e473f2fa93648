"""Tab `Pose`: one slider per coordinate of the robot, and the way back home."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flexapod.views.output import number
from flexapod.views.studio.panel import Asked, Panel

if TYPE_CHECKING:
    import viser

DIGITS = 4
"""Digits after the point of every slider."""


class PosePanel(Panel):
    """Sliders within reach."""

    def build(self) -> None:
        """Make the widgets that every robot has; sliders come with the robot."""
        self.sliders: list[Any] = []
        self.folder = self.gui.add_folder("Platform")
        self.on(self.gui.add_button("Home"), lambda _: self.studio.moved(self.studio.session.home))
        self.handle = self.on(
            self.gui.add_checkbox("Handle to drag", True, hint="arrows and rings at the platform"),
            lambda event: self.studio.scene.show_handles(event.value),
        )

        self.pull = self.on(
            self.gui.add_checkbox("Force on the platform", False, hint="drag the black arrow's handle, or type the force"),
            lambda event: self._force_shown(bool(event.value)),
        )
        self.force = self.on(
            self.gui.add_vector3("Force [N]", (0.0, 0.0, 0.0), step=1.0, visible=False, hint="at the origin, world axes"),
            lambda event: self.studio.pushed(event.value),
        )

    def _force_shown(self, shown: bool) -> None:
        """The handle of the force; without it there is no force."""
        scene, session = self.studio.scene, self.studio.session
        self.force.visible = shown
        if scene.force is not None:
            scene.force.shown = shown
        self.studio.pushed(session.force if shown and session.force else (0.0, 0.0, 0.0))

    def new_robot(self) -> None:
        """Sliders of this robot's coordinates: those that are there are used again, none is ever removed."""
        coordinates = self.studio.session.coordinates
        self.folder.label = "Platform" if coordinates.kind == "pose" else "Actuators"
        for k, item in enumerate(coordinates.items):
            label, home = f"{item.name} [{item.unit}]", min(max(item.home, item.low), item.high)
            if k < len(self.sliders):
                slider = self.sliders[k]
                slider.label, slider.min, slider.max, slider.step, slider.visible = label, item.low, item.high, item.step, True
                continue
            with self.folder:
                slider = self.gui.add_slider(label, min=item.low, max=item.high, step=item.step, initial_value=home, marks=())
            slider.precision = DIGITS
            self._report_beyond(k, slider)
            self.sliders.append(self.on(slider, lambda event, k=k: self._moved(k, event)))  # type: ignore[misc]
        for slider in self.sliders[len(coordinates.items) :]:
            slider.visible = False

    def _report_beyond(self, k: int, slider: viser.GuiSliderHandle[float]) -> None:
        """A value beyond the slider, typed into its box, is reported: the page itself then sends the end of the range."""

        def report(given: float) -> None:
            if k < len(self.studio.session.coordinates.items):
                item = self.studio.session.coordinates.items[k]
                ends = f"{number(item.low)} to {number(item.high)} {item.unit}"
                text = f"{item.name} = {number(given)} {item.unit} is beyond its slider ({ends}): moved to its end"
                self.studio.say(text, "bad")

        async def looked(event: viser.GuiEvent[viser.GuiSliderHandle[float]]) -> None:
            given = float(event.target.value)
            if event.client is not None and not event.target.min <= given <= event.target.max:
                self.studio.loop.post(f"beyond {k}", lambda: report(given))

        slider.on_update(looked)

    def _moved(self, k: int, event: Asked) -> None:
        items = self.studio.session.coordinates.items
        if k >= len(items):
            return
        item = items[k]
        value = min(max(float(event.value), item.low), item.high)
        self.studio.moved(lambda: self.studio.session.move_one(item.name, value), source=item.name)

    def refresh(self) -> None:
        """Sliders where the session is."""
        session = self.studio.session
        if session.force or any(self.force.value):
            self.force.value = tuple(round(x, 6) for x in session.force) or (0.0, 0.0, 0.0)
        for slider, item, value in zip(self.sliders, session.coordinates.items, session.values, strict=False):
            if item.name != self.studio.source:
                slider.value = round(min(max(value, item.low), item.high), 9)
