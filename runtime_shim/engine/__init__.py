"""The engine, which alone moves a run: the program, its walk, the journal, the state and the session."""
