"""The command line of a program."""
