"""The compiler: it turns documents in several formats into one intermediate representation."""
