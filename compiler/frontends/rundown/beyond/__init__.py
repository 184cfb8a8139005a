"""Declarations under `rdc` in a runbook's frontmatter (E1 to E3, E9, E10)."""
