"""Paths on the command line: given outcomes, and the output formats of paths."""
