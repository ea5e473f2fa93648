"""Kim and Ryu's body-by-body inverse dynamics: actuator forces, every joint reaction, friction."""

from flexapod.equations.newton_euler.inverse_dynamics import newton_euler
from flexapod.equations.newton_euler.names import reaction_names

__all__ = ["newton_euler", "reaction_names"]
