"""The options of a target: read from strings, checked by their class, listed for people."""
