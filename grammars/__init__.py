"""The Lark grammars, one for each language, and the tables that `make golden` computes from them."""
