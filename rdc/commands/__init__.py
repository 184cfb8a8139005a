"""The commands of `rdc`: a module for each, with a click command named `command`, which is imported when it is used."""

from importlib import import_module
from typing import Any

PROGRAM = "rdc"
COMPLETION_VARIABLE = "_RDC_COMPLETE"

COMMANDS = {
    "init": "Start a project: configuration, a first document, hook and CI.",
    "import": "Turn pages, skills and justfiles into drafts, with a report of each guess.",
    "check": "Report all errors in documents.",
    "fmt": "Format documents.",
    "compile": "Compile documents for a target.",
    "build": "Build the project: compile all changed documents.",
    "run": "Run a document in place.",
    "answer": "Answer the waiting step of a run.",
    "resume": "Continue a run.",
    "retry": "Run the step that failed last again.",
    "goto": "Move a run to another step.",
    "history": "List or delete archived runs.",
    "status": "List the runs in `.rdc`, with their questions and next commands.",
    "view": "Show a document and its runs in the browser.",
    "report": "Print a report of a run for a ticket.",
    "test": "Test documents by their scenarios.",
    "trace": "Show the path of a run without running it.",
    "graph": "Draw the flow of documents.",
    "diff": "Compare two documents as flows.",
    "explain": "Explain a diagnostic CODE, such as RD201 or unknown-target.",
    "verify": "Verify generated files.",
    "runtime": "Print the runtime of an edition, as generated programs contain it.",
    "guard": "Refuse decisions and edits for people, as a hook of Claude Code or Codex.",
    "mock": "Answer from a FILE of mocks, instead of an agent, a tool or an executor.",
    "lsp": "Serve an editor: diagnostics, fixes, jumps, renames and completion while you type.",
    "mcp": "Serve documents to an agent, one step at a time.",
    "tool-call": "Start an MCP server and call one of its tools.",
    "targets": "List the targets, or the options of TARGET.",
    "schema": "List the JSON Schemas, or print one of them.",
    "completion": "Print the completion script for a shell.",
}
"""The first sentence of each command's help. `rdc --help` and the Tab key import no commands."""


OF_RUN = ("answer", "resume", "retry", "goto", "history")
"""Subcommands of `rdc run` that are commands too, all of one module."""


def load(name: str) -> Any:  # noqa: ANN401 (a click command, but listing commands needs no click)
    """Return a command by its name."""
    if name in OF_RUN:
        return import_module("rdc.commands.of_run").command_of(name)
    module = "import_" if name == "import" else name.replace("-", "_")  # `import` is a word of Python
    return import_module(f"rdc.commands.{module}").command
