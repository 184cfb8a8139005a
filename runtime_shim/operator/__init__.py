"""What operators ask for beyond running and resuming: history, notices, logs, several runs, mock runs."""
