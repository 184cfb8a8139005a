"""Paths on the command line: given outcomes, and the forms in which paths are shown."""
