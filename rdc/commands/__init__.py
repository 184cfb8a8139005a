"""The commands of `rdc`, one module each, whose `command` is the click command.

They are imported when they are used, and they import the compiler when they are run: what stands at the head
of these modules is paid for by every start of rdc.
"""

COMMANDS = {
    "check": "rdc.commands.check",
    "fmt": "rdc.commands.fmt",
    "compile": "rdc.commands.compile",
    "run": "rdc.commands.run",
    "status": "rdc.commands.status",
    "test": "rdc.commands.test",
    "trace": "rdc.commands.trace",
    "graph": "rdc.commands.graph",
    "diff": "rdc.commands.diff",
    "explain": "rdc.commands.explain",
    "verify": "rdc.commands.verify",
    "runtime": "rdc.commands.runtime",
    "mock": "rdc.commands.mock",
    "tool-call": "rdc.commands.tool_call",
    "targets": "rdc.commands.targets",
    "schema": "rdc.commands.schema",
    "completion": "rdc.commands.completion",
}
