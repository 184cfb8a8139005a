"""The terminal: output, usage errors and columns."""
