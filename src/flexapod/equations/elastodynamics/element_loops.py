r"""Legs with runs of equal beam elements, evaluated in loops: code whose length does not depend on the number of elements.

Letters of `world_links`. Outwards: frames, axes z_k and points p_k of the coordinates. In between, for all elements that are
alike at once, what each demands at its root (`link_beams`). Inwards: everything beyond a coordinate, inertia J and wrench f, so
that with the unit twist S_k of a coordinate, the force f_k and the moment n_k of F_k about p_k

.. math:: h_k = S_k\cdot f + s_k,\qquad F_k = J S_k + C_k,\qquad
          M_{jk} = z_j\cdot(n_k + (p_k - p_j)\times f_k)\ \text{or}\ z_j\cdot f_k\quad (j\text{ rotates, slides; before }k)

C, s: coupling and bias force of an elastic coordinate. Within one element M is S_j . J S_k + M_e. The numbers z, p, F are O(n),
and M is made of them by linear algebra on numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

import casadi as ca

from flexapod.arrays import SX, Scalar
from flexapod.equations.elastodynamics.beam_energy import elastic_energy
from flexapod.equations.elastodynamics.element_values import element_map
from flexapod.equations.elastodynamics.link_beams import link_beam
from flexapod.equations.elastodynamics.link_motion import LinkMotion, field_of
from flexapod.equations.elastodynamics.link_tree import rigid_body
from flexapod.equations.elastodynamics.world_links import (
    WorldInertia,
    WorldLink,
    moved_frame,
    moved_wrench,
    virtual_work_of_wrench,
)
from flexapod.equations.values import Values
from flexapod.kernels.tape.control_flow import Builder
from flexapod.robot.beams import ElasticElement
from flexapod.robot.element_runs import ElementRun, kind
from flexapod.robot.model import Leg


@dataclass(kw_only=True)
class LoopedLeg:
    """A leg while its terms are assembled by a program.

    Args:
        frames: by link: single links, and the last link of every run.
        axes: by link that moves alone, (3,).
        levers: by link in no run, from the origin of its parent, (3,).
        coordinates: by run, (6 N x count), of each of its elements' coordinates the axis and the point seen from the root.
        starts: by run, root of its first element (3,).
        roots: by run, (24 x count) frames at the roots of its elements.
        short: elements that are in no run.
        elements: by number of the run, or by name of a short element.
    """

    leg: Leg
    values: Values
    q: SX
    qd: SX
    runs: list[ElementRun]
    short: list[ElasticElement]
    frames: dict[int, WorldLink] = field(default_factory=dict)
    axes: dict[int, SX] = field(default_factory=dict)
    levers: dict[int, SX] = field(default_factory=dict)
    coordinates: list[SX] = field(default_factory=list)
    starts: list[SX] = field(default_factory=list)
    roots: list[SX | None] = field(default_factory=list)
    elements: dict[int | str, Element] = field(default_factory=dict)

    def run_at(self, link: int) -> int | None:
        """Number of the run that begins with a link."""
        return next((k for k, run in enumerate(self.runs) if run.links[0] == link), None)

    def columns(self, run: ElementRun, values: SX) -> SX:
        """Coordinates or rates of a run, (N x count)."""
        return ca.reshape(values[run.first : run.first + run.size * len(run.elements)], run.size, len(run.elements))


def outwards(b: Builder, looped: LoopedLeg, gravity: SX, demand: bool) -> None:
    """Frames, axes and levers of all links of a leg.

    Args:
        demand: what elements demand will be asked for.

    Source: Briot 2014 Eqs. (10)-(22). Checked by: tests/equations/test_element_loops.py.
    """
    leg, still = looped.leg, ca.SX.zeros(3)
    base = WorldLink(R=ca.SX.eye(3), p=still, v=still, w=still, a=-gravity, alpha=still)
    moving = {index: k for k, index in enumerate(leg.moving)}
    at = 0
    while at < len(leg.links):
        link, run = leg.links[at], looped.run_at(at)
        parent = looped.frames[link.parent] if link.parent >= 0 else base
        if run is not None:
            _run_outwards(b, looped, looped.runs[run], parent, demand)
            at += len(looped.runs[run].links)
            continue
        q, qd = (looped.q[moving[at]], looped.qd[moving[at]]) if at in moving else (0, 0)
        looped.frames[at], z, looped.levers[at] = placed(looped.values, leg, at, parent, q, qd)
        if z is not None:
            looped.axes[at] = z
        at += 1


def placed(values: Values, leg: Leg, index: int, parent: WorldLink, q: Scalar, qd: Scalar) -> tuple[WorldLink, SX | None, SX]:
    """The frame of a link, its axis and its lever, by the robot's numbers."""
    name, kind_ = leg.links[index].coordinate, leg.links[index].kind
    R0, p0 = values.rotation(f"{name}.R", "A", "B").expr, values.vector(f"{name}.p", "A").expr
    return moved_frame(parent, kind_, R0, p0, q if kind_ == "fixed" else q + values.scalar(f"{name}.zero"), qd)


def _run_outwards(b: Builder, looped: LoopedLeg, run: ElementRun, parent: WorldLink, demand: bool) -> None:
    """Outwards along a run; inertia and forces of elements with the same numbers come from the same loop."""
    first = run.elements[0]

    def element(builder: Builder, values: Values, root: SX, q: SX, qd: SX) -> list[SX]:
        frame, d, coordinates = WorldLink.of(root), ca.SX.zeros(3), []
        for k, index in enumerate(first.links):
            frame, z, lever = placed(values, run.leg, index, frame, q[k], qd[k])
            assert z is not None  # links of a beam move
            d = d + lever
            coordinates += [z, d]
        made = [root] if not run.shared else []
        if run.shared and demand:
            made = _parts(element_at(builder, values, first, WorldLink.of(root), q, qd))
        return [frame.column, ca.vertcat(*coordinates), *made]

    def loop(body: Callable[..., Sequence[SX]], each: list[SX]) -> tuple[tuple[SX, ...], tuple[SX, ...]]:
        def step(builder: Builder, _: Builder, root: SX, own: SX, q: SX, qd: SX) -> tuple[list[SX], list[SX]]:
            tip, *outputs = body(builder, own, root, q, qd)
            return [tip], outputs

        return b.scan(step, len(run.elements), carry=[parent.column], each=each)

    each = [looped.columns(run, looped.q), looped.columns(run, looped.qd)]
    (tip,), (coordinates, *made) = element_map(
        b, [looped.values] * len(run.elements), prefixes(run), each,
        lambda builder, values, *rest: element(builder, values, *(rest if len(rest) == 3 else (parent.column, *rest))), loop,
    )  # fmt: skip
    looped.coordinates.append(coordinates)
    looped.starts.append(parent.p)
    looped.roots.append(None if run.shared else made[0])
    if run.shared and demand:
        looped.elements[looped.runs.index(run)] = Element(**dict(zip(Element.__dataclass_fields__, made, strict=True)))
    looped.frames[run.links[-1]] = WorldLink.of(tip)


def _parts(element: Element) -> list[SX]:
    return list(vars(element).values())


def prefixes(run: ElementRun) -> list[list[str]]:
    """Beginnings of the paths of the numbers of each element of a run."""
    return [_prefixes(run.leg, run.elements[0] if run.shared else beam) for beam in run.elements]


def _prefixes(leg: Leg, beam: ElasticElement) -> list[str]:
    names = [beam.name, *(leg.links[i].coordinate for i in beam.links)]
    return [f"legs.{leg.name}.{name}." for name in names]


@dataclass(frozen=True, kw_only=True)
class Element:
    """Inertia and forces of elements about their roots, a column each: inertia (10), wrench (6), coupling (6 N), bias forces
    (N), elastic mass (N N), energy (1)."""

    inertia: SX
    wrench: SX
    coupling: SX
    bias: SX
    mass: SX
    energy: SX

    def columns(self, part: slice) -> Element:
        """Some of the elements."""
        return Element(**{name: values[:, part] for name, values in vars(self).items()})


def element_at(b: Builder, values: Values, beam: ElasticElement, root: WorldLink, e: SX, ed: SX) -> Element:
    """An element at the frame of its root."""
    R, still = root.R, ca.SX.zeros(3)
    w, alpha, a = ca.mtimes(R.T, root.w), ca.mtimes(R.T, root.alpha), ca.mtimes(R.T, root.a)
    moving = LinkMotion(R=R, r=still, w=w, alpha=alpha, U=field_of(w, alpha), a=a, dv=still, da=still)
    found = link_beam(b, values, beam, e, ed, moving)
    force, moment = ca.mtimes(R, found.force), ca.mtimes(R, found.moment)
    return Element(
        inertia=WorldInertia.rotated(R, found.m, found.S, found.I).column,
        wrench=ca.vertcat(ca.mtimes(R, found.f), ca.mtimes(R, found.n)), coupling=ca.vec(ca.vertcat(force, moment)),
        bias=found.s, mass=ca.vec(ca.densify(found.M)), energy=elastic_energy(values.of(beam.name), beam, e),
    )  # fmt: skip


def demand_elements(b: Builder, legs: Sequence[LoopedLeg]) -> None:
    """Add inertia and forces of the elements that `outwards` left out; elements of runs that are alike share one loop.

    Source: Briot 2014 Eqs. (4), (53)-(55), (64)-(68). Checked by: tests/equations/test_element_loops.py.
    """
    groups: dict[tuple[object, ...], list[_Member]] = {}
    for looped in legs:
        for k, run in enumerate(looped.runs):
            if k not in looped.elements:
                roots = looped.roots[k]
                assert roots is not None
                member = _Member(looped=looped, key=k, elements=run.elements, roots=roots,
                                 e=looped.columns(run, looped.q), ed=looped.columns(run, looped.qd))  # fmt: skip
                groups.setdefault(kind(run.leg, run.elements[0]), []).append(member)
        for beam in (beam for beam in looped.short if beam.name not in looped.elements):
            e, ed = (ca.vertcat(*[x[looped.leg.moving.index(i)] for i in beam.links]) for x in (looped.q, looped.qd))
            root = looped.frames[beam.root].column
            member = _Member(looped=looped, key=beam.name, elements=(beam,), roots=root, e=e, ed=ed)
            groups.setdefault(kind(looped.leg, beam), []).append(member)
    for members in groups.values():
        whole, at = _looped_elements(b, members), 0
        for member in members:
            count = len(member.elements)
            member.looped.elements[member.key] = whole.columns(slice(at, at + count))
            at += count


@dataclass(frozen=True, kw_only=True)
class _Member:
    """Elements of one leg with the frames of their roots (24 x count), coordinates and rates (N x count)."""

    looped: LoopedLeg
    key: int | str
    elements: Sequence[ElasticElement]
    roots: SX
    e: SX
    ed: SX


def _looped_elements(b: Builder, members: Sequence[_Member]) -> Element:
    first = members[0].elements[0]
    values = [own.looped.values for own in members for _ in own.elements]
    paths = [_prefixes(own.looped.leg, beam) for own in members for beam in own.elements]
    each = [ca.horzcat(*[getattr(own, name) for own in members]) for name in ("roots", "e", "ed")]

    def body(builder: Builder, own: Values, root: SX, q: SX, qd: SX) -> list[SX]:
        return _parts(element_at(builder, own, first, WorldLink.of(root), q, qd))

    found = element_map(b, values, paths, each, body, lambda f, each: b.map(f, len(paths), each=each, unroll=False))
    return Element(**dict(zip(Element.__dataclass_fields__, found, strict=True)))


@dataclass(frozen=True, kw_only=True)
class RunTerms:
    """Terms of a run, a column per element from the tip inwards: F (6 N) about the points of the coordinates, blocks (N N) of
    the mass matrix, forces (N)."""

    F: SX
    blocks: SX
    forces: SX


@dataclass(kw_only=True)
class Inwards:
    """Inertia and forces of a leg: F (6,) about its origin and force by link that moves alone, terms by run, the remainder at
    the base (first moment), and the elastic energy of its elements."""

    F: dict[int, SX] = field(default_factory=dict)
    forces: dict[int, SX] = field(default_factory=dict)
    masses: dict[tuple[int, int], SX] = field(default_factory=dict)
    runs: dict[int, RunTerms] = field(default_factory=dict)
    moment: SX = field(default_factory=lambda: ca.SX.zeros(3))
    energy: SX = field(default_factory=lambda: ca.SX(0))


def inwards(b: Builder, looped: LoopedLeg, outside: dict[int, SX]) -> Inwards:
    """Sums of inertia and forces of everything beyond each coordinate of a leg.

    Args:
        outside: by link, wrench (6,) about its origin that acts on it.

    Source: Briot 2014 Eqs. (5)-(27). Checked by: tests/equations/test_element_loops.py.
    """
    leg, result = looped.leg, Inwards()
    J: dict[int, SX] = {}
    f: dict[int, SX] = {}

    def add(index: int, inertia: SX, wrench: SX) -> None:
        J[index] = J.get(index, ca.SX.zeros(10)) + inertia
        f[index] = f.get(index, ca.SX.zeros(6)) + wrench

    ends = {run.links[-1]: k for k, run in enumerate(looped.runs)}
    for index, wrench in outside.items():
        add(index, ca.SX.zeros(10), -wrench)
    for beam in looped.short:
        own = looped.elements[beam.name]
        add(beam.root, own.inertia, own.wrench)
    at = len(leg.links) - 1
    while at >= 0:
        if at in ends:
            k = ends[at]
            result.runs[k], inertia, wrench = _run_inwards(b, looped, k, J.get(at, ca.SX.zeros(10)), f.get(at, ca.SX.zeros(6)))
            at = looped.runs[k].links[0]
        else:
            body = leg.links[at].body
            if body is not None and body.flexible is None:
                rigid, frame = rigid_body(looped.values, leg, at), looped.frames[at]
                rotated = WorldInertia.rotated(frame.R, rigid.m, rigid.S, rigid.I)
                add(at, rotated.column, rotated.demand(frame))
            beyond, wrench = WorldInertia.of(J.get(at, ca.SX.zeros(10))), f.get(at, ca.SX.zeros(6))
            if at in looped.axes:
                joint = leg.links[at].kind, looped.axes[at], ca.SX.zeros(3)
                result.F[at], result.forces[at] = beyond.of_joint(*joint), virtual_work_of_wrench(*joint, wrench)
            inertia, wrench = beyond.moved(looped.levers[at]).column, moved_wrench(wrench, looped.levers[at])
        parent = leg.links[at].parent
        add(parent, inertia, wrench)
        at -= 1
    for beam in looped.short:
        _couple(looped, beam, result)
    result.moment = J[-1][1:4]
    result.energy = sum((ca.sum2(element.energy) for element in looped.elements.values()), ca.SX(0))
    return result


def _couple(looped: LoopedLeg, beam: ElasticElement, result: Inwards) -> None:
    """Coupling, bias and elastic mass of an element that is written out."""
    own, N = looped.elements[beam.name], len(beam.links)
    points = list(accumulate(looped.levers[i] for i in beam.links))
    rigid = [result.F[i] for i in beam.links]
    for k, i in enumerate(beam.links):
        for j, other in enumerate(beam.links):
            joint = looped.leg.links[other].kind, looped.axes[other], points[k] - points[j]
            result.masses[other, i] = virtual_work_of_wrench(*joint, rigid[k]) + own.mass[k * N + j]
        result.F[i] = rigid[k] + moved_wrench(own.coupling[6 * k : 6 * k + 6], -points[k])
        result.forces[i] = result.forces[i] + own.bias[k]


def _run_inwards(b: Builder, looped: LoopedLeg, k: int, inertia: SX, wrench: SX) -> tuple[RunTerms, SX, SX]:
    run, own = looped.runs[k], looped.elements[k]
    N, count, kinds = run.size, len(run.elements), [run.leg.links[i].kind for i in run.elements[0].links]

    def step(_: Builder, __: SX, J: SX, f: SX, *each: SX) -> tuple[list[SX], list[SX]]:
        at, body, demand, coupling, bias, mass = each
        beyond, points = WorldInertia.of(J), [at[6 * i + 3 : 6 * i + 6] for i in range(N)]
        joints = [(kinds[i], at[6 * i : 6 * i + 3], points[-1] - points[i]) for i in range(N)]
        rigid = [beyond.of_joint(*joint) for joint in joints]
        blocks = [virtual_work_of_wrench(*joints[i], rigid[j]) + mass[i * N + j] for i in range(N) for j in range(N)]
        F = [moved_wrench(rigid[i], joints[i][2]) + moved_wrench(coupling[6 * i : 6 * i + 6], -points[i]) for i in range(N)]
        forces = [virtual_work_of_wrench(*joints[i], f) + bias[i] for i in range(N)]
        inner = [beyond.moved(points[-1]).column + body, moved_wrench(f, points[-1]) + demand]
        return inner, [ca.vertcat(*F), ca.vertcat(*blocks), ca.vertcat(*forces)]

    back = list(reversed(range(count)))
    each = [x[:, back] for x in (looped.coordinates[k], own.inertia, own.wrench, own.coupling, own.bias, own.mass)]
    (J, f), (F, blocks, forces) = b.scan(step, count, carry=[inertia, wrench], each=each)
    return RunTerms(F=F, blocks=blocks, forces=forces), J, f
