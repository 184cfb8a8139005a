"""What a step does: one module for each kind of task, and how processes are run.

`shell`, `ask`, `questions`, `gate`, `agent`, `tool` and `parallel` do steps. `process` runs one command, `exchange`
several at once and hears what they say; `reading` makes a verdict of an answer, `search` looks for a pattern in time.
"""
