"""Playbooks as graphs."""
