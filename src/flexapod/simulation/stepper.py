"""`stepper`: a step function for the user's own loops. State in, state out, without allocation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from flexapod.analysis.requests.arguments import check_start
from flexapod.arrays import Array
from flexapod.calls import check_flag, checked
from flexapod.errors import InputError

if TYPE_CHECKING:
    from flexapod.analysis.requests.state import State
    from flexapod.motions.motion import ActuatorMotion, Motion
    from flexapod.robot.robot import Robot
    from flexapod.simulation.system.setup import Setup


class Stepper:
    """A robot that advances step by step under forces.

    Attributes:
        state: (size,) all numbers that a step carries on; copy it to come back, write it to go there.
        parts: views into `state` by name: `position`, `quat_wxyz`, `velocity`, `angular_velocity`, and of flexible robots
            `elastic`, `elastic_velocity`, or `joint_position`, `modes` and `rates` of the independent coordinates.
        force: (actuators,) write here; held over a step. wrench: (6,) likewise, or None.
        time: [s] since the start.
        reason: why the last step failed; empty while all is well.
    """

    def __init__(self, steps: Any, start: Array, parts: dict[str, slice], inputs: dict[str, slice]) -> None:
        self._steps, self.step, self.time, self.reason = steps, steps.step, 0.0, ""
        self._start, self.state = start.copy(), start.copy()
        self.request: dict[str, Any] | None = None
        self.parts = {name: self.state[place] for name, place in parts.items()}
        self.force = steps.signals[inputs["force"]]
        self.wrench = steps.signals[inputs["wrench"]] if "wrench" in inputs else None

    def __reduce__(self) -> Any:
        """A stepper travels as its request and its numbers; machine code is made where it arrives."""
        if self.request is None:
            raise InputError("this stepper was made from custom steps; only those of flexapod.stepper can be pickled")
        wrench = None if self.wrench is None else self.wrench.copy()
        numbers = (self.state.copy(), self.time, self.reason, self.force.copy(), wrench)
        return _again, (self.request, numbers)

    def advance(self, steps: int = 1) -> bool:
        """Advance by some steps at the present force; False where one fails (the state is then that before it)."""
        for _ in range(steps):
            self.reason = self._steps(self.state)
            if self.reason:
                return False
            self.time += self.step
        self.reason = ""
        return True

    def reset(self) -> None:
        """Go back to the start; forces are kept."""
        np.copyto(self.state, self._start)
        self.time, self.reason = 0.0, ""


class CompiledSteps:
    """Advances the carried numbers of a layout in place, by a compiled loop of one row."""

    def __init__(self, setup: Setup, step: float) -> None:
        from flexapod.simulation.integrators.compiled_rows import step_program
        from flexapod.simulation.integrators.runner import compiled

        layout, self.step = setup.layout, step
        self.kernel, parameters = compiled(layout, "run", step_program, setup.values)
        self._call, self._code = self.kernel.prepare(parameters), layout.places["code"].start
        self._state_in, self._final = self._call.inputs["state"], self._call.outputs["final"]
        table = self._call.inputs["table"].reshape(-1)
        table[:], table[0] = 0.0, step
        self.signals = np.zeros(layout.width)
        self._nodes = [table[2 + k * layout.width : 2 + (k + 1) * layout.width] for k in range(len(layout.nodes))]

    def __call__(self, state: Array) -> str:
        """Advance by one step; returns the reason if it fails, with the state as before."""
        for node in self._nodes:
            np.copyto(node, self.signals)
        np.copyto(self._state_in, state)
        status = self._call()
        code = int(self._final[self._code]) if status == 0 else status
        if code != 0:
            return self.kernel.signature.status(code).text
        np.copyto(state, self._final)
        return ""


class NumericSteps:
    """Steps as `CompiledSteps` makes them, by rows in numbers, for robots with many coordinates whose friction depends on joint
    loads, or whose platform rotates by itself."""

    def __init__(self, setup: Setup, step: float) -> None:
        from flexapod.simulation.integrators.numeric_rows import NumericRows

        layout, self.step = setup.layout, step
        self._rows = NumericRows(layout, setup.values)  # type: ignore[arg-type]
        self._table, self._row = np.zeros((1, layout.columns)), np.zeros((1, layout.row_width))
        self._table[0, 0] = step
        self._nodes, self._code = self._table[0, 2:].reshape(len(layout.nodes), -1), layout.places["code"]
        self.signals = np.zeros(layout.width)

    def __call__(self, state: Array) -> str:
        """Advance by one step; returns the reason if it fails, with the state as before."""
        self._nodes[:] = self.signals
        now, _ = self._rows.advance(state, self._table, self._row)
        code = float(now[self._code][0])
        if code != 0.0:
            return self._rows.reason(code)
        np.copyto(state, now)
        return ""


@checked(start=check_start, wrench=check_flag)
def stepper(
    robot: Robot, start: State | ActuatorMotion | None = None, *, step: float = 1e-3, method: str | None = None,
    wrench: bool = False, friction: bool | str = True, watch: tuple[str, ...] = ("stroke",),
) -> Stepper:  # fmt: skip
    """A step function of a robot.

    Args:
        start: state at time 0; home at rest if left out. With flexible legs an `ActuatorMotion`, whose start is taken.
        step: [s].
        method: ``"rk4"``, ``"implicit"`` or ``"radau"``, as in `simulate`. Left out: ``"implicit"`` with flexible legs, springs,
            or loops inside or between legs, else ``"rk4"``.
        wrench: a load on the platform is an input too.
        friction, watch: as in `simulate`.
    Returns:
        `Stepper`: write `force`, call `advance()`, read `parts`.

    Checked by: tests/simulation/test_stepper.py.
    """
    from flexapod.analysis.requests.abilities import refuse
    from flexapod.analysis.requests.results import check_option
    from flexapod.simulation.system.setup import check_watch

    if not (np.isfinite(step) and step > 0):
        raise InputError(f"step: expected a time above 0 s, got {step!r}")
    refuse(robot, "stepper", method=method, wrench=wrench)
    known = step_methods(robot)
    chosen = method or known[0]
    check_option("method", chosen, known)
    check_watch(watch)
    first = start if start is not None else home_start(robot)
    setup = step_setup(robot, first, step=step, method=chosen, wrench=wrench, friction=friction, watch=watch)
    result = _stepper(setup, step)
    result.request = {
        "robot": robot, "start": first, "step": step, "method": chosen, "wrench": wrench, "friction": friction, "watch": watch,
    }  # fmt: skip
    return result


def _again(request: dict[str, Any], numbers: tuple[Any, ...]) -> Stepper:
    """A stepper in another process, as far as it was."""
    result = stepper(**request)
    state, result.time, result.reason, force, wrench = numbers
    np.copyto(result.state, state)
    np.copyto(result.force, force)
    if wrench is not None and result.wrench is not None:
        np.copyto(result.wrench, wrench)
    return result


def step_methods(robot: Robot) -> tuple[str, ...]:
    """Methods of steps under given forces, the usual one first."""
    return ("implicit", "radau", "rk4") if robot.moved_by == "actuators" else ("rk4", "implicit", "radau")


def home_start(robot: Robot) -> State | ActuatorMotion:
    """Home at rest: the actuators there where legs deform, else the pose."""
    from flexapod.analysis.requests.state import State
    from flexapod.motions.motion import ActuatorMotion

    if robot.moved_by == "platform":
        return State.at_home(robot)
    home = np.concatenate([leg.home for leg in robot.legs])[list(robot.driven)]
    still = np.zeros((2, len(home)))
    return ActuatorMotion(time=np.arange(2.0), position=np.tile(home, (2, 1)), velocity=still, acceleration=still)


def step_setup(
    robot: Robot, start: Motion | ActuatorMotion | State, *, step: float, method: str, wrench: bool, friction: bool | str,
    watch: tuple[str, ...],
) -> Setup:  # fmt: skip
    """A simulation under given forces of one row at a time."""
    from flexapod.simulation.system.setup import make_setup

    return make_setup(
        robot, start, drive="force", controller=None, force=np.zeros(len(robot.actuators)),
        wrench=np.zeros(6) if wrench else None, friction=friction, method=method, events=(), watch=watch, start=None,
        tolerance=(1e-9, 1e-11), step=step, rows=1,
    )  # fmt: skip


def _stepper(setup: Setup, step: float) -> Stepper:
    from flexapod.simulation.integrators.numeric_rows import is_large
    from flexapod.simulation.system.independent import rotates_freely

    layout = setup.layout
    if is_large(layout) and (layout.friction == "load" or rotates_freely(layout.robot)):
        steps: Any = NumericSteps(setup, step)
    elif is_large(layout):
        from flexapod.simulation.integrators.explicit_steps import ExplicitSteps
        from flexapod.simulation.integrators.second_order_steps import SecondOrderSteps

        kind = ExplicitSteps if layout.method == "rk4" else SecondOrderSteps
        steps = kind(layout, setup.values, step)  # type: ignore[arg-type]
    else:
        steps = CompiledSteps(setup, step)
    names = {"position": "p", "quat_wxyz": "quat", "velocity": "v", "angular_velocity": "w"}
    names |= {"elastic": "e", "elastic_velocity": "ed", "joint_position": "joints", "modes": "modes", "rates": "ud"}
    parts = {name: layout.places[part] for name, part in names.items() if part in layout.places}
    return Stepper(steps, setup.start, parts, layout.signals)
