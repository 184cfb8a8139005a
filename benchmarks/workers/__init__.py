"""The robustness and the cost of workers: `python -m benchmarks.workers`."""
