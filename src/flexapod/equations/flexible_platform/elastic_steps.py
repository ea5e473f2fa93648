"""RK4 along a motion of the platform frame: elastic coordinates by the inverse model, many steps in one kernel.

Every step reads the motion at its start, middle and end; the model is generated once, for the four stages of all steps.
"""

from __future__ import annotations

import casadi as ca

from flexapod.arrays import SX
from flexapod.equations.flexible_platform.assembly import flexible_equation, state_of
from flexapod.equations.flexible_platform.dynamics import inverse_solution
from flexapod.equations.values import Values
from flexapod.kernels.tape.control_flow import Builder
from flexapod.kernels.tape.program import Program
from flexapod.robot.robot import Robot

STAGES = {
    "position": 3,
    "rotation": 9,
    "velocity": 3,
    "angular_velocity": 3,
    "acceleration": 3,
    "angular_acceleration": 3,
    "wrench": 6,
}
"""Inputs that the kernel reads per stage, flattened, and how many numbers each has."""


def flexible_elastic_motion(robot: Robot, steps: int = 16) -> Program:
    """The program: `start` (2N,) = (e, e'), `step` (steps,), the motion at (3 steps,) stages in; `states` (steps, 2N) out.

    Checked by: tests/analysis/test_flexible_simulate.py.
    """
    b = Program("flexible_elastic_motion")
    shape, letters = robot.flexible_shape
    N = shape.modes
    start = b.input("start", (2 * N,), doc="elastic coordinates and rates at the start")
    h = b.input("step", (steps,), unit="s", doc="length of each step")
    given = [b.input(name, (3 * steps, size), doc="at start, middle and end of each step") for name, size in STAGES.items()]
    stages = ca.horzcat(*given)  # (3 steps, 30)
    each = ca.horzcat(*[ca.vertcat(*[stages[3 * k + j, :].T for j in range(3)]) for k in range(steps)])
    values, width = Values(b), sum(STAGES.values())

    def rate(inner: Builder, at: SX, x: SX) -> SX:
        parts, start_ = {}, 0
        for name, size in STAGES.items():
            parts[name] = at[start_ : start_ + size]
            start_ += size
        R = ca.reshape(parts["rotation"], 3, 3).T
        state = state_of(parts["position"], R, parts["velocity"], parts["angular_velocity"], x[:N], x[N:])
        q = flexible_equation(inner, robot, shape, letters, state, values=values)
        V = ca.vertcat(ca.mtimes(R.T, parts["acceleration"]), ca.mtimes(R.T, parts["angular_acceleration"]))
        wrench = parts["wrench"]
        load = ca.vertcat(ca.mtimes(R.T, wrench[:3]), ca.mtimes(R.T, wrench[3:]), ca.SX.zeros(N))
        return ca.vertcat(x[N:], inverse_solution(q, V, load).acceleration[6:])

    def step(inner: Builder, _: SX, x: SX, points: SX, length: SX) -> tuple[list[SX], list[SX]]:
        first, middle, last = (points[j * width : (j + 1) * width] for j in range(3))
        table = ca.DM([[0, 0.5, 0.5, 1], [1 / 6, 1 / 3, 1 / 3, 1 / 6]])

        def stage(deeper: Builder, _: SX, k: SX, total: SX, at: SX, weights: SX) -> tuple[list[SX], list[SX]]:
            k = rate(deeper, at, x + length * weights[0] * k)
            return [k, total + weights[1] * k], []

        none = ca.SX.zeros(2 * N)
        total = inner.scan(stage, 4, carry=[none, none], each=[ca.horzcat(first, middle, middle, last), ca.SX(table)])[0][1]
        following = x + length * total
        return [following], [following]

    _, (states,) = b.scan(step, steps, carry=[start], each=[each, h.T])
    b.output("states", states.T, shape=(steps, 2 * N), doc="elastic coordinates and rates at the end of each step")
    return b
