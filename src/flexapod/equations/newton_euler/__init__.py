"""Kim and Ryu's body-by-body inverse dynamics: actuator forces, every joint reaction, friction and its contributions."""

from flexapod.equations.newton_euler.constraint_plan import Undetermined, mark_undetermined, undetermined
from flexapod.equations.newton_euler.force_parts import CONTRIBUTION_NAMES
from flexapod.equations.newton_euler.inverse_dynamics import newton_euler
from flexapod.equations.newton_euler.reactions import reaction_names

__all__ = ["CONTRIBUTION_NAMES", "Undetermined", "mark_undetermined", "newton_euler", "reaction_names", "undetermined"]
