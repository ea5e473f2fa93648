"""Minimal."""
