"""The compiler: from documents in several formats to one intermediate representation."""
