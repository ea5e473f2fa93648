"""Robots with rigid closed-form legs and a flexible platform (Long, Khalil, Martinet 2014)."""
