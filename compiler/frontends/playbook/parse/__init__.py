"""Playbooks as syntax trees."""
