"""Reading answers and writing whole files."""
