"""Rigid dynamics of 6-UPS and 6-PUS robots with very few operations, beside the formulations of the papers.

It gives actuator forces and platform accelerations, no reactions and no friction, and applies to robots whose numbers
have the right form: `applies` says whether, `plan` makes the choices that a kernel depends on.
"""

from flexapod.equations.minimal.forward_dynamics import minimal_forward_dynamics
from flexapod.equations.minimal.inverse_dynamics import minimal_inverse_dynamics
from flexapod.equations.minimal.planning import MinimalPlan, applies, plan

__all__ = ["MinimalPlan", "applies", "minimal_forward_dynamics", "minimal_inverse_dynamics", "plan"]
