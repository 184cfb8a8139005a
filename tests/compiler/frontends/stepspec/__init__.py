"""Stepspec."""
