"""Step specifications: their stages, checks, tools, evidence and records.

`step_builder` turns the facts of a step into a table. `attempt` has the stages' common code, `stages` runs them with
`guardrails`, `validation`, `evidence` and `tools`. `safe_paths` reads and writes files of the project. `records`
derives the records from the journal, `timeline` sorts them, and `record_files` keeps them in files.
`specification` continues failed runs and shows the steps in the status.
"""
