"""Step specifications: their stages, checks, tools, evidence and records.

`step_builder` turns the facts of a step into a table. `attempt` has the stages' common code, `stages` runs them with
`checks`, `evidence` and `tools`. `safe_paths` reads and writes files of the project. `records`
derives the records from the journal, and `record_files` keeps them in files.
`specification` continues failed runs and shows the steps in the status.
"""
