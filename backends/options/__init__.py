"""The options of a target: read from words, checked by its model, listed for people."""
