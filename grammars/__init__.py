"""The Lark grammars, one file for each language; data only."""
