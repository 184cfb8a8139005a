"""Step specifications: their programs, targets and runs."""
