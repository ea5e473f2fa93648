"""Homotopy continuation: all complex solutions of a polynomial system, followed from a generic member of its family."""
