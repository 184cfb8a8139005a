"""The hook of hosts: it refuses commands and edits that are for people, and an end while a run waits for the agent.

An event that it can't read is refused, because nothing was checked. The hook helps, and nothing depends on it (A-15).
"""

import os
import re
import shlex
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from itertools import islice
from typing import Any

import msgspec
from msgspec import Struct

from rdc import api
from rdc.agents.shell import ANSWER, Call, calls
from rdc.terminal.cells import visible
from runtime_shim.operator.current import FOR_A_PERSON

MOST_BYTES = 1 << 24
"""The longest event. Hosts send the whole text of an edit."""

LONGEST_COMMAND, MOST = 1 << 17, 1000
"""The longest command in characters, as on Linux, and the most simple commands and paths in it."""

PATCH = "apply_patch"
_PATCHED = re.compile(r"^\s*\*\*\* (?:Add File|Update File|Delete File|Move to): (.+)$", re.MULTILINE)
_EDITS = re.compile(
    "append|copy|create|delete|edit|insert|move|patch|put|remove|rename|replace|save|update|write", re.IGNORECASE
)
_PATHS = re.compile("path|file|source|destination|target|uri|name|dir", re.IGNORECASE)

OURS = ("rdc.toml", "rdc.lock")
STATE = ".rdc"
HOSTS = (
    *(".claude/settings.json", ".claude/settings.local.json", ".codex/config.toml", ".codex/hooks.json"),
    *(".codex/rules/rdc.rules", ".mcp.json", ".claude.json"),
)
"""The settings of hosts, in a project or at home."""


class Event(Struct, frozen=True):
    """An event of a host: a tool before the host runs it, or the end of the agent's turn."""

    hook_event_name: str
    cwd: str = ""
    tool_name: str = ""
    tool_input: Any = None
    stop_hook_active: bool = False


def refusal(data: bytes) -> str:
    """Return why an event is refused, or "" if it isn't."""
    if len(data) > MOST_BYTES:
        return "rdc guard can't check an event of more than 16 MB"
    try:
        event = msgspec.json.decode(data, type=Event)
        found = _refusal(event, os.path.abspath(event.cwd))
    except (msgspec.MsgspecError, OSError, RecursionError, ValueError) as error:
        found = f"rdc guard can't check this event: {error}"
    return visible(" ".join(found.split()))


def _refusal(event: Event, folder: str) -> str:
    if event.hook_event_name == "Stop":
        return "" if event.stop_hook_active else _waiting(folder)
    if event.hook_event_name != "PreToolUse":
        return ""
    given = event.tool_input if isinstance(event.tool_input, dict) else {"command": event.tool_input}
    command = given.get("command")
    text = shlex.join(map(str, command)) if isinstance(command, list) else command if isinstance(command, str) else ""
    paths = [(path, folder) for path in _PATCHED.findall(text)]
    if text and event.tool_name != PATCH:
        found = [*islice(calls(text, folder), MOST + 1)] if len(text) <= LONGEST_COMMAND else []
        paths += [(path, call.folder) for call in found for path in call.written()]
        if len(text) > LONGEST_COMMAND or len(found) > MOST or len(paths) > MOST:
            return "rdc guard can't check so long a command; split it"
        if decides := _decision(found):
            return decides
    elif _EDITS.search(event.tool_name):
        paths += [(path, folder) for path in _named(given)]
    return _edit(paths, folder)


def _waiting(folder: str) -> str:
    """Return which run waits for the agent: at a prompt, or at the next step of a served document."""
    try:
        served = api.served(folder).approved
        found = [run for run in api.runs(folder) if _is_due(run, run.source in served)]
    except api.Error:
        return ""
    for run in found:
        if step := run.current:
            place = f"the run {run.name} waits for you at step {step.step} {step.title}".rstrip()
            return f"{place}; continue it, or show the user why you can't"
    return ""


def _is_due(run: api.Run, is_served: bool) -> bool:
    if run.current is None or run.state not in ("ready", "waiting"):
        return False
    return run.current.by == "agent" or (is_served and run.current.by == "rdc")


def _decision(found: Iterable[Call]) -> str:
    """Return why a command is refused that decides about a run, unless it answers a prompt for the agent."""
    for call in found:
        word, step = call.decision()
        if word and not (word == ANSWER and step in _prompts(call.folder)):
            return f"{FOR_A_PERSON}: {' '.join(call.words)[:200]}"
    return ""


def _prompts(folder: str) -> set[str]:
    """Return the steps and entries that wait for an agent and not, in another run, for a person."""
    try:
        steps = [run.current for run in api.runs(folder) if run.current]
    except api.Error:
        return set()
    found = {name for step in steps if step.by == "agent" for name in (step.step, *(one.entry for one in step.entries))}
    return found - {step.step for step in steps if step.by == "person"}


def _named(given: dict[str, Any]) -> Iterator[str]:
    """Yield the paths in the arguments of a tool, also in lists of edits."""
    for key, value in given.items():
        for one in value if isinstance(value, list) else [value]:
            if isinstance(one, dict):
                yield from (each for name, each in one.items() if isinstance(each, str) and _PATHS.search(str(name)))
            elif isinstance(one, str) and _PATHS.search(str(key)):
                yield one


def _edit(paths: Iterable[tuple[str, str]], folder: str) -> str:
    documents: list[str] | None = None
    for path, base in paths:
        plain = os.path.normpath(os.path.join(base, os.path.expanduser(path.removeprefix("file://"))))
        for place in dict.fromkeys((plain, os.path.realpath(plain))):
            name = f"/{place.casefold()}"
            is_ours = name.endswith(tuple(f"/{one}" for one in (*OURS, *HOSTS))) or f"/{STATE}/" in f"{name}/"
            documents = _documents(folder) if documents is None and not is_ours else documents
            if is_ours or any(_holds(place, document) for document in documents or ()):
                return f"{path[:200]} is for a person; ask the user to change it"
    return ""


def _documents(folder: str) -> list[str]:
    """Return the served documents, and rdc's own files of the project."""
    try:
        served = api.served(folder)
    except api.Error:
        return []
    return [os.path.join(served.root, path) for path in (*served.approved, *OURS, STATE)] if served.approved else []


def _holds(place: str, document: str) -> bool:
    """Return whether a path, perhaps with wildcards, is a document or a folder around it."""
    return f"{document}/".casefold().startswith(f"{place}/".casefold()) or fnmatchcase(document, place)
