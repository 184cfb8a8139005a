"""The intermediate representation: model, semantics, verifier, and its written forms."""
