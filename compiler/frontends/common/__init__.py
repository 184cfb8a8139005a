"""Common to front ends: their interface, names, scenarios and drafts of scenarios."""
