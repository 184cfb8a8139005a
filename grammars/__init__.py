"""The Lark grammars, one or two for each language that is not YAML or JSON."""
