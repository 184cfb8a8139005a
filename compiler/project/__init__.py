"""The project of a document: its root, its configuration, its options, and ignored diagnostics."""
