"""Checks of playbooks."""
