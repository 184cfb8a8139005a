"""Errors put into the source of lowering and passes, and who notices them (`python -m tests.mutants`)."""
