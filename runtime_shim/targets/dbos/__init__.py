"""Runs on many machines: the part of a worker's program that keeps runs with DBOS.

`legs` has the rows of legs in the database, `leases` shows which workers are alive. `runs` reads and extends a run for
an operator. `steps` runs a leg in a process that `helpers` starts, `worker` records them with DBOS, which `launching`
starts. `commands` are the subcommands, and `command_line` reads their options.
"""
