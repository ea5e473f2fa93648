"""`PayloadEstimator`: mass and centre of a payload while the robot works, by recursive least squares; the same step as C."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from flexapod.analysis.model.kernels import kernel
from flexapod.analysis.requests.abilities import refuse
from flexapod.analysis.requests.arguments import check_robot, checked
from flexapod.analysis.requests.properties import has_friction
from flexapod.analysis.verbs.export_c import export_c
from flexapod.analysis.verbs.inverse_kinematics import platform_inputs
from flexapod.arrays import Array
from flexapod.calls import check_finite, check_path, made
from flexapod.errors import InputError
from flexapod.identification.linear_model import model_inputs
from flexapod.motions.argument_checks import real_array

if TYPE_CHECKING:
    from flexapod.analysis.requests.state import State
    from flexapod.motions.motion import Motion
    from flexapod.robot.robot import Robot

COLUMNS = (0, 1, 2, 3)
"""Mass and first moments of the platform: what a payload adds to them."""


@made
class PayloadEstimator:
    """Mass and centre of mass of a payload on the platform, sample by sample.

    Args:
        robot: without the payload.
        noise: standard deviation of a measured force [N or N m].
        forgetting: 1 keeps all samples; 0.999 forgets over about 1000.
        largest_mass: standard deviation of the mass before anything is measured [kg].
        reach: standard deviation of its centre in the platform frame [m]; the robot's characteristic length if left out.

    At rest gravity shows the mass and where its line passes; the height of the centre needs a platform that tilts or accelerates,
    and `sigma` says how well each is known.

    Checked by: tests/identification/test_online.py.
    """

    def __init__(
        self, robot: Robot, *, noise: float, forgetting: float = 1.0, largest_mass: float = 100.0, reach: float | None = None
    ) -> None:
        check_robot("robot", robot)
        for name, value in (("noise", noise), ("forgetting", forgetting), ("largest_mass", largest_mass), ("reach", reach)):
            check_finite(name, value)
        refuse(robot, "export_payload_estimator")
        if not noise > 0:
            raise InputError(f"noise: expected a standard deviation above 0, got {noise!r}")
        if not 0.5 < forgetting <= 1.0:
            raise InputError(f"forgetting: expected a factor from 0.5 to 1, got {forgetting!r}")
        self.robot, self.noise, self.forgetting = robot, float(noise), float(forgetting)
        arm = robot.characteristic_length if reach is None else float(reach)
        self.estimate: Array = np.zeros(4)
        self.covariance: Array = np.diag([largest_mass**2, *[(largest_mass * arm) ** 2] * 3])
        self._kernel = kernel(robot, "recursive_update", columns=COLUMNS, friction=has_friction(robot))

    def update(self, motion: Motion | State, force: ArrayLike) -> Array:
        """Take samples, oldest first; returns residuals (n, actuators) before each was taken.

        Args:
            motion: of the platform; States count as at rest or at constant twist.
            force: (n, actuators) measured [N or N m].
        """
        inputs, _ = model_inputs(self.robot, platform_inputs(motion))
        n = len(inputs["position"])
        forces = real_array("force", force, np.shape(force)).reshape(-1, len(self.robot.actuators))
        if len(forces) != n:
            raise InputError(f"force: expected {n} rows as the motion has, got {len(forces)}")
        residual = np.empty_like(forces)
        for k in range(n):
            own = {
                "force": forces[k], "previous_estimate": self.estimate, "previous_covariance": self.covariance,
                "noise": np.array(self.noise**2), "forgetting": np.array(self.forgetting),
            }  # fmt: skip
            given = {i.name: own[i.name] if i.name in own else inputs[i.name][k] for i in self._kernel.signature.inputs}
            found = self._kernel(**given)
            self.estimate, self.covariance, residual[k] = found["estimate"], found["covariance"], found["residual"]
        return residual

    @property
    def mass(self) -> float:
        """[kg]."""
        return float(self.estimate[0])

    @property
    def mass_sigma(self) -> float:
        """Standard error [kg]."""
        return float(np.sqrt(self.covariance[0, 0]))

    @property
    def com(self) -> Array:
        """(3,) centre of mass in the platform frame [m]."""
        return np.asarray(self.estimate[1:] / self.estimate[0])

    @property
    def com_sigma(self) -> Array:
        """(3,) standard errors [m], from those of mass and first moments."""
        J = np.column_stack([-self.com / self.mass, np.eye(3) / self.mass])
        return np.asarray(np.sqrt(np.diag(J @ self.covariance @ J.T)))


@checked(folder=check_path)
def export_payload_estimator(robot: Robot, folder: str | Path) -> dict[str, Path]:
    """Write one step of `PayloadEstimator` as portable C99 with header and self-test; see `export_c`.

    Args:
        folder: created if missing; files that flexapod did not write are never replaced.
    Returns:
        Role -> path of each file written, as `export_c`.
    """
    refuse(robot, "export_payload_estimator")
    return export_c(robot, "recursive_update", folder, columns=COLUMNS, friction=has_friction(robot))
