"""The settings of Claude Code and Codex for the server, the hook and the agent's limits, to paste."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from rdc.agents.guard import HOSTS, OURS, STATE
from rdc.agents.shell import ANSWER, DECIDING_OPTIONS
from runtime_shim.operator.current import OF_PERSONS

HOOK = "rdc guard"
PATIENCE = 30  # in seconds; the hook takes less than one, and about one when an agent stops
CALL = 60  # in seconds; Codex ends a call of a tool after this time

_DECISIONS, _OF_RDC = (ANSWER, *OF_PERSONS), (ANSWER, "goto")


def _claude_code(arguments: Sequence[str], documents: Sequence[str]) -> Mapping[str, str]:
    """Return the files of Claude Code. It ignores `onFailure` before 2.1.295."""
    server = {"mcpServers": {"rdc": {"command": "rdc", "args": [*arguments]}}}
    hook = {"type": "command", "command": HOOK, "timeout": PATIENCE}
    files = (f"{STATE}/**", *OURS, *(one for one in HOSTS if one != ".claude.json"), *documents)
    words = (*(f"rdc {word} *" for word in _OF_RDC), *(f"rdc run * {word}*" for word in _DECISIONS))
    options = (f"rdc * {option}*" for option in ("--approve", *sorted(DECIDING_OPTIONS)))
    settings = {
        "permissions": {
            "deny": [*(f"Edit(/{path})" for path in files), *(f"Bash({one})" for one in (*words, *options))]
        },
        # Without `onFailure` at the end of a turn: a missing hook would never let it end.
        "hooks": {"PreToolUse": [{"hooks": [{**hook, "onFailure": "block"}]}], "Stop": [{"hooks": [hook]}]},
    }
    return {".mcp.json": _json(server), ".claude/settings.json": _json(settings)}


def _codex(arguments: Sequence[str], documents: Sequence[str]) -> Mapping[str, str]:
    """Return the files of Codex. It has no setting for a hook that can't start, so the shell refuses instead of it."""
    lines = ["[mcp_servers.rdc]", 'command = "rdc"', f"args = {_plain([*arguments])}", f"tool_timeout_sec = {CALL}"]
    for event, command in (("PreToolUse", f"{HOOK} || exit 2"), ("Stop", HOOK)):
        lines += ["", f"[[hooks.{event}]]", f"[[hooks.{event}.hooks]]", 'type = "command"']
        lines += [f"command = {_plain(command)}", f"timeout = {PATIENCE}"]
    rules = (
        ["rdc", "build", "--approve"],
        ["rdc", list(_OF_RDC)],
        *([["rdc", "run", [*documents], list(_DECISIONS)]] if documents else []),
    )
    why = _plain("this is for a person")
    found = [f'prefix_rule(pattern = {_plain(one)}, decision = "forbidden", justification = {why})' for one in rules]
    return {".codex/config.toml": "\n".join(lines), ".codex/rules/rdc.rules": "\n".join(found)}


def _plain(value: Any) -> str:  # noqa: ANN401 (plain data)
    """Return a value for TOML and Starlark, which don't take the surrogates of JSON."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _json(value: Any) -> str:  # noqa: ANN401 (plain data)
    return json.dumps(value, indent=2)


SETTINGS: Mapping[str, Callable[[Sequence[str], Sequence[str]], Mapping[str, str]]] = {
    "claude-code": _claude_code,
    "codex": _codex,
}
"""The hosts, with functions from the server's arguments and the served documents to the files."""


def settings(host: str, arguments: Sequence[str], documents: Iterable[str]) -> str:
    """Return the settings of a host for these arguments of the server: each file below its path."""
    files = SETTINGS[host](arguments, sorted(documents))
    return "\n\n".join(f"# {path}\n{text}" for path, text in files.items())
