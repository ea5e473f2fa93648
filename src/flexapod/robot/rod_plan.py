"""Robots of rods: which links are rods between a universal joint and a ball, and the tree of all other bodies.

A rod that is symmetric about the line of its joints is a constraint on the distance of two points and a mass at each of them
(`equations.rods`). Without the rods a robot has fewer loops: drives hang on the base, what the rods carry hangs on the platform
by the hinges that hold it there. What hung on a ball or on a free joint takes such a hinge as the joint that carries it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import numpy as np

from flexapod.arrays import Array
from flexapod.robot.chain import ancestors, closing_rows, link_poses
from flexapod.robot.elastic_plan import driven_columns, preferred_pivots
from flexapod.robot.geometry import Pose, skew
from flexapod.robot.mobility import generic_configuration
from flexapod.robot.model import Closing, Leg, RigidBody
from flexapod.robot.plan import WORKABLE, pivots

if TYPE_CHECKING:
    from flexapod.robot.robot import Robot

Place = tuple[int, int]
"""Leg and link; `PLATFORM` or `WORLD`."""
PLATFORM, WORLD = (-1, 0), (-1, -1)
Cut = tuple[int, Closing, int | None, int | None]
"""Leg, closing joint, nodes of its half on the link and of its far half; None: the world."""
HINGES = {"revolute": "R", "prismatic": "P", "fixed": "fixed"}
"""Joints that a file cuts and that may carry a body here."""
SYMMETRIC = 1e-9
"""Part of a rod's inertia or length that may be off its axis: numbers of files have fewer digits, rounding more."""


class NoRodsError(Exception):
    """Why a robot is no robot of rods."""


@dataclass(frozen=True, kw_only=True)
class Node:
    """A body of the tree and the joint that carries it.

    Args:
        place: leg and link of the body.
        parent: index of the node that carries it; None: the world.
        kind: of its joint; "free" for the platform.
        hinge: leg and joint of the file's closing joint that carries it; None: the joint of its own link.
        reversed: that joint is written from the body to what carries it.
    """

    place: Place
    parent: int | None
    kind: Literal["R", "P", "fixed", "free"]
    hinge: tuple[int, Closing] | None = None
    reversed: bool = False


@dataclass(frozen=True, kw_only=True)
class Rod:
    """A rod: leg, links of its universal joint (the second is the rod), nodes at its two ends, the ball.

    Args:
        ball: closing joint of the leg at the rod's far end; None: a ball of the tree, whose last link has its origin there.
        after: link that the ball of the tree carries, -1 for a closing joint.
    """

    leg: int
    cross: int
    link: int
    near: int
    far: int
    ball: Closing | None
    after: int


@dataclass(frozen=True, kw_only=True)
class RodPlan:
    """Tree, rods, and choices.

    Columns w are the platform's twist, then the coordinates of `moving` nodes. Rows are those of the rods, one each, then of the
    other cut joints.

    Args:
        nodes: the platform first, carriers before what they carry.
        rods: all rods.
        cuts: what is cut besides.
        kept, bound: rows that are independent, and the columns that they are solved for.
        independent: the other columns.
        states: columns of the coordinates u of ``robot.independent``; driven: of the actuators.
    """

    nodes: tuple[Node, ...]
    rods: tuple[Rod, ...]
    cuts: tuple[Cut, ...]
    kept: tuple[int, ...]
    bound: tuple[int, ...]
    independent: tuple[int, ...]
    states: tuple[int, ...]
    driven: tuple[int, ...]

    @property
    def moving(self) -> list[int]:
        """Nodes with a coordinate, in the order of their columns."""
        return _moving(self.nodes)

    def column(self, node: int) -> int:
        """Column of a node's coordinate."""
        return 6 + self.moving.index(node)

    def path(self, node: int | None) -> list[int]:
        """Nodes from one down to the world or the platform."""
        return _path(self.nodes, node)


def _moving(nodes: tuple[Node, ...]) -> list[int]:
    return [k for k, node in enumerate(nodes) if node.kind in ("R", "P")]


def _path(nodes: tuple[Node, ...], node: int | None) -> list[int]:
    found = []
    while node is not None:
        found.append(node)
        node = nodes[node].parent
    return found


def rod_plan(robot: Robot) -> RodPlan | str:
    """The plan of a robot, or why it has none.

    Checked by: tests/equations/test_rods.py.
    """
    try:
        _refuse(robot)
        graph = _Graph(robot)
        for i in range(len(robot.legs)):
            graph.read(i)
        graph.attach()
        return _chosen(robot, graph)
    except NoRodsError as reason:
        return str(reason)


def _refuse(robot: Robot) -> None:
    if robot.elastic_names or robot.forces:
        raise NoRodsError("it has flexible bodies or force elements")
    if robot.elastic_plan.carrier is not None:
        raise NoRodsError("its platform is a link of a leg")
    for leg in robot.legs:
        if leg.couplings or any(link.friction or link.spring for link in leg.links) or any(c.friction for c in leg.closings):
            raise NoRodsError(f"joints of leg {leg.name} are coupled, sprung or have friction")


@dataclass
class _Graph:
    """Bodies and joints as they are found; `hanging`: body that nothing carries yet -> what hangs on it, itself first."""

    robot: Robot
    nodes: list[Node] = field(default_factory=lambda: [Node(place=PLATFORM, parent=None, kind="free")])
    rods: list[tuple[int, int, int, Place, Place, Closing | None, int]] = field(default_factory=list)
    cuts: list[tuple[int, Closing]] = field(default_factory=list)
    hanging: dict[Place, list[Place]] = field(default_factory=dict)

    def at(self, place: Place) -> int | None:
        """Node of a body; None: the world."""
        return None if place == WORLD else [node.place for node in self.nodes].index(place)

    def known(self, place: Place) -> bool:
        """Something carries a body."""
        return place == WORLD or place in [node.place for node in self.nodes]

    def read(self, i: int) -> None:
        """Rods, nodes and hanging bodies of leg i."""
        leg = self.robot.legs[i]
        gone = set[int]()
        for k in range(len(leg.links)):
            if (rod := _rod(leg, k)) is not None:
                cross, ball, after = rod
                near = (i, leg.links[cross].parent) if leg.links[cross].parent >= 0 else WORLD
                far = (i, after) if ball is None else _far(i, ball)
                self.rods.append((i, cross, k, near, far, ball, after))
                gone |= {cross, k, *([after - 2, after - 1] if ball is None else [])}
        loose = {after for leg_, *_, ball, after in self.rods if leg_ == i and ball is None} | _free(leg)
        gone |= {k for last in _free(leg) for k in range(last - 5, last)}
        for k, link in enumerate(leg.links):
            parent = (i, link.parent) if link.parent >= 0 else WORLD
            if k in gone:
                continue
            if k in loose:
                self.hanging[i, k] = [(i, k)]
            elif self.known(parent):
                self.nodes.append(Node(place=(i, k), parent=self.at(parent), kind=link.kind))
            else:
                next(group for group in self.hanging.values() if parent in group).append((i, k))
        balls = [rod[5] for rod in self.rods if rod[0] == i]
        self.cuts += [(i, closing) for closing in leg.closings if closing not in balls]

    def attach(self) -> None:
        """Hang what nothing carries on the hinges that hold it."""
        while self.hanging:
            found = list(self._hinges())
            if not found:
                raise NoRodsError("a body hangs on rods alone")
            cut, place, carrier = min(found, key=lambda hinge: len(_path(tuple(self.nodes), self.at(hinge[2]))))
            i, closing = cut
            kind = HINGES[closing.type]
            reversed_ = place == (i, closing.link)
            self.nodes.append(
                Node(place=place, parent=self.at(carrier), kind=kind, hinge=cut, reversed=reversed_)  # type: ignore[arg-type]
            )
            self.cuts.remove(cut)
            for leg, k in self.hanging.pop(place)[1:]:
                link = self.robot.legs[leg].links[k]
                self.nodes.append(Node(place=(leg, k), parent=self.at((leg, link.parent)), kind=link.kind))

    def _hinges(self) -> Iterator[tuple[tuple[int, Closing], Place, Place]]:
        for i, closing in self.cuts:
            ends = (i, closing.link), _far(i, closing)
            for place, carrier in (ends, ends[::-1]):
                if closing.type in HINGES and place in self.hanging and self.known(carrier):
                    yield (i, closing), place, carrier


def _far(i: int, closing: Closing) -> Place:
    """Where a closing joint of leg i ends."""
    if closing.to is None:
        return PLATFORM
    return closing.to if closing.to[1] >= 0 else WORLD


def _free(leg: Leg) -> set[int]:
    """Last links of free joints that hang on the world."""
    found = set()
    for k, link in enumerate(leg.links):
        joint = leg.links[k : k + 6]
        if link.parent < 0 and [each.kind for each in joint] == list("PPPRRR") and {each.joint for each in joint} == {link.joint}:
            found.add(k + 5)
    return found


def _rod(leg: Leg, k: int) -> tuple[int, Closing | None, int] | None:
    """Where link k is a rod: first link of its universal joint, its ball, the link that a ball of the tree carries."""
    rod = leg.links[k]
    cross = rod.parent
    if rod.body is None or cross < 0 or leg.links[cross].joint != rod.joint or not _passive(leg, (cross, k)):
        return None
    joint = [j for j, link in enumerate(leg.links) if link.joint == rod.joint]
    balls = [closing for closing in leg.closings if closing.link == k]
    beyond = [j for j, link in enumerate(leg.links) if link.parent == k]
    held = {closing.link for closing in leg.closings}
    if joint != [cross, k] or [j for j, link in enumerate(leg.links) if link.parent == cross] != [k] or cross in held:
        return None
    if len(balls) == 1 and balls[0].type == "spherical" and not beyond:
        ball, after, tip = balls[0], -1, balls[0].on_link.position
    elif not balls and len(beyond) == 1 and (last := _ball(leg, beyond[0])) is not None:
        ball, after, tip = None, last, leg.links[beyond[0]].placement.position
    else:
        return None
    inner = leg.links[cross].body
    light = inner is None or not (np.any(inner.first_moment) or np.any(inner.inertia))
    placed = not np.any(rod.placement.position) and abs(rod.placement.rotation[2, 2]) < SYMMETRIC
    return (cross, ball, after) if light and placed and _is_symmetric(rod.body, tip) else None


def _ball(leg: Leg, first: int) -> int | None:
    """Last link of a ball of the tree that begins at a link; None: it is another joint."""
    chain = [j for j, link in enumerate(leg.links) if link.joint == leg.links[first].joint]
    if chain != [first, first + 1, first + 2] or not _passive(leg, chain):
        return None
    links = [leg.links[j] for j in chain]
    inside = all(link.body is None for link in links[:2]) and not any(np.any(link.placement.position) for link in links[1:])
    ends = {closing.link for closing in leg.closings}
    carried = all(links[j + 1].parent == chain[j] for j in range(2))
    return chain[-1] if inside and carried and not ends & set(chain[:2]) else None


def _passive(leg: Leg, links: tuple[int, ...] | list[int]) -> bool:
    """Revolute links that nothing drives."""
    return all(leg.links[j].kind == "R" and not (leg.links[j].actuated or leg.links[j].inertia) for j in links)


def _is_symmetric(body: RigidBody, tip: Array) -> bool:
    """A body is symmetric about the line from its origin to the tip, its second joint axis perpendicular to it."""
    length, size = float(np.linalg.norm(tip)), float(np.trace(body.inertia))
    if length == 0.0 or abs(tip[2]) > SYMMETRIC * length:
        return False
    n = tip / length
    along = float(n @ body.inertia @ n)
    across = (size - along) / 2.0
    expected = across * np.eye(3) + (along - across) * np.outer(n, n)
    off = np.linalg.norm(np.cross(body.first_moment, n))
    return bool(np.abs(body.inertia - expected).max() <= SYMMETRIC * size and off <= SYMMETRIC * np.sqrt(body.mass * size))


def _chosen(robot: Robot, graph: _Graph) -> RodPlan:
    """The plan with the rows and columns that its loops are solved by."""
    if not graph.rods:
        raise NoRodsError("it has no rods between a universal joint and a ball")
    nodes = tuple(graph.nodes)
    rods = tuple(
        Rod(leg=i, cross=cross, link=k, near=near, far=far, ball=ball, after=after)
        for (i, cross, k, _, _, ball, after), near, far in (
            (rod, graph.at(rod[3]), graph.at(rod[4])) for rod in graph.rods
        )
        if near is not None and far is not None
    )
    if len(rods) < len(graph.rods):
        raise NoRodsError("a rod hangs on the base")
    cuts = tuple((i, c, graph.at((i, c.link)), graph.at(_far(i, c))) for i, c in graph.cuts)
    moving = _moving(nodes)
    columns = [(6 + k, nodes[j]) for k, j in enumerate(moving)]
    names = {(node.place, node.hinge is None): column for column, node in columns}
    u = [_place(robot, column) for column in robot.elastic_plan.independent]
    driven = [_place(robot, column) for column in driven_columns(robot)]
    if any((place, True) not in names for place in (*u, *driven)):
        raise NoRodsError("a coordinate of its state belongs to no joint that carries a body")
    states, drives = (tuple(names[place, True] for place in places) for places in (u, driven))
    G = _matrix(robot, nodes, rods, cuts)
    passive = [column for column, _ in columns if column not in (*states, *drives)]
    others = [column for column in drives if column not in states]
    bound = preferred_pivots(G, [list(states), others, passive, [3, 4, 5], [0, 1, 2]])
    kept = pivots(G[:, bound].T)
    if G.shape[1] - len(bound) != len(states) or np.linalg.svd(G[np.ix_(kept, bound)], compute_uv=False)[-1] < WORKABLE:
        raise NoRodsError("the platform's motion does not decide that of its drives")
    return RodPlan(
        nodes=nodes, rods=rods, cuts=cuts, kept=tuple(kept), bound=tuple(bound),
        independent=tuple(k for k in range(G.shape[1]) if k not in bound), states=states, driven=drives,
    )  # fmt: skip


def _place(robot: Robot, column: int) -> Place:
    """Leg and link of a column of ``robot.elastic_plan``."""
    plan = robot.elastic_plan
    for i, leg in enumerate(robot.legs):
        if plan.first[i] <= column < plan.first[i] + len(leg.moving):
            return i, leg.moving[column - plan.first[i]]
    return WORLD


def _matrix(robot: Robot, nodes: tuple[Node, ...], rods: tuple[Rod, ...], cuts: tuple[Cut, ...]) -> Array:
    """Rows of the rods and cut joints by all columns at a generic configuration, dimensionless."""
    length = robot.characteristic_length
    q, platform = generic_configuration(robot.legs, robot.home, length, seed=7)
    poses = [link_poses(leg, x) for leg, x in zip(robot.legs, q, strict=True)]

    def frame(place: Place) -> tuple[Array, Array]:
        return (platform.rotation, platform.position) if place == PLATFORM else poses[place[0]][place[1]]

    def twist(node: int | None, point: Array) -> Array:
        """(6, w) velocity of a point and angular velocity of a node."""
        T = np.zeros((6, 6 + len(_moving(nodes))))
        for k in _path(nodes, node):
            if nodes[k].kind == "free":
                T[:, :6] = np.block([[np.eye(3) * length, -skew(point - platform.position)], [np.zeros((3, 3)), np.eye(3)]])
            elif nodes[k].kind != "fixed":
                z, o = joint_line(robot, nodes[k], frame)
                at = 6 + _moving(nodes).index(k)
                T[:, at] = np.r_[z * length, np.zeros(3)] if nodes[k].kind == "P" else np.r_[np.cross(z, point - o), z]
        return T

    rows = []
    for rod in rods:
        R, U = poses[rod.leg][rod.link]
        S = U + R @ tip(robot, rod)
        rows.append(((S - U) @ (twist(rod.far, S) - twist(rod.near, U))[:3])[None] / length**2)
    for i, closing, near, far in cuts:
        R_l, p_l = poses[i][closing.link]
        p_l, R_l = p_l + R_l @ closing.on_link.position, R_l @ closing.on_link.rotation
        R_t, p_t = (np.eye(3), np.zeros(3)) if far is None else frame(nodes[far].place)
        p_p, R_p = p_t + R_t @ closing.on_platform.position, R_t @ closing.on_platform.rotation
        _, own = closing_rows(closing, R_l, p_l, R_p, p_p)
        scaled = own @ np.diag([1.0 / length] * 3 + [1.0] * 3)
        rows.append(scaled @ (twist(near, p_l) - twist(far, p_l)))
    return np.concatenate(rows)


def tip(robot: Robot, rod: Rod) -> Array:
    """(3,) centre of a rod's ball in axes of the rod's link, from its universal joint."""
    leg = robot.legs[rod.leg]
    if rod.ball is not None:
        return rod.ball.on_link.position
    return leg.links[ancestors(leg, rod.after)[2]].placement.position


def joint_line(robot: Robot, node: Node, frame: object) -> tuple[Array, Array]:
    """Axis and a point of a node's joint in the world, from the frames of all places."""
    R, p = frame(node.place)  # type: ignore[operator]
    if node.hinge is None:
        return R[:, 2], p
    half = node.hinge[1].on_link if node.reversed else node.hinge[1].on_platform
    return R @ half.rotation[:, 2], p + R @ half.position


def start_coordinates(robot: Robot, plan: RodPlan, q: list[Array], platform: Pose) -> list[float]:
    """Coordinates of all `moving` nodes at closed coordinates of the legs."""
    poses, found = [link_poses(leg, x) for leg, x in zip(robot.legs, q, strict=True)], []
    for k in plan.moving:
        node = plan.nodes[k]
        i, link = node.place
        if node.hinge is None:
            found.append(float(q[i][robot.legs[i].moving.index(link)]))
            continue
        first, second = node.hinge[1].on_platform, node.hinge[1].on_link
        first, second = (first, second) if node.reversed else (second, first)
        carrier = None if node.parent is None else plan.nodes[node.parent].place
        R, p = (np.eye(3), np.zeros(3)) if carrier is None else (
            (platform.rotation, platform.position) if carrier == PLATFORM else poses[carrier[0]][carrier[1]]
        )  # fmt: skip
        R_c, p_c = poses[i][link]
        H = R @ first.rotation
        rotated = H.T @ R_c @ second.rotation
        gap = H.T @ (p_c + R_c @ second.position - p - R @ first.position)
        found.append(float(gap[2]) if node.kind == "P" else float(np.arctan2(rotated[1, 0], rotated[0, 0])))
    return found
