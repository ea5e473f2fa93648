"""Robots of rods: which links are rods between a universal joint and a ball, and the tree of all other bodies.

A rod that is symmetric about the line of its joints is a constraint on the distance of two points and a mass at each of them
(`equations.rods`). Without the rods a robot has fewer loops: drives hang on the base, what the rods carry hangs on the platform
by the hinges that hold it there. What hung on a ball or on a free joint takes such a hinge as the joint that carries it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from flexapod.arrays import Array
from flexapod.robot.elastic_plan import driven_columns
from flexapod.robot.leg_positions import free_joints
from flexapod.robot.model import Closing, Leg, RigidBody
from flexapod.robot.plan import WORKABLE, pivots
from flexapod.robot.rods import PLATFORM, WORLD, Place, Rod, RodNode, RodPlan, loop_rows, moving_nodes, path_down

if TYPE_CHECKING:
    from flexapod.robot.robot import Robot

HINGES = {"revolute": "R", "prismatic": "P", "fixed": "fixed"}
"""Joints that a file cuts and that may carry a body here."""
SYMMETRIC = 1e-9
"""Part of a rod's inertia or length that may be off its axis: numbers of files have fewer digits, rounding more."""


class NoRodsError(Exception):
    """The reason why a robot is not a robot of rods."""


def rod_plan(robot: Robot) -> RodPlan | str:
    """The plan of a robot, or why it has none.

    Checked by: tests/equations/test_rods.py.
    """
    try:
        refuse(robot)
        graph = _Graph(robot)
        for i in range(len(robot.legs)):
            graph.read(i)
        graph.attach()
        return _chosen(robot, graph)
    except NoRodsError as reason:
        return str(reason)


def refuse(robot: Robot) -> None:
    """Refuse what neither rods nor telescopes (`floating_plan`) can describe."""
    if robot.elastic_names or robot.forces:
        raise NoRodsError("it has flexible bodies or force elements")
    if robot.elastic_plan.carrier is not None:
        raise NoRodsError("its platform is a link of a leg")
    for leg in robot.legs:
        if leg.couplings or any(link.friction or link.spring for link in leg.links) or any(c.friction for c in leg.closings):
            raise NoRodsError(f"joints of leg {leg.name} are coupled, sprung or have friction")


@dataclass
class _Graph:
    """Bodies and joints as they are found; `hanging`: body that nothing carries yet -> bodies that it carries, itself first."""

    robot: Robot
    nodes: list[RodNode] = field(default_factory=lambda: [RodNode(place=PLATFORM, parent=None, kind="free")])
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
                far = (i, after) if ball is None else _far_place(i, ball)
                self.rods.append((i, cross, k, near, far, ball, after))
                gone |= {cross, k, *([after - 2, after - 1] if ball is None else [])}
        loose = {after for leg_, *_, ball, after in self.rods if leg_ == i and ball is None} | free_joints(leg)
        gone |= {k for last in free_joints(leg) for k in range(last - 5, last)}
        for k, link in enumerate(leg.links):
            parent = (i, link.parent) if link.parent >= 0 else WORLD
            if k in gone:
                continue
            if k in loose:
                self.hanging[i, k] = [(i, k)]
            elif self.known(parent):
                self.nodes.append(RodNode(place=(i, k), parent=self.at(parent), kind=link.kind))
            else:
                next(group for group in self.hanging.values() if parent in group).append((i, k))
        balls = [rod[5] for rod in self.rods if rod[0] == i]
        self.cuts += [(i, closing) for closing in leg.closings if closing not in balls]

    def attach(self) -> None:
        """Attach bodies that nothing carries to the hinges that hold them."""
        while self.hanging:
            found = list(self._hinges())
            if not found:
                raise NoRodsError("a body hangs on rods alone")
            cut, place, carrier = min(found, key=lambda hinge: len(path_down(tuple(self.nodes), self.at(hinge[2]))))
            i, closing = cut
            kind = HINGES[closing.type]
            reversed_ = place == (i, closing.link)
            self.nodes.append(
                RodNode(place=place, parent=self.at(carrier), kind=kind, hinge=cut, reversed=reversed_)  # type: ignore[arg-type]
            )
            self.cuts.remove(cut)
            for leg, k in self.hanging.pop(place)[1:]:
                link = self.robot.legs[leg].links[k]
                self.nodes.append(RodNode(place=(leg, k), parent=self.at((leg, link.parent)), kind=link.kind))

    def _hinges(self) -> Iterator[tuple[tuple[int, Closing], Place, Place]]:
        for i, closing in self.cuts:
            ends = (i, closing.link), _far_place(i, closing)
            for place, carrier in (ends, ends[::-1]):
                if closing.type in HINGES and place in self.hanging and self.known(carrier):
                    yield (i, closing), place, carrier


def _far_place(i: int, closing: Closing) -> Place:
    """Place where a closing joint of leg i ends: on the platform, on another leg, or in the world."""
    if closing.to is None:
        return PLATFORM
    return closing.to if closing.to[1] >= 0 else WORLD


def _rod(leg: Leg, k: int) -> tuple[int, Closing | None, int] | None:
    """Rod that ends with link k, if there is one: first link of its universal joint, its ball, the link that a ball of the tree
    carries."""
    rod = leg.links[k]
    cross = rod.parent
    if rod.body is None or cross < 0 or leg.links[cross].joint != rod.joint or not is_passive(leg, (cross, k)):
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
    return (cross, ball, after) if light and placed and is_symmetric(rod.body, tip) else None


def _ball(leg: Leg, first: int) -> int | None:
    """Last link of a ball of the tree that begins at a link; None for other joints."""
    chain = [j for j, link in enumerate(leg.links) if link.joint == leg.links[first].joint]
    if chain != [first, first + 1, first + 2] or not is_passive(leg, chain):
        return None
    links = [leg.links[j] for j in chain]
    inside = all(link.body is None for link in links[:2]) and not any(np.any(link.placement.position) for link in links[1:])
    ends = {closing.link for closing in leg.closings}
    carried = all(links[j + 1].parent == chain[j] for j in range(2))
    return chain[-1] if inside and carried and not ends & set(chain[:2]) else None


def is_passive(leg: Leg, links: tuple[int, ...] | list[int]) -> bool:
    """Revolute links that nothing drives."""
    return all(leg.links[j].kind == "R" and not (leg.links[j].actuated or leg.links[j].inertia) for j in links)


def is_symmetric(body: RigidBody, tip: Array, across: bool = True) -> bool:
    """A body is symmetric about the line from its origin to the tip; across: and its joint's axis z is perpendicular to it."""
    length, size = float(np.linalg.norm(tip)), float(np.trace(body.inertia))
    if length == 0.0 or (across and abs(tip[2]) > SYMMETRIC * length):
        return False
    n = tip / length
    along = float(n @ body.inertia @ n)
    other = (size - along) / 2.0
    expected = other * np.eye(3) + (along - other) * np.outer(n, n)
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
    cuts = tuple((i, c, graph.at((i, c.link)), graph.at(_far_place(i, c))) for i, c in graph.cuts)
    moving = moving_nodes(nodes)
    columns = [(6 + k, nodes[j]) for k, j in enumerate(moving)]
    names = {(node.place, node.hinge is None): column for column, node in columns}
    u = [_place(robot, column) for column in robot.elastic_plan.independent]
    driven = [_place(robot, column) for column in driven_columns(robot)]
    if any((place, True) not in names for place in (*u, *driven)):
        raise NoRodsError("a coordinate of its state belongs to no joint that carries a body")
    states, drives = (tuple(names[place, True] for place in places) for places in (u, driven))
    G = loop_rows(robot, nodes, rods, cuts)
    passive = [column for column, _ in columns if column not in (*states, *drives)]
    others = [column for column in drives if column not in states]
    bound = pivots(G, [list(states), others, passive, [3, 4, 5], [0, 1, 2]])
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
