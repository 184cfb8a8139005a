"""Frozen copies for Makefiles with values or agents and for workflows, which still carry a runtime of their own."""
