"""Tools: their schemas, those that every run has, and what is recorded of calls (B9)."""

import json
import os
import subprocess
import zoneinfo
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from compiler.frontends.stepspec.check import unfit_schema
from runtime_shim.stepspec.attempt import Stages
from runtime_shim.stepspec.tool_schemas import BUILT_IN, unfit_arguments
from runtime_shim.stepspec.tools import BUILT_IN_CALLS, ToolError, built_in_result
from tests.runtime_shim.stepspec.stages import EXECUTE, compiled, direct, found, stage

pytestmark = pytest.mark.process


SCHEMA = {
    "type": "object",
    "properties": {
        "count": {"type": "integer", "minimum": 1, "maximum": 3},
        "kind": {"enum": ["a", 1, None]},
        "names": {"type": "array", "items": {"type": ["string", "null"]}},
    },
    "required": ["count"],
    "additionalProperties": {"type": "boolean"},
}


def test_arguments_are_checked() -> None:
    assert unfit_schema(SCHEMA) == ""
    for arguments, problem in (
        ({"count": 1, "kind": "a", "names": ["x", None], "more": True}, ""),
        ({"count": 2.0}, ""),
        ([], ": expected object"),
        ({}, ": count is missing"),
        ({"count": True}, ": count: expected integer"),
        ({"count": 1.5}, ": count: expected integer"),
        ({"count": 4}, ": count: 4 is out of range (minimum 1, maximum 3)"),
        ({"count": 0}, ": count: 0 is out of range (minimum 1, maximum 3)"),
        ({"count": 1, "kind": True}, ': kind: expected one of "a", 1, null'),
        ({"count": 1, "names": ["x", 2]}, ": names: item 2: expected string or null"),
        ({"count": 1, "more": "x"}, ": more: expected boolean"),
    ):
        assert unfit_arguments(SCHEMA, arguments) == (f"the arguments{problem}" if problem else "")


def test_other_schemas_are_refused() -> None:
    others: list[Any] = [
        [],
        {"$ref": "x"},
        {"type": "text"},
        {"type": []},
        {"required": "a"},
        {"items": []},
        {"enum": []},
    ]
    others += [{"properties": {"a": {"pattern": "x"}}}, {"additionalProperties": {"minimum": "1"}}]
    assert all(unfit_schema(schema) for schema in others)
    assert BUILT_IN.keys() == BUILT_IN_CALLS.keys()
    assert not any(unfit_schema(tool["arguments"]) for tool in BUILT_IN.values())
    assert "unknown name paths" in unfit_arguments(BUILT_IN["listFiles"]["arguments"], {"paths": "."})


@pytest.fixture
def stages(tmp_path: Path) -> Stages:
    (tmp_path / "project").mkdir()
    return direct(tmp_path / "project")


def test_time_is_that_of_the_zone(stages: Stages) -> None:
    for arguments, name in (({}, "America/Toronto"), ({"timezone": "Asia/Kolkata"}, "Asia/Kolkata")):
        shown = datetime.fromisoformat(built_in_result(stages, "getCurrentTime", arguments, 30))
        assert shown.utcoffset() == datetime.now(zoneinfo.ZoneInfo(name)).utcoffset()
        assert abs((shown - datetime.now(UTC)).total_seconds()) < 5
    assert built_in_result(stages, "getCurrentTime", {"timezone": "UTC"}, 30).endswith("+00:00")
    for name in ("Nowhere/City", "../../etc/passwd", "America", "/etc/localtime", ""):
        with pytest.raises(ToolError, match="is not a time zone"):
            built_in_result(stages, "getCurrentTime", {"timezone": name}, 30)


def test_without_data_only_utc_is_known(stages: Stages, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zoneinfo, "ZoneInfo", lambda name: (_ for _ in ()).throw(zoneinfo.ZoneInfoNotFoundError(name)))
    monkeypatch.setattr(zoneinfo, "available_timezones", set)
    assert built_in_result(stages, "getCurrentTime", {"timezone": "UTC"}, 30)
    with pytest.raises(ToolError, match="pip install tzdata"):
        built_in_result(stages, "getCurrentTime", {}, 30)


def test_files_are_written_read_listed_and_validated(stages: Stages) -> None:
    written = built_in_result(stages, "writeFile", {"path": "a/b.md", "text": "é"}, 30)
    assert written == {"path": "a/b.md", "bytes": 2}
    assert built_in_result(stages, "readFile", {"path": "a/b.md"}, 30) == "é"
    assert built_in_result(stages, "listFiles", {}, 30) == ["a/"]
    for name, content in {
        "bytes": b"\xff",
        "long": b"x" * (1 << 20) + b"x",
        "good.json": b"[1]",
        "bad.json": b"[NaN]",
    }.items():
        Path(stages.root, name).write_bytes(content)
    valid = built_in_result(stages, "validateFile", {"path": "good.json"}, 30)
    assert (valid["status"], valid["check"]) == ("passed", "parses")
    for tool, path, why in (
        ("readFile", "bytes", "not UTF-8"),
        ("readFile", "long", "larger than 1,048,576 bytes"),
        ("readFile", "../x", "is outside"),
        ("validateFile", "bad.json", "not JSON"),
        ("validateFile", "gone.json", "gone.json does not exist"),
        ("gitStatus", "", "not in a Git repository"),
    ):
        with pytest.raises(ToolError, match=why):
            built_in_result(stages, tool, {"path": path} if path else {}, 30)


def git(root: str, *words: str) -> None:
    own = {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b"}
    own |= {"GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b"}
    subprocess.run(["git", *words], cwd=root, env={**os.environ, **own}, check=True, capture_output=True)


def test_git_runs_nothing_that_a_repository_names(stages: Stages, tmp_path: Path) -> None:
    root = Path(stages.root)
    git(stages.root, "init", "-q", "-b", "main")
    for name in ("a.txt", "b.txt"):
        (root / name).write_text("one\n")
    git(stages.root, "add", ".")
    git(stages.root, "commit", "-q", "-m", "one")
    (root / "a.txt").write_text("two\n")
    evil = tmp_path / "evil"
    evil.write_text(f'#!/bin/sh\necho "$0 $*" >> {tmp_path}/ran\ncat\n')
    evil.chmod(0o755)
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    (hooks / "post-index-change").symlink_to(evil)
    for key in ("core.fsmonitor", "core.pager", "diff.external", "filter.x.clean", "filter.x.process",
                "diff.x.textconv", "diff.x.command", "core.sshCommand", "core.askPass"):  # fmt: skip
        git(stages.root, "config", key, str(evil))
    git(stages.root, "update-index", "--fsmonitor")
    git(stages.root, "config", "filter.x.required", "true")
    git(stages.root, "config", "core.hooksPath", str(hooks))
    git(stages.root, "config", "core.worktree", str(tmp_path))
    (root / ".git/info/attributes").write_text("*.txt filter=x diff=x\n")
    os.utime(root / "b.txt", (1, 1))
    (tmp_path / "ran").unlink(missing_ok=True)
    shown = built_in_result(stages, "gitStatus", {}, 30)
    assert shown.splitlines() == ["## main", " M a.txt"]
    differs = built_in_result(stages, "gitDiff", {"path": "a.txt"}, 30)
    assert "-one\n+two" in differs
    assert built_in_result(stages, "gitDiff", {"path": "a.txt", "staged": True}, 30) == ""
    assert not (tmp_path / "ran").exists()
    with pytest.raises(ToolError, match="is outside"):
        built_in_result(stages, "gitDiff", {"path": "../evil"}, 30)
    git(stages.root, "config", "filter.a=b.clean", str(evil))
    with pytest.raises(ToolError, match="cannot be turned off"):
        built_in_result(stages, "gitStatus", {}, 30)


def tools(path: Path, *calls: dict[str, Any], **config: Any) -> Any:
    """A place where a step calls these tools."""
    named = (stage("tool", subject=call["name"], place=place) for place, call in enumerate(calls))
    return compiled(path, *named, tools=list(calls), config={"tools": config})


def call_of(place: Any, tool: str) -> dict[str, Any]:
    (record,) = found(place, f"draft/{tool}")
    called: dict[str, Any] = record["tool"]
    return called


def test_tool_of_the_configuration_and_of_the_operator(tmp_path: Path) -> None:
    place = tools(tmp_path, {"name": "count", "args": {"n": 1}}, {"name": "listFiles"}, count={"command": "echo no"})
    result = place.run("run", "--tool", "count=cat; env | grep RDC_STEP >&2", "--tool", "listFiles=echo mine")
    assert result.code == 0, result.err
    assert call_of(place, "count")["result"] == {"tool": "count", "arguments": {"n": 1}}
    assert call_of(place, "listFiles")["result"] == "mine"
    assert "RDC_STEP=draft/count" in result.err
    assert json.loads(place.text(".rdc/deploy/prompts/draft%2Fcount.1"))["tool"] == "count"


@pytest.mark.parametrize("required", [True, False])
def test_unknown_tool_is_skipped(tmp_path: Path, required: bool) -> None:
    place = tools(tmp_path, {"name": "dig", "required": required, "risk": "high", "gate": "g"})
    result = place.run("run")
    assert result.code == int(required)
    call = call_of(place, "dig")
    assert (call["status"], call["risk"], call["gate"], call["required"]) == ("skipped", "high", "g", required)
    assert "unknown tool dig; set its command with --tool dig=COMMAND" in result.err
    assert "result" not in call
    assert call["started_at"] <= call["ended_at"]


@pytest.mark.parametrize(
    ("command", "error"),
    [
        ("echo it >&2; exit 3", "exit code 3"),
        ("head -c 1048577 /dev/zero | tr '\\0' x", "more than 1,048,576 bytes"),
        ("trap '' TERM; (trap '' TERM; echo $$; sleep 60) & sleep 60", "timeout after 1.0 s"),
    ],
)
def test_tool_that_fails(tmp_path: Path, command: str, error: str) -> None:
    place = tools(tmp_path, {"name": "dig"}, dig={"command": command, "timeout_seconds": 1})
    place.hook("from runtime_shim.tasks import exchange, process\nprocess.PATIENCE = exchange.PATIENCE = 1")
    result = place.run("run")
    assert result.code == 1, result.err
    assert (call_of(place, "dig")["status"], call_of(place, "dig")["error"]) == ("failed", error)
    assert f"tool dig: {error}" in result.err


def test_arguments_that_do_not_fit_call_nothing(tmp_path: Path) -> None:
    called = {"command": "touch ran", "arguments": {"type": "object", "required": ["n"]}}
    place = tools(tmp_path, {"name": "dig"}, {"name": "readFile", "args": {"path": 3}}, dig=called)
    refused = place.run("run", "--tool", "dig")
    assert (refused.code, place.journal.exists()) == (2, False)
    assert "expected NAME=COMMAND" in refused.err
    assert place.run("run").code == 1
    assert call_of(place, "dig")["error"] == "the arguments: n is missing"
    assert not (tmp_path / "ran").exists()


def test_optional_tool_that_fails_is_recorded_and_the_executor_knows(tmp_path: Path) -> None:
    """The graph leads on from the failure of an optional tool; the executor gets the records of this attempt."""
    made = stage("tool", subject="dig"), stage("tool", subject="ask", place=1), EXECUTE
    place = compiled(
        tmp_path, *made, tools=[{"name": "dig"}, {"name": "ask"}], retries=1,
        config={"tools": {"dig": {"command": "echo {; test -e again"}, "ask": {"command": "echo"}},
                "executor": "cat > request; test -e again || { touch again; exit 1; }"},
    )  # fmt: skip
    steps = place.table["nodes"]
    steps["draft/dig"]["edges"] = [{"go": "draft/ask", "says": ""}]
    place.write(place.table)
    assert place.run("run").code == 0
    assert place.walk() == [
        "draft/dig fail", "draft/ask pass", "draft fail", "draft/dig pass", "draft/ask pass", "draft pass",
    ]  # fmt: skip
    request = json.loads(place.text("request"))
    assert [call["status"] for call in request["tools"]] == ["completed", "completed"]
    assert request["tools"][0]["result"] == "{"
    assert request["attempt"] == 2
    assert found(place, "draft/dig")[0]["tool"]["status"] == "failed"
