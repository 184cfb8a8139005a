"""Runbooks as graphs."""
