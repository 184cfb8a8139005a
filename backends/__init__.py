"""The backends, which turn a program into the files of a target."""
