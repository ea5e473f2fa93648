"""Tab `Pose`: one slider per coordinate of the robot, and the way back home."""

from __future__ import annotations

from typing import Any

from flexapod.views.studio.panel import Panel


class PosePanel(Panel):
    """Sliders within reach."""

    def build(self) -> None:
        """Make the widgets that every robot has; sliders come with the robot."""
        self.sliders: dict[str, Any] = {}
        self.folder = self.gui.add_folder("Platform")
        self.on(self.gui.add_button("Home"), lambda _: self.studio.moved(self.studio.session.home))
        self.handle = self.on(
            self.gui.add_checkbox("Handle to drag", True, hint="arrows and rings at the platform"),
            lambda event: setattr(self.studio.scene.handle, "visible", event.target.value),
        )

    def new_robot(self) -> None:
        """Sliders of this robot's coordinates; kept where a variant has the same ones."""
        coordinates = self.studio.session.coordinates
        ranges = {item.name: (item.low, item.high, item.unit) for item in coordinates.items}
        if ranges == getattr(self, "_ranges", None):
            return
        self._ranges = ranges
        for slider in self.sliders.values():
            slider.remove()
        self.folder.label = "Platform" if coordinates.kind == "pose" else "Actuators"
        with self.folder:
            self.sliders = {}
            for item in coordinates.items:
                slider = self.gui.add_slider(
                    f"{item.name} [{item.unit}]", min=item.low, max=item.high, step=item.step,
                    initial_value=min(max(item.home, item.low), item.high), marks=(),
                )  # fmt: skip
                self.sliders[item.name] = self.on(slider, lambda event, name=item.name: self._moved(name, event))  # type: ignore[misc]

    def _moved(self, name: str, event: Any) -> None:
        value = float(event.target.value)
        item = next(i for i in self.studio.session.coordinates.items if i.name == name)
        value = min(max(value, item.low), item.high)
        self.studio.moved(lambda: self.studio.session.move_one(name, value), source=name)

    def refresh(self) -> None:
        """Sliders where the session is."""
        session = self.studio.session
        for item, value in zip(session.coordinates.items, session.values, strict=True):
            if item.name != self.studio.source and item.name in self.sliders:
                self.sliders[item.name].value = round(min(max(value, item.low), item.high), 9)
