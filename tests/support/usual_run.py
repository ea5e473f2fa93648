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
    "analysis/test_abilities.py::test_options_of_simulate":
        "options of the other verbs, in the same file; those of simulate in simulation/test_simulate.py",
    "analysis/test_cartesian_stiffness.py::test_flexible_rods": "compliance against the nonlinear deflection, in the same file",
    "analysis/test_designs.py::test_values_per_sample_of_each_way":
        "values per sample of every verb in analysis/test_abilities.py; designs at a state, in the same file",
    "analysis/test_elastic_drives.py::test_prestress_of_a_rigid_robot":
        "small_motions_about_forces_of_least_norm in analysis/test_redundant_drives.py",
    "analysis/test_elastic_drives.py::test_simulated_motors": "held at home, power of the motors and reactions, in the same file",
    "analysis/test_every_quantity.py::test_legs_that_begin_on_a_body": "legs on massless bodies in robot/test_massless_motion.py",
    "analysis/test_flexible_dynamics.py::test_reference_states":
        "reference states in equations/test_flexible_platform.py, reference coordinates in analysis/test_flexible_kinematics.py",
    "analysis/test_flexible_dynamics.py::test_the_general_formulation": "flexible platforms in analysis/test_fast_paths.py",
    "analysis/test_flexible_kinematics.py::test_actuator_motions":
        "actuator motions of rigid robots in analysis/test_actuator_motion.py",
    "analysis/test_flexible_legs.py::test_frequencies_converge":
        "frequencies of one element, in the same file; Table 3 in views/test_cli_flexible_legs.py",
    "analysis/test_flexible_legs.py::test_gravity_and_velocity":
        "reference states, in the same file; velocity forces in analysis/test_general_terms.py",
    "analysis/test_general_dynamics.py::test_flexible_legs_with_friction_by_loads":
        "followed actuators of robots that deform in simulation/test_loaded_joints.py",
    "analysis/test_general_dynamics.py::test_flexible_platform": "flexible platforms in analysis/test_fast_paths.py",
    "analysis/test_general_dynamics.py::test_friction_of_one_source":
        "free bodies with friction in equations/test_friction.py; friction in analysis/test_fast_paths.py",
    "analysis/test_leg_platform_motion.py::test_mass_matrix_in_platform":
        "elastodynamics/test_formulations.py; motion of the platform, in the same file",
    "analysis/test_loop_poses.py::test_a_3rpr_with_similar": "lists without a proven bound in analysis/test_trace_test.py",
    "analysis/test_loop_poses.py::test_a_singular_pose_on_circles":
        "the stretched five-bar has one double pose, in the same file; analysis/test_assembly_modes.py",
    "analysis/test_loop_poses.py::test_congruent_triangles":
        "a five-bar whose elbows coincide has a self-motion, in the same file; analysis/test_assembly_modes.py",
    "analysis/test_loop_poses.py::test_poses_with_a_pin": "poses with a reversed joint are refused, in the same file",
    "analysis/test_loop_poses.py::test_rods_of_parallelograms": "the Delta's two translational poses, in the same file",
    "analysis/test_neglected_spin.py::test_friction_reactions":
        "slender legs are the limit, in the same file; options of inverse dynamics in analysis/test_abilities.py",
    "analysis/test_out_of_plane.py::test_nothing_is_said": "what deformation decides is said, in the same file",
    "analysis/test_path_between.py::test_the_distance_from_singular":
        "random pairs of a hexapod and the way around, in the same file",
    "analysis/test_pave.py::test_boxes_alone":
        "a paving agrees with sampled poses; the fast way and intervals agree, in the same file",
    "analysis/test_redundant_drives.py::test_reactions_of_a_simulation":
        "weights and preload against the Jacobian, in the same file",
    "analysis/test_redundant_drives.py::test_redundant_robots_that_deform":
        "weights and preload with joint springs, in the same file",
    "analysis/test_redundant_drives.py::test_stiff_redundant_robots": "weights and preload with joint springs, in the same file",
    "analysis/test_state_rules.py::test_buckling_starts_from": "buckling in analysis/test_unstable_equilibria.py",
    "analysis/test_trace_test.py::test_the_test_finds":
        "lists that lack a point bend, and lists without a proven bound, in the same file",
    "analysis/test_unstable_equilibria.py::test_buckling_is_the_same":
        "buckling finds the load that the warning speaks of, in the same file",
    "analysis/test_workspace_solid.py::test_a_region_that_was_not": "regions are spans and are said, in the same file",
    "analysis/test_workspace_solid.py::test_solid_and_paving":
        "closed forms of solids, in the same file; volume_lies_between_its_bounds in analysis/test_pave.py",
    "bridges/test_fmu.py::test_a_block_leaves_out_friction": "inverse dynamics is a block, in the same file",
    "bridges/test_fmu.py::test_a_check_by_the_importer": "FMPy finds nothing wrong, in the same file",
    "bridges/test_fmu_catalogue.py::test_robot[five-bar]": "co-simulation equals simulate in bridges/test_fmu.py",
    "bridges/test_mjcf.py::test_bodies_that_float":
        "a floating joint is a free one in bridges/test_urdf.py; halves and copies, in the same file",
    "design/test_published_optima.py::test_isotropic_planar": "the other published optimum, in the same file",
    "design/test_study_cluster.py::test_a_client_and_functions":
        "a killed cluster gives the bytes of one machine, in the same file",
    "design/test_study_cluster.py::test_clusters_that_cannot_be_used":
        "a killed cluster gives the bytes of one machine, in the same file",
    "design/test_study_rows.py::test_criteria_of_loops":
        "designs of every verb in analysis/test_abilities.py; loops inside legs in robot/test_inner_loops.py",
    "design/test_tolerance_of_criteria.py::test_forces_and_frequencies_scatter[force]":
        "tolerances of poses in design/test_tolerance.py",
    "elastodynamics/test_dualemps_convergence.py::test_convergence":
        "both formulations with one and four elements, in the same file",
    "elastodynamics/test_mechanisms_exudyn.py::test_a_coupler_of_modes": "frequencies in elastodynamics/test_dualemps_exudyn.py",
    "elastodynamics/test_mechanisms_exudyn.py::test_four_bar": "frequencies in elastodynamics/test_dualemps_exudyn.py",
    "elastodynamics/test_platform_on_any_leg.py::test_energy_is_kept":
        "the modes turn the joints, in the same file; simulation/test_flexible_energy_balance.py",
    "elastodynamics/test_platform_on_any_leg.py::test_stiff_plate":
        "the modes turn the joints, in the same file; limit_of_a_rigid_platform in equations/test_flexible_platform.py",
    "elastodynamics/test_rotating_beam.py::test_buckling_by_twisting": "buckling of linear elements warns, in the same file",
    "elastodynamics/test_rotating_beam.py::test_buckling_far_beyond": "buckling of linear elements warns, in the same file",
    "elastodynamics/test_static_equilibrium.py::test_deflected_robot":
        "equilibria in analysis/test_flexible_static.py and analysis/test_load_sequence.py",
    "equations/test_articulated.py::test_long_legs": "operations grow with the number of elements, in the same file",
    "equations/test_derivatives.py::test_loops_inside_legs": "loops through several legs by a closed form, in the same file",
    "equations/test_derivatives.py::test_parameters_of_legs":
        "by parameters of a rigid robot, in the same file; analysis/test_flexible_derivatives.py",
    "equations/test_derivatives.py::test_plate_on_legs": "analysis/test_flexible_derivatives.py",
    "equations/test_element_loops.py::test_loops_over_elements":
        "dynamics_in_loops_over_many_modes in equations/test_flexible_platform.py; dualemps-8 in the laws",
    "equations/test_flexible_growth.py::test_twice_the_modes": "code_does_not_grow in equations/test_element_loops.py",
    "equations/test_flexible_platform.py::test_platforms_on_other_legs": "two formulations on legs that extend, in the same file",
    "equations/test_forward_friction.py::test_general_legs":
        "joint friction agrees with inverse dynamics in simulation/test_simulation_friction.py",
    "equations/test_jacobian.py::test_actuator_rates_are_the_jacobian_times_the_twist[every-joint]":
        "its derivative at second order, in the same file",
    "equations/test_leg_positions.py::test_forces_on_the_other_branch":
        "closed forms agree with Newton's method on all branches, in the same file",
    "equations/test_link_model.py::test_forward_dynamics[every-joint]":
        "inverse dynamics of every-joint and forward dynamics of other robots, in the same file",
    "equations/test_link_model.py::test_legs_cut_at_a_ball":
        "inverse dynamics of every joint type, in the same file; robots of rods in equations/test_rods.py",
    "equations/test_link_model.py::test_legs_cut_at_a_ball[cranks]": "[slides], in the same file",
    "equations/test_loop_kinematics.py::test_all_loops_together_give_what_the_legs_give[3-rps]": "[five-bar], in the same file",
    "equations/test_loop_kinematics.py::test_poses_that_the_robot": "what has no meaning is refused, in the same file",
    "equations/test_newton_euler.py::test_general_legs_agree_with_closed_forms[hexaslide]":
        "[hexa-oblique] and [stewart-3-3], in the same file",
    "equations/test_virtual_work.py::test_forces_are_the_work_of_all_bodies[planar-3-rrp]":
        "the other robots of their own, in the same file",
    "equations/test_virtual_work.py::test_one_transposed_solve_is_the_sum_over_virtual_motions[planar-3-rrp]":
        "the other robots of their own, in the same file",
    "equations/test_virtual_work.py::test_power_balance[planar-3-rrp]": "the other robots of their own, in the same file",
    "examples/test_examples.py::test_examples_run[12_report]":
        "the other examples, by the same test; a report that warns in views/test_pages.py",
    "flexible/test_plate.py::test_a_point_mass": "component modes are statically exact, in the same file",
    "generator/test_generated_text.py::test_the_function_is_called_as_the_quantity[hexaslide-inverse_dynamics-file]":
        "[hexaslide-inverse_dynamics-None], by the same test",
    "identification/test_base_parameters.py::test_rank_in_fifty": "the other tests of the rank, in the same file",
    "identification/test_identify_command.py::test_measured_data": "the command's other tests, in the same file",
    "identification/test_regressor.py::test_forces_without_columns":
        "what acts at passive joints, and springs and dampers, in the same file",
    "kernels/test_cache.py::test_eight_processes": "three processes at once in laws/test_cold_start.py",
    "laws/test_cold_start.py::test_damaged_files": "garbage_with_a_valid_digest_is_rebuilt in kernels/test_cache_safety.py",
    "project/test_benchmark_page.py::test_cheap_sections":
        "a script that fails, the order of sections and a missing peer, in the same file",
    "project/test_docs.py::test_blocks_run[docs/choose-a-motion-platform.md]":
        "docs/tutorial-design-your-own-hexapod.md, by the same test",
    "project/test_docs.py::test_blocks_run[docs/design.md]": "docs/reference/design.md, by the same test",
    "project/test_docs.py::test_blocks_run[docs/flexible-models.md]": "docs/reference/flexible-robots.md, by the same test",
    "project/test_docs.py::test_blocks_run[docs/mechanisms.md]": "robot/test_joint_types.py; simulation/test_mechanisms.py",
    "project/test_docs.py::test_blocks_run[docs/reference/figures.md]":
        "docs/figures.md, by the same test; views/test_figures.py",
    "project/test_docs.py::test_blocks_run[docs/reference/simulation.md]":
        "signatures in docs/test_api_reference.py; simulation/test_controllers.py",
    "project/test_docs.py::test_blocks_run[docs/space.md]": "docs/reference/space.md, by the same test",
    "project/test_docs.py::test_blocks_run[docs/studio.md]":
        "the command starts, listens and closes in studio/test_studio_life.py; a studio in a program in studio/conftest.py",
    "project/test_docs.py::test_blocks_run[docs/use-it-from/fmi.md]":
        "bridges/test_fmu.py; the other bridges' pages, by the same test",
    "project/test_docs.py::test_landing_page": "make docs; project/test_references.py",
    "project/test_docs.py::test_site_builds":
        "make docs; blocks that run and their languages, in the same file; project/test_references.py",
    "project/test_style.py::test_strict_types":
        "make lint; layers, signatures and docstrings in project/test_layers.py and project/test_house.py",
    "robot/test_elastic_plan.py::test_actuators_are_independent": "actuators and deformations are independent, in the same file",
    "robot/test_inner_loops.py::test_a_robot_that_deforms_walks":
        "the rigid robots that walk there, in the same file; beams as stiff as rods in elastodynamics/test_rigid_limits.py",
    "robot/test_inner_loops.py::test_an_articulated_platform":
        "parallelograms and gears, in the same file; the H4 in views/test_report_parts.py",
    "robot/test_inner_loops.py::test_poses_are_found_where": "all poses of a loop, in the same file",
    "robot/test_modal_links.py::test_a_plate_buckles_sideways":
        "an arm of modes buckles at Euler's load, in the same file; plates in flexible/test_plate_membrane.py",
    "robot/test_modal_links.py::test_a_stiffened_plate_is_a_link": "an arm of modes vibrates as one of beams, in the same file",
    "robot/test_payloads.py::test_payload_of_a_flexible_body":
        "payloads of rigid bodies, and one far from its beam's nodes, in the same file",
    "robot/test_whole_revolution.py::test_two_legs_that_carry": "a crank goes all around in every size, in the same file",
    "simulation/test_energy_balance.py::test_random_starts": "springs keep energy and works balance, in the same file",
    "simulation/test_events.py::test_a_run_stops_where": "a drive at its dead point in simulation/test_mechanisms.py",
    "simulation/test_explicit_simulations.py::test_many_coordinates":
        "many_coordinates_run_in_numbers in simulation/test_independent_simulation.py",
    "simulation/test_flexible_simulation.py::test_a_rigid_model_cannot":
        "the loop of inverse and direct model follows, in the same file",
    "simulation/test_flexible_simulation.py::test_computed_torque":
        "a rigid model cannot control the paper's plate, in the same file; computed torque in simulation/test_controllers.py",
    "simulation/test_flexible_simulation.py::test_friction_of_the_joints":
        "friction of the legs on the bent platform, in the same file",
    "simulation/test_flexible_simulation.py::test_friction_of_the_legs":
        "followed actuators feel friction by loads in simulation/test_loaded_joints.py",
    "simulation/test_flexible_simulation.py::test_reactions_of_a_run":
        "reactions of flexible platforms in elastodynamics/test_reactions.py",
    "simulation/test_flexible_simulation.py::test_the_inverse_model_drives_against":
        "the loop of inverse and direct model follows, and friction of the legs acts through the bent platform, in the same file",
    "simulation/test_free_rotation.py::test_two_choices": "a run that changes its coordinates keeps its energy, in the same file",
    "simulation/test_implicit_steps.py::test_order_six":
        "rigid robots swing as by other methods, in the same file; simulation/test_orders.py",
    "simulation/test_implicit_steps.py::test_rigid_robots_swing":
        "a constrained platform swings as by other methods, in the same file",
    "simulation/test_independent_simulation.py::test_actuators_of_a_flexible":
        "one actuator that follows, in the same file; square_motion in simulation/test_leg_simulation.py",
    "simulation/test_independent_simulation.py::test_another_integrator":
        "one actuator that follows, in the same file; methods agree in simulation/test_explicit_simulations.py",
    "simulation/test_independent_simulation.py::test_controllers_two_ways":
        "another integrator finds the same motion, in the same file; simulation/test_controllers.py",
    "simulation/test_independent_simulation.py::test_events_functions":
        "simulation/test_events.py, simulation/test_killed_simulations.py; events in simulation/test_flexible_simulation.py",
    "simulation/test_leg_simulation.py::test_forces_found_drive":
        "inverse dynamics integrates elastic coordinates, and the square motion, in the same file",
    "simulation/test_leg_simulation.py::test_two_methods_agree":
        "the square motion, in the same file; methods_agree in simulation/test_explicit_simulations.py",
    "simulation/test_load_friction.py::test_cranks_and_general_legs":
        "accelerations demand the forces that act, in the same file; joint friction in simulation/test_simulation_friction.py",
    "simulation/test_load_friction.py::test_implicit_steps_take":
        "all_methods_take_the_same_friction in simulation/test_loaded_joints.py",
    "simulation/test_load_friction.py::test_order_of_positions": "order of the fixed step, in the same file",
    "simulation/test_load_friction.py::test_reactions_and_a_new_payload":
        "a payload picked up in simulation/test_events.py; accelerations that demand the forces, in the same file",
    "simulation/test_load_friction.py::test_redundant_actuators":
        "accelerations demand the forces that act, in the same file; weights and preload in analysis/test_redundant_drives.py",
    "simulation/test_load_friction.py::test_studies": "simulation/test_study.py",
    "simulation/test_loaded_beams.py::test_a_stepper_and_a_study":
        "exact rates and followed actuators, in the same file; steppers in simulation/test_stepper.py",
    "simulation/test_loaded_beams.py::test_accelerations_are_those":
        "accelerations and heat along implicit steps, and followed actuators, in the same file; the balance of energy in "
        "simulation/test_flexible_energy_balance.py",
    "simulation/test_loaded_beams.py::test_followed_actuators":
        "followed actuators of robots that deform in simulation/test_loaded_joints.py",
    "simulation/test_loaded_joints.py::test_accelerations_are_those": "followed actuators and two methods, in the same file",
    "simulation/test_simulate.py::test_a_killed_run_resumes": "simulation/test_killed_simulations.py",
    "simulation/test_simulate.py::test_without_llvm": "kernels/test_backends_agree.py",
    "simulation/test_simulation_closure.py::test_an_hour": "constraints hold after coarse steps, in the same file",
    "simulation/test_simulation_friction.py::test_accelerations_are_those":
        "joint friction agrees with inverse dynamics, in the same file",
    "simulation/test_stepper.py::test_explicit_steps_of_robots": "steps are those of simulate, in the same file",
    "studio/test_studio_again.py::test_the_platform_of_a_mode":
        "drawn deformation stays together and locked actuators stay, in studio/test_studio_model.py",
    "studio/test_studio_again.py::test_the_timeline_plays":
        "motion_is_played_scrubbed_and_plotted in studio/test_studio_page.py",
    "studio/test_studio_life.py::test_a_thousand_clients": "hostile messages of many clients, in the same file",
    "studio/test_studio_mended.py::test_an_unstable_mode": "unstable modes are red in studio/test_studio_tables.py",
    "studio/test_studio_mended.py::test_deformation_is_reported":
        "the legend and the factor in studio/test_studio_deformation.py; drawn deformation in studio/test_studio_model.py",
    "studio/test_studio_mended.py::test_motions_of_papers": "every choice of motion can be made in studio/test_studio_model.py",
    "studio/test_studio_mended.py::test_the_kept_variant":
        "kept variant is compared in studio/test_studio_model.py and studio/test_studio_page.py",
    "studio/test_studio_model.py::test_a_base_that_floats":
        "check takes a base that floats in views/test_cli_flexible_legs.py, and is drawn in views/test_robot_scene.py",
    "studio/test_studio_page.py::test_a_bad_file": "bad files are refused in their own name in studio/test_studio_model.py",
    "studio/test_studio_page.py::test_modes_are_animated":
        "modes side by side in studio/test_studio_widgets.py; their frequencies in studio/test_studio_model.py",
    "studio/test_studio_page.py::test_the_handle_does_not_cover":
        "arrows are flat, in the same file; axes of handles in studio/test_studio_drag.py",
    "studio/test_studio_residual.py::test_the_stiffness_of_drives": "given stiffness is by unit in studio/test_studio_model.py",
    "studio/test_studio_robots.py::test_a_robot_of_each_kind":
        "nothing overlaps and every drawer opens in studio/test_studio_view.py",
    "studio/test_studio_tables.py::test_what_is_not_known":
        "what is wrong is said with the leg, in the same file; check takes a base that floats in views/test_cli_flexible_legs.py",
    "studio/test_studio_view.py::test_a_motion_and_a_mode_are_saved": "what is seen is recorded, in the same file",
    "studio/test_studio_view.py::test_a_narrow_window":
        "nothing_overlaps_at_any_size, in the same file",
    "studio/test_studio_view.py::test_planar_robots_are_seen":
        "planar robots are seen along their normal in views/test_robot_scene.py",
    "studio/test_studio_view.py::test_the_mouse_finds":
        "the mouse finds legs, arrows and torques in studio/test_studio_tables.py",
    "studio/test_studio_widgets.py::test_a_controller_is_simulated":
        "tracking error of computed torque in studio/test_studio_control.py",
    "studio/test_studio_widgets.py::test_colours_of_displacement":
        "the legend says the largest displacement in studio/test_studio_deformation.py",
    "views/test_briot_page.py::test_table_3":
        "frequencies of Table 3 in views/test_cli_flexible_legs.py; tables as inputs, in the same file",
    "views/test_briot_page.py::test_what_friction_leaves": "sliders' ranges and the run along the circle, in the same file",
    "views/test_briot_page.py::test_workspace_and_operators":
        "operators of DualEMPS in generator/test_count_table.py; its workspace in views/test_cli_flexible_legs.py",
    "views/test_cli_errors.py::test_a_rigid_robot_with_many":
        "many elements are refused at once in views/test_cli_flexible_legs.py",
    "views/test_cli_errors.py::test_interrupted_simulation[running]":
        "[deriving], in the same file; Ctrl-C in simulation/test_simulate.py",
    "views/test_cli_examples.py::test_examples_work[count]":
        "generator/test_count_table.py; count in views/test_cli_flexible_legs.py",
    "views/test_cli_examples.py::test_examples_work[identify]": "identification/test_identify_command.py",
    "views/test_cli_examples.py::test_examples_work[report]":
        "reports in views/test_pages.py and views/test_cli_flexible_legs.py",
    "views/test_cli_examples.py::test_examples_work[simulate]":
        "simulate in views/test_cli_flexible_legs.py and views/test_cli_results.py",
    "views/test_cli_examples.py::test_examples_work[solid]": "views/test_cli_space.py",
    "views/test_cli_export.py::test_set_and_payload_change_the_file[.fmu]": "parameters of an FMU in bridges/test_fmu.py",
    "views/test_cli_flexible_legs.py::test_explicit_steps":
        "a_simulation_that_explodes_is_reported in views/test_cli_warnings.py",
    "views/test_cli_poses.py::test_poses_of_inner_loops":
        "poses of home with their certainty, in the same file; analysis/test_loop_poses.py",
    "views/test_cli_poses.py::test_rounding_is_printed": "strokes have no digits of rounding in views/test_report_parts.py",
    "views/test_cli_results.py::test_json_parses[robots]": "the list of robots in views/test_cli_examples.py",
    "views/test_new_robot.py::test_every_kind[par4]": "the eleven other kinds, in the same file",
    "views/test_pages.py::test_report_in_a_browser":
        "a report that warns and the demo, in the same file; reports of flexible legs in views/test_cli_flexible_legs.py",
    "views/test_pages.py::test_report_warns":
        "warnings of reports in views/test_report_parts.py; pages of the demo, in the same file",
    "views/test_pictures.py::test_mode_shapes": "the robot as PNG and lines as SVG, in the same file",
    "views/test_report_parts.py::test_a_long_title":
        "long titles have several lines in views/test_figures.py; a printed page has its figures in space, in the same file",
    "views/test_report_parts.py::test_a_printed_report_is_whole":
        "a report is printed, with its figures in space, in the same file",
    "views/test_report_parts.py::test_forces_that_nothing": "joint_rows_name_what_is_not_determined in views/test_figures.py",
    "views/test_report_parts.py::test_joint_angles_that_are_not_known":
        "joint rows name what is not determined in views/test_figures.py",
    "views/test_report_parts.py::test_report_with_loads":
        "payloads and key figures, in the same file; a report that warns in views/test_pages.py",
    "views/test_report_parts.py::test_two_robots_are_compared":
        "the compare command and differences in percent, in the same file",
    "views/test_report_parts.py::test_under_actuated_robots": "the compare command, in the same file",
}
"""Beginning of a test's name -> the check of the same subject that the usual run keeps."""

KINDS = ("stewart-3-3", "hexaslide", "gough-stewart", "delta", "five-bar", "planar-4-prr")
"""A robot of every kind: legs that extend, slide, are given as a table, are general; mobility below six, redundant drives."""

RULES = ("hexaslide-", "delta-rule5", "planar-4-prr-")
"""Friction at legs that slide, rotate a crank, in the plane with redundant drives."""

CHAINS = ("[stewart-3-3]", "[hexa-oblique]", "[delta]", "[planar-4-prr]", "[spatial-3-rrc]", "[hexapod-offset]")
"""Closed forms, with everything oblique too, general legs in plane and space, redundant and over-constrained."""

BEAMS = ("[dualemps-2]", "[tripteron-flexible]", "beams+platform]", "[planar-3-rrr+modes]")
"""Flexible legs in the plane, in space, under a flexible platform, reduced to modes."""

MOVED = ("[every-joint]", "[stewart-3-3]", "[hexaslide]", "[delta]", "[five-bar]", "[gough-stewart-flexible]", "[dualemps]")
"""Every type of joint; legs that extend and slide; general legs in space and plane; a flexible platform, flexible legs."""

FAST_PATHS = (
    "-rigid, mobility below 6]", "-flexible platform]", "-joint springs]", "-under-actuated]", "[point_motion-rigid, mobility 6]",
    "[inverse_dynamics-redundantly actuated]", "[forward_dynamics-flexible legs]",
)  # fmt: skip
"""Each of the 22 fast paths. Kinds of robots that have none of their own are left to the full run: elastic drives have
analysis/test_elastic_drives.py, flexible platforms on flexible legs elastodynamics/test_formulations.py."""

CHOSEN = {
    "analysis/test_fast_paths.py::test_fast_paths_agree": FAST_PATHS,
    "bridges/test_mjcf.py::test_friction_and_springs_of_closing": ("[friction",),
    "equations/test_leg_positions.py::test_closed_forms_agree": ("[crank and rod in space]", "[cranks on a slide]"),
    "robot/test_joint_types.py::test_a_base_frame_is_a_leg": ("[mass: 3]",),
    "robot/test_joint_types.py::test_a_damper_at_the_platform_joint": ("[planar-3-rrr.yaml]",),
    "simulation/test_mechanisms.py::test_a_drive_at_its_dead_point": ("[rk4-0.001]",),
    "views/test_cli_export.py::test_friction_has_one_meaning": ("[hexaslide-.c]", "[hexaslide-.py]", "[dualemps-.casadi]"),
    "equations/test_formulations_agree.py::test_formulations_agree[virtual_work": KINDS,
    "equations/test_formulations_agree.py::test_formulations_agree[newton_euler": KINDS,
    "equations/test_formulations_agree.py::test_external_wrench[virtual_work": KINDS,
    "equations/test_formulations_agree.py::test_external_wrench[newton_euler": KINDS,
    "studio/test_studio_drawing.py::test_frames_are_where": ("stewart-3-3", "five-bar", "gough-stewart-flexible", "dualemps"),
    "equations/test_flexible_platform.py::test_two_formulations_agree": ("[modes]",),
    "equations/test_derivatives.py::test_by_the_motion": ("[hexaslide]",),
    "equations/test_derivatives.py::test_by_parameters": ("[stewart-3-3]",),
    "equations/test_forward_kinematics.py::test_forward_after_inverse_returns": ("[stewart-3-3]", "[delta]", "[five-bar]"),
    "equations/test_catalogue_forces.py::test_forces_balance": ("[3-rps]",),
    "equations/test_friction.py::test_free_bodies_with_friction": RULES,
    "equations/test_friction.py::test_friction_obeys_its_laws": RULES[:2],
    "equations/test_friction.py::test_friction_takes_power": RULES,
    "equations/test_friction.py::test_frozen_contributions_add_up_on_general": ("[delta]",),
    "equations/test_newton_euler.py::test_free_bodies": ("[stewart-3-3]", "[delta]", "[hexa-oblique]"),
    "equations/test_newton_euler.py::test_power_balance": CHAINS,
    "equations/test_newton_euler.py::test_reactions_have_no_part": CHAINS,
    "equations/test_newton_euler.py::test_undetermined_components": CHAINS,
    "equations/test_link_model.py::test_a_lost_zero": ("[hexaslide-",),
    "equations/test_articulated.py::test_direct_model": ("[dualemps-2]",),
    "equations/test_inverse_kinematics.py::test_exported_c_agrees": ("[stewart-3-3_rotation_z]", "[hexapod_rotation_z]"),
    "equations/test_flexible_platform.py::test_reference_states": ("[generic]",),
    "analysis/test_unstable_equilibria.py::test_buckling_finds_the_load": ("[x-1]",),
    "analysis/test_redundant_drives.py::test_derivatives_of_the_chosen": ("[springs]",),
    "analysis/test_actuator_motion.py::test_inverse_kinematics_returns": ("[delta]", "[five-bar]"),
    "analysis/test_linearize.py::test_about_a_motion_the_derivatives": ("[five-bar-",),
    "analysis/test_general_terms.py::test_velocity_forces": ("[gough-stewart-flexible]",),
    "analysis/test_export_and_sizing.py::test_inverse_dynamics_as_c": ("[stewart-3-3]", "[delta]"),
    "analysis/test_general_dynamics.py::test_rigid_robots_as_newton": ("[five-bar]", "[planar-4-prr]"),
    "analysis/test_leg_platform_motion.py::test_motion_of_the_platform_gives": ("[dualemps]", "[planar-3-rrr]"),
    "analysis/test_loop_poses.py::test_planar_robots_have_six": ("[rpr]",),
    "bridges/test_fmu.py::test_fmpy_finds_nothing": ("[3.0]",),
    "bridges/test_fmu.py::test_sources_compile": ("[2.0]",),
    "description/test_leg_copies.py::test_forces_of_the_mirror": ("[every-joint-xy]",),
    "laws/test_moved_world.py::test_the_world_frame": MOVED,
    "laws/test_moved_world.py::test_names_and_order": ("[every-joint]", "[delta]", "[gough-stewart-flexible]", "[dualemps]"),
    "robot/test_fuzzed_robots.py::test_catalogue_files": (
        *(f"[{name}]" for name in KINDS), "[gough-stewart-flexible]", "[dualemps]", "[tripteron]",
    ),
    "elastodynamics/test_reactions.py::test_reactions_are": ("[dualemps]", "[gough-stewart+platform]"),
    "elastodynamics/test_rigid_limits.py::test_rigid_limit": ("[planar-3-rrr]", "[tripteron-flexible]"),
    "elastodynamics/test_formulations.py::test_inverse_model": BEAMS,
    "elastodynamics/test_formulations.py::test_direct_model": BEAMS,
    "elastodynamics/test_formulations.py::test_every_way": (
        "[dualemps-4-", "[tripteron-flexible-world]", "[planar-3-rrr+modes-articulated]",
    ),
    "generator/test_count_table.py::test_dualemps_needs_fewer": ("[numbers]",),
    "simulation/test_energy_balance.py::test_springs_keep_energy": ("[five-bar]",),
    "simulation/test_controllers.py::test_wrong_masses": ("[hexaslide]",),
    "simulation/test_controllers.py::test_computed_torque_follows": ("[hexaslide]",),
    "simulation/test_simulation_closure.py::test_constraints_hold_after_coarse": ("[five-bar]",),
    "simulation/test_stepper.py::test_steps_are_those_of_simulate": ("[five-bar]",),
    "studio/test_studio_again.py::test_the_handle_offers": ("[stewart-3-3-",),
    "studio/test_studio_mended.py::test_the_strip_is_there": ("[1280-720]",),
    "equations/test_flexible_platform.py::test_dynamics_in_loops": ("[True-flexible_forward",),
    "equations/test_formulations_agree.py::test_formulations_agree[links": ("hexaslide", "delta", "planar-4-prr"),
    "equations/test_formulations_agree.py::test_forward_after_inverse": ("hexaslide", "delta", "five-bar", "planar-4-prr"),
    "views/test_frequency_map.py::test_new_robots_need_no_option": ("[kind0]", "[kind2]"),
    "simulation/test_loaded_joints.py::test_all_methods": ("[implicit",),
    "equations/test_minimal.py::test_virtual_power": (
        "[stewart-3-3]", "[bench-6ups]", "[hexaslide]", "[inclined", "[nothing special]", "[skew hexapod]", "[rotors and tips]",
    ),
    "equations/test_minimal.py::test_forward_after_inverse": ("-False]",),
    "equations/test_link_axes.py::test_link_axes_equal_world_axes": ("[dualemps-", "[planar-3-rrr-mass-links]"),
    "equations/test_link_axes.py::test_legs_in_space": ("[gough-stewart-beams]",),
    "studio/test_studio_view.py::test_nothing_overlaps": ("[1280-720]",),
    "elastodynamics/test_dualemps_convergence.py::test_both_formulations": ("[1]", "[4]"),
    "elastodynamics/test_large_deflection.py::test_moments_at_its_ends": ("[exact",),
    "robot/test_files_of_modes.py::test_reduction_of_a_plate": ("[boundary: pinned]",),
    "views/test_cli_results.py::test_pictures": ("[.html]",),
    "flexible/test_plate_modes.py::test_convergence_rates": ("[kirchhoff",),
    "laws/test_closure.py::test_bodies_move_as_the_joints_say": (
        "[delta]", "[dualemps", "[five-bar]", "[gough-stewart-flexible]", "[hexa]", "[stewart-3-3]", "[tripteron]",
    ),
    "analysis/test_flexible_legs.py::test_power_of_the_forces": ("[dualemps]",),
    "equations/test_rods.py::test_thick_rods": ("[[0.4, 1, 0.2]]",),
    "equations/test_virtual_work.py::test_a_copy_without": ("[stewart-3-3]", "[hexapod]", "[tricept]"),
    "equations/test_virtual_work.py::test_forces_are_the_work": (
        "[stewart-3-3]", "[hexapod]", "[hexaslide]", "[delta]", "[five-bar]", "[spatial-3-rrc]",
    ),
    "equations/test_virtual_work.py::test_one_transposed": (
        "[stewart-3-3]", "[hexapod]", "[delta]", "[five-bar]", "[spatial-3-rrc]",
    ),
    "equations/test_link_model.py::test_redundant_forces": ("[hexaslide]",),
    "equations/test_jacobian.py::test_jacobian_is_the_derivative": (
        "[delta]", "[dualemps]", "[five-bar]", "[hexaslide]", "[every-joint]",
    ),
    "simulation/test_independent_simulation.py::test_one_actuator": ("[implicit]",),
    "analysis/test_point_load.py::test_forces_are_the_virtual": ("[parts0-",),
    "equations/test_minimal.py::test_power_balance": (
        "[stewart-3-3]", "[hexaslide]", "[inclined", "[nothing special]", "[skew hexapod]", "[rotors and tips]", "[uneven base]",
    ),
    "equations/test_closing.py::test_closed_form_agrees": ("[gough-stewart-flexible]", "[hexaslide]", "[hexapod]"),
    "analysis/test_designs.py::test_designs_at_a_state": ("[geometry-", "[mass-inverse_dynamics]"),
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
    "stewart-3-3", "hexaslide", "delta", "five-bar", "planar-4-prr", "gough-stewart-flexible", "dualemps", "dualemps-8",
)  # fmt: skip
"""Legs that extend, slide, have a crank and are general; planar, redundant, flexible platform on legs given as a table, flexible
legs."""

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
"""Tests whose kernels are compiled as for users, with the usual effort of LLVM's code generator. In the others the usual
run compiles the same text with the least effort (FLEXAPOD_CODE_LEVEL=0, a quarter of the time): they check equations and verbs,
not LLVM. The full run compiles all of them as for users."""

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


HALVES = (
    "studio", "simulation", "equations", "robot", "laws", "identification", "flexible", "motions", "description",
    "examples", "design", "elastodynamics", "views", "project", "generator", "analysis", "docs", "bridges", "spatial", "kernels",
)  # fmt: skip
"""Folders in the order of the whole run, a line for each of two workers: a half of the tests, in the same time. A worker that is
done takes from the end of the other's. Long tests come first and hundreds of short ones last, so that none waits for the other,
and the pages of a folder are opened in one browser."""

LEVEL = "FLEXAPOD_CODE_LEVEL"
GIVEN = os.environ.get(LEVEL)
"""Effort that the user asked for; it holds for every test."""


def usual(config: pytest.Config) -> bool:
    """Whether this is a run without the large counts."""
    return "not full" in config.getoption("markexpr")


_full = [False]


def counted(usual: int, full: int) -> int:
    """Number of random samples of a test: few in the usual run, all in the full one."""
    return full if _full[0] else usual


def pytest_configure(config: pytest.Config) -> None:
    _full[0] = not usual(config)
    config.addinivalue_line("markers", "quick: part of make test-quick; named in tests/support/usual_run.py")


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
        order = {folder: k for k, folder in enumerate(HALVES)}
        items.sort(key=lambda item: order.get(item.nodeid.split("/")[1], len(order)))
        if unused:
            raise pytest.UsageError(f"tests/support/usual_run.py names tests that do not exist: {', '.join(sorted(unused))}")
        if without:
            raise pytest.UsageError(f"tests/support/usual_run.py leaves nothing of {', '.join(sorted(without))} in the usual run")


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
