"""The file that the steps of a workflow call: the runtime of the Python target, as far as they need it, and a table."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from backends.github.branching import ROUTE
from backends.github.calls import shown_constants, texts
from backends.github.changes import proposes_changes
from backends.github.identifiers import identifiers
from backends.github.inputs import variable_names
from backends.github.nodes import title
from backends.github.options import Called, Caller, GithubOptions, command_of, named_command
from backends.github.routes import Routes
from backends.github.scalar import OPEN
from backends.github.settings import StepSecrets, agent_types
from backends.github.templating import render
from backends.python.literals import literal, on_one_line
from backends.python.table import Table, table
from compiler.ir.program import Node
from compiler.ir.tasks import Ask, Branch, End, Parallel, Tool
from runtime_shim.legacy.bundle import runner_bundle
from runtime_shim.tasks.recipes import is_recipe

_DEEPEST = 3


def plain_name(name: str) -> str:
    """The name of a program as that of a file and an artifact, which GitHub takes."""
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", name).strip("-.") or "output"


class Runtime(NamedTuple):
    """The file in two parts: the modules, in which nothing of a document is, and the table, which is the program."""

    modules: str
    table: str

    @property
    def digest(self) -> str:
        """The SHA-256 of the whole file."""
        return digest(self.modules + self.table)


def runtime(routes: Routes, options: GithubOptions, asked_by: str, matrices: Sequence[str] = ()) -> Runtime:
    """The file; `matrices` are the steps whose agents are jobs of their own.

    It holds no expression, and no command to the runner: what would begin one in a text is written with an escape.
    """
    whole = _program(routes, options, asked_by) | ({"matrices": list(matrices)} if matrices else {})
    modules = runner_bundle(whole).about(routes.program.kind)
    program = _shown(whole).replace(OPEN, "$\\x7b{").replace("::", ":\\x3a")
    return Runtime(
        render("modules.py.jinja", imports=modules.imports, sections=modules.sections),
        render("table.py.jinja", program=program),
    )


def delimiter(text: str) -> str:
    """The word that ends a text in a script: made of the text, so that no text holds its own."""
    return f"RDC_{digest(text)[:16]}"


def digest(text: str) -> str:
    """The SHA-256 of a text."""
    return hashlib.sha256(text.encode()).hexdigest()


def callers(options: GithubOptions) -> tuple[dict[str, tuple[str, str]], dict[str, tuple[str, str]]]:
    """For agent types, and for connections, the variable of the job that has the command, and the command."""
    agents = identifiers(((name, name) for name in options.agents if name), ())
    tools = identifiers(((name, name) for name in options.tools), ())
    own = {name: (f"RDC_AGENT_{agents[name]}", _command(options.caller_of(name), options)) for name in agents}
    common = {"": ("RDC_AGENT", _command(options.agent, options))} if command_of(options.agent) else {}
    return common | own, {name: (f"RDC_TOOL_{tools[name]}", command_of(options.tools[name])) for name in tools}


def job_variables(routes: Routes, options: GithubOptions, asked_by: str) -> dict[str, str]:
    """The variables of a job with the commands that its program may call."""
    agents, tools = callers(options)
    called = {variable for found in _callers(routes, options, asked_by).values() for variable, _ in found.values()}
    return {name: command for name, command in [*agents.values(), *tools.values()] if name in called}


def _command(caller: Caller | None, options: GithubOptions) -> str:
    """The command of an agent; the option for the model is for those that are called by name."""
    return command_of(caller, options.agent_model if is_recipe(named_command(caller)) else None)


def _calling(options: GithubOptions) -> Table:
    """What limits the calls of agents."""
    said = {"retries": options.agent_retries, "seconds": options.agent_seconds, "most": options.agent_calls}
    return {name: value for name, value in said.items() if value}


def _program(routes: Routes, options: GithubOptions, asked_by: str) -> Table:
    """The table of the Python target, without what steps show, and with what they are called."""
    whole = table(routes.program)
    steps = routes.ids.nodes
    secrets = StepSecrets(routes.program, options)
    nodes = {node.id: _node(whole["nodes"][node.id], node, secrets) for node in routes.program.nodes}
    for place in routes.places:
        for node in place.nodes:
            if node.constants and (place.kind == "loop" or not shown_constants(node)):
                nodes[node.id]["constants"] = {constant.name: constant.value for constant in node.constants}
    for name in routes.routing:
        nodes[name] |= {"task": ROUTE, "labels": routes.labels(routes.nodes[name])}
    variables = variable_names(routes.program.inputs)
    inputs = [{**declared, "as": variables[declared["name"]]} for declared in whole.get("inputs", ())]
    return {
        "entry": whole["entry"],
        **({"limit": whole["limit"]} if "limit" in whole else {}),
        **({"inputs": inputs} if inputs else {}),
        **({"secrets": list(routes.program.secrets)} if routes.program.secrets else {}),
        **({"artifact": {**whole["artifact"], "name": plain_name(whole["name"])}} if "artifact" in whole else {}),
        **({"contexts": whole["contexts"]} if "contexts" in whole else {}),
        **({"folder": routes.program.folder} if routes.program.folder else {}),
        **({"calling": _calling(options)} if _calling(options) else {}),
        **({"mock": options.mock} if options.mock else {}),
        **({"changes": True} if proposes_changes(routes.program, options) else {}),
        "registers": whole["registers"],
        "scopes": whole.get("scopes", {}),
        **_callers(routes, options, asked_by),
        "asked": asked_by,
        "summary": options.summary,
        "steps": dict(steps),
        "places": {
            steps[place.name]: [node.id for node in place.nodes if _is_node(node) or node.id in routes.routing]
            for place in routes.places
        },
        "nodes": nodes,
    }


def _is_node(node: Node) -> bool:
    return not isinstance(node.task, (Branch, End))


_FIELDS = {"COMMAND": "command", "PROMPT": "prompt", "BLOCK": "block", "ARGUMENTS": "arguments", "REASON": "reason"}


def _node(step: Table, node: Node, secrets: StepSecrets) -> Table:
    shown = texts(node)
    hidden = {_FIELDS[name] for name in shown if name in _FIELDS} | ({"prompt"} if step["task"] == "shell" else set())
    found = {key: value for key, value in step.items() if key not in {*hidden, "at", "group"}}
    if _is_node(node):
        found["called"] = title(node)
        named = secrets.named(node)
        found |= {} if named is None else {"secrets": named}
    if isinstance(node.task, Parallel):
        entries = enumerate(step["entries"])
        found["entries"] = [
            {key: value for key, value in entry.items() if key != "prompt" or f"PROMPT_{index}" not in shown}
            for index, entry in entries
        ]
    found["edges"] = [{key: value for key, value in edge.items() if key != "says"} for edge in step["edges"]]
    return found


def _callers(routes: Routes, options: GithubOptions, asked_by: str) -> Table:
    """The variable with the command of each agent type and connection, and the secrets it gets; None for all."""
    agents, tools = callers(options)
    nodes = routes.program.nodes
    types = list(dict.fromkeys(name for node in nodes for name in agent_types(node)))
    if asked_by == "agent" and any(isinstance(node.task, Ask) for node in nodes):
        types.append("")
    connections = dict.fromkeys(node.task.connection for node in nodes if isinstance(node.task, Tool))
    found: Table = {"agents": {}, "tools": {}}
    for name in types:
        known = name if name in agents else ""
        if known in agents:
            found["agents"][name] = [agents[known][0], _names(options.agents.get(known) or options.agent)]
    for name in connections:
        if name in tools:
            found["tools"][name] = [tools[name][0], _names(options.tools[name])]
    return {name: value for name, value in found.items() if value}


def _names(caller: str | Called | None) -> list[str] | None:
    return list(caller.secrets) if isinstance(caller, Called) else None


def _shown(value: Any, depth: int = 0) -> str:  # noqa: ANN401 (a table holds anything)
    """A table as Python, such that a reviewer can read it."""
    if not isinstance(value, (dict, list)) or depth > _DEEPEST or not value:
        return literal(value)
    lines = _lines(value, depth + 1)
    brackets = "{}" if isinstance(value, dict) else "[]"
    end = "    " * depth
    return f"{brackets[0]}\n{''.join(f'{end}    {line},{chr(10)}' for line in lines)}{end}{brackets[1]}"


def _lines(value: Any, depth: int) -> Iterator[str]:  # noqa: ANN401 (a table holds anything)
    if isinstance(value, list):
        yield from (_shown(item, _DEEPEST + 1) for item in value)
        return
    for key, item in value.items():
        is_short = isinstance(item, list) and key not in {"edges", "entries", "inputs", "parts"}
        yield f"{literal(key)}: {on_one_line(item) if is_short else _shown(item, depth)}"
