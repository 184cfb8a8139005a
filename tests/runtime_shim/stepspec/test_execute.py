"""The executor of a step: what it gets, what it hands over, and what happens without one (B7, B13)."""

import hashlib
import json
import os
import re
import signal
import time
from pathlib import Path
from typing import Any

import pytest
import yaml

from runtime_shim.stepspec.attempt import LateError
from runtime_shim.stepspec.checks import checked
from runtime_shim.stepspec.tools import STATUS, repository_says
from tests.runtime_shim.operator import at_terminal, talk
from tests.runtime_shim.stepspec.stages import EXECUTE, compiled, direct, found, stage
from tests.support.process import ROOT, is_gone, kill, wait_until

pytestmark = pytest.mark.process

ALL = (
    stage("inputs", "in.md"),
    stage("context"),
    stage("tool", subject="getCurrentTime"),
    stage("tool", subject="count", place=1),
    EXECUTE,
    stage("guardrails"),
    stage("validation", "out/prd.json", checks=("exists", "parses")),
    stage("outputs", "out/prd.json", subject="L1"),
)
CONFIG = {
    "context": "cat > context.json; echo '{\"known\": [1]}'",
    "guardrails": {"input": {"blocklist": ["secret"]}, "output": {"patterns": ["TODO"]}},
    "tools": {"count": {"command": "cat"}},
    "executor": "cat > request.json; mkdir out; echo {} > out/prd.json; env | grep ^RDC_ | sort | sed s/=.*// > env",
}
TOOLS = [{"name": "getCurrentTime", "args": {"timezone": "UTC"}}, {"name": "count", "args": {"of": "words"}}]


def test_all_stages_do_their_work_in_one_file_too(tmp_path: Path) -> None:
    (tmp_path / "in.md").write_text("Say it.")
    place = compiled(tmp_path, *ALL, config=CONFIG, tools=TOOLS, outputs=["out/prd.json"], inputs={"telis_query": "q"})
    place.bundle()
    result = place.run("run", PYTHONPATH="")
    assert result.code == 0, result.err
    assert found(place, "draft/inputs")[0]["guardrails"]["status"] == "passed"
    assert found(place, "draft/context") == [{"telis_context": {"known": [1]}}]
    assert json.loads(place.text("context.json"))["telis"] == {"telis_query": "q"}
    clock, count = found(place, "draft/getCurrentTime")[0]["tool"], found(place, "draft/count")[0]["tool"]
    assert (clock["status"], clock["result"][-6:]) == ("completed", "+00:00")
    assert (clock["required"], clock["risk"], clock["args"]) == (False, "low", {"timezone": "UTC"})
    assert count["result"] == {"tool": "count", "arguments": {"of": "words"}}
    request = json.loads(place.text("request.json"))
    assert request["tools"] == [clock, count]
    assert (request["telis_context"], request["attempt"], request["step"]["id"]) == ({"known": [1]}, 1, "draft")
    assert place.text("env").split() == [
        "RDC_ATTEMPT", "RDC_DRR_FILE", "RDC_EVIDENCE_FILE", "RDC_RUN_ID", "RDC_STEP", "RDC_TITLE",
    ]  # fmt: skip
    assert found(place, "draft") == [{"exit_code": 0}]
    assert found(place, "draft/guardrails")[0]["guardrails"]["violations"] == []
    assert [one["status"] for one in found(place, "draft/validation")[0]["validation"]["checks"]] == ["passed"] * 2
    outputs = found(place, "draft/outputs")[0]
    (artifact,), (record,) = outputs["artifacts"], outputs["evidence"]
    assert artifact["sha256"] == hashlib.sha256(b"{}\n").hexdigest()
    assert artifact["evidence_ids"] == [record["id"]] == ["ev-draft-1"]
    assert (record["claim"], record["source"], record["carrier_ref"]) == ("Write the draft", "draft", "out/prd.json")
    assert (record["congruence"], record["reliability"], record["wlnk"]) == ("CL1", 0, 0)


def test_dry_run_says_what_each_stage_would_do_and_a_prompted_run_is_refused(tmp_path: Path) -> None:
    place = compiled(tmp_path, *ALL, config=CONFIG, tools=TOOLS, outputs=["out/prd.json"])
    shown = place.run("run", "--dry-run").out
    for line in (
        "check the inputs: in.md", "call the tool getCurrentTime: built in", "call the tool count: cat",
        "call the executor: cat > request.json", "check exists, parses: out/prd.json",
        "index out/prd.json and record evidence L1", "The run would end: COMPLETE",
    ):  # fmt: skip
        assert line in shown
    assert place.run("run", "--prompted").code == 2
    assert (place.journal.exists(), (tmp_path / "request.json").exists()) == (False, False)


def test_the_called_executor(tmp_path: Path) -> None:
    place = compiled(tmp_path, EXECUTE, config={"executor": "echo configured"})
    flag, variable = ("--executor", "echo flag"), {"RDC_EXECUTOR": "echo environment"}
    shown = [place.run("run", *flag, cwd=None, **variable), place.run("run", cwd=None, **variable), place.run("run")]
    assert [(one.code, one.out) for one in shown] == [(0, "flag\n"), (0, "environment\n"), (0, "configured\n")]


def test_step_without_executor_is_put_to_a_person(tmp_path: Path) -> None:
    place = compiled(tmp_path, stage("tool", subject="listFiles"), EXECUTE, tools=[{"name": "listFiles"}])
    result = place.run("run", "--state-dir", "s")
    assert (result.code, result.last) == (75, "rdc: WAITING draft Step draft")
    assert "    Write the draft\n" in result.err
    call = f"{place.script} answer draft"
    assert result.err.splitlines()[-5:-1] == [
        f"rdc: to answer: {call} pass --state-dir s",
        f"rdc: to answer: {call} fail --state-dir s",
        f"rdc: to continue: {place.script} resume --state-dir s",
        f"rdc: to call an executor: {place.script} resume --executor COMMAND --state-dir s",
    ]
    assert place.run("resume", "--state-dir", "s").code == 75
    assert json.loads(place.run("status", "--json", "--state-dir", "s").out)["state"] == "waiting"
    refused = place.run("answer", "draft", "perhaps", "--state-dir", "s")
    assert (refused.code, "expected pass, fail, yes or no" in refused.err) == (2, True)
    assert place.run("answer", "draft", "Pass", "--state-dir", "s").code == 0
    assert place.run("resume", "--state-dir", "s").last == "rdc: COMPLETE all done"


def test_answers_of_a_file(tmp_path: Path) -> None:
    place = compiled(tmp_path, EXECUTE)
    for answers, code in {"x y\n": 2, "pass\n": 0, "draft fail\n": 1, '{"draft": "no"}': 1}.items():
        (tmp_path / "answers").write_text(answers)
        assert place.run("run", "--answers", "answers").code == code
        assert code == 2 or "answers" in place.records()[-1]


def test_person_at_the_terminal_decides(tmp_path: Path) -> None:
    screen = at_terminal(compiled(tmp_path, EXECUTE))
    screen.expect("Write the draft")
    talk(screen, r"Did draft Step draft pass\? \[pass/fail\]", "pass\n")
    screen.expect("rdc: COMPLETE all done")


def test_exit_code_and_what_is_handed_over_are_kept(tmp_path: Path) -> None:
    hand = 'echo \'{"claim": "c"}\' > "$RDC_EVIDENCE_FILE"; echo \'[{"why": 1}, {}]\' > "$RDC_DRR_FILE"; '
    place = compiled(tmp_path, EXECUTE, retries=1, config={"executor": hand + "test $RDC_ATTEMPT = 2 || exit 3"})
    result = place.run("run", TMPDIR=str(tmp_path))
    assert result.code == 0
    assert "executor: exit code 3" in result.err
    assert found(place, "draft") == [
        {"exit_code": 3}, {"exit_code": 0, "evidence": [{"claim": "c"}], "drrs": [{"why": 1}, {}]},
    ]  # fmt: skip
    assert not list(tmp_path.glob("rdc-*"))


@pytest.mark.parametrize(
    ("command", "error"),
    [
        ('echo "{" > "$RDC_EVIDENCE_FILE"', "bad RDC_EVIDENCE_FILE: it is not JSON: Expecting"),
        ('echo 3 > "$RDC_DRR_FILE"', "drrs: expected an object, or a list of objects"),
        ("""echo '{"level": "L9"}' > "$RDC_EVIDENCE_FILE" """, "evidence 1: level: expected L0, L1 or L2"),
        ("""echo '[{}, {"level": "L1"}]' > "$RDC_EVIDENCE_FILE" """, "bad RDC_EVIDENCE_FILE: the level L1 is below L2"),
        ('mkfifo "$RDC_DRR_FILE"', "bad RDC_DRR_FILE: it is not a regular file"),
        ('ln -s /etc/passwd "$RDC_DRR_FILE"', "bad RDC_DRR_FILE: it is not a regular file"),
        ("head -c 99999999 /dev/zero > $RDC_DRR_FILE", "bad RDC_DRR_FILE: it is larger than"),
        ("head -c 1048577 /dev/zero > $RDC_DRR_FILE", "bad RDC_DRR_FILE: it is larger than 1,048,576"),
        ("printf '\\377' > $RDC_DRR_FILE", "bad RDC_DRR_FILE: it is not UTF-8"),
        ("kill -9 $$", "executor: killed by SIGKILL"),
    ],
)
def test_attempt_fails_by_what_is_malformed(tmp_path: Path, command: str, error: str) -> None:
    place = compiled(tmp_path, EXECUTE, config={"executor": command}, evidence="L2", outputs=["a"])
    result = place.run("run")
    assert result.code == 1
    assert error in place.records()[-1]["how"]
    assert found(place, "draft")[0].keys() == {"exit_code"}


def test_secrets_are_kept_nowhere_but_reach_the_executor(tmp_path: Path) -> None:
    secret = "hunter2"
    place = compiled(
        tmp_path, stage("context"), stage("tool", subject="dig"), EXECUTE, stage("outputs", "a", subject="L0"),
        description=secret, tools=[{"name": "dig"}], secrets=("KEY",), outputs=["a"],
        config={"context": 'echo "{\\"$KEY\\": [\\"$KEY\\"]}"', "tools": {"dig": {"command": 'echo "$KEY"'}},
                "executor": 'touch a; grep -q "$KEY" && echo "{\\"claim\\": \\"$KEY\\"}" > "$RDC_EVIDENCE_FILE"'},
    )  # fmt: skip
    assert place.run("run", KEY=secret).code == 0
    assert found(place, "draft/context")[0]["telis_context"] == {"***": ["***"]}
    assert found(place, "draft/outputs")[0]["evidence"][0]["claim"] == "***"
    state = (path for path in (tmp_path / ".rdc").rglob("*") if path.is_file())
    assert not [path for path in state if secret.encode() in path.read_bytes()]


STUBBORN = "trap '' TERM; (trap '' TERM; echo $$ > leader; exec sleep 60) & echo $! > child; wait; sleep 60"


@pytest.mark.parametrize("command", [STUBBORN, STUBBORN.replace("trap '' TERM; (", "(")])
def test_attempt_that_takes_too_long_leaves_nothing_behind(tmp_path: Path, command: str) -> None:
    place = compiled(tmp_path, EXECUTE, config={"executor": command, "step_timeout_seconds": 1})
    place.hook("import runtime_shim.tasks.process\nruntime_shim.tasks.process.PATIENCE = 1")
    began = time.monotonic()
    result = place.run("run")
    assert time.monotonic() - began < 6
    assert (result.code, "FAIL  the attempt took longer than 1.0 s" in result.err) == (1, True)
    for name in ("leader", "child"):
        assert is_gone(int(place.text(name)))


def test_all_stages_share_the_limit_of_an_attempt(tmp_path: Path) -> None:
    """The executor or the tool alone takes less than the limit; the attempt after it has a time of its own."""
    place = compiled(
        tmp_path, stage("tool", subject="dig"), EXECUTE, stage("validation", "a", checks=("exists",)),
        tools=[{"name": "dig"}], retries=2,
        config={"tools": {"dig": {"command": "echo >> dug; sleep $(sed -n $(grep -c ^ dug)p naps)"}},
                "step_timeout_seconds": 1, "executor": "touch a; test $RDC_ATTEMPT = 3 || sleep 0.6"},
    )  # fmt: skip
    (tmp_path / "naps").write_text("60\n0.5\n0\n")
    result = place.run("run")
    assert result.code == 0, result.err
    assert place.walk() == [
        "draft/dig fail", "draft/dig pass", "draft fail", "draft/dig pass", "draft pass", "draft/validation pass",
    ]  # fmt: skip
    assert found(place, "draft/dig")[0]["tool"]["error"] == "the attempt ran out of time"
    assert found(place, "draft")[0] == {"exit_code": 0}
    assert result.err.count("the attempt took longer than 1.0 s") == 2


def test_time_that_is_over_is_no_time_without_limit(tmp_path: Path) -> None:
    """0 means no limit to those who wait for processes: what is due then is not called at all."""
    (tmp_path / "a.py").touch()
    for check in ("parses", "types", "lint"):
        with pytest.raises(LateError):
            checked(direct(tmp_path, 0), check, "a.py")
    with pytest.raises(LateError):
        repository_says(direct(ROOT, 0), STATUS, {}, 30)


def test_executor_whose_files_find_no_room_is_not_begun(tmp_path: Path) -> None:
    place = compiled(tmp_path, EXECUTE, config={"executor": "touch ran"})
    place.hook("import tempfile\ndef full(**_): raise OSError(28, 'No space left on device')\ntempfile.mkdtemp = full")
    result = place.run("run")
    assert (result.code, "was not started" in result.err, (tmp_path / "ran").exists()) == (2, True, False)
    assert place.records()[-1]["condition"] == "ready"


def test_context_that_fails_fails_the_attempt(tmp_path: Path) -> None:
    place = compiled(tmp_path, stage("context"), EXECUTE, config={"context": "exit 4", "executor": "touch ran"})
    result = place.run("run")
    assert (result.code, (tmp_path / "ran").exists()) == (1, False)
    assert "the context command gave no answer: exit code 4" in result.err


@pytest.mark.parametrize("by_flag", [True, False])
def test_interrupted_executor_is_decided_by_somebody(tmp_path: Path, by_flag: bool) -> None:
    """Even where the call that goes on names no executor."""
    command = "echo $$ > pid; test -e again || exec sleep 60"
    place = compiled(tmp_path, EXECUTE)
    process = place.start("run", "--executor", command)
    pid = int(place.wait_for("pid"))
    wait_until(lambda: any(record["kind"] == "process" for record in place.records()))
    kill(process)
    result = place.run("resume", *(("--executor", command) if by_flag else ()))
    assert (result.code, f"its command still runs (pid {pid})" in result.err) == (75, True)
    if by_flag:
        (tmp_path / "again").touch()
        result = place.run("resume", "--rerun-interrupted", "--executor", command)
        assert (result.code, is_gone(pid)) == (0, True), result.err
        return
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: is_gone(pid))
    result = place.run("resume")
    assert (result.code, "draft Step draft was interrupted" in result.err) == (75, True)
    assert place.run("resume", "--assume", "pass").code == 0
    assert "found" not in place.records()[-1]


def test_other_stages_are_done_again(tmp_path: Path) -> None:
    place = compiled(tmp_path, stage("inputs", "in"), EXECUTE)
    (tmp_path / "in").touch()
    assert place.run("run").code == 75
    lines = place.journal.read_bytes().splitlines(keepends=True)
    place.journal.write_bytes(lines[0])
    assert (place.records()[0]["condition"], place.records()[0]["node"]) == ("running", "draft/inputs")
    assert place.run("resume").last == "rdc: WAITING draft Step draft"
    assert place.run("resume", "--executor", "touch done").code == 0
    assert (tmp_path / "done").exists(), "it is executed once there is an executor"


MOCKED = (
    stage("context"), stage("tool", subject="dig"), stage("tool", subject="listFiles", place=1), EXECUTE,
    stage("outputs", "out/a.md", subject="L1"),
)  # fmt: skip
CALLS = {"tools": [{"name": "dig"}, {"name": "listFiles"}], "outputs": ["out/a.md"]}
COMMANDS = {"context": "touch ran", "executor": "touch ran", "tools": {"dig": {"command": "touch ran"}}}
MOCK = """
executors:
  draft:
    - fail
    - exit: 3
    - write:
        out/a.md: "text"
      evidence:
        claim: it is so
        reliability: 0.5
      drr:
        why: because
tools:
  dig: [one, {fail: broken}, three]
"""


def test_mock_run_of_a_specification(tmp_path: Path) -> None:
    place = compiled(tmp_path, *MOCKED, **CALLS, retries=3, config=COMMANDS)
    place.table["nodes"]["draft/dig"]["edges"] = [{"go": "draft/listFiles", "says": ""}]
    place.write(place.table)
    (tmp_path / "mock.json").write_text(json.dumps(yaml.safe_load(MOCK)))
    result = place.mocked("run")
    assert result.code == 0, result.err
    assert not (tmp_path / "ran").exists()
    assert [record["exit_code"] for record in found(place, "draft")] == [1, 3, 0]
    assert [record["tool"].get("result") for record in found(place, "draft/dig")] == ["one", None, "three"]
    assert found(place, "draft/dig")[1]["tool"]["error"] == "exit code 1"
    assert "\nbroken\n" in result.err
    assert "mock.json" in found(place, "draft/listFiles")[0]["tool"]["result"]
    assert found(place, "draft")[-1]["drrs"] == [{"why": "because"}]
    assert found(place, "draft/outputs")[0]["evidence"][0]["wlnk"] == 0.25
    assert place.text("out/a.md") == "text"
    assert found(place, "draft/context")[0] == {"telis_context": None}
    assert not (tmp_path / "mock.json.calls").exists(), "the journal counts"


@pytest.mark.parametrize(
    ("mock", "message"),
    [
        ({"executors": {}, "tools": {"dig": ["x"]}}, "mock.json has no answer number 1 under executors: draft"),
        ({"executors": {"draft": ["pass"]}}, "mock.json has no answer number 1 under tools: dig"),
        ({"executors": {"draft": ["perhaps"]}}, "executors: draft: expected pass, fail, or some of drr"),
        ({"executors": {"draft": [{"exit": 300}]}}, "exit: expected a number from 0 to 255"),
        ({"executors": {"draft": [{"exit": "1" * 5000}]}}, "exit: expected a number from 0 to 255"),
        ({"executors": {"draft": [{"write": ["a"]}]}}, "write: expected a string for each path"),
    ],
)
def test_mock_run_that_lacks_something(tmp_path: Path, mock: dict[str, Any], message: str) -> None:
    place = compiled(tmp_path, *MOCKED, **CALLS, config=COMMANDS)
    (tmp_path / "mock.json").write_text(json.dumps(mock))
    result = place.mocked("run")
    assert result.code == 2
    assert message in result.err
    assert not (tmp_path / "ran").exists()


def test_mock_run_goes_on_where_it_stood_and_writes_nothing_outside_of_the_project(tmp_path: Path) -> None:
    place = compiled(tmp_path, EXECUTE, retries=2)
    outside = {"write": {"../a": "x"}}
    for verb, answers, code in (("run", [outside], 2), ("resume", [outside, "fail", "pass"], 0)):
        (tmp_path / "mock.json").write_text(json.dumps({"executors": {"draft": answers}}))
        result = place.mocked(verb)
        assert result.code == code
        if verb == "run":
            assert re.search(r"mock\.json: \.\./a is outside the project$", result.err, re.MULTILINE), result.err
    assert place.walk() == ["draft fail", "draft fail", "draft pass"]
    assert not (tmp_path.parent / "a").exists()
