r"""Legs with runs of equal beam elements, gone through in loops: code whose length does not depend on the number of elements.

Letters of `origin_twists`. Outwards: frames and unit twists S. In between, for all elements that are alike at once, what each
demands at its root (`link_beams`). Inwards: everything beyond a coordinate, inertia J and wrench f, so that

.. math:: h_k = S_k\cdot f + s_k,\qquad F_k = J S_k + C_k,\qquad M_{jk} = S_j\cdot F_k\ \ (j\text{ before }k)

C, s: coupling and bias force of an elastic coordinate. Within one element M is S_j . J S_k + M_e. The numbers S, F are O(n), and
M is made of them by linear algebra on numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import casadi as ca

from flexapod.equations.elastodynamics.beam_energy import elastic_energy
from flexapod.equations.elastodynamics.element_values import element_map
from flexapod.equations.elastodynamics.link_beams import link_beam
from flexapod.equations.elastodynamics.link_motion import LinkMotion, field_of
from flexapod.equations.elastodynamics.link_tree import rigid_body
from flexapod.equations.elastodynamics.origin_twists import Frame, Inertia, at_origin, moved_frame
from flexapod.equations.values import Values
from flexapod.robot.beams import BeamElement
from flexapod.robot.element_runs import ElementRun, kind
from flexapod.robot.model import Leg


@dataclass(kw_only=True)
class LoopedLeg:
    """A leg on its way through a program.

    Args:
        frames: by link: single links, and the last link of every run.
        S: by link that moves alone, unit twist (6,).
        twists: by run, (6 N x count) unit twists of its elements' coordinates.
        roots: by run, (24 x count) frames at the roots of its elements.
        short: elements that are in no run.
        elements: by number of the run, or by name of a short element.
    """

    leg: Leg
    values: Values
    q: Any
    qd: Any
    runs: list[ElementRun]
    short: list[BeamElement]
    frames: dict[int, Frame] = field(default_factory=dict)
    S: dict[int, Any] = field(default_factory=dict)
    twists: list[Any] = field(default_factory=list)
    roots: list[Any] = field(default_factory=list)
    elements: dict[Any, Element] = field(default_factory=dict)

    def run_at(self, link: int) -> int | None:
        """Number of the run that begins with a link."""
        return next((k for k, run in enumerate(self.runs) if run.links[0] == link), None)

    def columns(self, run: ElementRun, values: Any) -> Any:
        """Coordinates or rates of a run, (N x count)."""
        return ca.reshape(values[run.first : run.first + run.size * len(run.elements)], run.size, len(run.elements))


def outwards(b: Any, looped: LoopedLeg, gravity: Any, demand: bool) -> None:
    """Frames and unit twists of all links of a leg.

    Args:
        demand: what elements demand will be asked for.

    Source: Briot 2014 Eqs. (10)-(22). Checked by: tests/equations/test_element_loops.py.
    """
    leg, base = looped.leg, Frame(R=ca.SX.eye(3), p=ca.SX.zeros(3), V=ca.SX.zeros(6), A=ca.vertcat(-gravity, 0, 0, 0))
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
        looped.frames[at], S = placed(looped.values, leg, at, parent, q, qd)
        if S is not None:
            looped.S[at] = S
        at += 1


def placed(values: Values, leg: Leg, index: int, parent: Frame, q: Any, qd: Any) -> tuple[Frame, Any]:
    """The frame of a link and its unit twist, by the robot's numbers."""
    name, kind_ = leg.links[index].coordinate, leg.links[index].kind
    R0, p0 = values.rotation(f"{name}.R", "A", "B").expr, values.vector(f"{name}.p", "A").expr
    return moved_frame(parent, kind_, R0, p0, q if kind_ == "fixed" else q + values.scalar(f"{name}.zero"), qd)


def _run_outwards(b: Any, looped: LoopedLeg, run: ElementRun, parent: Frame, demand: bool) -> None:
    """Outwards along a run; what elements with the same numbers demand comes from the same loop."""
    first = run.elements[0]

    def element(builder: Any, values: Values, root: Any, q: Any, qd: Any) -> list[Any]:
        frame, twists = Frame.of(root), []
        for k, index in enumerate(first.links):
            frame, S = placed(values, run.leg, index, frame, q[k], qd[k])
            twists.append(S)
        made = [root] if not run.shared else []
        if run.shared and demand:
            made = _parts(element_at(builder, values, first, Frame.of(root), q, qd))
        return [frame.column, ca.vertcat(*twists), *made]

    def loop(body: Any, each: list[Any]) -> Any:
        def step(builder: Any, _: Any, root: Any, own: Any, q: Any, qd: Any) -> Any:
            tip, *outputs = body(builder, own, root, q, qd)
            return [tip], outputs

        return b.scan(step, len(run.elements), carry=[parent.column], each=each)

    each = [looped.columns(run, looped.q), looped.columns(run, looped.qd)]
    (tip,), (twists, *made) = element_map(
        b, [looped.values] * len(run.elements), prefixes(run), each,
        lambda builder, values, *rest: element(builder, values, *(rest if len(rest) == 3 else (parent.column, *rest))), loop,
    )  # fmt: skip
    looped.twists.append(twists)
    looped.roots.append(None if run.shared else made[0])
    if run.shared and demand:
        looped.elements[looped.runs.index(run)] = Element(**dict(zip(Element.__dataclass_fields__, made, strict=True)))
    looped.frames[run.links[-1]] = Frame.of(tip)


def _parts(element: Element) -> list[Any]:
    return list(vars(element).values())


def prefixes(run: ElementRun) -> list[list[str]]:
    """Per element of a run, what the paths of its own numbers begin with."""
    return [_prefixes(run.leg, run.elements[0] if run.shared else beam) for beam in run.elements]


def _prefixes(leg: Leg, beam: BeamElement) -> list[str]:
    names = [beam.name, *(leg.links[i].coordinate for i in beam.links)]
    return [f"legs.{leg.name}.{name}." for name in names]


@dataclass(frozen=True, kw_only=True)
class Element:
    """What elements are and demand, about the origin, a column each: inertia (10), wrench (6), coupling (6 N), bias forces (N),
    elastic mass (N N), energy (1)."""

    inertia: Any
    wrench: Any
    coupling: Any
    bias: Any
    mass: Any
    energy: Any

    def columns(self, part: slice) -> Element:
        """Some of the elements."""
        return Element(**{name: values[:, part] for name, values in vars(self).items()})


def element_at(b: Any, values: Values, beam: BeamElement, root: Frame, e: Any, ed: Any) -> Element:
    """An element at the frame of its root."""
    R, still = root.R, ca.SX.zeros(3)
    w, alpha = ca.mtimes(R.T, root.V[3:]), ca.mtimes(R.T, root.A[3:])
    a = ca.mtimes(R.T, root.acceleration)
    moving = LinkMotion(R=R, r=still, w=w, alpha=alpha, U=field_of(w, alpha), a=a, dv=still, da=still)
    found = link_beam(b, values, beam, e, ed, moving)
    force, moment = ca.mtimes(R, found.force), ca.mtimes(R, found.moment)
    return Element(
        inertia=Inertia.placed(R, root.p, found.m, found.S, found.I).column,
        wrench=at_origin(root.p, ca.mtimes(R, found.f), ca.mtimes(R, found.n)),
        coupling=ca.vertcat(*[at_origin(root.p, force[:, k], moment[:, k]) for k in range(e.numel())]),
        bias=found.s, mass=ca.vec(ca.densify(found.M)), energy=elastic_energy(values.of(beam.name), beam, e),
    )  # fmt: skip


def demand_elements(b: Any, legs: Sequence[LoopedLeg]) -> None:
    """What elements of a robot demand that `outwards` left out; those in runs that are alike in one loop.

    Source: Briot 2014 Eqs. (4), (53)-(55), (64)-(68). Checked by: tests/equations/test_element_loops.py.
    """
    groups: dict[Any, list[_Member]] = {}
    for looped in legs:
        for k, run in enumerate(looped.runs):
            if not run.shared:
                member = _Member(looped=looped, key=k, elements=run.elements, roots=looped.roots[k],
                                 e=looped.columns(run, looped.q), ed=looped.columns(run, looped.qd))  # fmt: skip
                groups.setdefault(kind(run.leg, run.elements[0]), []).append(member)
        for beam in looped.short:
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
    key: Any
    elements: Sequence[BeamElement]
    roots: Any
    e: Any
    ed: Any


def _looped_elements(b: Any, members: Sequence[_Member]) -> Element:
    first = members[0].elements[0]
    values = [own.looped.values for own in members for _ in own.elements]
    paths = [_prefixes(own.looped.leg, beam) for own in members for beam in own.elements]
    each = [ca.horzcat(*[getattr(own, name) for own in members]) for name in ("roots", "e", "ed")]

    def body(builder: Any, own: Values, root: Any, q: Any, qd: Any) -> list[Any]:
        return _parts(element_at(builder, own, first, Frame.of(root), q, qd))

    found = element_map(b, values, paths, each, body, lambda f, each: b.map(f, len(paths), each=each, unroll=False))
    return Element(**dict(zip(Element.__dataclass_fields__, found, strict=True)))


@dataclass(frozen=True, kw_only=True)
class RunTerms:
    """Of a run, a column per element from the tip inwards: F (6 N), blocks (N N) of the mass matrix, forces (N)."""

    F: Any
    blocks: Any
    forces: Any


@dataclass(kw_only=True)
class Inwards:
    """What a leg demands: F (6,) and force by link that moves alone, terms by run, and what is left at the base: first moment."""

    F: dict[int, Any] = field(default_factory=dict)
    forces: dict[int, Any] = field(default_factory=dict)
    masses: dict[tuple[int, int], Any] = field(default_factory=dict)
    runs: dict[int, RunTerms] = field(default_factory=dict)
    moment: Any = None


def inwards(b: Any, looped: LoopedLeg, outside: dict[int, Any]) -> Inwards:
    """Everything beyond each coordinate of a leg, added up.

    Args:
        outside: by link, wrench (6,) about the origin that acts on it.

    Source: Briot 2014 Eqs. (5)-(27). Checked by: tests/equations/test_element_loops.py.
    """
    leg, result = looped.leg, Inwards()
    J: dict[int, Any] = {}
    f: dict[int, Any] = {}

    def add(index: int, inertia: Any, wrench: Any) -> None:
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
                placed_ = Inertia.placed(frame.R, frame.p, rigid.m, rigid.S, rigid.I)
                add(at, placed_.column, placed_.demand(frame))
            inertia, wrench = J.get(at, ca.SX.zeros(10)), f.get(at, ca.SX.zeros(6))
            if at in looped.S:
                result.F[at], result.forces[at] = Inertia.of(inertia).times(looped.S[at]), ca.dot(looped.S[at], wrench)
        parent = leg.links[at].parent
        add(parent, inertia, wrench)
        at -= 1
    for beam in looped.short:
        _couple(looped, beam, result)
    result.moment = J[-1][1:4]
    return result


def _couple(looped: LoopedLeg, beam: BeamElement, result: Inwards) -> None:
    """Coupling, bias and elastic mass of an element that is written out."""
    own, N = looped.elements[beam.name], len(beam.links)
    rigid = [result.F[i] for i in beam.links]
    for k, i in enumerate(beam.links):
        for j, other in enumerate(beam.links):
            result.masses[other, i] = ca.dot(looped.S[other], rigid[k]) + own.mass[k * N + j]
        result.F[i] = rigid[k] + own.coupling[6 * k : 6 * k + 6]
        result.forces[i] = result.forces[i] + own.bias[k]


def _run_inwards(b: Any, looped: LoopedLeg, k: int, inertia: Any, wrench: Any) -> tuple[RunTerms, Any, Any]:
    own, N, count = looped.elements[k], looped.runs[k].size, len(looped.runs[k].elements)

    def step(_: Any, __: Any, J: Any, f: Any, S: Any, body: Any, demand: Any, coupling: Any, bias: Any, mass: Any) -> Any:
        beyond, twists = Inertia.of(J), [S[6 * i : 6 * i + 6] for i in range(N)]
        rigid = [beyond.times(twist) for twist in twists]
        blocks = [ca.dot(twists[i], rigid[j]) + mass[i * N + j] for i in range(N) for j in range(N)]
        F = [rigid[i] + coupling[6 * i : 6 * i + 6] for i in range(N)]
        forces = [ca.dot(twists[i], f) + bias[i] for i in range(N)]
        return [J + body, f + demand], [ca.vertcat(*F), ca.vertcat(*blocks), ca.vertcat(*forces)]

    back = list(reversed(range(count)))
    each = [x[:, back] for x in (looped.twists[k], own.inertia, own.wrench, own.coupling, own.bias, own.mass)]
    (J, f), (F, blocks, forces) = b.scan(step, count, carry=[inertia, wrench], each=each)
    return RunTerms(F=F, blocks=blocks, forces=forces), J, f
