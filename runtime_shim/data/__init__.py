"""What flows between steps: inputs, outputs, secrets, limits, reports and the artifact of a run.

`values` keeps strings: it gives them to commands and takes the outputs of commands. `fitting` says whether one is
allowed. `shared` fills in what a document need not say. `limits` bounds a run, `settings` keeps what its operator says
once, `secrets` hides what nobody may see; `reports` and `artifact` are what a run leaves, by `whole_files`.
"""
