"""Workflows with native steps, which need no program."""
