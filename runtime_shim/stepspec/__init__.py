"""Step specifications: their stages, checks, tools, evidence and records."""
