"""The interface of integrators to a system: rates of the increments y of a row, the state after them, their error, inputs of
controllers.

Increments are those of the platform's motion (`right_hand_side`) or of independent coordinates (`independent_rates`); the layout
says which.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flexapod.simulation.system.independent import IndependentLayout, carried_loops, observed_moment
from flexapod.simulation.system.independent_rates import independent_advanced, independent_norm, independent_rates
from flexapod.simulation.system.layout import weighted_error
from flexapod.simulation.system.plant import JointCoordinates, Moment, coordinates
from flexapod.simulation.system.right_hand_side import Rates, advanced, moment_of, rates, sampled_at

if TYPE_CHECKING:
    from flexapod.arrays import SX
    from flexapod.simulation.system.layout import Layout
    from flexapod.simulation.system.scope import Scope


def rates_of_row(scope: Scope, layout: Layout, parts: dict[str, SX], y: SX, column: SX) -> Rates:
    """Derivative of the increments y of a row at given signals, with forces and accelerations."""
    if isinstance(layout, IndependentLayout):
        return independent_rates(scope, layout, parts, y, column)
    return rates(scope, layout, parts, y, column)


def state_after(scope: Scope, layout: Layout, parts: dict[str, SX], y: SX, column: SX) -> dict[str, SX]:
    """The parts of the state after increments y, loops closed; `column`: signals there."""
    if isinstance(layout, IndependentLayout):
        return independent_advanced(scope, layout, parts, y, column)
    return advanced(scope, layout, parts, y)


def error_norm(layout: Layout, parts: dict[str, SX], y: SX, error: SX, rtol: SX, atol: SX) -> SX:
    """Weighted error of increments y, 1 where it is as large as the tolerances allow."""
    if isinstance(layout, IndependentLayout):
        return independent_norm(layout, parts, error, rtol, atol)
    return weighted_error(parts, y, error, rtol, atol)


def state_now(scope: Scope, layout: Layout, parts: dict[str, SX]) -> tuple[Scope, Moment, JointCoordinates]:
    """Platform, actuators and joints at the start of a row, and the scope in which they are closed already."""
    scope = scope.under("", solved=True)  # joints were closed at the end of the row before
    if isinstance(layout, IndependentLayout):
        return scope, *observed_moment(layout, carried_loops(scope.root, layout, parts))
    moment = moment_of(layout, parts)
    return scope, moment, coordinates(scope, layout.robot, moment)


def sampled(scope: Scope, layout: Layout, parts: dict[str, SX], tick: SX, period: SX, column: SX) -> dict[str, SX]:
    """Memory of a sampled controller at the start of a row: new where the row starts with a tick, else kept.

    Args:
        tick: 1 where the controller samples.
        period: of sampling [s].
        column: signals at the start of the row.
    """
    signals = layout.at_node(column)
    scope, moment, c = state_now(scope, layout, parts)
    return sampled_at(scope, layout, parts, signals, moment, c, tick=tick, period=period)
