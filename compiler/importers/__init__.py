"""Importers: a page, a skill or a justfile becomes the draft of a runbook, with a report of each guess and loss."""
