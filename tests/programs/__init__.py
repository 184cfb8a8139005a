"""Random programs, as JSON, on everything that runs them, against an oracle written from docs/reference/program-rules.md alone."""
