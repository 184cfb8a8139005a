"""Features for operators: archived runs, jumps, signatures, notices, named runs, logs, and manual runs."""
