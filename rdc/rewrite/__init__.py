"""Documents that a command changes: their format, and fixes of diagnostics."""
