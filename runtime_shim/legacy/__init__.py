"""Frozen copies for workflows, which still carry a runtime of their own."""
