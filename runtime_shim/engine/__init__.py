"""The engine: a table of calls, the walk through it, the journal, the state, and the session that moves a run."""
