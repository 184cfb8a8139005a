"""Workflows that call the program: it moves the run, and GitHub shows its steps, waits at gates and keeps its state.

`program` is what stands beside the workflow, and the loader that checks it. `workflow` has the jobs of runbooks,
playbooks and agent workflows, `specification` those of step specifications, `steps` what a step shows and is given.
"""
