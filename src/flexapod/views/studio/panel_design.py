"""Tab `Design`: change a parameter, undo, keep a variant and compare."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

import flexapod as fp
from flexapod.views.commands.options import value_of
from flexapod.views.studio.panel import Panel
from flexapod.views.studio.tables import STYLE

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

ALL = "all"
NAMES = {
    "limits": {"limits", "stroke", "angle", "sampling"},
    "elasticity": {"flexible", "stiffness", "young", "poisson", "section", "thickness", "damping", "elements", "rayleigh", "beam",
                   "springs", "density", "loss"},
    "friction": {"friction", "coulomb", "viscous"},
    "masses": {"mass", "inertia", "com", "m", "mx", "my", "mz", "payloads", "rotor", "gravity"},
}  # fmt: skip
"""Names in the path of a parameter, by group; what has none of them is geometry."""
GROUPS = (ALL, "geometry", *NAMES)
USUAL = ("platform.mass", "platform.flexible.thickness")
"""Parameters that are offered first, where a robot has one of them; else its first mass."""


class DesignPanel(Panel):
    """Parameters of the robot file and their history."""

    def build(self) -> None:
        """Make the widgets."""
        gui = self.gui
        self.search = self.on(
            gui.add_text(
                "Search", "", hint="parts of a name, its unit or meaning: `leg A mass`, `stiffness`; a click on a leg fills it"
            ),
            lambda _: self._listed(),
        )
        self.group = self.on(gui.add_dropdown("Group", GROUPS, initial_value=ALL), lambda _: self._listed())
        self.path = self.on(gui.add_dropdown("Parameter", ("-",), initial_value="-"), lambda _: self._chosen())
        self.about = gui.add_html("")
        self.text: Any = gui.add_text("Value", "", hint="a number in SI units, numbers between commas, or with a unit: 60 kg")
        self.on(gui.add_button("Apply"), lambda _: self._apply(value_of(self.text.value.strip())))
        self.factor = self.on(
            gui.add_slider("Scale", 0.2, 3.0, 0.01, 1.0, marks=(), hint="factor on the present value; applied on release"),
            lambda event: self._scale(float(event.value)),
        )
        with gui.add_folder("History"):
            self.history = gui.add_html("")
            self.undo, self.redo = gui.add_button("Undo", disabled=True), gui.add_button("Redo", disabled=True)
            self.on(self.undo, lambda _: self._step(self.studio.session.undo, "undone"))
            self.on(self.redo, lambda _: self._step(self.studio.session.redo, "done again"))
        with gui.add_folder("Compare"):
            keep = gui.add_button("Keep this variant", hint="draw it in grey next to the variants that follow")
            self.on(keep, lambda _: self._keep())
            self.overlay = self.on(
                gui.add_checkbox("Overlaid", False, hint="draw both variants at the same place instead of side by side"),
                lambda event: self._overlaid(bool(event.value)),
            )
            self.drop = self.on(gui.add_button("Discard the kept variant", disabled=True), lambda _: self._drop())
        self._robot_name, self._base = "", (0, 1.0)

    def new_robot(self) -> None:
        """Parameters of this robot; the choice stays where it can."""
        session = self.studio.session
        self._listed(report=False)
        self._chosen(reset=session.current != self._base[0])
        label = session.variant.changes
        rows = "<br>".join(escape(text) for text in label) or "as in its file"
        kept = "" if session.kept is None else f"<br><span class='muted'>kept: {escape(session.kept.label)}</span>"
        where = f"variant {session.current + 1} of {len(session.variants)}"
        self.history.content = f"{STYLE}<div class='fp' id='history'><span class='muted'>{where}</span><br>{rows}{kept}</div>"
        self.undo.disabled, self.redo.disabled = not session.can_undo, not session.can_redo
        self.drop.disabled = session.kept is None

    def offer(self, part: str) -> None:
        """List the numbers of a part that was clicked."""
        own = matching(self.studio.session.robot, part, ALL)
        self.search.value, self.group.value = part if own else "", ALL
        self._listed()

    def _listed(self, report: bool = True) -> None:
        """Parameters that the search and the group leave; all where nothing is found."""
        robot = self.studio.session.robot
        found = matching(robot, self.search.value, self.group.value)
        if not found:
            self.studio.say(f"no parameter of {robot.name} has {self.search.value[:60]!r}; all are listed", "bad")
        paths = found or tuple(robot.parameters)
        if tuple(self.path.options) != paths:
            chosen = self.path.value if self.path.value in paths else _first(paths)
            self.path.options = paths
            self.path.value = chosen
            if report:
                self._chosen()

    def _chosen(self, reset: bool = True) -> None:
        """Show the parameter's value, unit and meaning."""
        robot, path = self.studio.session.robot, self.path.value
        info = robot.parameters.get(path)
        if info is None:
            return
        unit = f" [{escape(info.unit)}]" if info.unit else ""
        self.about.content = f"{STYLE}<div class='fp muted' id='parameter'>{escape(info.doc)}{unit}</div>"
        self.text.value = self.studio.session.robot_value(robot, path)
        if reset:
            value = robot.parameter(path)
            scalar = isinstance(value, float | int) and value != 0
            self._base = (self.studio.session.current, float(value) if scalar else 1.0)  # type: ignore[arg-type]
            self.factor.disabled = not scalar
            self.factor.value = 1.0

    def _apply(self, value: ArrayLike) -> None:
        path, session = self.path.value, self.studio.session
        shown = np.ravel(np.array(value, dtype=object))
        if len(shown) == 0 or str(value) == "":
            self.studio.say(f"{path}: give a value", "bad")
            return
        self._base = (session.current + 1, self._base[1])
        self.studio.varied(lambda: session.change(path, value), f"{path} = {self.text.value}")
        self._chosen()

    def _scale(self, factor: float) -> None:
        """Scale the value that was there when the parameter was chosen; steps of one drag are one step of the history."""
        session, path = self.studio.session, self.path.value
        first, base = self._base
        value = base * factor
        if session.current == first + 1 and session.variant.changes and session.variant.changes[-1].startswith(f"{path} = "):
            session.variants = session.variants[: first + 1]
            session.current = first
        self.studio.varied(lambda: session.change(path, value), f"{path} = {value:.6g}")
        self._base = (first, base)
        self.text.value = f"{value:.6g}"

    def _step(self, step: Callable[[], object], word: str) -> None:
        self.studio.varied(step, f"{word}: {self.studio.session.variants[self.studio.session.current].label}")
        self.studio.say(f"{word}; now {self.studio.session.variant.label}")
        self._chosen()

    def _keep(self) -> None:
        self.studio.varied(self.studio.session.keep, "kept; change a parameter to compare")

    def _overlaid(self, wanted: bool) -> None:
        """Draw the kept variant in the same place, or beside."""
        self.studio.scene.overlaid = wanted
        if self.studio.session.kept is not None:
            self.studio.varied(self.studio.session.evaluate, "variants overlaid" if wanted else "variants side by side")

    def _drop(self) -> None:
        self.studio.varied(self.studio.session.drop, "one variant again")


def matching(robot: fp.Robot, search: str, group: str) -> tuple[str, ...]:
    """Paths of parameters whose name, unit or meaning has every word of a search, in one group of `GROUPS`.

    Checked by: tests/studio/test_studio_design.py.
    """
    parts_of_search = [word for word in search.lower().replace(",", " ").split() if word not in ("leg", "legs")]
    found = []
    for path, info in robot.parameters.items():
        parts, text = path.lower().split("."), f"{path} {info.unit or ''} {info.doc}".lower()
        if (group == ALL or group_of(path) == group) and all(
            word in parts or (len(word) > 1 and word in text) for word in parts_of_search
        ):
            found.append(path)
    return tuple(found)


def group_of(path: str) -> str:
    """The group of a parameter by the names in its path."""
    names = set(path.lower().split("."))
    for group, own in NAMES.items():
        if names & own or any(name.startswith(tuple(own)) for name in names):
            return group
    return "geometry"


def _first(paths: tuple[str, ...]) -> str:
    """The parameter that is offered first."""
    masses = [path for path in paths if path.endswith((".mass", ".M"))]
    return next((path for path in (*USUAL, *masses) if path in paths), paths[0])
