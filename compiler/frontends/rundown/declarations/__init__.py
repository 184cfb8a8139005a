"""Declarations in a runbook's frontmatter."""
