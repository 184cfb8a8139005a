"""Data of runs: inputs, slots, secrets, limits, reports and the artifact."""
