"""The intermediate representation: model, semantics, verifier and written forms."""
