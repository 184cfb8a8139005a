"""Runs on many machines: the part of a worker's program that keeps runs with DBOS."""
