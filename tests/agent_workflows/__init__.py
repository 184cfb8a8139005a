"""Random agent workflows, walked by the rules of their format and by every target."""
