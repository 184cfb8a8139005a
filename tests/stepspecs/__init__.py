"""Step specifications: their documents, their runs, and what targets make of them."""
