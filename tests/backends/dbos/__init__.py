"""Workers that run legs of many runs, and the commands of their operators, with real processes and databases."""
