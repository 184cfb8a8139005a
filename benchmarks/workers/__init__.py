"""What workers of many runs endure and cost: `python -m benchmarks.workers`."""
