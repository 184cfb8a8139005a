"""The engine moves a run; nothing else does.

`program` is the table that a runbook builds (`builder`), `walk` follows its transitions, `journal` and `state` keep
where a run stands, in directories that `private` checks. `session` is the loop that does a step, records it and goes
on; `lifecycle` names the moments at which extensions take part in it. `command_line`, `display`, `dialog` and `status`
are what an operator sees, `stepping` is what another program calls, `signals` what
ends a run.
"""
