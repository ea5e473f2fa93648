"""A robot whose loops are solved for other coordinates than the plan would choose: the same robot, another elimination."""

from __future__ import annotations

from collections.abc import Sequence

from flexapod.errors import InputError
from flexapod.robot.elastic_plan import ElasticPlan, elastic_plan
from flexapod.robot.robot import Robot


def with_dependents(robot: Robot, names: Sequence[str]) -> Robot:
    """The robot with its loops solved for the named coordinates.

    Args:
        robot: with flexible legs; of rigid robots every coordinate of a leg follows from the platform.
        names: as many coordinates as the loops tie down, e.g. ``q12``, or with the leg, ``1.q12``.

    Checked by: tests/generator/test_count_table.py.
    """
    if not robot.elastic_legs:
        raise InputError(f"{robot.name} has rigid legs, whose coordinates all follow from the platform: leave dependents out")
    columns = robot.elastic_plan.columns
    chosen = [_column(robot, name, columns) for name in names]
    wanted = len(robot.elastic_plan.bound)
    if len(set(chosen)) != wanted:
        usual = ", ".join(columns[k] for k in robot.elastic_plan.bound)
        raise InputError(
            f"the loops of {robot.name} tie down {wanted} coordinates, got {len(set(chosen))}; the usual ones are {usual}"
        )
    plan = elastic_plan(robot, chosen)
    if {columns[k] for k in plan.bound} != set(chosen):
        raise InputError(
            f"the loops of {robot.name} cannot be solved for {', '.join(chosen)}: moving these alone does not close every loop"
        )
    return with_plan(robot, plan)


def with_plan(robot: Robot, plan: ElasticPlan) -> Robot:
    """The robot, with its numbers as they are, and its loops solved by another plan."""
    other = object.__new__(type(robot))
    other.__dict__.update({k: v for k, v in robot.__dict__.items() if k not in ("kept", "independent")}, elastic_plan=plan)
    return other


def led_by_platform(robot: Robot) -> Robot:
    """The robot with all deformations independent: redundant actuators follow the platform and push against each other."""
    if not robot.elastic_names or robot.floats or len(robot.actuators) <= len(robot.plan.platform_independent):
        return robot
    if "led by platform" not in robot.kept:
        plan = elastic_plan(robot, tied="driven")
        robot.kept["led by platform"] = robot if plan == robot.elastic_plan else with_plan(robot, plan)
    found: Robot = robot.kept["led by platform"]
    return found


def _column(robot: Robot, name: str, columns: Sequence[str]) -> str:
    found = [c for c in columns if c == name] or [c for c in columns if c.partition(".")[2] == name]
    if len(found) == 1:
        return found[0]
    why = "is the name of several coordinates" if found else "is not a coordinate"
    raise InputError(f"'{name}' {why} of {robot.name}; there are: {', '.join(columns)}")
