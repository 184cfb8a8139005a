"""Readers of syntaxes that documents share: YAML, JSON, TOML, frontmatter, comments, and Lark grammars."""
