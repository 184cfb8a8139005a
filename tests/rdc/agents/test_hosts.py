"""`rdc mcp --print`: the settings of hosts, which people paste."""

import json
import re
import shlex
import tomllib
from pathlib import Path
from typing import Any

import pytest

from rdc.agents.guard import HOSTS, OURS
from tests.support.cli import GOOD, call, document, spawn

pytestmark = pytest.mark.process

NAME = 'ops/"odd (name)" $x.runbook.md'


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / ".git").mkdir()
    document(tmp_path, "rdc.toml", '[mcp]\ndocuments = ["**/*.runbook.md"]\n')
    document(tmp_path, "deploy.runbook.md", GOOD)
    document(tmp_path, NAME, GOOD)
    return tmp_path


def printed(folder: Path, host: str, *words: str) -> dict[str, str]:
    """The files of a host by their paths."""
    result = call("mcp", "--print", host, *words, cwd=folder)
    assert (result.code, result.err) == (0, "")
    parts = re.split(r"^# (\S+)\n", result.out, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def test_claude_code_gets_server_hook_and_deny_rules(project: Path) -> None:
    files = printed(project, "claude-code")
    assert list(files) == [".mcp.json", ".claude/settings.json"]
    assert json.loads(files[".mcp.json"]) == {"mcpServers": {"rdc": {"command": "rdc", "args": ["mcp"]}}}
    settings: dict[str, Any] = json.loads(files[".claude/settings.json"])
    (before,), (stop,) = (settings["hooks"][event][0]["hooks"] for event in ("PreToolUse", "Stop"))
    assert before == {"type": "command", "command": "rdc guard", "timeout": 30, "onFailure": "block"}
    assert stop == {"type": "command", "command": "rdc guard", "timeout": 30}, "a missing hook must let a turn end"
    denied = settings["permissions"]["deny"]
    assert {"Edit(/.rdc/**)", "Edit(/deploy.runbook.md)", f"Edit(/{NAME})"} <= {*denied}
    assert {f"Edit(/{path})" for path in (*OURS, *HOSTS) if path != ".claude.json"} <= {*denied}
    assert {"Bash(rdc * --approve*)", "Bash(rdc run * answer*)", "Bash(rdc run * goto*)"} <= {*denied}


def test_codex_gets_server_hook_and_rules(project: Path) -> None:
    files = printed(project, "codex")
    assert list(files) == [".codex/config.toml", ".codex/rules/rdc.rules"]
    settings = tomllib.loads(files[".codex/config.toml"])
    assert settings["mcp_servers"]["rdc"] == {"command": "rdc", "args": ["mcp"], "tool_timeout_sec": 60}
    (before,), (stop,) = (settings["hooks"][event][0]["hooks"] for event in ("PreToolUse", "Stop"))
    assert (before["command"], stop["command"]) == ("rdc guard || exit 2", "rdc guard")
    assert spawn(*shlex.split(stop["command"])[1:], "--help", cwd=project).code == 0
    rules: list[dict[str, Any]] = []
    exec(files[".codex/rules/rdc.rules"], {"prefix_rule": lambda **rule: rules.append(rule)})
    assert {rule["decision"] for rule in rules} == {"forbidden"}
    decides = ["rdc", "run", sorted(["deploy.runbook.md", NAME]), ["answer", "approve", "goto", "reset"]]
    assert decides in [rule["pattern"] for rule in rules]


@pytest.mark.parametrize("host", ["claude-code", "codex"])
def test_the_options_of_the_command_are_those_of_the_server(project: Path, host: str) -> None:
    words = ("--forms", "--gates", "form", "--wait", "30", "--", "--tool", "metrics=echo 'a b' \"$x\"")
    text = next(iter(printed(project, host, *words).values()))
    settings = json.loads(text)["mcpServers"] if host == "claude-code" else tomllib.loads(text)["mcp_servers"]
    assert settings["rdc"]["args"] == ["mcp", *words]


def test_without_documents_the_rules_name_none(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    assert "[]" not in printed(tmp_path, "codex")[".codex/rules/rdc.rules"]
    assert call("mcp", "--print", "cursor", cwd=tmp_path).code == 2


def test_codex_reads_characters_that_json_writes_as_two(project: Path) -> None:
    """TOML and Starlark have no surrogates, and TOML wants DEL escaped."""
    document(project, "\U0001f680.runbook.md", GOOD)
    files = printed(project, "codex", "--", "--tool", "a=\U0001f680\x7f")
    args = tomllib.loads(files[".codex/config.toml"])["mcp_servers"]["rdc"]["args"]
    assert args == ["mcp", "--", "--tool", "a=\U0001f680\x7f"]
    assert '"\U0001f680.runbook.md"' in files[".codex/rules/rdc.rules"]
