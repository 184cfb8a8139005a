"""What a step does: one module for each kind of task, and how processes are run.

`shell`, `ask`, `replies`, `gate`, `agent`, `tool` and `parallel` do steps. `process` runs one command, `exchange`
several at once and hears what they say, `conversing` and `speaking` keep it and try again; `reading` makes a string of
an answer, `verdicts` a word.
"""
