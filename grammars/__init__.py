"""The Lark grammars, one file for each language, and the tables that `make golden` computes from them; data only."""
