"""The contract of step specifications: their stages, checks, tools, evidence and records.

`step_builder` makes a table of the facts of a step. `contract` is what all stages share; `stages`, `executing` and
`tools` do them, with `guarding` and `validating` for what is checked and `safe_paths` for the files of the project.
`timeline`, `run_records`, `run_files` and `run_reports` write what a run leaves, `resuming` says how one goes on.
"""
