"""What operators do beyond running and resuming: history, jumps, named runs, logs, notices and signatures."""
