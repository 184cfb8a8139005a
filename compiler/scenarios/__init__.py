"""Scenarios: what an author expects of a run, and how the semantics play it."""
