"""Commands that agents and tools of a run can use."""
