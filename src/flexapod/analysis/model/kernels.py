"""The kernel of a robot and a quantity: derived once per structure, cached, evaluated with the numbers of the robot."""

from __future__ import annotations

import hashlib
import importlib
import inspect
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexapod.analysis.requests.arguments import check_robot as _robot
from flexapod.analysis.requests.arguments import checked
from flexapod.analysis.requests.program_refusals import refuse_inner_loops, refuse_other_bodies, refuse_too_few_actuators
from flexapod.analysis.requests.results import reasons_of
from flexapod.arrays import Array, Rows, Texts
from flexapod.calls import call_reason
from flexapod.errors import InputError, did_you_mean
from flexapod.kernels.cache import lookup_key
from flexapod.kernels.design_columns import ParameterColumns
from flexapod.kernels.family import KernelFamily
from flexapod.kernels.threads import ENOUGH, thread_count
from flexapod.robot.element_runs import element_runs
from flexapod.robot.flexible_platform import UNROLLED

if TYPE_CHECKING:
    from flexapod.kernels.kernel import Batch, Kernel
    from flexapod.kernels.prepared import Prepared
    from flexapod.kernels.tape.operations import Operations
    from flexapod.kernels.tape.signature import Signature
    from flexapod.robot.robot import Robot

PROGRAMS = {
    "inverse_kinematics": "flexapod.equations.inverse_kinematics",
    "forward_kinematics": "flexapod.equations.forward_kinematics",
    "jacobian": "flexapod.equations.jacobian",
    "platform_from_actuators": "flexapod.equations.platform_from_actuators",
    "loop_inverse_kinematics": "flexapod.equations.loop_kinematics",
    "loop_forward_kinematics": "flexapod.equations.loop_kinematics",
    "loop_jacobian": "flexapod.equations.loop_kinematics",
    "workspace": "flexapod.equations.workspace",
    "pose_limits": "flexapod.equations.pose_limits",
    "virtual_power": "flexapod.equations.virtual_power.inverse_dynamics",
    "link_inverse_dynamics": "flexapod.equations.model.inverse_dynamics",
    "link_forward_dynamics": "flexapod.equations.model.forward_dynamics",
    "virtual_work": "flexapod.equations.virtual_work.inverse_dynamics",
    "newton_euler": "flexapod.equations.newton_euler.inverse_dynamics",
    "minimal_inverse_dynamics": "flexapod.equations.minimal.inverse_dynamics",
    "minimal_forward_dynamics": "flexapod.equations.minimal.forward_dynamics",
    "forward_dynamics": "flexapod.equations.virtual_power.forward_dynamics",
    "forward_friction": "flexapod.equations.forward_friction",
    "friction_force": "flexapod.equations.forward_friction",
    "mass_matrix": "flexapod.equations.virtual_power.forward_dynamics",
    "gravity_force": "flexapod.equations.virtual_power.forward_dynamics",
    "coriolis_force": "flexapod.equations.virtual_power.forward_dynamics",
    "elastic_inverse_dynamics": "flexapod.equations.elastodynamics.dynamics",
    "elastic_forward_dynamics": "flexapod.equations.elastodynamics.dynamics",
    "elastic_mass_matrix": "flexapod.equations.elastodynamics.dynamics",
    "elastic_gravity_force": "flexapod.equations.elastodynamics.forces",
    "elastic_coriolis_force": "flexapod.equations.elastodynamics.forces",
    "elastic_friction_force": "flexapod.equations.elastodynamics.forces",
    "elastic_closing": "flexapod.equations.elastodynamics.closing",
    "elastic_control": "flexapod.equations.elastodynamics.loops",
    "elastic_terms": "flexapod.equations.elastodynamics.terms",
    "elastic_friction": "flexapod.equations.elastodynamics.reactions",
    "elastic_reactions": "flexapod.equations.elastodynamics.reactions",
    "elastic_constants": "flexapod.equations.elastodynamics.dissipation",
    "elastic_sliding": "flexapod.equations.elastodynamics.dissipation",
    "elastic_potential": "flexapod.equations.elastodynamics.potential",
    "elastic_statics": "flexapod.equations.elastodynamics.statics",
    "elastic_point": "flexapod.equations.elastodynamics.points",
    "elastic_bodies": "flexapod.equations.elastodynamics.points",
    "long_rows": "flexapod.equations.elastodynamics.long_terms",
    "long_terms": "flexapod.equations.elastodynamics.long_terms",
    "long_forces": "flexapod.equations.elastodynamics.long_terms",
    "long_sliding": "flexapod.equations.elastodynamics.long_terms",
    "long_potential": "flexapod.equations.elastodynamics.long_terms",
    "motion_derivatives": "flexapod.equations.derivatives",
    "value_derivatives": "flexapod.equations.derivatives",
    "inertia_regressor": "flexapod.equations.regressor",
    "link_regressor": "flexapod.equations.model.regressor",
    "friction_regressor": "flexapod.equations.friction_regressor",
    "recursive_update": "flexapod.equations.recursive_update",
    "joint_loads": "flexapod.equations.friction_regressor",
    "flexible_inverse_dynamics": "flexapod.equations.flexible_platform.dynamics",
    "flexible_forward_dynamics": "flexapod.equations.flexible_platform.dynamics",
    "flexible_mass_matrix": "flexapod.equations.flexible_platform.dynamics",
    "flexible_tangent": "flexapod.equations.flexible_platform.equilibrium",
    "flexible_held_joints": "flexapod.equations.flexible_platform.held_joints",
    "flexible_kinematics": "flexapod.equations.flexible_platform.kinematics",
    "flexible_elastic_motion": "flexapod.equations.flexible_platform.elastic_steps",
}
"""Quantity -> module that has the program as a function of the same name."""

FACTORED = ("elastic_",)
"""Beginnings of programs whose kernels have common factors taken out."""

QUANTITIES = (
    "inverse_dynamics", "forward_dynamics", "mass_matrix", "gravity_force", "coriolis_force", "friction_force",
    "inverse_kinematics", "forward_kinematics", "jacobian",
)  # fmt: skip
"""Quantities that are offered; the other programs are parts of verbs, and are found by their names as well."""


class RobotKernel:
    """A compiled kernel bound to the numbers of a robot.

    `batch(inputs)` and `kernel(**inputs)` use the robot's parameters unless others are given; `prepare()` gives the
    fast path for single samples.
    """

    def __init__(
        self, robot: Robot, kernel: Kernel, quantity: str | None = None, options: Mapping[str, object] | None = None
    ) -> None:
        self.robot, self.quantity, self.options = robot, quantity, dict(options or {})
        self.compiled = kernel
        self.parameters = parameter_values(robot, kernel.signature)
        self.columns = varied_columns(robot, kernel.signature, self.parameters)

    def __reduce__(self) -> Any:
        """A kernel travels as its request: machine code is made, or found in the cache, where it arrives."""
        if self.quantity is None:
            raise InputError("this kernel was compiled from a program of its own; only kernels of flexapod.kernel can be pickled")
        return _again, (self.robot, self.quantity, self.options, self.parameters)

    @property
    def signature(self) -> Signature:
        """Names, shapes and units of inputs, parameters and outputs."""
        return self.compiled.signature

    @property
    def operations(self) -> Operations:
        """Operations per sample by kind."""
        return self.compiled.operations

    @property
    def setup_operations(self) -> Operations:
        """Operations once per parameter set."""
        return self.compiled.setup_operations

    def batch(
        self,
        inputs: Mapping[str, ArrayLike],
        parameters: ArrayLike | ParameterColumns | None = None,
        *,
        threads: int | None = None,
        out: Mapping[str, Array] | None = None,
        rows: Rows | None = None,
    ) -> Batch:
        """Evaluate many samples; parameters (P,), (n, P) or columns replace the robot's own.

        Args:
            threads: that share the batch; left out, one per processor from 100 000 samples on (see `FLEXAPOD_THREADS`), else one.
            rows: which samples of a verb these are, where they are not all: values that vary per sample are taken from there.
        """
        given = self._own(rows) if parameters is None else parameters
        if threads is None:
            enough = max((np.shape(values)[0] for values in inputs.values() if np.ndim(values)), default=0) >= ENOUGH
            threads = thread_count() if enough else 1
        return self.compiled.batch(inputs, given, threads=threads, out=out)

    def _own(self, rows: Rows | None) -> Any:
        """The robot's numbers, as columns where they vary per sample."""
        if self.columns is None:
            return self.parameters
        return self.columns if rows is None else self.columns.at(rows)

    def __call__(self, *, parameters: ArrayLike | None = None, **inputs: ArrayLike) -> dict[str, NDArray[np.float64]]:
        """Evaluate one sample."""
        return self.compiled(parameters=self.parameters if parameters is None else parameters, **inputs)

    def prepare(self, parameters: ArrayLike | None = None) -> Prepared:
        """Fast path for single samples: write inputs, call, read outputs."""
        return self.compiled.prepare(self.parameters if parameters is None else parameters)

    def __repr__(self) -> str:
        return f"<{self.compiled!r} of {self.robot.name}>"


@checked
def kernel(robot: Robot, quantity: str, **options: object) -> RobotKernel:
    """The kernel of a quantity.

    Args:
        robot: any robot; variants of one robot share the kernel.
        quantity: ``"inverse_dynamics"`` (the formulation that `inverse_dynamics` uses), ``"forward_dynamics"`` (virtual power;
            `export_c` writes the one with the fewest operations), ``"mass_matrix"``, ``"gravity_force"``, ``"coriolis_force"``,
            ``"friction_force"``, ``"inverse_kinematics"``, ``"forward_kinematics"`` or ``"jacobian"``; others by their names.
        options: of the program, e.g. ``detail="joints"``.
    Returns:
        The compiled kernel: call it with one sample, or `batch` with many; `signature` has names, shapes and units.

    A kernel that reads `joint_position` beside the pose (loops inside or between legs, flexible legs) takes both as closed: it
    does not check that they go together. `inverse_kinematics` gives coordinates that do.
    """
    _robot("robot", robot)
    if not isinstance(quantity, str):
        raise InputError(f"quantity: expected a name, got {type(quantity).__name__}; there are: {', '.join(PROGRAMS)}")
    key = ("kernel", quantity, repr(sorted(options.items())), lookup_key())
    if key not in robot.kept:
        robot.kept[key] = _bound(robot, quantity, options)
    found: RobotKernel = robot.kept[key]
    return found


def _bound(robot: Robot, quantity: str, options: Mapping[str, object]) -> RobotKernel:
    """The kernel of a quantity, looked up."""
    family = program_family(robot, quantity, options)
    first = family.specialised if robot.zeros else family.general
    if robot.varied is None:
        return RobotKernel(robot, family.pick(parameter_values(robot, first.signature)), quantity, options)
    bound = RobotKernel(robot, first, quantity, options)
    assert bound.columns is not None
    values = bound.parameters.copy()
    for place, column in zip(bound.columns.places, bound.columns.values, strict=True):
        if first.signature.parameters[place].name in robot.zeros:
            values[place] = float(column.any())
    picked = family.pick(values)  # the general kernel where some design has lost a structural zero
    return bound if picked is first else RobotKernel(robot, picked, quantity, options)


def program_family(robot: Robot, quantity: str, options: Mapping[str, object]) -> KernelFamily:
    """The program that derives a quantity, with its options."""
    from flexapod.analysis.model.programs import usual_program

    program, chosen = usual_program(robot, quantity, options.get("friction", True))
    if program.startswith("flexible_") and options.get("friction") is False:  # these equations do not know `friction`
        options = {name: value for name, value in options.items() if name != "friction"}
    if program not in PROGRAMS:
        raise unknown_quantity("kernel for", program)
    asked, quantity, options = quantity, program, {**chosen, **options}
    if quantity.startswith("minimal_"):
        # its equations are chosen by the robot's numbers (which joints coincide, which triangle of legs): part of the key
        from flexapod.equations.minimal import plan

        options = {"plan": plan(robot if robot.varied is None else robot.varied.robots[0]), **options}
    refuse_other_bodies(robot, quantity)
    if quantity.startswith("link_") and robot.no_link_plan is not None:
        raise InputError(f"the equations in link axes do not apply to {robot.name}: {robot.no_link_plan}")
    return _family(robot, quantity, options, asked)


def _again(robot: Robot, quantity: str, options: Mapping[str, object], parameters: NDArray[np.float64]) -> RobotKernel:
    """A kernel in another process."""
    bound = RobotKernel(robot, kernel(robot, quantity, **options).compiled, quantity, options)
    bound.parameters = parameters
    return bound


def evaluated(robot: Robot, quantity: str, given: dict[str, Array], reasons: Texts, **options: object) -> dict[str, Array]:
    """Outputs of a kernel; reasons of samples that fail are added to `reasons`."""
    bound = kernel(robot, quantity, **options)
    read = {i.name: np.ascontiguousarray(given[i.name]) for i in bound.signature.inputs}
    batch = bound.batch(read)
    why = reasons_of(bound.signature, batch.status, read)
    reasons[reasons == ""] = why[reasons == ""]
    return batch.outputs


def unknown_quantity(what: str, quantity: str) -> InputError:
    """The error for a quantity that no program computes: the nearest name, and those that are offered."""
    hint = did_you_mean(quantity, [*QUANTITIES, *PROGRAMS], "there are", after=" There are")
    return InputError(f"no {what} '{quantity}'; {hint}: {', '.join(QUANTITIES)}")


def parameter_values(robot: Robot, signature: Signature) -> NDArray[np.float64]:
    """The robot's numbers that a kernel reads, in its order; `home.rotation` is the platform's orientation at home."""
    home = {f"home.rotation.{i}{j}": robot.home.rotation["xyz".index(i), "xyz".index(j)] for i in "xyz" for j in "xyz"}
    foreign = next((p.name for p in signature.parameters if p.name not in home and p.name not in robot.values), None)
    if foreign is not None:
        raise InputError(
            f"{signature.name}: needs the input `{foreign}`, which is not a parameter of {robot.name}; pave supplies it"
        )
    return np.array([home[p.name] if p.name in home else robot.values[p.name] for p in signature.parameters], dtype=np.float64)


def varied_columns(robot: Robot, signature: Signature, values: NDArray[np.float64]) -> ParameterColumns | None:
    """The numbers of a kernel that vary per sample; None where none may.

    Checked by: tests/analysis/test_designs.py.
    """
    if robot.varied is None:
        return None
    names = [(k, p.name) for k, p in enumerate(signature.parameters) if p.name in robot.varied.moved]
    found = [robot.varied.column(name) for _, name in names]
    places = np.array([k for k, _ in names], dtype=np.int64)
    return ParameterColumns(base=values.copy(), places=places, values=found, count=robot.varied.count)


LEAST = 0
"""Effort of the code generator for kernels of many elements and the stiffness of many modes: called for single states, they take
as long, and compile sooner."""


def _many_modes(robot: Robot, quantity: str) -> bool:
    return quantity in ("flexible_tangent", "flexible_held_joints") and len(robot.elastic_names) > UNROLLED


def _derivation(quantity: str) -> Callable[..., Any]:
    derive: Callable[..., Any] = getattr(importlib.import_module(PROGRAMS[quantity]), quantity)
    return derive


def program_options(quantity: str) -> tuple[str, ...]:
    """Options that the program of a quantity takes besides the robot."""
    return tuple(inspect.signature(_derivation(quantity)).parameters)[1:]


def make_program(robot: Robot, quantity: str, options: Mapping[str, object], asked: str = "") -> Any:
    """The program of a quantity, derived now; `asked`: the name by which the user knows it."""
    refuse_inner_loops(robot, quantity)
    refuse_too_few_actuators(robot, quantity)
    derive = _derivation(quantity)
    try:
        inspect.signature(derive).bind(robot, **options)
    except TypeError as error:
        known = ", ".join(name for name in program_options(quantity) if name not in ("plan", "zeros"))
        raise InputError(f"options of '{asked or quantity}': {call_reason(error)}; it has: {known or 'none'}") from None
    program = derive(robot, **options)
    program.factored = quantity.startswith(FACTORED)
    return program


def _family(robot: Robot, quantity: str, options: Mapping[str, object], asked: str) -> KernelFamily:
    chosen = ",".join(f"{k}={options[k]!r}" for k in sorted(options))
    key = f"{quantity}({chosen})|{robot.structure}"
    if quantity.startswith("long_"):  # which rows close the loops, and which elements share numbers, is written into these
        runs = [(run.leg.name, run.elements[0].name, len(run.elements), run.shared) for run in element_runs(robot)]
        key = f"{key}|{robot.elastic_plan!r}|{runs}"
    if quantity.startswith(("elastic_", "loop_")):  # which coordinates are independent is written into these equations
        from flexapod.equations.elastodynamics.massless import has_massless_motion

        key = f"{key}|{robot.elastic_plan!r}{'|massless' * has_massless_motion(robot)}"
    if quantity.startswith("loop_"):  # and so is which components of the platform follow from the others
        key = f"{key}|{robot.plan.platform_independent}"
    if not quantity.startswith("link_"):
        level = LEAST if quantity.startswith("long_") or _many_modes(robot, quantity) else None
        return KernelFamily(lambda: make_program(robot, quantity, options, asked), key, robot.zeros, level=level)
    zeros = hashlib.sha256("\n".join(sorted(robot.zeros)).encode()).hexdigest()  # written into these equations
    return KernelFamily(
        lambda: make_program(robot, quantity, {**options, "zeros": robot.zeros}, asked),
        f"{key}|{robot.link_plan!r}|{zeros}",
        robot.zeros,
        make_general=lambda: make_program(robot, quantity, options, asked),
    )


def kernel_with_friction(robot: Robot, quantity: str, options: Mapping[str, object]) -> RobotKernel:
    """The kernel that other programs get: forward dynamics too has the friction of the file, unless friction=False.

    Checked by: tests/bridges/test_casadi_function.py.
    """
    from flexapod.analysis.requests.properties import PROPERTIES, has_friction

    if quantity not in ("inverse_dynamics", "forward_dynamics"):
        return kernel(robot, quantity, **options)
    others = {k: v for k, v in options.items() if k != "friction"}
    if not has_friction(robot):
        return kernel(robot, quantity, **others)
    if quantity == "inverse_dynamics" or not PROPERTIES["rigid"](robot):
        return kernel(robot, quantity, **options)
    return kernel(robot, "forward_friction" if options.get("friction", True) else quantity, **others)
