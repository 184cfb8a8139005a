"""Checks of runbooks."""
