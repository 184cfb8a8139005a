"""What the steps of a workflow on GitHub call, around the program of the document.

`steps` has the calls, `closing` the last one of a job, and `calls` the job that they share. `shown` writes what a step
shows in its `run:`, `relay` keeps what a step prints from being a command to the runner, `says` and `page` are what
people read. `api` asks GitHub, `gates` holds a run against what reviewers have decided, `kept` packs a run for another
job, `strict` reads a journal that somebody may have forged. `replies` are answers, `entries` the jobs of a matrix,
`changes` what agents have changed in the workspace.
"""
