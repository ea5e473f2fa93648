"""Independent answers for the minimal equations: virtual power of every body, and the energy balance.

Both start from the general closed-form kinematics with all angles, frames and axial spins, and let CasADi differentiate;
nothing of the minimal equations is used.
"""

from collections.abc import Callable

import casadi as ca
import numpy as np

from flexapod.equations.platform_inputs import FrameMotion, platform_motion_inputs
from flexapod.equations.universal_leg import leg_motion
from flexapod.equations.values import Values
from flexapod.kernels.tape.program import Program
from flexapod.robot.geometry import rotation_from_vector
from flexapod.robot.robot import Robot
from flexapod.spatial import Vec

States = dict[str, np.ndarray]
NAMES = ("position", "rotation", "velocity", "angular_velocity", "acceleration", "angular_acceleration")


def random_states(robot: Robot, n: int, seed: int, scale: float = 1.0) -> States:
    """States in the sampling box of the robot file."""
    rng, box = np.random.default_rng(seed), robot.sampling

    def draw() -> np.ndarray:
        return rng.uniform(-1, 1, (n, 3))

    rotations = draw() * np.array(box.rotation) * scale
    return {
        "position": robot.home.position + draw() * np.array(box.position) * scale,
        "rotation": np.array([rotation_from_vector(t) @ robot.home.rotation for t in rotations]),
        "velocity": draw() * box.velocity,
        "angular_velocity": draw() * box.angular_velocity,
        "acceleration": draw() * box.acceleration,
        "angular_acceleration": draw() * box.angular_acceleration,
    }


class Mechanism:
    """Bodies of a robot with their frames, rotors, and actuator rates, as CasADi expressions."""

    def __init__(self, robot: Robot) -> None:
        self.robot, self.b = robot, Program("oracle")
        values = Values(self.b)
        self.platform = platform_motion_inputs(self.b)
        self.bodies: list[tuple[str, FrameMotion]] = [("platform", self.platform)]
        self.rotors, self.rates = [], []
        for leg, form in zip(robot.legs, robot.closed_forms, strict=True):
            name = f"legs.{leg.name}"
            motion = leg_motion(self.b, values.of(name), leg, form.sign, self.platform)
            self.bodies += [(f"{name}.in_C.0", motion.cross), (f"{name}.in_L.0", motion.leg)]
            scalars = [motion.actuator, *motion.angles]
            if motion.carrier is not None:
                self.bodies.append((f"{name}.carrier", motion.carrier))
            else:
                o = motion.tip.point(Vec([0, 0, -robot.values[f"{name}.tip"]], "L"))
                tip = motion.tip
                frame = FrameMotion(R=tip.R, p=o.p, v=o.v, w=tip.w, a=o.a, alpha=tip.alpha)
                self.bodies.append((f"{name}.in_L.1", frame))
                scalars = [*motion.angles, motion.actuator]
            for link, scalar in zip(leg.links, scalars, strict=True):
                self.rotors.append((robot.values[f"{name}.{link.coordinate}.rotor"], scalar))
            self.rates.append(motion.actuator.qd)
        self.bodies = [(name, frame) for name, frame in self.bodies if f"{name}.mass" in robot.values]

    def inertia(self, name: str) -> tuple[float, ca.DM, ca.DM]:
        """Mass, first moment, tensor about the origin of a body's frame."""
        v = self.robot.values
        I = {k: v[f"{name}.inertia.{k}"] for k in ("xx", "yy", "zz", "xy", "xz", "yz")}
        tensor = [[I["xx"], I["xy"], I["xz"]], [I["xy"], I["yy"], I["yz"]], [I["xz"], I["yz"], I["zz"]]]
        return v[f"{name}.mass"], ca.DM([v[f"{name}.first_moment.{k}"] for k in "xyz"]), ca.DM(tensor)

    def function(self, *outputs: ca.SX) -> Callable[[States], list[np.ndarray]]:
        """Evaluates expressions on a batch of states; each result is (n, rows, columns)."""
        for k, output in enumerate(outputs):
            self.b.output(f"y{k}", ca.densify(output))
        parameters = [self.robot.values[p.name] for p in self.b.signature.parameters]
        f = ca.Function("f", [self.b.input_symbols, self.b.parameter_symbols], list(outputs))

        def run(states: States) -> list[np.ndarray]:
            n = len(states["position"])
            x = np.concatenate([states[name].reshape(n, -1) for name in NAMES], axis=1)
            batch = f.map(n)(x.T, np.repeat([parameters], n, axis=0).T)
            shapes = [output.shape for output in outputs]
            return [np.array(y).T.reshape(n, c, r).transpose(0, 2, 1) for y, (r, c) in zip(batch, shapes, strict=True)]

        return run


def virtual_power_forces(robot: Robot) -> Callable[[States], tuple[np.ndarray, np.ndarray]]:
    """Forces (n, 6) by the principle of virtual power, and condition numbers of the Jacobian with rows of length one."""
    m = Mechanism(robot)
    twist, g = ca.vertcat(m.platform.v.expr, m.platform.w.expr), ca.DM(robot.gravity)
    power = ca.SX.zeros(6)
    for name, frame in m.bodies:
        mass, first, tensor = m.inertia(name)
        R, w, alpha, a = frame.R.expr, frame.w.expr, frame.alpha.expr, frame.a.expr - g
        f, I_W = R @ first, R @ tensor @ R.T
        force = mass * a + ca.cross(alpha, f) + ca.cross(w, ca.cross(w, f))
        moment = I_W @ alpha + ca.cross(w, I_W @ w) + ca.cross(f, a)
        power += ca.jacobian(frame.v.expr, twist).T @ force + ca.jacobian(w, twist).T @ moment
    for rotor, scalar in m.rotors:
        power += rotor * ca.jacobian(scalar.qd, twist).T * scalar.qdd
    run = m.function(power, ca.jacobian(ca.vertcat(*m.rates), twist))

    def forces(states: States) -> tuple[np.ndarray, np.ndarray]:
        Q, J = run(states)
        condition = np.linalg.cond(J / np.linalg.norm(J, axis=2, keepdims=True))
        return np.linalg.solve(J.transpose(0, 2, 1), Q)[:, :, 0], condition

    return forces


def power_balance(robot: Robot) -> Callable[[States], tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Rate of the total energy (n,), rates of the actuators (n, 6), and the sum of absolute terms (n,)."""
    m = Mechanism(robot)
    P, g = m.platform, ca.DM(robot.gravity)
    energies = []
    for name, frame in m.bodies:
        mass, first, tensor = m.inertia(name)
        R, w, v = frame.R.expr, frame.w.expr, frame.v.expr
        f = R @ first
        kinetic = mass * ca.dot(v, v) / 2 + ca.dot(v, ca.cross(w, f)) + ca.dot(w, R @ tensor @ R.T @ w) / 2
        energies += [kinetic, -ca.dot(g, mass * frame.p.expr + f)]
    energies += [rotor * scalar.qd**2 / 2 for rotor, scalar in m.rotors]
    state = ca.vertcat(P.p.expr, ca.vec(P.R.expr), P.v.expr, P.w.expr)
    rate = ca.vertcat(P.v.expr, ca.vec(ca.skew(P.w.expr) @ P.R.expr), P.a.expr, P.alpha.expr)
    powers = ca.jtimes(ca.vertcat(*energies), state, rate)
    run = m.function(powers, ca.vertcat(*m.rates))

    def balance(states: States) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        terms, rates = run(states)
        return terms.sum(axis=(1, 2)), rates[:, :, 0], np.abs(terms).sum(axis=(1, 2))

    return balance
