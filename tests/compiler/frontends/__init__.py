"""Frontends."""
