"""What a shell cannot say exactly: a helper for python3, and what it is told about a call (I11 to I14, I21)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from compiler.ir.answers import usual_seconds
from compiler.ir.program import Node, Program
from compiler.ir.tasks import Agent, Parallel, Tool, alphabet
from compiler.ir.texts import Text
from runtime_shim.legacy.bundle import bundled, reduced

_FIELDS = ("legacy.helper", "legacy.fitting", "legacy.reading", "legacy.fields")
_LIMITED = (
    "legacy.helper",
    "legacy.program",
    "legacy.signals",
    "legacy.display",
    "legacy.leftover",
    "legacy.process",
    "legacy.limited",
)
_COMMANDS = (
    "legacy.files",
    "legacy.pairs",
    "legacy.recipes",
    "legacy.durations",
    "legacy.plain_yaml",
    "legacy.mocks",
    "legacy.ordered",
)
_CALLS = (
    *(*_LIMITED, *_COMMANDS, "legacy.reading", "legacy.exchange", "legacy.search", "legacy.hidden"),
    *("legacy.account", "legacy.calls"),
)
_REPORTS = ("legacy.report_files", "legacy.reported")
"""The modules of the helper for the rules of inputs and the fields of answers, for time limits, calls and reports."""


_OF_CALLS = {"talks", "keywords", "parallel"}
"""What statements of these modules are for, and what Makefiles with calls always have."""


def helper(*, fields: bool, limits: bool, calls: bool, reports: bool = False) -> str:
    """The helper: the very code of the Python target, of which it has what it needs."""
    chosen = [*(_LIMITED if limits else ()), *(_CALLS if calls else ()), *(_FIELDS if fields else ())]
    chosen += _REPORTS if reports and calls else ()
    return reduced(dict.fromkeys(chosen), {"timed", *_OF_CALLS} if calls else {"timed"}) + "\n\nmain(sys.argv[1:])"


def json_lines() -> str:
    """What makes lines of JSON, for a shell to read."""
    return bundled(["legacy.json_lines"]) + "\n\nconvert(*sys.argv[1:])"


def call_of(node: Node, registers: Mapping[str, str], tokens: Mapping[str, str]) -> str:
    """The call of a node as a line of JSON, "" if it calls neither agent nor tool."""
    task = node.task
    if not isinstance(task, Agent | Parallel | Tool):
        return ""
    timeout = usual_seconds(task) if node.settings.timeout is None else node.settings.timeout
    call: dict[str, Any] = {"timeout": timeout}
    if renamed := {word: token for word, token in tokens.items() if word in alphabet(task)}:
        call["tokens"] = renamed
    if isinstance(task, Tool):
        call |= {"connection": task.connection, "tool": task.tool, "arguments": _arguments(task, registers)}
        call |= {"optional": True} if task.optional else {}
    elif isinstance(task, Agent):
        call["entries"] = [_entry(node.id, task)]
        call |= {"report": task.report} if task.report else {}
    else:
        call |= {"report": task.report} if task.report else {}
        call["entries"] = [_entry(f"{node.id}_{index}", entry) for index, entry in enumerate(task.entries)]
        call |= {"check": task.check, "failing": task.failing_words, "unanimous": task.unanimous}
    return json.dumps(call)


def calls_others(program: Program) -> bool:
    """Whether a run comes to agents or tools, optional ones aside."""
    tasks = (node.task for node in program.nodes)
    return any(isinstance(task, Agent | Parallel) or (isinstance(task, Tool) and not task.optional) for task in tasks)


def wanted(program: Program) -> str:
    """The types of agents that have to have a command, as JSON: others can be answered by a person."""
    together = (node.task.entries for node in program.nodes if isinstance(node.task, Parallel))
    return json.dumps(list(dict.fromkeys(entry.agent for entries in together for entry in entries)))


def _entry(name: str, agent: Agent) -> dict[str, Any]:
    reading = agent.reading
    said = {"keywords": reading.keywords, "validation": reading.validation, "excused": reading.excused}
    return {"name": name, "agent": agent.agent, **{key: value for key, value in said.items() if value}}


def _arguments(task: Tool, registers: Mapping[str, str]) -> list[object]:
    return [
        part
        if isinstance(part, str)
        else {
            "register": registers[part.register],
            "missing": part.missing,
            "before": part.before,
            "after": part.after,
        }
        for part in task.arguments.parts
    ]


_ANY = Agent("", Text())
QUESTION = json.dumps({"timeout": usual_seconds(_ANY), "entries": [_entry("question", _ANY)]})
"""The call of an agent that answers a question."""
