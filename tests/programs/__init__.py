"""Random programs as JSON on every runner, compared with an oracle made from docs/reference/program-rules.md."""
