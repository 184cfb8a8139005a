"""Common to targets: templates, comments in generated files, identifiers and the canonical command."""
