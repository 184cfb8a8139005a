"""Paths in the words of the command line: outcomes that are given, and the forms in which paths are shown."""
