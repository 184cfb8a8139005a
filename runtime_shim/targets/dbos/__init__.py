"""Runs on many machines: the part of a worker that keeps runs with DBOS."""
