"""What a step does: one module for each kind of task, and how processes are run.

`shell`, `ask`, `replies`, `gate`, `agent`, `tool` and `parallel` do steps. `process` runs one command, `exchange`
several at once and takes their answers. `prompting` keeps prompts and answers, `calls` counts calls and makes them
again. `reading` makes a string of an answer, `verdicts` a word; `recipes` has the commands of known agents.
"""
