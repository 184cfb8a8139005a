"""What flows between steps: inputs, outputs, secrets, limits, reports and the artifact of a run.

`slots` and `values` hold the strings, `fitting` says whether one is allowed, `contexts` what an agent is shown,
`limits` how long a run and its pauses may take, `report_files` and `artifact` what a run leaves.
"""
