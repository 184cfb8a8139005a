"""Drivers that stand between a run and what it calls."""
