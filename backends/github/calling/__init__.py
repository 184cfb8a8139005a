"""Workflows that call the program, which runs the steps; GitHub shows them, waits at gates and keeps the state."""
