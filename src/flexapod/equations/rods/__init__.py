"""Robots of rods: a tree of bodies, and rods as masses at their ends with constant distances."""
