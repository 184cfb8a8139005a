"""Agent workflow."""
