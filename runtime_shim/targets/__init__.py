"""Support for programs that the file of another target calls."""
