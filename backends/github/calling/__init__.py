"""Workflows that call the program. The program runs the steps; GitHub shows them, waits at gates and keeps the state.

`program` has the files beside the workflow, and the loader that checks them. `workflow` has the jobs of runbooks,
playbooks and agent workflows, `specification` those of step specifications, and `steps` the content of a step.
"""
