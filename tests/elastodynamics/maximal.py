"""A robot in maximal coordinates, for tests: every link frame has its own pose, every joint is a set of constraint equations.

Frames: world W, link frames with body twist (v in world axes, omega in body axes). Coordinates of a small motion about a state:
x = (dp, phi) per frame with R = R0 (1 + hat(phi) + hat(phi)^2 / 2), then all elastic coordinates e. The series is exact up to the
second derivative at x = 0, so that CasADi gives the Jacobian G of the constraints and their acceleration bias d(G x')/dt.
Data of the robot: placements of links, inertial data of bodies, words of the file for beams. No equation of the package is used.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import casadi as ca
import numpy as np
from mass_points import MassPoints, beam_element, reduced_points

import flexapod as fp
from flexapod.robot.model import Leg


@dataclass(eq=False)
class Flexed:
    """Mass points carried by a frame, in axes of that frame turned by `axes`; `where` are their elastic coordinates."""

    frame: int
    axes: np.ndarray
    points: MassPoints
    where: list[int]


@dataclass(eq=False)
class Maximal:
    """Frames, constraints and coordinates of a robot. Frame 0 is the platform."""

    robot: fp.Robot
    frames: int = 1
    where: dict[tuple[str, int], int] = field(default_factory=dict)
    flexed: list[Flexed] = field(default_factory=list)
    elements: list[tuple[int, np.ndarray, float, list[int], int]] = field(default_factory=list)
    """Beam elements: root frame, axes there, length, elastic coordinates, tip frame."""

    def __post_init__(self) -> None:
        platform = self.robot.flexible_platform
        modes = 0 if platform is None else len(platform.K_ee)
        links = [(leg.name, i) for leg in self.robot.legs for i, link in enumerate(leg.links) if link.elastic]
        self.elastic = {link: modes + k for k, link in enumerate(links)}
        self.count = modes + len(links)
        if platform is not None:
            nodes = platform.nodes
            assert nodes is not None
            assert nodes.spread is None
            points = MassPoints(r0=nodes.r0, mass=nodes.mass, Phi=nodes.Phi_d, K=platform.K_ee, D=platform.D_ee)
            self.flexed.append(Flexed(0, np.eye(3), points, list(range(len(platform.K_ee)))))
        for leg in self.robot.legs:
            self._number(leg)

    def _number(self, leg: Leg) -> None:
        """Frames of a leg: one per link, but a beam element has only its root and its tip."""
        planar = self.robot.planar
        for i, link in enumerate(leg.links):
            if not link.elastic or link.spring:
                self.where[leg.name, i] = self.frames
                self.frames += 1
        for i, link in enumerate(leg.links):
            if link.body is None or link.body.flexible is None:
                continue
            spec, n = link.body.flexible, 3 if planar else 6
            own = [j for j, other in enumerate(leg.links) if other.elastic and not other.spring and other.joint == link.body.name]
            root, axes = self.where[leg.name, i], link.body.body_axes
            count = spec.elements if spec.modes is None else 1
            points = beam_element(spec, planar) if spec.modes is None else reduced_points(spec, planar)
            for k in range(count):
                part = own[k * n : (k + 1) * n] if spec.modes is None else own
                e = [self.elastic[leg.name, j] for j in part]
                tip = self.where[leg.name, part[n - 1]] = self.frames
                self.frames += 1
                self.flexed.append(Flexed(root, axes, points, e))
                self.elements.append((root, axes, float(spec.length or 0) / count, e[:n], tip))
                root, axes = tip, np.eye(3)

    # -- symbols ---------------------------------------------------------------------------------------
    @property
    def size(self) -> int:
        return 6 * self.frames + self.count

    @cached_property
    def equations(self) -> ca.Function:
        """(poses, e, v) -> constraints c, G, bias; joint coordinates a, their Jacobian A and bias."""
        p0, R0 = ca.SX.sym("p", 3, self.frames), ca.SX.sym("R", 3, 3 * self.frames)
        x, v, e0 = ca.SX.sym("x", self.size), ca.SX.sym("v", self.size), ca.SX.sym("e", self.count)
        poses = []
        for k in range(self.frames):
            phi = ca.skew(x[6 * k + 3 : 6 * k + 6])
            poses.append((R0[:, 3 * k : 3 * k + 3] @ (ca.SX.eye(3) + phi + phi @ phi / 2), p0[:, k] + x[6 * k : 6 * k + 3]))
        e = e0 + x[6 * self.frames :]
        rows, coordinates = [], []
        for leg in self.robot.legs:
            for i, link in enumerate(leg.links):
                if link.elastic and not link.spring:
                    continue
                F = _placed(self._parent(leg, link.parent, poses), link.placement.rotation, link.placement.position)
                C = poses[self.where[leg.name, i]]
                rows += _forbidden({"R": "revolute", "P": "prismatic", "fixed": "fixed"}[link.kind], F, C)
                if link.kind == "fixed":
                    continue
                slide, relative = F[0][:, 2].T @ (C[1] - F[1]), ca.atan2(F[0][:, 1].T @ C[0][:, 0], F[0][:, 0].T @ C[0][:, 0])
                value = (slide if link.kind == "P" else relative) - link.zero
                if link.elastic:
                    rows.append(value - e[self.elastic[leg.name, i]])
                else:
                    coordinates.append(value)
            rows += self._closing(leg, poses, e)
        for root, axes, length, where, tip in self.elements:
            R, t = _tip(length, [e[k] for k in where])
            rows += _forbidden("fixed", _placed(poses[root], axes @ R, axes @ t), poses[tip])
        c, a = ca.vertcat(*rows), ca.vertcat(*coordinates)
        out = []
        for f in (c, a):
            J = ca.jacobian(f, x)
            out += [f, J, ca.jtimes(ca.jtimes(f, x, v), x, v)]
        out = ca.substitute(out, [x], [ca.SX.zeros(self.size)])
        return ca.Function("constraints", [p0, R0, e0, v], out)

    def _parent(self, leg: Leg, link: int, poses: list) -> tuple:
        return (ca.SX.eye(3), ca.SX.zeros(3)) if link < 0 else poses[self.where[leg.name, link]]

    def _closing(self, leg: Leg, poses: list, e: ca.SX) -> list:
        c = leg.closing
        on, modes = ca.SX(c.on_platform.position), self.robot.flexible_platform
        if modes is not None:
            assert c.type == "spherical"
            on = on + ca.DM(self.robot.joint_shapes[leg.name]) @ e[: len(modes.K_ee)]
        platform = _placed(poses[0], c.on_platform.rotation, on)
        return _forbidden(c.type, platform, _placed(self._parent(leg, c.link, poses), c.on_link.rotation, c.on_link.position))

    def joints(self, p: np.ndarray, R: np.ndarray, e: np.ndarray) -> list[tuple[slice, int, np.ndarray]]:
        """Of every joint that is no deformation: its rows among the constraints, its outer frame, its place."""
        counts = {"R": 5, "P": 5, "fixed": 6}
        closing = {"spherical": 3, "revolute": 5, "fixed": 6, "universal": 4, "prismatic": 5, "cylindrical": 4}
        result, at = [], 0
        for leg in self.robot.legs:
            for i, link in enumerate(leg.links):
                if link.elastic and not link.spring:
                    continue
                frame, own = self.where[leg.name, i], slice(at, at + counts[link.kind])
                at += counts[link.kind] + bool(link.elastic)
                if not link.elastic:
                    result.append((own, frame, p[frame]))
            c, body = leg.closing, self.robot.flexible_platform
            on = c.on_platform.position
            if body is not None:
                on = on + self.robot.joint_shapes[leg.name] @ e[: len(body.K_ee)]
            result.append((slice(at, at + closing[c.type]), 0, p[0] + R[0] @ on))
            at += closing[c.type]
        return result

    @cached_property
    def coordinate_names(self) -> list[str]:
        """Joint coordinates in the order of the equations."""
        return [f"{leg.name}.{k.coordinate}" for leg in self.robot.legs for k in leg.links if not k.elastic and k.kind != "fixed"]

    # -- numbers ---------------------------------------------------------------------------------------
    def poses(self, q: dict[str, float], e: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """p (frames, 3), R (frames, 3, 3) of the tree at joint coordinates q; the platform at home."""
        p, R = np.zeros((self.frames, 3)), np.zeros((self.frames, 3, 3))
        p[0], R[0] = self.robot.home.position, self.robot.home.rotation
        tips = {tip: (root, axes, length, where) for root, axes, length, where, tip in self.elements}
        for leg in self.robot.legs:
            for i, link in enumerate(leg.links):
                k = self.where.get((leg.name, i))
                if k is None:
                    continue
                if k in tips:
                    root, axes, length, where = tips[k]
                    relative, shift = (np.array(ca.DM(m)) for m in _tip(length, list(e[where])))
                    R[k], p[k] = R[root] @ axes @ relative, p[root] + R[root] @ axes @ shift[:, 0]
                    continue
                above, origin = np.eye(3), np.zeros(3)
                if link.parent >= 0:
                    above, origin = (a[self.where[leg.name, link.parent]] for a in (R, p))
                value = link.zero + (
                    e[self.elastic[leg.name, i]] if link.elastic else q.get(f"{leg.name}.{link.coordinate}", 0.0)
                )
                base = above @ link.placement.rotation
                R[k] = base @ (rotation(np.array([0, 0, value])) if link.kind == "R" else np.eye(3))
                p[k] = origin + above @ link.placement.position + (base[:, 2] * value if link.kind == "P" else 0.0)
        return p, R


def _placed(pose: tuple, rotation: object, position: object) -> tuple:
    return pose[0] @ ca.SX(rotation), pose[1] + pose[0] @ ca.SX(position)


def _tip(length: float, e: list) -> tuple:
    """Rotation and position of a tip, in beam axes: displacement along root axes, then turns about x, y, z in turn."""
    if len(e) == 3:
        return _about(2, e[2]), ca.vertcat(length + e[0], e[1], 0)
    return _about(0, e[3]) @ _about(1, e[4]) @ _about(2, e[5]), ca.vertcat(length + e[0], e[1], e[2])


def _about(axis: int, angle: object) -> ca.SX:
    c, s = ca.cos(angle), ca.sin(angle)
    i, j = (axis + 1) % 3, (axis + 2) % 3
    R = ca.SX.eye(3)
    R[i, i], R[j, j], R[i, j], R[j, i] = c, c, -s, s
    return R


def _forbidden(kind: str, F: tuple, C: tuple) -> list:
    """What a joint with z as its axis forbids, first half F, second half C. Universal: axes F z and C z are perpendicular."""
    (R, p), (S, s) = F, C
    d = R.T @ (s - p)
    Q = R.T @ S
    point, parallel = [d[0], d[1], d[2]], [Q[0, 2], Q[1, 2]]
    aligned = [(Q[2, 1] - Q[1, 2]) / 2, (Q[0, 2] - Q[2, 0]) / 2, (Q[1, 0] - Q[0, 1]) / 2]
    table = {
        "spherical": point, "revolute": point + parallel, "fixed": point + aligned, "universal": [*point, Q[2, 2]],
        "prismatic": point[:2] + aligned, "cylindrical": point[:2] + parallel,
    }  # fmt: skip
    return table[kind]


def rotation(vector: np.ndarray) -> np.ndarray:
    """Rotation matrix of a rotation vector."""
    from scipy.spatial.transform import Rotation

    return Rotation.from_rotvec(vector).as_matrix()
