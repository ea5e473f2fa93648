r"""Connectivity conditions of U-P-S, P-U-S and R-U-S legs, solved in the axes of the leg.

The three scalar conditions (Staicu Eq. 14, Sinatra Eq. 13) may be taken along any three axes. Along those of the leg, with
z = n, the universal joint moves S across the leg only and the actuator alone along it, so that they are solved one by one:

.. math:: \dot q_a = \frac{v_z}{c_z},\quad \dot q_1 = \frac{v_y - c_y\dot q_a}{k_1},\quad \dot q_2 = \frac{v_x - c_x\dot q_a}{k_2}

c is the velocity of S per unit of the actuator, (0, k1, 0) and (k2, 0, 0) those per unit of the two universal rates.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from flexapod.arrays import SX
from flexapod.equations.virtual_work.leg_work import LegWork, PlatformState, wrench
from flexapod.equations.virtual_work.recursion import inward, outward, unit_twists
from flexapod.equations.virtual_work.relative_frames import LegChain
from flexapod.spatial import Rot, Vec, cross, dot

LEG = "3"
"""Frame of the last body: z along the leg, y along the second universal axis."""


@dataclass(frozen=True, kw_only=True)
class Conditions:
    """The three conditions of a leg: which coordinate is which, c, and the reciprocals of c_z, k1, k2."""

    actuator: int
    first: int
    second: int
    c: Vec
    along: SX
    across1: SX
    across2: SX
    R: Rot

    def rates(self, v: Vec) -> list[SX]:
        """Joint rates from the velocity of S in leg axes; joint accelerations likewise."""
        result = [ca.SX(0)] * 3
        q = result[self.actuator] = v[2] * self.along
        result[self.first] = (v[1] - self.c[1] * q) * self.across1
        result[self.second] = (v[0] - self.c[0] * q) * self.across2
        return result

    def passive_force(self, works: list[SX]) -> Vec:
        """Force at S that does the same virtual work as the two universal joints: the transpose of `rates`."""
        return Vec([works[self.second] * self.across2, works[self.first] * self.across1, 0], LEG)


def conditions(chain: LegChain, actuator: int) -> Conditions:
    """The conditions of a leg whose actuated coordinate is the last (U-P-S) or the first."""
    first, second = (0, 1) if actuator == 2 else (1, 2)
    tip = unit_twists(chain)
    c = tip.twists[actuator][0]
    k1, k2 = tip.twists[first][0][1], tip.twists[second][0][0]
    return Conditions(actuator=actuator, first=first, second=second, c=c, along=1 / c[2], across1=1 / k1, across2=1 / k2, R=tip.R)


def universal_leg_work(chain: LegChain, actuator: int, platform: PlatformState, r: Vec) -> LegWork:
    r"""Motion and virtual work of a closed-form leg.

    The accelerations obey the same conditions as the rates, less the acceleration of S at zero joint accelerations (the
    centripetal and Coriolis terms of Staicu Eq. 17, Sinatra Eq. 16), which the outward recursion gives.

    Args:
        r: (3,) from the platform frame origin to S, world.

    Source: Staicu 2009 Eqs. (11)-(21), Sinatra 2009 Eqs. (10)-(23). Checked by: tests/equations/test_virtual_work.py.
    """
    connect = conditions(chain, actuator)
    rates = connect.rates(connect.R @ platform.velocity(r))
    still = outward(chain, -platform.gravity, rates, [ca.SX(0)] * 3)[chain.last].acceleration(chain.tip)
    accelerations = connect.rates(connect.R @ platform.acceleration(r) - still)
    works = inward(chain, outward(chain, -platform.gravity, rates, accelerations), accelerations)
    passive = connect.passive_force(works)
    n = connect.R.T.column(2)

    def virtual_rates(twist: SX) -> list[SX]:
        return connect.rates(connect.R @ (Vec(twist[:3], "W") + cross(Vec(twist[3:], "W"), r)))

    return LegWork(
        rates=rates,
        works=works,
        actuators=[actuator],
        rows=wrench(n, r).T,
        scales=[connect.c[2]],
        own=[works[actuator] - dot(passive, connect.c)],
        load=wrench(connect.R.T @ passive, r),
        constraint=ca.SX.zeros(0, 6),
        virtual_rates=virtual_rates,
    )
