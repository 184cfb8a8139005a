"""The engine moves a run; nothing else does.

`program` is the table that a runbook builds (`builder`), `walk` follows its transitions, `journal` and `state` keep
where a run is, in directories that `private` checks. `session` is the loop that does one step after the other and
records it; `lifecycle` names the moments at which extensions take part in it. `command_line`, `display` and `status`
are what an operator sees, `subcommands` start and continue runs, `signals` end them.
"""
