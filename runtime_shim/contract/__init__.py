"""The contract of step specifications: their stages, checks, tools, evidence and records.

`contract` is what all stages share, `kinds` lists them; each `stage_` module is one. The `run_` modules write what a
run leaves on disk, `resuming` says how a stopped one goes on.
"""
