"""Data of runs: inputs, outputs, secrets, limits, reports and the artifact.

`values` keeps strings: it gives them to commands and takes their outputs. `fitting` checks whether a string is
allowed. `shared` adds defaults to a document. `limits` bounds a run, `settings` keeps its operator's options,
`secrets` hides secrets. `reports` and `artifact` are the files that a run leaves, written by `whole_files`.
"""
