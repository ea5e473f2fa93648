"""Springs parallel to motors: one joint in other programs, an extra joint in a robot file.

There an actuator drives through the spring of its joint. A spring beside it holds a massless body at a joint that a coupling
moves with the motor's: the same force at the same coordinate.
"""

from __future__ import annotations

from dataclasses import replace

from flexapod.bridges.body_tree import Gear, Node, Tree


def separate_drive_springs(tree: Tree) -> Tree:
    """The tree with every spring beside a motor at a joint of its own, coupled to that of the motor.

    Checked by: tests/bridges/test_mjcf.py.
    """
    nodes, gears = list(tree.nodes), list(tree.gears)
    for k, node in enumerate(tree.nodes):
        if not (node.actuated and node.stiffness):
            continue
        joint = f"{node.joint}.spring"
        nodes[k] = replace(node, stiffness=0.0, free=None)
        nodes.append(Node(name=f"{node.name}.spring", parent=node.parent, place=node.place, kind=node.kind, joint=joint,
                          start=node.start, stiffness=node.stiffness, free=node.free))  # fmt: skip
        gears.append(Gear(name=joint, terms=((node.joint, 1.0), (joint, -1.0)), home=0.0))
    return replace(tree, nodes=tuple(nodes), gears=tuple(gears))


def merge_drive_springs(tree: Tree) -> Tree:
    """`separate_drive_springs` undone: springs of massless bodies that only move with a motor, at the motor's joint again."""
    nodes = {node.name: node for node in tree.nodes}
    gears = []
    for gear in tree.gears:
        pair = _pair(tree, gear)
        if pair is None:
            gears.append(gear)
            continue
        motor, spring = nodes[pair[0]], nodes.pop(pair[1])
        free = motor.start + ((spring.start if spring.free is None else spring.free) - spring.start)
        nodes[motor.name] = replace(
            motor, stiffness=spring.stiffness, free=None if spring.free is None else free, damping=motor.damping + spring.damping,
            loss=motor.loss + spring.loss,
        )  # fmt: skip
    return replace(tree, nodes=tuple(nodes.values()), gears=tuple(gears))


def _pair(tree: Tree, gear: Gear) -> tuple[str, str] | None:
    """Nodes of a motor and of the spring beside it, where a coupling ties nothing else."""
    if len(gear.terms) != 2 or gear.terms[0][1] != -gear.terms[1][1]:
        return None
    own = [next(n for n in tree.nodes if n.joint == joint) for joint, _ in gear.terms]
    motor, spring = own if own[0].actuated else own[::-1]
    ends = {name for loop in tree.loops for name in (loop.first, loop.second)} | {node.parent for node in tree.nodes}
    ends |= {name for strut in tree.struts for name in (strut.first, strut.second)}
    coupled = sum(spring.joint == joint for other in tree.gears for joint, _ in other.terms)
    lone = spring.light and not spring.rotor and spring.name not in ends and coupled == 1 and not spring.actuated
    return (motor.name, spring.name) if motor.actuated and not motor.stiffness and spring.stiffness and lone else None
