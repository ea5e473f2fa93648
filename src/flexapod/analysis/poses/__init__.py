"""Poses from actuator coordinates: one by Newton (`pose_search`), all of them over the complex numbers, certificates."""
