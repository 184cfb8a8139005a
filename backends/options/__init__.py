"""The options of a target."""
