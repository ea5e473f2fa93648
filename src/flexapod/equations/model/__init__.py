"""The link-axes model: one recursion per leg in axes of its links, loops closed by small blocks.

`algebra` keeps structural zeros, `positions` finds joint angles, `leg` has a leg's rows, rates and forces, `inverse_dynamics` and
`forward_dynamics` put legs and platform together. The choices are those of `robot.link_plan`.
"""
