"""`State`: the pose and twist of the platform at one moment, or a batch of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from flexapod.analysis.requests.request import Request
from flexapod.arrays import Array, given_array
from flexapod.calls import checked, made
from flexapod.errors import InputError
from flexapod.motions.argument_checks import real_array, rotations
from flexapod.motions.motion import ActuatorMotion, Motion, with_start

if TYPE_CHECKING:
    import xarray as xr

    from flexapod.robot.robot import Robot


@made
@dataclass(frozen=True, kw_only=True, eq=False)
class State:
    """State of the platform; at rest where twist is left out.

    Args:
        position: (3,) or (n, 3) platform frame origin in the world [m].
        rotation: (3, 3) or (n, 3, 3) world-from-platform; the identity if left out.
        velocity, angular_velocity: like position, world axes [m/s, rad/s]; zero if left out.
        elastic, elastic_velocity: (N,) or (n, N) coordinates of a flexible robot and their rates, in the order of
            `robot.elastic_names`; rates are zero where only `elastic` is given. Left out, verbs choose (quasi-static).
    """

    position: Array
    rotation: Array
    velocity: Array
    angular_velocity: Array
    elastic: Array | None
    elastic_velocity: Array | None

    def __init__(
        self,
        *,
        position: ArrayLike,
        rotation: ArrayLike | None = None,
        velocity: ArrayLike | None = None,
        angular_velocity: ArrayLike | None = None,
        elastic: ArrayLike | None = None,
        elastic_velocity: ArrayLike | None = None,
    ) -> None:
        shape = given_array("position", position, "numbers of shape (3,) or (n, 3)").shape
        if shape != (3,) and (len(shape) != 2 or shape[1] != 3):
            raise InputError(f"position: expected shape (3,) or (n, 3), got {shape}")
        batch = shape[:-1]
        object.__setattr__(self, "position", real_array("position", position, shape))
        rotated = np.broadcast_to(np.eye(3), (*batch, 3, 3)) if rotation is None else rotation
        object.__setattr__(self, "rotation", rotations("rotation", rotated, (*batch, 3, 3)))
        for name, value in (("velocity", velocity), ("angular_velocity", angular_velocity)):
            array = np.zeros(shape) if value is None else real_array(name, value, shape)
            object.__setattr__(self, name, array)
        self._set_elastic(elastic, elastic_velocity, batch)

    def _set_elastic(self, elastic: ArrayLike | None, rate: ArrayLike | None, batch: tuple[int, ...]) -> None:
        """Coordinates and rates of equal shape, or none of both."""
        if elastic is None and rate is not None:
            raise InputError("elastic_velocity: give elastic as well, the coordinates that these are the rates of")
        coordinates = None
        if elastic is not None:
            size = np.shape(elastic)[-1:] or (0,)
            coordinates = real_array("elastic", elastic, (*batch, *size))
        rates = None if coordinates is None else np.zeros_like(coordinates)
        if coordinates is not None and rate is not None:
            rates = real_array("elastic_velocity", rate, coordinates.shape)
        object.__setattr__(self, "elastic", coordinates)
        object.__setattr__(self, "elastic_velocity", rates)

    @staticmethod
    def at_home(robot: Robot) -> State:
        """The robot at home, at rest.

        Checked by: tests/analysis/test_state_rules.py.
        """
        return State(position=robot.home.position, rotation=robot.home.rotation)

    @staticmethod
    @checked
    def from_actuators(
        robot: Robot,
        position: ArrayLike,
        velocity: ArrayLike | None = None,
        guess: State | Motion | xr.Dataset | None = None,
        *,
        elastic: ArrayLike | None = None,
        elastic_velocity: ArrayLike | None = None,
    ) -> State:
        """The state that actuator coordinates and rates give the platform.

        Args:
            position: (actuators,) or (n, actuators) [m or rad].
            velocity: likewise [m/s or rad/s]; at rest if left out.
            guess: pose to start from: a `State`, or an earlier result of forward kinematics; home if left out.
            elastic, elastic_velocity: of a flexible robot: arrays (N,) or (n, N), ``"zero"``, or ``"static"``: the deflection at
                rest. Left out: static with flexible legs; the pose of the undeformed robot with a flexible platform.

        Checked by: tests/analysis/test_actuator_motion.py.
        """
        from flexapod.analysis.requests.fast_paths import answer

        request = Request(at=position, elastic=elastic, elastic_velocity=elastic_velocity)
        return answer(robot, "state_from_actuators", request, velocity, guess)  # type: ignore[no-any-return]

    @property
    def single(self) -> bool:
        """Whether this is one sample rather than a batch."""
        return self.position.ndim == 1

    def __len__(self) -> int:
        return 1 if self.single else len(self.position)


StateOrMotion = State | Motion | ActuatorMotion
"""Argument of a verb: states, or a motion of the platform or of the actuators."""


def unaccelerated(request: Request) -> Request:
    """The same states without accelerations: for masses, energies and motions under given forces."""
    at = request.at
    if isinstance(at, Motion):
        names = ("position", "rotation", "velocity", "angular_velocity")
        return replace(request, at=State(**{name: getattr(at, name) for name in names}))
    if isinstance(at, ActuatorMotion):
        still = replace(at, acceleration=np.zeros_like(at.acceleration))
        return replace(request, at=with_start(still, at.start))
    return request
