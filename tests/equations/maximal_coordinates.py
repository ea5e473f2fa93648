"""Truth for joint reactions: every link a free body, every reaction unknown, one linear system per sample, in NumPy.

Body motions come from the inverse kinematics kernel; nothing of the Newton-Euler formulation is used.
"""

from dataclasses import dataclass, replace

import numpy as np

from flexapod.analysis.model.kernels import kernel
from flexapod.analysis.verbs.inverse_kinematics import solve_from_starts
from flexapod.robot.leg_positions import ancestors, link_poses


def kinematics(robot, states):
    """Joint coordinates, rates and body motions of states."""
    plain = replace(robot, legs=tuple(without_friction(leg) for leg in robot.legs))
    result = {}
    for detail in ("joints", "bodies"):
        motion = {name: values for name, values in states.items() if name != "wrench"}
        batch, _ = solve_from_starts(kernel(plain, "inverse_kinematics", detail=detail), motion)
        assert not batch.status.any()
        result.update(batch.outputs)
    return result


def without_friction(leg):
    links = tuple(replace(link, friction=None) for link in leg.links)
    return replace(leg, links=links, closing=replace(leg.closing, friction=None))


def inertia_wrench(body, R, v_dot, w, alpha, gravity):
    """Needed force and moment about the frame origin, world axes."""
    h = R @ (body.body_axes.T @ body.first_moment)
    I = R @ body.body_axes.T @ body.inertia @ body.body_axes @ R.T
    a = v_dot - gravity
    force = body.mass * a + np.cross(alpha, h) + np.cross(w, np.cross(w, h))
    return np.concatenate([force, np.cross(h, a) + I @ alpha + np.cross(w, I @ w)])


def free_twists(kind, R_l, R_p):
    """Twists (6, k) that a joint leaves free, in world axes."""
    z, axis2, none = R_l[:, 2], R_p[:, 2], np.zeros(3)
    rotation, slide = np.concatenate([none, z]), np.concatenate([z, none])
    table = {
        "R": [rotation], "P": [slide], "fixed": [], "revolute": [rotation], "prismatic": [slide], 
        "cylindrical": [slide, rotation],
        "universal": [rotation, np.concatenate([none, axis2])], "spherical": [np.concatenate([none, e]) for e in np.eye(3)],
    }  # fmt: skip
    return np.array(table[kind]).reshape(-1, 6).T


def held(twists):
    """Orthonormal wrenches (6, 6-k) that do no work on the twists."""
    return np.linalg.svd(twists.T if twists.size else np.zeros((1, 6)))[2][twists.shape[1] if twists.size else 0 :].T


@dataclass
class Truth:
    """Linear system A x = b of one sample; x: actuator forces, then reactions per joint in `blocks`."""

    A: np.ndarray
    b: np.ndarray
    blocks: list
    actuators: int
    scale: np.ndarray

    def solve(self, forces=None):
        """Forces and joint wrenches (joints, 6); where undetermined, one of many."""
        m = self.actuators
        if forces is None:
            x = np.linalg.lstsq(self.A, self.b, rcond=1e-11)[0]
        else:
            rest = np.linalg.lstsq(self.A[:, m:], self.b - self.A[:, :m] @ forces, rcond=1e-11)[0]
            x = np.concatenate([forces, rest])
        residual = np.abs(self.A @ x - self.b).max()
        return x[:m], self.wrenches(x), residual

    def wrenches(self, x):
        return np.array([basis @ x[start : start + basis.shape[1]] for start, basis in self.blocks]) * self.scale

    def null(self, fixed_forces):
        """Null vectors, of the reactions alone or with the actuator forces."""
        A = self.A[:, self.actuators :] if fixed_forces else self.A
        _, s, Vt = np.linalg.svd(A)
        rank = int((s > 1e-9 * s[0]).sum())
        rest = Vt[rank:]
        return np.hstack([np.zeros((len(rest), self.actuators)), rest]) if fixed_forces else rest


def truth(robot, states, found, k, friction=None):
    """The system of sample k.

    Args:
        friction: (joints, 6) known friction wrenches on the next body, if any; those of a universal joint with friction
            along its relative angular velocity act between the bodies outside.
    """
    L = robot.characteristic_length
    platform_p, platform_R = states["position"][k], states["rotation"][k]
    links = [link for leg in robot.legs for link in leg.links]
    rows = 6 * (len(links) + 1)
    A, b, blocks = np.zeros((rows, 6 * (len(links) + len(robot.legs)))), np.zeros(rows), []
    actuators = columns = sum(link.actuated for link in links)
    S = np.diag([1.0] * 3 + [1.0 / L] * 3)  # moments over a length, so that rows and columns compare
    base = joint = actuator = at = 0
    body = 1  # the platform is body 0
    last = 6 * len(links)
    b[last : last + 6] = S @ (
        inertia_wrench(robot.platform, found["body_rotation"][k, 0], *[found[f"body_{n}"][k, 0] for n in
            ("acceleration", "angular_velocity", "angular_acceleration")], robot.gravity) - states["wrench"][k]
    )  # fmt: skip
    for leg in robot.legs:
        q = found["joint_position"][k, at : at + len(leg.moving)]
        poses = link_poses(leg, q)
        for i, link in enumerate(leg.links):
            row, (R, p) = 6 * (base + i), poses[i]
            parent = link.parent
            basis = held(free_twists(link.kind, R, R))
            needed = np.zeros(6)
            if link.body is not None:
                needed = inertia_wrench(link.body, found["body_rotation"][k, body], *[found[f"body_{n}"][k, body] for n in
                    ("acceleration", "angular_velocity", "angular_acceleration")], robot.gravity)  # fmt: skip
                body += 1
            b[row : row + 6] += S @ needed
            blocks.append((columns, basis))
            parts = [(columns + c, basis[:, c]) for c in range(basis.shape[1])]
            columns += basis.shape[1]
            if link.actuated:
                parts.append((actuator, S @ free_twists(link.kind, R, R)[:, 0]))
            for column, wrench in parts:
                A[row : row + 6, column] += wrench
                if parent >= 0:
                    A[6 * (base + parent) : 6 * (base + parent) + 6, column] -= _moved(wrench, p - poses[parent][1], L)
            known = np.zeros(6) if friction is None else friction[joint]
            if link.kind != "fixed" and link.inertia:
                rate = found["joint_acceleration"][k, at + leg.moving.index(i)]
                known = known - free_twists(link.kind, R, R)[:, 0] * link.inertia * rate
            first, end = _bodies_outside(leg, i)
            _load(b, base, end, poses, p, S @ known, L, -1.0)
            _load(b, base, first, poses, p, S @ known, L, 1.0)
            actuator += link.actuated
            joint += 1
        closing = leg.closing
        R_l, R_p = poses[closing.link][0] @ closing.on_link.rotation, platform_R @ closing.on_platform.rotation
        E = platform_p + platform_R @ closing.on_platform.position
        basis = held(free_twists(closing.type, R_l, R_p))
        blocks.append((columns, basis))
        for c in range(basis.shape[1]):
            A[last : last + 6, columns + c] += _moved(basis[:, c], E - platform_p, L)
            row = 6 * (base + closing.link)
            A[row : row + 6, columns + c] -= _moved(basis[:, c], E - poses[closing.link][1], L)
        columns += basis.shape[1]
        if friction is not None:
            known = S @ friction[joint]
            b[last : last + 6] -= _moved(known, E - platform_p, L)
            _load(b, base, closing.link, poses, E, known, L, 1.0)
        joint += 1
        base += len(leg.links)
        at += len(leg.moving)
    scale = np.array([1.0] * 3 + [L] * 3)
    return Truth(A=A[:, :columns], b=b, blocks=blocks, actuators=actuators, scale=scale)


def _moved(wrench, arm, L):
    """A wrench with moments over L, about a point at -arm."""
    return np.concatenate([wrench[:3], wrench[3:] + np.cross(arm, wrench[:3]) / L])


def _load(b, base, link, poses, point, wrench, L, sign):
    if link >= 0:
        row = 6 * (base + link)
        b[row : row + 6] += sign * _moved(wrench, point - poses[link][1], L)


def _bodies_outside(leg, i):
    """Links before and behind a joint's friction: the neighbours, or outside a universal joint with vector friction."""
    link = leg.links[i]
    group = [j for j, other in enumerate(leg.links) if other.joint == link.joint and other.kind == "R"]
    if link.friction is not None and link.friction.direction == "vector" and len(group) > 1 and link.kind == "R":
        return leg.links[group[0]].parent, group[-1]
    return link.parent, i


def relative_twists(robot, states, found):
    """Twists (n, joints, 6) of the next body relative to the one before, at the joint centre, world axes."""
    result = []
    for k in range(len(states["position"])):
        rows, at = [], 0
        for leg in robot.legs:
            q = found["joint_position"][k, at : at + len(leg.moving)]
            qd = found["joint_velocity"][k, at : at + len(leg.moving)]
            poses = link_poses(leg, q)
            v, w = [], []
            for i, link in enumerate(leg.links):
                R, p = poses[i]
                slope = np.zeros(6) if link.kind == "fixed" else free_twists(link.kind, R, R)[:, 0] * qd[leg.moving.index(i)]
                parent = link.parent
                v0, w0 = (v[parent] + np.cross(w[parent], p - poses[parent][1]), w[parent]) if parent >= 0 else (0.0, 0.0)
                v.append(v0 + slope[:3])
                w.append(w0 + slope[3:])
                rows.append(slope)
            last = ancestors(leg, leg.closing.link)[0]
            arm = states["rotation"][k] @ leg.closing.on_platform.position
            E = states["position"][k] + arm
            of_platform = states["velocity"][k] + np.cross(states["angular_velocity"][k], arm)
            of_leg = v[last] + np.cross(w[last], E - poses[last][1])
            rows.append(np.concatenate([of_platform - of_leg, states["angular_velocity"][k] - w[last]]))
            at += len(leg.moving)
        result.append(rows)
    return np.array(result)
