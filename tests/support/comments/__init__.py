"""Comments."""
