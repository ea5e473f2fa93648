"""Robots with beams in their legs: the recursive elastodynamic model of Briot and Khalil 2014, closed by virtual power."""
