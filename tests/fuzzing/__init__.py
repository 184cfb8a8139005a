"""Fuzzing guided by coverage: `python -m tests.fuzzing` looks for inputs that rdc does not stand."""
