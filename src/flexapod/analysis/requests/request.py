"""A request to a verb: one value with all its arguments, read by every stage."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from flexapod.analysis.requests.results import OnError

if TYPE_CHECKING:
    from flexapod.analysis.requests.state import StateOrMotion

Load = tuple[ArrayLike | None, str | None, str]
NO_LOAD: Load = (None, None, "world")
Elastic = tuple[ArrayLike | None, ArrayLike | None, ArrayLike | None]


@dataclass(frozen=True, kw_only=True, eq=False)
class Request:
    """A call of a verb; a field that a verb does not have keeps its default.

    Args:
        at: `Motion`, `ActuatorMotion` or `State`s.
        force: (actuators,) or (n, actuators) [N or N m].
        wrench, point, axes: external load, where it acts and in which axes it is given.
        friction, reactions, formulation, legs, contributions, spin: as for `inverse_dynamics`.
        weights, preload: choice among the forces of redundant actuators, as for `inverse_dynamics`.
        elastic, elastic_velocity, elastic_acceleration: arrays, or how they are chosen.
        coordinates: of a mass matrix or generalized force.
        joints, bodies: what inverse kinematics returns besides the actuators.
        sequence, prestress: as for `static_deflection` and `natural_frequencies`.
        point_name: the point whose motion is wanted.
        on_error: ``"raise"`` or ``"mask"``.
    """

    at: Any
    force: Any = None
    wrench: Any = None
    point: str | None = None
    axes: str = "world"
    friction: bool = True
    reactions: bool = False
    formulation: str = "auto"
    legs: str = "full"
    contributions: str | None = None
    spin: str = "exact"
    weights: Any = None
    preload: Any = None
    elastic: Any = None
    elastic_velocity: Any = None
    elastic_acceleration: Any = None
    coordinates: str = "platform"
    joints: bool = True
    bodies: bool = False
    sequence: bool = False
    prestress: bool = True
    point_name: str = "platform"
    on_error: OnError = "raise"

    def with_state(self, at: StateOrMotion, elastic: ArrayLike | None) -> Request:
        """The same load on other states, without friction; elastic coordinates given or chosen, without rates."""
        return Request(at=at, elastic=elastic, wrench=self.wrench, point=self.point, axes=self.axes, friction=False)

    @property
    def load(self) -> Load:
        """Wrench, point and axes of the external load."""
        return self.wrench, self.point, self.axes

    @property
    def given(self) -> Elastic:
        """Elastic coordinates, rates and accelerations, as they were given."""
        return self.elastic, self.elastic_velocity, self.elastic_acceleration

    @property
    def options(self) -> Mapping[str, Any]:
        """The fields by name."""
        return self.__dict__
