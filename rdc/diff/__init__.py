"""The difference between two versions of a document, as flows."""
