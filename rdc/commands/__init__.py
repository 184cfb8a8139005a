"""The commands of `rdc`, one module each, whose `command` is the click command.

They are imported when they are used, and they import the compiler when they are run: what stands at the head
of these modules is paid for by every start of rdc.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

COMMANDS = {
    "init": "Start a project: configuration, a first document, hook and CI.",
    "check": "Report every error in documents.",
    "fmt": "Put documents into their normal form.",
    "compile": "Compile documents for a target.",
    "build": "Build the project: compile all documents that changed.",
    "run": "Run a document in place.",
    "status": "List every run in `.rdc`, with its question and the next command.",
    "test": "Try the scenarios of documents.",
    "trace": "Show the path that a run would take.",
    "graph": "Draw the flow of documents.",
    "diff": "Compare two documents as flows.",
    "explain": "Explain a diagnostic CODE, such as RD201 or unknown-target.",
    "verify": "Prove that generated files are what rdc writes.",
    "runtime": "Print the runtime edition NAME, exactly as programs have it.",
    "mock": "Answer as an agent, a tool or an executor would, from a FILE of mocks.",
    "tool-call": "Call a tool of an MCP server, which is started for the call.",
    "targets": "List the targets, or the options of TARGET.",
    "schema": "List the JSON Schemas, or print the one with this NAME.",
    "completion": "Print the completion script of a shell.",
}
"""What each does, as the first sentence of its help: `rdc --help` and the Tab key import none of them."""


def load(name: str) -> Any:  # noqa: ANN401 (a click command; whoever lists commands does without click)
    """The command of a name."""
    return import_module(f"rdc.commands.{name.replace('-', '_')}").command
