"""Runs on many machines: the part of a worker's program that keeps runs with DBOS.

`database` has the rows of legs, `leases` says which workers are alive, `runs` reads and extends a run for an operator,
`helper` runs a leg's steps in its own process, `worker` records them with DBOS, `metrics` counts, `commands` are the
subcommands, and `command_line` is their surface.
"""
