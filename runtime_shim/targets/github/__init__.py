"""The calls of a GitHub workflow's steps around the program of the document.

`steps` has the calls, `closing` the last one of a job, and `calls` the job that they share. `shown` writes the
`run:` of a step, and `says` messages for people. `api` asks GitHub, and checks a run against the decisions of
reviewers, `kept` packs a run for another job, `strict` checks a journal that may be forged. `entries` reads the
results of a matrix, `changes` the changes of agents in the workspace.
"""
