"""The kinds of tasks that steps have, one module each, and how processes run.

`shell`, `ask`, `replies`, `gate`, `agent`, `tool` and `parallel` run steps. `process` runs one command, `exchange`
runs several at once and takes their answers. `prompting` keeps prompts and answers, `calls` counts and retries
calls. `reading` turns an answer into a string, `verdicts` into a word. `recipes` has the commands of known agents.
"""
