"""Simulation against the peers; studies of many trajectories; a simulated hour.

    python benchmarks/simulation.py [--quick]
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from reporting import Effort, counted, joined, print_section, shown, table, times

import flexapod as fp
from flexapod.simulation.integrators.blocks import Clock, Progress
from flexapod.simulation.integrators.rows_in_blocks import drive
from flexapod.simulation.integrators.runner import Runner
from flexapod.simulation.system.setup import make_setup
from flexapod.simulation.system.signals import Span, row_table

sys.path.insert(0, str(Path(__file__).parent / "peers"))

KP, KD, END = 1.0e5, 2.0e3, 3.0
PD = fp.PD(kp=KP, kd=KD)
SAME = 1e-6  # samples of two runs at the same time


def motion() -> fp.Motion:
    from stewart import motion as at

    from flexapod.motions.motion import with_formula

    return with_formula(at(np.linspace(0.0, END, 301)), at)


def setup_of(step: float) -> object:
    return make_setup(
        fp.load("bench-6ups"), motion(), drive="force", controller=PD, force=None, wrench=None, friction=False, method="rk4",
        events=(), watch=(), start=None, tolerance=(1e-9, 1e-11), step=step,
    )  # fmt: skip


def ours(step: float) -> tuple[Callable[[], object], Callable[[], object], np.ndarray]:
    """The compiled loop alone, the whole verb, and positions at every step."""
    setup = setup_of(step)
    runner, n = Runner(setup.layout, setup.values), round(END / step)
    table = np.zeros((n + 1 + -(n + 1) % setup.layout.rows, setup.layout.columns))
    table[:n] = row_table(setup.layout, setup.signals, Span(start=0.0, h=step, count=n))
    table[n:, 2:] = table[n - 1, 2:]
    rows = np.empty((len(table), runner.width))
    clock = Clock(duration=END, step=step, every=1, period=None)
    robot, path = fp.load("bench-6ups"), motion()

    def loop() -> object:
        return runner.advance(setup.start, table, rows)

    def driven() -> object:
        return drive(setup, clock, (), Progress(state=setup.start), lambda *_: None)

    def verb() -> object:
        return fp.simulate(robot, path, controller=PD, step=step, output_step=step, friction=False, watch=())

    loop()
    return loop, driven, verb, rows[: n + 1, :3].copy()


def leg_references(times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    found = fp.inverse_kinematics(fp.load("bench-6ups"), motion().formula(times), joints=False)
    return found.actuator_position.values, found.actuator_velocity.values


def pinocchio(step: float, gain: float = 100.0) -> tuple[Callable[[], object], np.ndarray]:
    """RK4 on the tree with Baumgarte correction of the loops, PD at every stage."""
    import pinocchio as pin
    from pinocchio_model import Pinocchio
    from stewart import ACTUATED

    peer = Pinocchio()
    for c in peer.constraints:
        c.setBaumgarteCorrectorParameters(pin.BaumgarteCorrectorParameters(gain**2, 2 * gain))
    n = round(END / step)
    length, rate = leg_references(0.5 * step * np.arange(2 * n + 1))
    start, still, _ = peer.state(motion(), 0)
    at, tau, seen = np.asarray(ACTUATED), np.zeros(24), np.empty((n + 1, 3))

    def acceleration(q: np.ndarray, v: np.ndarray, k: int) -> np.ndarray:
        tau[at] = KP * (length[k] - q[at + 1]) + KD * (rate[k] - v[at])
        return pin.constraintDynamics(peer.model, peer.data, q, v, tau, peer.constraints, peer.loops, peer.settings).copy()

    def run() -> object:
        q, v = start.copy(), np.zeros_like(still)
        seen[0] = q[:3]
        for i in range(n):
            a1 = acceleration(q, v, 2 * i)
            v2 = v + step / 2 * a1
            a2 = acceleration(pin.integrate(peer.model, q, step / 2 * v), v2, 2 * i + 1)
            v3 = v + step / 2 * a2
            a3 = acceleration(pin.integrate(peer.model, q, step / 2 * v2), v3, 2 * i + 1)
            v4 = v + step * a3
            a4 = acceleration(pin.integrate(peer.model, q, step * v3), v4, 2 * i + 2)
            q = pin.integrate(peer.model, q, step / 6 * (v + 2 * v2 + 2 * v3 + v4))
            v = v + step / 6 * (a1 + 2 * a2 + 2 * a3 + a4)
            seen[i + 1] = q[:3]
        return seen

    run()
    return run, seen.copy()


def mujoco(step: float) -> tuple[Callable[[], object], np.ndarray]:
    """MuJoCo's RK4 with stiff loops, PD as its own actuators, references held at the middle of each step (its best choice)."""
    import mujoco as mj
    from mujoco import rollout
    from mujoco_model import MuJoCo, mjcf

    stiff = f'solref="{2 * step} 1" solimp="0.9999 0.9999 0.001 0.5 2"'
    text = mjcf().replace("<option ", f'<option timestep="{step}" integrator="RK4" ').replace("<connect ", f"<connect {stiff} ")
    head, _ = text.split("<actuator>")
    servos = [f'<position joint="s{i}" kp="{KP}"/>' for i in range(6)] + [f'<velocity joint="s{i}" kv="{KD}"/>' for i in range(6)]
    model = mj.MjModel.from_xml_string(head + "<actuator>" + "".join(servos) + "</actuator></mujoco>")
    data, n = mj.MjData(model), round(END / step)
    control = np.concatenate(leg_references((np.arange(n) + 0.5) * step), axis=1)
    qpos, _, _ = MuJoCo().state(motion(), 0)
    start = np.concatenate([[0.0], qpos, np.zeros(24)])

    def run() -> object:
        mj.mj_resetData(model, data)
        return rollout.rollout(model, data, start[None], control[None])[0]

    states = run()[0]
    return run, np.concatenate([qpos[None, :3], states[:, 1:4]])


def error(positions: np.ndarray, step: float, reference: np.ndarray, fine: float) -> float:
    every = round(step / fine)
    assert abs(step / fine - every) < SAME
    return float(np.max(np.abs(positions - reference[::every])))


def study(effort: Effort) -> list[tuple[str, str]]:
    """Trajectories per second: many at once, and one by one through the same compiled loop."""
    robot, path, count = fp.load("bench-6ups"), motion(), effort.size(10_000, 20)
    masses = np.random.default_rng(1).uniform(40.0, 70.0, count)
    options = {"controller": PD, "duration": 0.1, "step": 5e-3, "output_step": 0.1, "friction": False}
    together = effort.best(lambda: fp.simulate_study(robot, path, values={"platform.mass": masses}, **options), 2.0, 2) / count
    variants = [robot.with_parameters({"platform.mass": m}) for m in masses[:20]]
    one = effort.best(lambda: [fp.simulate(r, path, watch=(), **options) for r in variants], 1.0, 2) / len(variants)
    setup = setup_of(5e-3)
    runner = Runner(setup.layout, setup.values)
    start = np.zeros((21 + -21 % setup.layout.rows, setup.layout.columns))
    start[:20] = row_table(setup.layout, setup.signals, Span(start=0.0, h=5e-3, count=20))
    rows = np.empty((len(start), runner.width))
    bare = effort.best(lambda: runner.advance(setup.start, start, rows), 0.5, calls=200)
    named = {
        f"{counted(count)} at once, `simulate_study`": together,
        "one by one, the compiled loop alone": bare,
        "one by one, `simulate`": one,
    }
    return [(name, shown(seconds), counted(1 / seconds)) for name, seconds in named.items()]


def hour(effort: Effort) -> str:
    """One simulated hour of a periodic motion at 5 ms: CPU time, and what is left of orthogonality and closure."""
    robot, length = fp.load("bench-6ups"), effort.size(3600.0, 6.0)
    start = time.process_time()
    result = fp.simulate(robot, motion(), controller=PD, duration=length, step=5e-3, output_step=3.0, friction=False, watch=())
    spent, R = time.process_time() - start, result.rotation.values
    skew = float(np.max(np.abs(R @ np.swapaxes(R, 1, 2) - np.eye(3))))
    apart = float(np.max(np.abs(result.actuator_travel - result.actuator_position)))
    return (f"{length:g} simulated seconds of the same motion, repeated, take {shown(spent)}; rotations are then orthogonal "
            f"to {skew:.1e}, and integrated leg lengths are {apart:.1e} m from those of the pose.")  # fmt: skip


def section(effort: Effort) -> str:
    """Tables of the controlled run and of studies."""
    fine = effort.size(5e-4, 5e-3)
    reference, rows, missing = ours(fine)[3], [], []
    mine = np.inf
    for step in effort.size((5e-3, 2e-3, 1e-3), (5e-3,)):
        loop, driven, verb, positions = ours(step)
        alone, tables, call = (effort.best(work, 1.0) for work in (loop, driven, verb))
        mine = min(mine, alone)
        rows.append((f"flexapod, RK4, {1e3 * step:g} ms", alone, tables, call, error(positions, step, reference, fine)))
    for name, peer, steps in (("Pinocchio", pinocchio, (5e-3, 2e-3)), ("MuJoCo", mujoco, (2e-3, 1e-3))):
        for step in effort.size(steps, ()):
            try:
                timed, positions = peer(step)
            except ImportError:
                missing.append(f"{name} is not installed: its rows are missing.")
                break
            rows.append(
                (f"{name}, RK4, {1e3 * step:g} ms", effort.best(timed, 2.0), None, None, error(positions, step, reference, fine))
            )
    head = [
        "method",
        "compiled loop or engine",
        "with tables of signals",
        "whole call",
        "error of the position",
        "of our loop at 5 ms",
    ]
    shown_rows = [
        (name, *("" if t is None else shown(t) for t in seconds), f"{1e6 * off:.2g} um", times(seconds[0] / mine))
        for name, *seconds, off in rows
    ]
    trajectories = table(["trajectories of 20 steps", "time each", "per second"], study(effort))
    return joined(HEAD, table(head, shown_rows), *missing, trajectories, hour(effort))


HEAD = """## Simulation

Three seconds of `bench-6ups` under PD control of the leg lengths (kp 1e5, kd 2e3), Runge-Kutta 4; the error of the position
is that against steps of 0.5 ms. The peers are Pinocchio's constraint dynamics under a Runge-Kutta 4 written in Python, and
MuJoCo's own RK4 (C) with stiff loops. References of the controller are computed beforehand for all.
"""

if __name__ == "__main__":
    print_section(section, __doc__)
