"""Exit codes, refusals and the table of a program.

A table is a graph of steps as plain data. `nodes` has the steps, branches and ends by name, and `entry` is the first.
`registers` has the initial values of the run: a number is a counter, and a string or None is a value that a step keeps.

A node has its `task`, such as `shell`, `ask` or `end`, its `title` and texts, and `at`, its place in the document. Its
`placeholders` are the parts of texts that a run replaces with the values of registers. `edges` are its transitions. A
run takes the first edge whose outcome `on` and tests `if` hold: it has the effects `do` on registers, shows the text
`says` and goes to the node `go`. `words` are the outcomes of a step that has others than `pass` and `fail`.
"""

from typing import Any

Table = dict[str, Any]

EXIT_COMPLETE, EXIT_STOP, EXIT_REFUSED, EXIT_WAITING, EXIT_INTERRUPTED = 0, 1, 2, 75, 130


class UsageError(Exception):
    """An error for the operator, with exit code 2. The arguments are lines of details, then the reason."""


def takes_empty(item: Table) -> bool:
    """Return whether an empty value of an input is one, and not a missing one: that of a text without a default."""
    return bool(item["type"] == "text" and item["required"] and item.get("default") is None)
