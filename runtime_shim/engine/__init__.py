"""The engine: only it moves a run.

`builder` makes the table of a program, `walk` follows its transitions, `journal` and `state` keep
where a run is, in directories that `private` checks. `session` is the loop that does one step after another and
records it; `lifecycle` names the moments at which extensions take part. `command_line`, `display` and `status`
talk to the operator, and `signals` ends runs.
"""
