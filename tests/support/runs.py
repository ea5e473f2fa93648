"""Which tests belong to which run: `make test-quick` takes QUICK, `make test` leaves out what is full, `make test-full` runs all.

Tests say `@pytest.mark.full` themselves where they have a sample of their own beside them. This table names what is left to
another test of the usual run, and to which; a name that no test has any more stops the run.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Iterator

import pytest

import flexapod as fp

FULL = {
    "analysis/test_every_quantity.py::test_legs_that_begin_on_a_body": "legs on massless bodies in robot/test_massless_motion.py",
    "analysis/test_general_dynamics.py::test_flexible_legs_with_friction_by_loads":
        "friction_of_one_source, in the same file; robots that deform in simulation/test_loaded_joints.py",
    "analysis/test_loop_poses.py::test_a_3rpr_with_similar": "congruent triangles, in the same file; analysis/test_trace_test.py",
    "analysis/test_state_rules.py::test_buckling_starts_from": "buckling in analysis/test_unstable_equilibria.py",
    "robot/test_inner_loops.py::test_a_robot_that_deforms_walks":
        "the rigid robots that walk there, in the same file; beams as stiff as rods in elastodynamics/test_rigid_limits.py",
    "views/test_briot_page.py::test_what_friction_leaves": "sliders' ranges and the run along the circle, in the same file",
}
"""Beginning of a test's name -> what the usual run keeps of its subject."""

KINDS = ("stewart-3-3", "hexaslide", "gough-stewart", "delta", "five-bar", "planar-4-prr")
"""A robot of every kind: legs that extend, slide, are given as a table, are general; mobility below six, redundant drives."""

RULES = ("stewart-3-3-", "hexaslide-", "delta-rule5", "five-bar-", "planar-4-prr-")
"""Friction at legs that extend, slide, turn a crank, in the plane, with redundant drives."""

CHAINS = (
    "[stewart-3-3]", "[hexaslide]", "[hexa-oblique]", "[delta]", "[five-bar]", "[planar-4-prr]", "[tripteron]", "[spatial-3-rrc]",
    "[hexapod-offset]",
)  # fmt: skip
"""One of each closed form with everything oblique, general legs in plane and space, redundant and over-constrained."""

BEAMS = ("[dualemps-2]", "[planar-3-rrr-springs]", "[tripteron-flexible]", "beams+platform]", "[planar-3-rrr+modes]")
"""Flexible legs in the plane, with joint springs, in space, under a flexible platform, reduced to modes."""

MOVED = ("[every-joint]", "[stewart-3-3]", "[hexaslide]", "[delta]", "[five-bar]", "[gough-stewart-flexible]", "[dualemps]")
"""Every type of joint; legs that extend and slide; general legs in space and plane; a flexible platform, flexible legs."""

FAST_PATHS = (
    "-rigid, mobility below 6]", "-flexible platform]", "-joint springs]", "-under-actuated]", "[point_motion-rigid, mobility 6]",
    "[inverse_dynamics-redundantly actuated]", "[gravity_force-over-constrained]", "[forward_dynamics-elastic drives]",
    "[forward_dynamics-flexible legs]", "[forward_dynamics-flexible platform on flexible legs]",
)  # fmt: skip
"""Each of the 22 fast paths, and each kind of robot with one path at least."""

CHOSEN = {
    "analysis/test_fast_paths.py::test_fast_paths_agree": FAST_PATHS,
    "analysis/test_path_between.py::test_the_distance_from_singular": ("[study]",),
    "bridges/test_mjcf.py::test_friction_and_springs_of_closing": ("[stiffness: 5, rest", "[friction"),
    "equations/test_flexible_platform.py::test_platforms_on_other_legs": ("[hexa]",),
    "equations/test_leg_positions.py::test_closed_forms_agree": (
        "[cranks in a tilted plane]", "[slide and ball]", "[crank and rod in space]", "[cranks on a slide]",
    ),
    "robot/test_joint_types.py::test_a_base_frame_is_a_leg": ("[mass: 3]",),
    "robot/test_joint_types.py::test_a_damper_at_the_platform_joint": ("[delta.yaml]", "[planar-3-rrr.yaml]"),
    "simulation/test_mechanisms.py::test_a_drive_at_its_dead_point": ("[implicit-", "[rk4-"),
    "simulation/test_simulation_friction.py::test_accelerations_are_those": ("[delta-per_axis]",),
    "views/test_cli_export.py::test_friction_has_one_meaning": ("[hexaslide-", "[dualemps-.c]", "[dualemps-.casadi]"),
    "equations/test_formulations_agree.py::test_formulations_agree[virtual_work": KINDS,
    "equations/test_formulations_agree.py::test_formulations_agree[newton_euler": KINDS,
    "equations/test_formulations_agree.py::test_external_wrench[virtual_work": KINDS,
    "equations/test_formulations_agree.py::test_external_wrench[newton_euler": KINDS,
    "studio/test_studio_drawing.py::test_frames_are_where": ("stewart-3-3", "five-bar", "gough-stewart-flexible", "dualemps"),
    "equations/test_flexible_platform.py::test_two_formulations_agree": ("[stiffened plate]",),
    "equations/test_derivatives.py::test_by_the_motion": ("[hexaslide]",),
    "equations/test_derivatives.py::test_by_parameters": ("[stewart-3-3]",),
    "equations/test_forward_kinematics.py::test_forward_after_inverse_returns": ("[stewart-3-3]", "[delta]", "[five-bar]"),
    "equations/test_catalogue_forces.py::test_forces_balance": ("[3-rps]", "[bench-6ups]"),
    "equations/test_friction.py::test_free_bodies_with_friction": RULES,
    "equations/test_friction.py::test_friction_obeys_its_laws": RULES,
    "equations/test_friction.py::test_friction_takes_power": RULES,
    "equations/test_friction.py::test_frozen_shares_add_up_on_general": ("[delta]",),
    "equations/test_newton_euler.py::test_free_bodies": CHAINS,
    "equations/test_newton_euler.py::test_power_balance": CHAINS,
    "equations/test_newton_euler.py::test_reactions_have_no_part": CHAINS,
    "equations/test_newton_euler.py::test_undetermined_components": CHAINS,
    "equations/test_link_model.py::test_a_lost_zero": ("[hexaslide-",),
    "equations/test_articulated.py::test_direct_model": ("[dualemps-2]", "[gough-stewart-beams]"),
    "equations/test_inverse_kinematics.py::test_exported_c_agrees": ("[stewart-3-3_rotation_z]", "[hexapod_rotation_z]"),
    "equations/test_flexible_platform.py::test_reference_states": ("[generic]",),
    "analysis/test_flexible_dynamics.py::test_reference_states": ("[plate]",),
    "analysis/test_unstable_equilibria.py::test_buckling_finds_the_load": ("[x-1]",),
    "analysis/test_actuator_motion.py::test_inverse_kinematics_returns": ("[delta]", "[five-bar]", "[stewart-3-3]"),
    "analysis/test_linearize.py::test_about_a_motion_the_derivatives": ("[five-bar-",),
    "analysis/test_general_terms.py::test_velocity_forces": ("[gough-stewart-flexible]",),
    "analysis/test_general_dynamics.py::test_rigid_robots_as_newton": ("[five-bar]", "[planar-4-prr]"),
    "analysis/test_leg_platform_motion.py::test_motion_of_the_platform_gives": ("[dualemps]", "[planar-3-rrr]"),
    "analysis/test_loop_poses.py::test_planar_robots_have_six": ("[rpr]",),
    "bridges/test_fmu.py::test_fmpy_finds_nothing": ("[3.0]",),
    "bridges/test_fmu.py::test_sources_compile": ("[2.0]",),
    "description/test_leg_copies.py::test_forces_of_the_mirror": ("[every-joint-xy]",),
    "laws/test_moved_world.py::test_the_world_frame": MOVED,
    "laws/test_moved_world.py::test_names_and_order": MOVED,
    "robot/test_fuzzed_robots.py::test_catalogue_files": (
        *(f"[{name}]" for name in KINDS), "[gough-stewart-flexible]", "[dualemps]", "[tripteron]",
    ),
    "elastodynamics/test_reactions.py::test_reactions_are": ("[dualemps]", "[gough-stewart+platform]"),
    "elastodynamics/test_rigid_limits.py::test_rigid_limit": ("[planar-3-rrr]", "[tripteron-flexible]"),
    "elastodynamics/test_formulations.py::test_inverse_model": BEAMS,
    "elastodynamics/test_formulations.py::test_direct_model": BEAMS,
    "elastodynamics/test_formulations.py::test_every_way": (
        "[dualemps-4-", "[tripteron-flexible-world]", "[gough-stewart-beams+platform-", "[planar-3-rrr+modes-articulated]",
    ),
    "generator/test_count_table.py::test_dualemps_needs_fewer": ("[numbers]",),
    "simulation/test_energy_balance.py::test_springs_keep_energy": ("[hexaslide]", "[five-bar]", "[planar-4-prr]"),
    "simulation/test_energy_balance.py::test_random_starts_keep_energy": ("[delta-3-5]",),
    "simulation/test_controllers.py::test_wrong_masses": ("[hexaslide]",),
    "simulation/test_controllers.py::test_computed_torque_follows": ("[hexaslide]",),
    "simulation/test_load_friction.py::test_cranks_and_general_legs": ("[hexa-",),
    "simulation/test_independent_runs.py::test_controllers_two_ways": ("[sampled PID-implicit]", "[PD and load-rk4]"),
    "simulation/test_simulation_closure.py::test_constraints_hold_after_coarse": ("[five-bar]",),
    "simulation/test_stepper.py::test_steps_are_those_of_simulate": ("[five-bar]",),
}
"""Beginning of a test's name -> parameters that the usual run keeps; the others are left to the full one."""

USUAL = (
    "bench-6ups", "delta", "dualemps", "dualemps-8", "five-bar", "gough-stewart", "gough-stewart-flexible", "hexa", "hexapod",
    "hexaslide", "planar-4-prr", "stewart-3-3", "tripteron", "3-rps", "agile-eye",
)  # fmt: skip
"""Robots of the catalogue whose laws the usual run checks, one of every kind; tests of the others are left to the full run, but
for their mobility (tests/laws/test_mobility.py)."""

WIDE = 8
WIDE_IN = ("analysis", "equations", "identification", "simulation", "studio", "views")
"""In these folders a test over more robots of the catalogue than WIDE keeps those of EACH in the usual run; the laws have all of
USUAL, and the full run the whole catalogue."""

EACH = (
    "stewart-3-3", "hexaslide", "hexa", "gough-stewart", "delta", "five-bar", "planar-4-prr",
    "gough-stewart-flexible", "dualemps", "dualemps-8",
)  # fmt: skip
"""Legs that extend, slide, turn a crank, are given as a table, are general; planar, redundant, flexible platform and legs."""

ALWAYS = (
    "laws/test_mobility.py", "robot/test_unphysical.py", "docs/test_gallery.py::test_pictures",
    "equations/test_link_model.py::test_operations",
)  # fmt: skip
"""Tests of the usual run over the whole catalogue, which only load a robot, and counts that must not change."""

NAMESAKES = (
    "analysis/test_flexible_legs.py", "analysis/test_leg_platform_motion.py", "design/", "elastodynamics/",
    "equations/test_articulated.py", "equations/test_link_axes.py", "equations/test_newton_euler.py",
    "equations/test_virtual_work.py", "robot/test_elastic_plan.py", "views/test_new_robot.py",
)  # fmt: skip
"""Tests whose own robots have names that are also in the catalogue."""

SHIPPED = (
    "examples/test_examples.py::test_examples_run[01", "generator/", "kernels/", "laws/test_closure.py", "laws/test_variants.py",
    "equations/test_flexible_platform.py::test_two_formulations_agree",  # its bound is a few roundings of fused sums away
)  # fmt: skip
"""Tests whose kernels are compiled as users get them, with the usual effort of LLVM's code generator. In the others the usual
run compiles the same text with the least effort (FLEXAPOD_CODE_LEVEL=0, a quarter of the time): they check equations and verbs,
not LLVM. The full run compiles all of them as users get them."""

QUICK = (
    "analysis/test_call_errors", "analysis/test_conditioning", "analysis/test_limits", "analysis/test_linear_solve",
    "analysis/test_workspace.py", "description", "equations/test_forward_kinematics",
    "equations/test_inverse_kinematics", "equations/test_jacobian", "equations/test_minimal",
    "equations/test_virtual_power_mutants", "flexible/test_beam", "flexible/test_modal_file", "flexible/test_section",
    "generator/test_factoring", "kernels/test_b", "kernels/test_cache.py", "kernels/test_passes",
    "kernels/test_program", "kernels/test_se", "kernels/test_tangent", "laws/test_closure", "laws/test_mobility",
    "motions", "project/test_claims", "project/test_house", "project/test_layers", "project/test_references",
    "project/test_style.py::test_ruff", "robot/test_b", "robot/test_robot", "robot/test_unphysical",
    "simulation/test_balance", "simulation/test_orders", "simulation/test_simulate", "spatial", "views/test_cli_help",
    "views/test_output_files",
)  # fmt: skip
"""Files and folders of the quick run: something of every stage, nothing in a browser or in many processes."""


LEVEL = "FLEXAPOD_CODE_LEVEL"
GIVEN = os.environ.get(LEVEL)
"""What the user asked for holds everywhere."""


def usual(config: pytest.Config) -> bool:
    """Whether this is a run without the large counts."""
    return "not full" in config.getoption("markexpr")


_full = [False]


def counted(usual: int, full: int) -> int:
    """How many random samples a test takes: fewer in the usual run, as many as are worth having in the full one."""
    return full if _full[0] else usual


def pytest_configure(config: pytest.Config) -> None:
    _full[0] = not usual(config)
    config.addinivalue_line("markers", "quick: part of make test-quick; named in tests/support/runs.py")


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Effort of the compiler in this test, before any of its fixtures."""
    if GIVEN is None and usual(item.config):
        if item.nodeid.startswith(tuple(f"tests/{name}" for name in SHIPPED)):
            os.environ.pop(LEVEL, None)
        else:
            os.environ[LEVEL] = "0"
    return (yield)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    unused, without = {*FULL, *CHOSEN, *QUICK, *SHIPPED}, {*CHOSEN}
    catalogue = {*fp.catalogue()}
    rest = catalogue - {*USUAL}
    robots: dict[str, set[str]] = {}
    for item in items:
        robots.setdefault(_function(item), set()).update(_words(item) & catalogue)
    for item in items:
        name, named = item.nodeid.removeprefix("tests/"), _words(item) & catalogue
        file = name.partition("::")[0]
        wide = len(robots[_function(item)] - rest) > WIDE and file.partition("/")[0] in WIDE_IN
        if (named & rest or (wide and named - {*EACH})) and not name.startswith((*ALWAYS, *NAMESAKES)):
            item.add_marker(pytest.mark.full)
        for entry in _entries(file):
            if name.startswith(entry):
                unused.discard(entry)
                if entry in FULL or (entry in CHOSEN and not any(word in name for word in CHOSEN[entry])):
                    item.add_marker(pytest.mark.full)
                elif entry in CHOSEN and item.get_closest_marker("full") is None:
                    without.discard(entry)
                if entry in QUICK:
                    item.add_marker(pytest.mark.quick)
    if config.args == config.getini("testpaths"):
        if unused:
            raise pytest.UsageError(f"tests/support/runs.py names tests that do not exist: {', '.join(sorted(unused))}")
        if without:
            raise pytest.UsageError(f"tests/support/runs.py leaves nothing of {', '.join(sorted(without))} in the usual run")


@functools.cache
def _entries(file: str) -> list[str]:
    """Entries of the tables that may name tests of a file."""
    entries = dict.fromkeys((*FULL, *CHOSEN, *QUICK, *SHIPPED))
    return [entry for entry in entries if entry.startswith(file) or file.startswith(entry)]


def _function(item: pytest.Item) -> str:
    return item.nodeid.partition("[")[0]


def _words(item: pytest.Item) -> set[str]:
    """Parameters of a test that are text."""
    spec = getattr(item, "callspec", None)
    return {value for value in spec.params.values() if isinstance(value, str)} if spec is not None else set()
