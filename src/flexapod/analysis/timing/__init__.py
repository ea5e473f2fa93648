"""The fastest timing of a path: limits along it, the two passes, bounded jerk."""
