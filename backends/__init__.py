"""The backends: from a program to the files of a target."""
