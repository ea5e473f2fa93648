"""Prints, as JSON, what must not depend on the processor: of robots their structure, zeros, plan and operation counts.

The robots are named on the command line; without names they are those of the catalogue.
"""

import hashlib
import json
import sys

import flexapod as fp
from flexapod.analysis.model.kernels import make_program
from flexapod.equations.minimal import applies, plan
from flexapod.kernels.tape.tape import make_tape

COUNTED = ("hexapod", "hexaslide", "stewart-3-3", "five-bar")
"""Robots whose kernels are counted: the three that once differed, and a planar one."""


def counts(robot: fp.Robot) -> dict[str, int]:
    """Operations of the robot's inverse dynamics by each set of equations."""
    programs = {"virtual_power": {}, "newton_euler": {}, "virtual_work": {}}
    if applies(robot) is None:
        programs["minimal_inverse_dynamics"] = {"plan": plan(robot)}
    result = {}
    for name, options in programs.items():
        program = make_program(robot, name, options)
        known = {p.name for p in program.signature.parameters}
        result[name] = make_tape(program, robot.zeros & known).operations.total
    return result


def main() -> None:
    report = {}
    for name in sys.argv[1:] or fp.catalogue():
        robot = fp.load(name)
        zeros = hashlib.sha256("\n".join(sorted(robot.zeros)).encode()).hexdigest()
        report[name] = [robot.structure, zeros, repr(robot.elastic_plan), counts(robot) if name in COUNTED else {}]
    json.dump(report, sys.stdout, sort_keys=True)


if __name__ == "__main__":
    main()
