"""Data of runs: inputs, outputs, secrets, limits, reports and the artifact."""
