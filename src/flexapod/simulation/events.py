"""Events of a simulation: at a time or when a condition is met, the simulation stops, a payload changes, an actuator fails."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from flexapod.calls import CHECKS, check_flag, check_number, check_texts, made, refuse_kind
from flexapod.errors import InputError


@made
@dataclass(frozen=True, kw_only=True, eq=False)
class Event:
    """Something that happens in a simulation, once.

    Args:
        time: when [s]; or
        when: a function of a dictionary of arrays over moments (`time`, `position`, `rotation`, `velocity`,
            `angular_velocity`, `actuator_position`, `actuator_velocity`; with a flexible platform `elastic`,
            `elastic_velocity`) whose value (n,) rises through zero at the event.
        parameters: of the robot file, changed from then on, e.g. ``{"platform.mass": 70}`` for a payload.
        fails: actuators without force from then on.
        stop: end the simulation there.
        name: shown in the result.
    """

    time: float | None = None
    when: Callable[[Mapping[str, Any]], Any] | None = None
    parameters: Mapping[str, Any] | None = None
    fails: tuple[str, ...] | str = ()
    stop: bool = False
    name: str = ""

    def __post_init__(self) -> None:
        check_number("time", self.time)
        check_flag("stop", self.stop)
        if self.when is not None and not callable(self.when):
            raise InputError(f"when: expected a function of the state, got {type(self.when).__name__}")
        if self.parameters is not None and not isinstance(self.parameters, Mapping):
            raise InputError(f"parameters: expected a mapping of paths to values, got {type(self.parameters).__name__}")
        if not isinstance(self.fails, str):
            check_texts("fails", self.fails)
        if (self.time is None) == (self.when is None):
            raise InputError("event: give either a time or a condition `when`")
        if not (self.parameters or self.fails or self.stop):
            raise InputError("event: has no effect; give parameters, fails or stop=True")

    @property
    def failing(self) -> tuple[str, ...]:
        """Names of the actuators that fail."""
        return (self.fails,) if isinstance(self.fails, str) else tuple(self.fails)

    @property
    def label(self) -> str:
        """A short text of what happens."""
        parts = [f"{k} = {v}" for k, v in (self.parameters or {}).items()] + [f"actuator {a} fails" for a in self.failing]
        return self.name or "; ".join(parts + (["stop"] if self.stop else []))


def check_events(name: str, value: object) -> None:
    """Refuse what is not a list of events."""
    if not isinstance(value, Sequence) or any(not isinstance(event, Event) for event in value):
        refuse_kind(name, "a list of Events", value)


CHECKS["events"] = check_events
