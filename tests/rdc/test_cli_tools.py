"""`rdc mock` and `rdc tool-call`: commands for agents and tools."""

import io
import json
import os
import signal
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from rdc.cli import main
from tests.support.process import is_gone, wait_until

pytestmark = pytest.mark.process

RDC = (sys.executable, "-m", "rdc")
SERVER = """\
import os, sys, time
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("tests")

@server.tool()
def add(a: int, b: int) -> str:
    return f"{a} + {b} = {a + b} ✓"

@server.tool()
def fail(why: str) -> str:
    raise ValueError(why)

@server.tool()
def refuse(why: str) -> str:
    raise ToolError(why)

@server.tool()
def wait() -> str:
    open("pid", "w").write(str(os.getpid()))
    time.sleep(60)
    return ""

@server.prompt()
def greet(name: str = "you") -> str:
    return f"Be kind to {name}."

server.run()
"""


def called(words: tuple[str, ...], given: object, **environment: str) -> tuple[int, str, str]:
    """Call rdc as a run would; exit code, standard output and standard error."""
    data = given if isinstance(given, str) else json.dumps(given)
    env = {**{key: value for key, value in os.environ.items() if not key.startswith("RDC_")}, **environment}
    done = subprocess.run([*RDC, *words], input=data.encode(), env=env, capture_output=True, check=False)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


@pytest.fixture(scope="module")
def server() -> tuple[str, ...]:
    """The words of a server, which is forked from this process: it has loaded what servers import."""
    import_module("mcp.server.mcpserver")
    return (sys.executable, "-c", SERVER)


@pytest.mark.share(4)
@pytest.mark.parametrize(
    ("request_", "code", "output"),
    [
        ({"tool": "add", "arguments": {"a": 1, "b": 2}}, 0, "1 + 2 = 3 ✓\n"),
        ({"tool": "fail", "arguments": {"why": "no reason"}}, 1, "Error executing tool fail"),
        ({"tool": "refuse", "arguments": {"why": "\x1b]0;t\x07\x9b2J\u202e, and\nx"}}, 1, "?]0;t??2J?, and\nx"),
        ({"tool": "gone", "arguments": {}}, 1, "gone"),
        ({"tool": "prompt", "arguments": {"id": "greet", "name": "them"}}, 0, "Be kind to them.\n"),
        ({"tool": "prompt", "arguments": {"id": "gone"}}, 1, "Internal server error"),
        ("no JSON", 2, "standard input is not a request"),
    ],
)
def test_a_tool_of_a_real_server_is_called(
    server: tuple[str, ...], request_: object, code: int, output: str, monkeypatch: pytest.MonkeyPatch, capfdbinary: Any
) -> None:
    given = request_ if isinstance(request_, str) else json.dumps(request_)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(given.encode())))
    assert main(["tool-call", "--", *server]) == code
    out, err = (stream.decode() for stream in capfdbinary.readouterr())
    assert output in (out if code == 0 else err)
    assert out == (output if code == 0 else "")


def test_what_is_missing_is_told_in_a_line(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    request = b'{"tool": "x", "arguments": {}}'
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(request)))
    assert main(["tool-call", "no-such-server"]) == 1
    assert capfd.readouterr() == ("", "cannot start the server: No such file or directory\n")
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(request)))
    monkeypatch.setitem(sys.modules, "mcp", None)
    monkeypatch.delitem(sys.modules, "rdc.calls.mcp_client", raising=False)
    assert main(["tool-call", "server"]) == 2
    assert "install rdc with its extra `mcp`" in capfd.readouterr().err


def test_a_call_that_is_ended_ends_its_server(server: tuple[str, ...], tmp_path: Path) -> None:
    words = [*RDC, "tool-call", "--", *server]
    process = subprocess.Popen(words, stdin=subprocess.PIPE, stderr=subprocess.PIPE, cwd=tmp_path)
    assert process.stdin
    process.stdin.write(b'{"tool": "wait", "arguments": {}}')
    process.stdin.close()
    wait_until(lambda: (tmp_path / "pid").exists() and bool((tmp_path / "pid").read_text()))
    process.send_signal(signal.SIGTERM)
    assert process.wait(20) == 1
    assert is_gone(int((tmp_path / "pid").read_text()))


MOCKS = """\
agents:
  1: [one, {fail: no network}, "two ✓"]
tools:
  web/get: {fail: not found}
executors:
  build: [{write: {made/it.md: fine}}, {exit: 3}]
"""


def test_answers_are_counted_for_each_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "mocks.yaml"
    path.write_text(MOCKS, encoding="utf-8")
    words = ("mock", str(path))
    agent_of = {"RDC_STEP": "1", "RDC_AGENT_TYPE": ""}
    first = [called(words, "x", RDC_RUN_ID="a", **agent_of, **more) for more in ({}, {}, {"LC_ALL": "C"}, {})]
    assert first[:3] == [(0, "one\n", ""), (1, "", "no network\n"), (0, "two ✓\n", "")]
    assert first[3] == (1, "", f"1: {path} has no answer number 4 under agents: 1\n")
    path.write_text(MOCKS.replace('"two ✓"', '"two ✓", three'), encoding="utf-8")
    assert called(words, "x", RDC_RUN_ID="a", **agent_of)[1] == "three\n", "a missing answer does not count"
    assert called(words, "x", RDC_RUN_ID="b", **agent_of)[1] == "one\n"
    request = {"tool": "get", "arguments": {}}
    assert called(words, request, RDC_RUN_ID="b", RDC_STEP="2") == (1, "", "not found\n")
    by_hand = f'RDC_STEP is not set; use this command in a run: --agent "rdc mock {path}"\n'
    assert called(words, "x", RDC_STEP="") == (1, "", by_hand)
    assert called(words, {"some": "json"}, RDC_RUN_ID="b", RDC_STEP="build") == (0, "", "")
    assert Path("made/it.md").read_text(encoding="utf-8") == "fine"
    assert called(words, {"some": "json"}, RDC_RUN_ID="b", RDC_STEP="build") == (3, "", "")


def test_an_answer_asked_for_by_its_number_is_not_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("m.yaml").write_text("agents: {1: [one, two]}\ntools: {web/get: a, site/get: b, dig: c}\n")
    words = ("mock", "m.yaml", "--call")
    for kind, name, number, output in (("agents", "1", "1", "two"), ("tools", "site/get", "0", "b")):
        assert called((*words, kind, name, number), "x") == (0, f"{output}\n", "")
    assert called((*words, "agents", "1", "2"), "x")[2] == "1: m.yaml has no answer number 3 under agents: 1\n"
    assert called(("mock", "m.yaml"), {"tool": "dig", "arguments": {}}, RDC_STEP="s") == (0, "c\n", "")
    assert "several connections" in called(("mock", "m.yaml"), {"tool": "get", "arguments": {}}, RDC_STEP="s")[2]
    assert Path("m.yaml.calls").read_text() == '{"": {"tools dig": 1}}'
