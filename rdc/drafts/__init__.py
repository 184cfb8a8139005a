"""Scenarios that `rdc test --init` writes: which paths they take, their names, and their place in a file."""
