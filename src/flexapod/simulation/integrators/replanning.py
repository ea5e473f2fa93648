r"""Change of independent coordinates during a simulation, where the present ones come near a dead point.

With A the loops' rows by all coordinates at the state, made dimensionless, and b the coordinates that are solved for:

.. math:: \sigma_{min}(A_b) < \tfrac15\,\sigma_{min}(A_{b'})

where b' is the choice of column pivoting at that state. The state stays the same: positions are carried, rates of the new
independent coordinates follow from the old ones. Positions where every choice fails (bifurcations) are crossed: `crossing`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from flexapod.analysis.model.closed_legs import evaluate, home
from flexapod.arrays import Array
from flexapod.robot.elastic_plan import ElasticPlan, LegLoop, elastic_plan, smallest_block
from flexapod.simulation.integrators.crossing import configuration, margin
from flexapod.simulation.system.independent import IndependentLayout

if TYPE_CHECKING:
    from flexapod.simulation.system.layout import Layout


WORSE = 0.2
"""A choice is left where it is five times worse than the best at the state: every change compiles the simulation's loop once."""

ROWS = 32
"""Rows between two looks at the choice."""


def may_change(layout: Layout) -> bool:
    """The simulation goes through positions where its actuators lose control: nobody asked to stop there, and nothing is
    prescribed."""
    if not isinstance(layout, IndependentLayout) or layout.follows or "singular" in layout.watch:
        return False
    return bool(layout.robot.elastic_plan.bound) and not layout.robot.elastic_names


def better_plan(layout: Layout, state: Array, A: Array) -> ElasticPlan | None:
    """A plan by which the loops, with rows A at a state, are better solved, or None where the present one is good.

    Checked by: tests/simulation/test_mechanisms.py.
    """
    robot, plan, own = layout.robot, layout.robot.elastic_plan, smallest_block(A, layout.robot.elastic_plan)
    if own >= WORSE * margin(layout, A):  # no choice has more
        return None
    other = elastic_plan(robot, plan.columns, configuration(layout, state))
    if len(other.bound) != len(plan.bound) or own >= WORSE * smallest_block(A, other):
        return None
    return other


def carried_over(layout: Layout, plan: ElasticPlan, state: Array) -> Array:
    """The same state with the rates of the independent coordinates of another plan."""
    robot, place = layout.robot, layout.places
    reasons = np.full(1, "", dtype=object)
    given = {
        **home(robot, 1).inputs(), "joint_position": state[place["joints"]][None], "position": state[place["p"]][None],
        "rotation": state[place["R"]].reshape(1, 3, 3).transpose(0, 2, 1), "independent_velocity": state[place["ud"]][None],
    }  # fmt: skip
    found = evaluate(robot, "elastic_closing", given, reasons)
    twist = [] if plan.carrier is not None else [found["platform_velocity"][0], found["platform_angular_velocity"][0]]
    rates = np.concatenate([*twist, found["closed_velocity"][0]])
    result = np.array(state)
    result[place["ud"]] = rates[list(plan.independent)]
    return result


def plan_from(data: dict[str, Any]) -> ElasticPlan:
    """A plan from what `dataclasses.asdict` made of it, by way of JSON."""
    legs = tuple(
        LegLoop(
            rows=tuple(leg["rows"]), dependents=tuple(leg["dependents"]), leftover=tuple(leg["leftover"]), crossed=leg["crossed"]
        )
        for leg in data["legs"]
    )
    rest = {name: tuple(value) for name, value in data.items() if name not in ("legs", "carrier")}
    return ElasticPlan(carrier=data["carrier"], legs=legs, **rest)
