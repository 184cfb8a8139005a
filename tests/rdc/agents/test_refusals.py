"""Calls that are refused: results with an error that change no byte of a journal."""

from pathlib import Path

import pytest

from tests.rdc.agents.documents import AGENT, MIXED
from tests.support.agents import Host, Table, approve, drive, journal_of, serve
from tests.support.cli import UNKNOWN_TARGET, call, spawn

pytestmark = pytest.mark.process

DEPLOY = "deploy.runbook.md"
AS = "the name of a run starts with a letter or a digit; choose another name"


async def refuses(host: Host, folder: Path, wanted: str, tool: str, **arguments: object) -> None:
    before = journal_of(folder)
    assert await host.refused(tool, **arguments) == wanted
    assert journal_of(folder) == before


def test_calls_for_another_place_are_refused(tmp_path: Path) -> None:
    serve(tmp_path, DEPLOY, MIXED)

    async def act(host: Host) -> None:
        run = {"run": f"{DEPLOY}@mcp"}
        for name in ("-h", "--help", "--json"):
            await refuses(host, tmp_path, f"--as {name!a}: {AS}", "start", document=DEPLOY, name=name)
            await refuses(host, tmp_path, f"--as {name!a}: {AS}", "status", run=f"{DEPLOY}@{name}")
        known = f"the documents are: {DEPLOY}"
        await refuses(host, tmp_path, f"unknown run {DEPLOY}@mcp; call start", "status", **run)
        assert (await host.refused("start", document=DEPLOY, name=".x")).endswith("first; call list or status")
        await refuses(host, tmp_path, f"unknown document 'x.md'; {known}", "start", document="x.md")
        await refuses(host, tmp_path, f"unknown document '../{DEPLOY}'; {known}", "start", document=f"../{DEPLOY}")
        await host.call("start", document=DEPLOY)
        wrong = "3:deploy is not the current step; the run is at 0:1 Build. Call status, then next with its at"
        await refuses(host, tmp_path, wrong, "next", **run, at="3:deploy")
        await refuses(host, tmp_path, wrong, "report", **run, at="3:deploy", answer="yes")
        await refuses(host, tmp_path, "step 1 is for rdc; call next", "report", **run, at="0:1", answer="built")
        await host.call("next", **run, at="0:1")
        place = "the run is at 1:2 Does the build look right"
        late = f"0:1 is not the current step; {place}. Call status, then next with its at"
        await refuses(host, tmp_path, late, "next", **run, at="0:1")
        await refuses(host, tmp_path, "step 2 is for a person; call next", "report", **run, at="1:2", answer="yes")
        await refuses(host, tmp_path, "next: Object missing required field `at`", "next", **run)
        await refuses(host, tmp_path, "next: Object contains unknown field `skip`", "next", **run, at="1:2", skip=True)
        tools = "the tools are list, status, start, next, report"
        await refuses(host, tmp_path, f"unknown tool 'goto'; {tools}", "goto", **run, step="3")
        own = "unfinished run with its own inputs; call start without inputs"
        await refuses(host, tmp_path, f"{DEPLOY} has an {own}", "start", document=DEPLOY, inputs={"a": "b"})
        before = journal_of(tmp_path)
        waiting = await host.call("next", **run, at="1:2")  # no form: only the command
        assert (waiting["state"], journal_of(tmp_path)) == ("waiting", before)
        assert spawn("run", DEPLOY, "answer", "2", "no", "--resume", "--as", "mcp", cwd=tmp_path).code == 1
        await refuses(host, tmp_path, "the run is over: STOP Nothing was deployed", "next", **run, at="2:3")

    drive(tmp_path, act)


def test_only_the_agent_may_not_skip_its_own_step(tmp_path: Path) -> None:
    serve(tmp_path, "notes.workflow.yaml", AGENT)

    async def act(host: Host) -> None:
        shown = await host.call("start", document="notes.workflow.yaml")
        place = {"run": shown["run"], "at": shown["at"]}
        await refuses(host, tmp_path, "step write is for you; do it, then call report", "next", **place)
        await refuses(host, tmp_path, "step write has no entries", "report", **place, answer="x", entry="write_0")
        long = "the answer is longer than 1,048,576 bytes"
        await refuses(host, tmp_path, long, "report", **place, answer="x" * 1_048_577)
        for nothing in ("", " \n"):
            await refuses(host, tmp_path, "the answer is empty", "report", **place, answer=nothing)
        shown = await host.call("report", **place, answer="Notes.")
        assert [one["entry"] for one in shown["step"]["entries"]] == ["check_0", "check_1"]
        place = {"run": shown["run"], "at": shown["at"]}
        due = "step check needs an answer for check_0 or check_1"
        await refuses(host, tmp_path, due, "report", **place, answer="PASSED")
        assert (await host.call("report", **place, answer="PASSED", entry="check_0"))["at"] == place["at"]
        again = "step check needs an answer for check_1"
        await refuses(host, tmp_path, again, "report", **place, answer="FAILED", entry="check_0")
        before = journal_of(tmp_path)
        assert "empty" in await host.refused("report", **place, answer=" ", entry="check_1")
        assert journal_of(tmp_path) == before

    drive(tmp_path, act)


def test_a_changed_document_is_for_a_person(tmp_path: Path) -> None:
    """It does not start without a new approval, and its run does not continue."""
    serve(tmp_path, DEPLOY, MIXED)

    async def act(host: Host) -> None:
        shown = await host.call("start", document=DEPLOY)
        place = {"run": shown["run"], "at": shown["at"]}
        (tmp_path / DEPLOY).write_text(MIXED.replace("touch tried", "touch stolen"))
        changed = f"{DEPLOY} has changed; a person decides"
        await refuses(host, tmp_path, changed, "start", document=DEPLOY)
        await refuses(host, tmp_path, changed, "start", document=DEPLOY, name="other")
        steps = f"{DEPLOY} has changed (steps changed: 3); a person decides"
        await refuses(host, tmp_path, steps, "next", **place)
        approve(tmp_path)
        await refuses(host, tmp_path, steps, "next", **place)
        lock = (tmp_path / "rdc.lock").read_text()
        (tmp_path / "rdc.lock").write_text("\n".join(line for line in lock.splitlines() if " mcp " not in line))
        await refuses(host, tmp_path, f"{DEPLOY} isn't in rdc.lock; a person decides", "start", document=DEPLOY)
        (tmp_path / DEPLOY).write_text(UNKNOWN_TARGET)
        await refuses(host, tmp_path, f"{DEPLOY} has errors; a person decides", "start", document=DEPLOY)

    drive(tmp_path, act)


def test_nothing_is_served_by_default(tmp_path: Path) -> None:
    (tmp_path / DEPLOY).write_text(MIXED)
    (tmp_path / ".git").mkdir()

    async def act(host: Host) -> Table:
        none = f"unknown document '{DEPLOY}'; the documents are: none"
        await refuses(host, tmp_path, none, "start", document=DEPLOY)
        (tmp_path / "rdc.toml").write_text("[mcp]\ndocuments = 1\n")
        assert (await host.refused("start", document=DEPLOY)).startswith(f"{none}; rdc.toml: ")
        return await host.call("list")

    assert drive(tmp_path, act).get("documents", []) == []


def test_options_that_decide_are_refused(tmp_path: Path) -> None:
    refused = ("--answers FILE", "--agent=claude", "--as x", "--state-dir x", "--human", "--assume pass", "--adopt")
    for words in (*refused, "deploy.runbook.md"):
        result = call("mcp", "--", *words.split(), cwd=tmp_path)
        option = words.split()[0].partition("=")[0]
        assert (result.code, f"doesn't pass {option} to runs" in result.err) == (2, True), result.err
    assert "--tool needs a value" in call("mcp", "--", "--tool", cwd=tmp_path).exits(2).err
