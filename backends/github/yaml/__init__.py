"""Workflows as data and as YAML: jobs, steps, scalars and pinned actions."""
