"""Playbook."""
