"""The contract of step specifications: their stages, checks, tools, evidence and records.

`step_builder` makes a table of the facts of a step. `attempt` is what all stages share, `stages` does them, with
`guardrails`, `validation`, `evidence` and `tools`; `safe_paths` reads and writes the files of the project. `records`
are put together from the journal, `timeline` puts them in order, and `record_files` keeps them in files.
`specification` is what a run has around its stages: failed steps that are tried again, and calls by make.
"""
